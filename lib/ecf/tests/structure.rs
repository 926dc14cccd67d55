//! Compares our verdict on the structure of received XML with that of the official schemas, on many mutated documents.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ecf::messages::{Acecf, Anecf, Arecf, Rfce, Semilla};
use ecf::{Document, ReceiptType, structure};

/// The position of an element in the text.
#[derive(Debug, Clone)]
struct Span {
    name: String,
    start: usize,
    end: usize,
    depth: usize,
}

impl Span {
    fn of(&self, xml: &str) -> String {
        xml[self.start..self.end].to_owned()
    }
}

/// All elements of canonical XML without attributes, in document order.
fn spans(xml: &str) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(start) = xml[at..].find('<').map(|length| at + length) {
        let end = start + xml[start..].find('>').unwrap() + 1;
        if xml[start..].starts_with("</") {
            found[open.pop().unwrap()].end = end;
        } else {
            let name = xml[start + 1..end - 1].to_owned();
            let depth = open.len();
            open.push(found.len());
            found.push(Span {
                name,
                start,
                end,
                depth,
            });
        }
        at = end;
    }
    found
}

/// Each kind of mutation of one element; `next` is the next sibling, if there is one.
fn mutations(xml: &str, span: &Span, next: Option<&Span>) -> Vec<(&'static str, String)> {
    let (before, element, after) = (&xml[..span.start], span.of(xml), &xml[span.end..]);
    let name = &span.name;
    let content = &element[name.len() + 2..element.len() - name.len() - 3];
    let with = |middle: String| format!("{before}{middle}{after}");
    let mut all = vec![
        ("left out", with(String::new())),
        ("repeated", with(format!("{element}{element}"))),
        ("empty", with(format!("<{name}/>"))),
        ("with an attribute", with(format!("<{name} a=\"1\">{content}</{name}>"))),
        (
            "nil",
            with(format!(
                "<{name} xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" i:nil=\"true\"/>"
            )),
        ),
        (
            "in a namespace",
            with(format!("<{name} xmlns=\"urn:x\">{content}</{name}>")),
        ),
        (
            "with a prefix",
            with(format!("<x:{name} xmlns:x=\"urn:x\">{content}</x:{name}>")),
        ),
        ("after text", with(format!("x{element}"))),
        ("after an unknown element", with(format!("<Nada/>{element}"))),
        ("after a blank and a comment", with(format!("\n  <!-- c -->{element}"))),
        (
            "with declarations",
            with(format!("<{name} xmlns:x=\"urn:x\">{content}</{name}>")),
        ),
        ("inside itself", with(format!("<{name}>{element}</{name}>"))),
    ];
    if let Some(next) = next {
        let swapped = format!("{}{}{}{}", before, next.of(xml), element, &xml[next.end..]);
        all.push(("after its next sibling", swapped));
    }
    all
}

/// Mutations of every `stride`th element, each kind with a different offset, and the document itself.
fn mutated(xml: &str, stride: usize) -> Vec<(String, String)> {
    let all = spans(xml);
    let mut cases = vec![("as it is".to_owned(), xml.to_owned())];
    for (index, span) in all.iter().enumerate().skip(1) {
        let next = all[index + 1..]
            .iter()
            .take_while(|other| other.depth >= span.depth)
            .find(|other| other.depth == span.depth && other.name != span.name);
        for (kind, (words, text)) in mutations(xml, span, next).into_iter().enumerate() {
            if (index + 3 * kind).is_multiple_of(stride) {
                cases.push((format!("{} {words}", span.name), text));
            }
        }
    }
    cases
}

fn golden(path: &str) -> String {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    fs::read_to_string(folder.join(path)).unwrap()
}

fn signed(xml: &str) -> String {
    let (body, close) = xml.split_at(xml.rfind("</").unwrap());
    format!("{body}<Signature></Signature>{close}")
}

/// Whether each document is valid under the schema. `None`: schemas or xmllint are missing.
fn is_valid_each(schema: &str, documents: &[&str]) -> Option<Vec<bool>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../shared/reference/xsd/{schema}.xsd"));
    if !file.exists() {
        eprintln!("skipped: our verdict on structure against the official schemas (../shared is not there)");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("structure-{schema}"));
    fs::create_dir_all(&folder).unwrap();
    let mut xmllint = Command::new("xmllint");
    xmllint.arg("--noout").arg("--schema").arg(&file).current_dir(&folder);
    for (index, xml) in documents.iter().enumerate() {
        let name = format!("{index}.xml");
        fs::write(folder.join(&name), xml).unwrap();
        xmllint.arg(name);
    }
    let Ok(output) = xmllint.output() else {
        eprintln!("skipped: our verdict on structure against the official schemas (xmllint is not there)");
        return None;
    };
    let told = String::from_utf8_lossy(&output.stderr);
    let valid: HashSet<&str> = told
        .lines()
        .filter_map(|line| line.strip_suffix(" validates"))
        .collect();
    fs::remove_dir_all(&folder).unwrap();
    let is_valid = |index: usize| valid.contains(format!("{index}.xml").as_str());
    Some((0..documents.len()).map(is_valid).collect())
}

