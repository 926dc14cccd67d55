//! Compares a written document with the cells of its row: the authority's portal compares them too.
//!
//! The document is read from its bytes here, signed or not, independently of the code that wrote it.

use std::collections::{BTreeMap, HashMap};

use quick_xml::Reader;
use quick_xml::events::Event;
use thiserror::Error;

use crate::columns::Columns;
use crate::row::Row;

/// How a document differs from its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differs {
    /// The value is another one.
    Changed,
    /// The cell is not in the document.
    Lost,
    /// The document has a value that no cell has.
    Added,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What is different.
    pub differs: Differs,
    /// The elements from below the root, with positions of repeated elements counted from 0.
    pub path: String,
    /// The letters of the cell's column.
    pub column: Option<String>,
    /// The header of the cell's column.
    pub header: Option<String>,
    /// The text of the cell.
    pub cell: Option<String>,
    /// The text of the document.
    pub written: Option<String>,
}

/// Why a document cannot be compared.
#[derive(Debug, Error)]
pub enum Unreadable {
    /// The bytes are not UTF-8.
    #[error("the document is not UTF-8")]
    Utf8(#[from] std::str::Utf8Error),
    /// The bytes are not XML.
    #[error("the document is not XML")]
    Xml(#[from] quick_xml::Error),
    /// A reference to a character cannot be resolved.
    #[error("the document has the unknown reference &{0};")]
    Reference(String),
}

/// The element that signing adds to a receipt.
const SIGNED_AT: &str = "FechaHoraFirma";
const SIGNATURE: &str = "Signature";

/// The differences between a row and a document. `filled_in` names elements that are not compared.
pub(crate) fn differences(
    row: &Row,
    columns: &Columns,
    xml: &[u8],
    filled_in: &[&str],
    equal: impl Fn(&str, &str, &str) -> bool,
) -> Result<Vec<Difference>, Unreadable> {
    let mut written = values(xml, columns)?;
    written.retain(|path, _| {
        let last = path.last().map_or("", String::as_str);
        !(filled_in.contains(&last) || path.len() == 1 && last == SIGNED_AT)
    });
    let mut differences = Vec::new();
    for (path, cell) in row.by_path() {
        let name = path.last().map_or("", String::as_str);
        if filled_in.contains(&name) {
            continue;
        }
        let found = written.remove(path);
        let differs = match &found {
            None => Differs::Lost,
            Some(found) if equal(name, &cell.text, found) => continue,
            Some(_) => Differs::Changed,
        };
        differences.push(Difference {
            differs,
            path: path.join("/"),
            column: Some(crate::finding::letters(cell.column)),
            header: Some(cell.header.clone()),
            cell: Some(cell.text.clone()),
            written: found,
        });
    }
    differences.extend(written.into_iter().map(|(path, written)| Difference {
        differs: Differs::Added,
        path: path.join("/"),
        column: None,
        header: None,
        cell: None,
        written: Some(written),
    }));
    Ok(differences)
}

/// An element that is open while a document is read.
#[derive(Debug, Default)]
struct Open {
    text: String,
    has_elements: bool,
    /// How often each element occurred so far.
    seen: HashMap<String, usize>,
}

/// The text of every element without elements, by its path below the root. Positions are only given to elements that
/// may be repeated; another element that occurs twice gets one from its second occurrence on.
fn values(xml: &[u8], columns: &Columns) -> Result<BTreeMap<Vec<String>, String>, Unreadable> {
    let mut reader = Reader::from_str(std::str::from_utf8(xml)?);
    reader.config_mut().expand_empty_elements = true;
    let mut values = BTreeMap::new();
    let mut path: Vec<String> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut lengths: Vec<usize> = Vec::new();
    loop {
        match reader.read_event()? {
            Event::Start(start) => {
                let name = start.local_name().as_ref().to_owned();
                lengths.push(path.len());
                let is_signature = name == SIGNATURE && open.len() == 1;
                if let Some(parent) = open.last_mut() {
                    parent.has_elements = true;
                    if is_signature {
                        reader.read_to_end(start.name())?;
                        lengths.pop();
                        continue;
                    }
                    let seen = parent.seen.entry(name.clone()).or_default();
                    let place = *seen;
                    *seen += 1;
                    path.push(name);
                    let names: Vec<&str> = path
                        .iter()
                        .map(String::as_str)
                        .filter(|step| !is_position(step))
                        .collect();
                    if columns.is_repeated(&names) || place > 0 {
                        path.push(place.to_string());
                    }
                }
                open.push(Open::default());
            }
            Event::End(_) => {
                if let Some(closed) = open.pop()
                    && !closed.has_elements
                {
                    values.insert(path.clone(), closed.text);
                }
                path.truncate(lengths.pop().unwrap_or_default());
            }
            Event::Text(text) => add(&mut open, &text),
            Event::CData(text) => add(&mut open, &text),
            Event::GeneralRef(reference) => {
                let name: &str = &reference;
                let resolved = quick_xml::escape::unescape(&format!("&{name};"))
                    .map_err(|_| Unreadable::Reference(name.to_owned()))?
                    .into_owned();
                add(&mut open, &resolved);
            }
            Event::Eof => return Ok(values),
            _ => {}
        }
    }
}

fn add(open: &mut [Open], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn is_position(step: &str) -> bool {
    step.bytes().all(|byte| byte.is_ascii_digit())
}
