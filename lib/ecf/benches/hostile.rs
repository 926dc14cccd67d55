//! The cost of an untrusted document before it is accepted or refused: verify it, read its heading and every field, and
//! check its form against the schema, as `reception` does.
//!
//! Ten shapes grow to the largest size that is accepted. Each is measured in a separate process, whose peak memory is
//! printed. `growth` is the time per byte, divided by that of the same shape at a quarter of the size: 1 is linear. The
//! next column is the time, divided by that of SHA-256 over the same bytes.

#![expect(clippy::print_stdout, reason = "a bench prints")]
#![expect(clippy::unwrap_used, reason = "a bench may stop")]

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use ecf::{Document, Heading, structure};
use xmldsig::{Identity, Limits};

/// The largest body that `reception` accepts.
const LARGEST: usize = 4 * 1024 * 1024;
const PIN: &str = "clave";

const SHAPES: [&str; 10] = [
    "different elements",
    "equal elements",
    "lines",
    "wrong lines",
    "signed lines",
    "attributes",
    "namespaces",
    "one text",
    "one comment",
    "references",
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, shape, size] = arguments.as_slice()
        && let (Ok(shape), Ok(size)) = (shape.parse::<usize>(), size.parse::<usize>())
    {
        return measure(SHAPES[shape], size);
    }
    // `cargo test --benches` runs each case once.
    let largest = match arguments.iter().any(|argument| argument == "--test") {
        true => LARGEST / 64,
        false => LARGEST,
    };
    println!(
        "{:>20} {:>9} {:>9} {:>8} {:>9} {:>8}",
        "", "KB", "ms", "growth", "x SHA-256", "peak MB"
    );
    for (index, shape) in SHAPES.iter().enumerate() {
        let mut before: Option<f64> = None;
        for size in [largest / 16, largest / 4, largest] {
            let output = Command::new(&arguments[0])
                .args([index.to_string(), size.to_string()])
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let figures: Vec<f64> = text.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
            let [bytes, micros, hash, peak] = figures.as_slice() else {
                panic!("{shape}: {text} {}", String::from_utf8_lossy(&output.stderr));
            };
            let per_byte = micros / bytes;
            let growth = before.map_or_else(String::new, |before| format!("{:.2}", per_byte / before));
            before = Some(per_byte);
            println!(
                "{shape:>20} {:>9.0} {:>9.2} {growth:>8} {:>9.1} {:>8.0}",
                bytes / 1024.0,
                micros / 1000.0,
                micros / hash,
                peak / 1024.0
            );
        }
    }
}

/// Prints the size in bytes, the time in microseconds, that of SHA-256, and the peak memory in KB above that of an
/// empty process.
fn measure(shape: &str, size: usize) {
    let document = document(shape, size);
    let hash = time_of(|| openssl::sha::sha256(&document));
    let ours = time_of(|| receive(&document));
    println!(
        "{} {} {} {}",
        document.len(),
        ours.as_micros(),
        hash.as_micros(),
        peak_kilobytes()
    );
}

/// The processor time of one call, which other work on the machine hardly changes. Measures many calls, because the
/// processor clock ticks every four milliseconds.
fn time_of<T>(work: impl Fn() -> T) -> Duration {
    const LEAST: Duration = Duration::from_millis(300);
    let (start, wall) = (processor_time(), Instant::now());
    let mut calls = 0;
    while wall.elapsed() < LEAST {
        black_box(work());
        calls += 1;
    }
    match (start, processor_time()) {
        (Some(start), Some(end)) => end.saturating_sub(start) / calls,
        _ => wall.elapsed() / calls,
    }
}

/// Available on Linux only.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn receive(xml: &[u8]) -> usize {
    let verified = xmldsig::verify(xml, &Limits::default());
    let bytes = verified.as_ref().map_or(xml, |verified| &verified.document);
    let Some(encf) = Heading::from_xml(bytes).ok().and_then(|heading| heading.encf) else {
        return 0;
    };
    let form = structure::check(xml, Some(encf.receipt_type()));
    if form.as_ref().is_ok_and(Vec::is_empty) {
        return Document::from_xml(bytes).map_or(0, |received| received.violations.len());
    }
    form.map_or(0, |form| form.len())
}

/// Available on Linux only; elsewhere nothing is printed.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or_default()
}

fn document(shape: &str, size: usize) -> Vec<u8> {
    let head = "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>34</TipoeCF><eNCF>E340000000001</eNCF></IdDoc>\
<Emisor><RNCEmisor>101672919</RNCEmisor></Emisor><Comprador><RNCComprador>130000001</RNCComprador></Comprador></Encabezado>";
    let line = |number: usize| {
        format!(
            "<Item><NumeroLinea>{number}</NumeroLinea><IndicadorFacturacion>4</IndicadorFacturacion><NombreItem>Artículo número {number}</NombreItem>\
<IndicadorBienoServicio>1</IndicadorBienoServicio><CantidadItem>2.00</CantidadItem><UnidadMedida>43</UnidadMedida>\
<PrecioUnitarioItem>500.0000</PrecioUnitarioItem><MontoItem>1000.00</MontoItem></Item>"
        )
    };
    let body = match shape {
        "different elements" => repeated(size, |number| format!("<a{number}/>")),
        "equal elements" => repeated(size, |_| "<a/>".to_owned()),
        "lines" | "signed lines" => format!("<DetallesItems>{}</DetallesItems>", repeated(size, line)),
        "wrong lines" => format!(
            "<DetallesItems>{}</DetallesItems>",
            repeated(size, |_| "<Item><a/></Item>".to_owned())
        ),
        "attributes" => repeated(size, |number| {
            format!("<b a{number}=\"1\" b{number}=\"2\" c{number}=\"3\"/>")
        }),
        "namespaces" => repeated(size, |number| {
            format!("<n{number}:b xmlns:n{number}=\"urn:{number}\"/>")
        }),
        "one text" => format!("<b>{}</b>", "ñ".repeat(size / 2)),
        "one comment" => format!("<!--{}-->", "x".repeat(size)),
        "references" => format!("<b>{}</b>", "&amp;".repeat(size / 5)),
        other => panic!("{other}"),
    };
    let document = format!("{head}{body}<FechaHoraFirma>27-11-2026 10:30:00</FechaHoraFirma></ECF>");
    match shape {
        "signed lines" => xmldsig::sign(document.as_bytes(), &identity()).unwrap().xml,
        _ => document.into_bytes(),
    }
}

fn repeated(size: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 1.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&part(number));
    }
    text
}

fn identity() -> Identity {
    let (from, to) = (
        "2020-01-01T00:00:00Z".parse().unwrap(),
        "2040-01-01T00:00:00Z".parse().unwrap(),
    );
    let p12 = test_certificates::pkcs12("Firma de prueba", "IDCDO-00100000001", PIN, from, to).unwrap();
    Identity::from_pkcs12(&p12, PIN, from).unwrap()
}
