//! The certification workbooks: the rows of a sheet, and a row as a payload.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::LazyLock;

use ecf::{Node, Piece, ReceiptType, json_schema};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use serde_json::Value;
use zip::ZipArchive;

/// One document to issue: cells by column header.
pub(crate) type Row = HashMap<String, String>;

/// The content of a cell whose element must not appear.
const EMPTY: &str = "#e";

/// The workbooks that are present, by name, with the rows of their first sheet.
pub(crate) static SUITES: LazyLock<Vec<(&str, Vec<Row>)>> = LazyLock::new(|| {
    let names = ["suite-1-ecf.xlsx", "suite-2-ecf.xlsx"];
    names.into_iter().filter_map(|name| Some((name, rows(name)?))).collect()
});

/// The rows below the header; `None` when the workbook is missing.
pub(crate) fn rows(name: &str) -> Option<Vec<Row>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/certification")
        .join(name);
    let Ok(file) = File::open(path) else {
        eprintln!("skipped: {name} (../shared is not there)");
        return None;
    };
    let mut archive = ZipArchive::new(file).unwrap();
    let texts = texts(&part(&mut archive, "xl/sharedStrings.xml"));
    let mut cells = cells(&part(&mut archive, "xl/worksheets/sheet1.xml"), &texts).into_iter();
    let header = cells.next().unwrap();
    let row = |row: HashMap<String, String>| {
        row.into_iter()
            .filter(|(_, cell)| !cell.is_empty() && cell != EMPTY)
            .map(|(column, cell)| (header[&column].trim().to_owned(), cell))
            .collect()
    };
    Some(cells.map(row).collect())
}

/// A part of the workbook; empty when it is missing.
fn part(archive: &mut ZipArchive<File>, name: &str) -> String {
    let mut text = String::new();
    if let Ok(mut part) = archive.by_name(name) {
        part.read_to_string(&mut text).unwrap();
    }
    text
}

/// The shared texts, in order.
fn texts(xml: &str) -> Vec<String> {
    let mut texts = Vec::new();
    each(xml, |name, event, text| match (name, event) {
        ("si", Kind::Start(_)) => texts.push(String::new()),
        ("t", Kind::Text) => texts.last_mut().unwrap().push_str(text),
        _ => {}
    });
    texts
}

/// The cells of each row, by column letters.
fn cells(xml: &str, texts: &[String]) -> Vec<HashMap<String, String>> {
    let mut rows: Vec<HashMap<String, String>> = Vec::new();
    let (mut column, mut shared) = (String::new(), false);
    each(xml, |name, event, text| match (name, event) {
        ("row", Kind::Start(_)) => rows.push(HashMap::new()),
        ("c", Kind::Start(start)) => {
            let attribute = |name: &str| {
                let attribute = start.try_get_attribute(name).unwrap();
                attribute.map(|found| found.normalized_value(XmlVersion::Implicit1_0).unwrap().into_owned())
            };
            column = attribute("r").unwrap();
            column.retain(|character| character.is_ascii_alphabetic());
            shared = attribute("t").as_deref() == Some("s");
        }
        ("v" | "t", Kind::Text) => {
            let text = if shared {
                texts[text.parse::<usize>().unwrap()].as_str()
            } else {
                text
            };
            rows.last_mut()
                .unwrap()
                .entry(column.clone())
                .or_default()
                .push_str(text);
        }
        _ => {}
    });
    rows
}

enum Kind<'e> {
    Start(&'e BytesStart<'e>),
    Text,
}

/// Visits a part: each start tag by its name, and each text with the name of its element.
fn each(xml: &str, mut told: impl FnMut(&str, Kind<'_>, &str)) {
    let mut reader = Reader::from_str(xml);
    let mut inside = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                let name = start.local_name().as_ref().to_owned();
                told(&name, Kind::Start(&start), "");
                inside.push(name);
            }
            Event::Empty(start) => {
                let name = start.local_name().as_ref().to_owned();
                told(&name, Kind::Start(&start), "");
            }
            Event::Text(text) => told(inside.last().map_or("", String::as_str), Kind::Text, &text),
            Event::GeneralRef(entity) => {
                let entity = format!("&{};", &*entity);
                let text = quick_xml::escape::unescape(&entity).unwrap();
                told(inside.last().map_or("", String::as_str), Kind::Text, &text);
            }
            Event::End(_) => {
                inside.pop();
            }
            Event::Eof => return,
            _ => {}
        }
    }
}

/// The payload of a row: the schema of its type, filled from the columns.
pub(crate) fn payload(row: &Row, receipt_type: ReceiptType) -> Node {
    block(row, &json_schema(receipt_type), "", &[]).unwrap()
}

fn block(row: &Row, schema: &Value, name: &str, indices: &[usize]) -> Option<Node> {
    if let Some(items) = schema.get("items") {
        return repeated(row, items, name, indices);
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return row
            .get(&column(row, name, indices)?)
            .map(|cell| Node::Text(cell.as_str().into()));
    };
    let members: Vec<(Piece, Node)> = properties
        .iter()
        .filter_map(|(member, schema)| {
            let name = if name == "DescuentoORecargo" && member == "NumeroLinea" {
                "NumeroLineaDoR"
            } else {
                member
            };
            Some((member.as_str().into(), block(row, schema, name, indices)?))
        })
        .collect();
    (!members.is_empty()).then_some(Node::Object(members))
}

fn repeated(row: &Row, items: &Value, name: &str, indices: &[usize]) -> Option<Node> {
    // The only subtotal of the sheet has no index.
    if name == "Subtotal" {
        return block(row, items, name, indices).map(|one| Node::Array(vec![one]));
    }
    let all: Vec<Node> = (1..)
        .map_while(|index| block(row, items, name, &[indices, &[index]].concat()))
        .collect();
    (!all.is_empty()).then_some(Node::Array(all))
}

/// The header of a field's column, if the row has it.
fn column(row: &Row, name: &str, indices: &[usize]) -> Option<String> {
    let name = match name {
        "eNCF" => "ENCF",
        "MontoSubRecargo" => "MontosubRecargo",
        other => other,
    };
    let header = indices
        .iter()
        .fold(name.to_owned(), |header, index| format!("{header}[{index}]"));
    // The additional taxes of a page have one more index than their container.
    [header.clone(), format!("{header}[1]")]
        .into_iter()
        .find(|header| row.contains_key(header))
}
