//! The cost of a printed representation: median time and peak memory of the process.

#![expect(clippy::print_stdout, reason = "a bench prints")]

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use ecf::{Environment, ReceiptType, StampHosts};
use ecf_ri::{Design, Format, Mode, Options, render};
use serde_json::json;

#[path = "../tests/ri/receipts.rs"]
#[expect(clippy::unwrap_used, reason = "the receipts are made here")]
mod receipts;

fn main() {
    // `cargo test --benches` runs each case once.
    let quick = std::env::args().any(|argument| argument == "--test");
    println!("{:>24} {:>10} {:>10} {:>12}", "", "p50 ms", "PDF KB", "peak MB");
    let one_page = receipts::receipt(ReceiptType::E31);
    for format in Format::ALL {
        measure("one page", &one_page, format, if quick { 1 } else { 200 });
    }
    let export = receipts::full(ReceiptType::E46);
    measure("export", &export, Format::A4, if quick { 1 } else { 200 });
    measure("excise", &receipts::beer(), Format::Letter, if quick { 1 } else { 200 });
    measure(
        "long names",
        &receipts::wide(),
        Format::Letter,
        if quick { 1 } else { 200 },
    );
    let long = receipts::long(1_000);
    for format in Format::ALL {
        measure("1,000 lines", &long, format, if quick { 1 } else { 20 });
    }
    if !quick {
        let longest = longest();
        for format in Format::ALL {
            measure("10,000 lines", &longest, format, 3);
        }
    }
}

/// A consumer invoice with the most lines that the authority accepts.
fn longest() -> Vec<u8> {
    let mut payload = receipts::payload(ReceiptType::E32);
    let lines = (1..=10_000).map(|line| {
        json!({
            "IndicadorFacturacion": 1, "NombreItem": format!("Artículo de catálogo número {line}"), "IndicadorBienoServicio": 1,
            "CantidadItem": 1, "UnidadMedida": "43", "PrecioUnitarioItem": format!("{}.{:02}", 4 + line % 9, line % 100)
        })
    });
    payload["DetallesItems"]["Item"] = lines.collect();
    receipts::issue(ReceiptType::E32, &payload)
}

fn measure(name: &str, signed: &[u8], format: Format, rounds: usize) {
    let options = Options {
        environment: Environment::TesteCF,
        hosts: &StampHosts::default(),
        format,
        mode: Mode::Accepted,
        design: &Design::default(),
    };
    let mut size = 0;
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            let pdf = black_box(render(signed, &options));
            let elapsed = start.elapsed();
            size = pdf.map(|pdf| pdf.len()).unwrap_or_default();
            elapsed
        })
        .collect();
    times.sort_unstable();
    let median = times[rounds / 2].as_secs_f64() * 1e3;
    let name = format!("{name}, {format}");
    println!("{name:>24} {median:>10.2} {:>10} {:>12}", size / 1_024, peak());
}

/// The peak resident memory in MB, where the system reports it.
fn peak() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<u64> = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.map_or_else(|| "?".to_owned(), |kilobytes| (kilobytes / 1_024).to_string())
}
