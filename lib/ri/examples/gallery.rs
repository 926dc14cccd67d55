//! Prints receipts of every type, in every state and on every paper: `cargo run --example gallery -- DIR`.
//!
//! Also writes `prints.json`, the list of the files. `infra/checks/prints/run` decodes and measures them, and makes the
//! contact sheets in `docs/images`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use ecf::{Document, Environment, ReceiptType, Stamp, StampHosts};
use ecf_ri::{Color, Design, Format, Mode, Options, render};
use serde_json::{Value, json};

#[path = "../tests/ri/receipts.rs"]
#[expect(clippy::unwrap_used, reason = "the receipts are made here")]
mod receipts;

/// A production receipt in each state with its own mark, and a test receipt that is held in contingency.
const STATES: [(&str, Environment, Mode); 5] = [
    ("valid", Environment::Ecf, Mode::Accepted),
    ("rejected", Environment::Ecf, Mode::Rejected),
    ("cancelled", Environment::Ecf, Mode::Cancelled),
    ("failed", Environment::Ecf, Mode::Unsent),
    ("contingency", Environment::TesteCF, Mode::Contingency),
];

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1);
    let directory = directory.map_or_else(|| PathBuf::from("."), PathBuf::from);
    fs::create_dir_all(&directory)?;
    let mut prints = Vec::new();
    for receipt_type in ReceiptType::ALL {
        let signed = receipts::full(receipt_type);
        for state in STATES {
            print_all(&directory, &receipt_type.to_string(), &signed, state, &mut prints)?;
        }
    }
    for (name, signed) in [
        ("31-plain", receipts::receipt(ReceiptType::E31)),
        ("31-beer", receipts::beer()),
        ("31-wide", receipts::wide()),
        ("31-57-lines", receipts::long(57)),
    ] {
        print_all(&directory, name, &signed, STATES[0], &mut prints)?;
        print_all(&directory, name, &signed, STATES[4], &mut prints)?;
    }
    fs::write(directory.join("prints.json"), Value::from(prints).to_string())?;
    Ok(())
}

/// Prints the receipt on every paper.
fn print_all(
    directory: &Path,
    name: &str,
    signed: &[u8],
    (state, environment, mode): (&str, Environment, Mode),
    prints: &mut Vec<Value>,
) -> Result<(), Box<dyn Error>> {
    let design = Design {
        logo: None,
        color: Color::new(0x1f, 0x3a, 0x5f),
        footer: Some("Gracias por preferirnos".to_owned()),
    };
    let hosts = StampHosts::default();
    let verified = xmldsig::verify(signed, &xmldsig::Limits::default())?;
    let document = Document::from_xml(&verified.document)?.document;
    let code: String = verified.signature_value.chars().take(6).collect();
    let stamp = Stamp::of(&document, environment, &code).ok_or("no stamp")?.url(&hosts);
    for format in Format::ALL {
        let options = Options {
            environment,
            hosts: &hosts,
            format,
            mode,
            design: &design,
        };
        let file = format!("{name}-{state}-{format}.pdf");
        fs::write(directory.join(&file), render(signed, &options)?)?;
        prints.push(json!({"file": file, "name": name, "state": state, "format": format.as_str(), "stamp": stamp}));
    }
    Ok(())
}