/// Whether we find no fault.
fn is_right(schema: &str, xml: &str) -> bool {
    let receipt_type = schema.strip_prefix("e-CF-").map(|name| name.parse().unwrap());
    let Ok(form) = structure::check(xml.as_bytes(), receipt_type) else {
        return false;
    };
    let bytes = xml.as_bytes();
    form.is_empty()
        && match schema {
            "RFCE-32" => Rfce::from_xml(bytes).is_ok(),
            "ARECF" => Arecf::from_xml(bytes).is_ok(),
            "ACECF" => Acecf::from_xml(bytes).is_ok(),
            "ANECF" => Anecf::from_xml(bytes).is_ok(),
            "Semilla" => Semilla::from_xml(bytes).is_ok(),
            _ => Document::from_xml(bytes).is_ok_and(|received| received.violations.is_empty()),
        }
}

/// Compares the verdicts; returns the descriptions of cases that differ.
fn disagreements(schema: &str, cases: &[(String, String)]) -> Option<Vec<String>> {
    let documents: Vec<&str> = cases.iter().map(|(_, xml)| xml.as_str()).collect();
    let official = is_valid_each(schema, &documents)?;
    let differ = cases.iter().zip(official).filter_map(|((words, xml), official)| {
        let ours = is_right(schema, xml);
        (ours != official).then(|| format!("{schema}: {words}: schema {official}, we {ours}"))
    });
    Some(differ.collect())
}

/// Whether our verdict differs on purpose.
fn is_on_purpose(disagreement: &str) -> bool {
    // The verification of the signature reports that it is missing.
    disagreement.ends_with("Signature left out: schema false, we true")
        // The format makes them mandatory, the schema does not.
        || disagreement == "e-CF-32: Comprador empty: schema true, we false"
        || disagreement == "e-CF-41: TipoPago left out: schema true, we false"
        || disagreement.starts_with("RFCE-32: FormaPago ")
        || disagreement.starts_with("RFCE-32: MontoPago ")
        // The schema allows one entry to have ten line numbers.
        || disagreement == "ANECF: NoLinea repeated: schema true, we false"
        // A seed without a value is useless.
        || disagreement == "Semilla: valor empty: schema true, we false"
        // Summaries are never received. Ours leave empty elements out, as the signing rules require.
        || (disagreement.starts_with("RFCE-32: ") && disagreement.ends_with(" empty: schema true, we false"))
}

#[test]
fn c11_our_verdict_on_structure_is_that_of_the_official_schemas() {
    // Without a stride there are about 27,000 documents; they agree too (2026-11-29).
    const STRIDE: usize = 23;
    for receipt_type in ReceiptType::ALL {
        let xml = signed(&golden(&format!("{receipt_type}/maximal.xml")));
        eprintln!(
            "{:?}",
            disagreements(&format!("e-CF-{receipt_type}"), &mutated(&xml, STRIDE))
        );
        let Some(mut differ) = disagreements(&format!("e-CF-{receipt_type}"), &mutated(&xml, STRIDE)) else {
            return;
        };
        differ.retain(|words| !is_on_purpose(words));
        assert_eq!(differ, [] as [String; 0]);
    }
}

#[test]
fn c11_our_verdict_on_messages_is_that_of_the_official_schemas() {
    for (schema, case) in [
        ("RFCE-32", "rfce-maximal"),
        ("ARECF", "arecf-not-received"),
        ("ACECF", "acecf-rejected"),
        ("ANECF", "anecf-two-types"),
        ("Semilla", "semilla"),
    ] {
        let xml = signed(&golden(&format!("messages/{case}.xml")));
        let Some(mut differ) = disagreements(schema, &mutated(&xml, 1)) else {
            return;
        };
        differ.retain(|words| !is_on_purpose(words));
        assert_eq!(differ, [] as [String; 0]);
    }
}

#[test]
fn c11_a_line_more_than_the_schema_allows_is_refused() {
    for receipt_type in ReceiptType::ALL {
        let most: usize = match receipt_type {
            ReceiptType::E33 | ReceiptType::E34 => 10_000,
            _ => 1_000,
        };
        let mut xml = signed(&golden(&format!("{receipt_type}/minimal.xml")));
        if receipt_type == ReceiptType::E32 {
            // Below the threshold a summary is sent, and the invoice itself is never validated by the schema.
            let total = spans(&xml).into_iter().find(|span| span.name == "MontoTotal").unwrap();
            xml = xml.replace(&total.of(&xml), "<MontoTotal>250000.00</MontoTotal>");
        }
        let items = spans(&xml)
            .into_iter()
            .find(|span| span.name == "DetallesItems")
            .unwrap();
        let item = spans(&xml)
            .into_iter()
            .find(|span| span.name == "Item")
            .unwrap()
            .of(&xml);
        let with = |count: usize| {
            let lines: String = (1..=count)
                .map(|line| item.replace("<NumeroLinea>1<", &format!("<NumeroLinea>{line}<")))
                .collect();
            format!(
                "{}<DetallesItems>{lines}</DetallesItems>{}",
                &xml[..items.start],
                &xml[items.end..]
            )
        };
        let schema = format!("e-CF-{receipt_type}");
        assert!(is_right(&schema, &with(most)), "{receipt_type}");
        assert!(!is_right(&schema, &with(most + 1)), "{receipt_type}");
    }
}
