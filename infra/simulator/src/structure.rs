//! Structure: which elements a document may, must and must not have, in which order, with which values.
//!
//! The tables `structure/ecf.txt` and `structure/messages.txt` have one line per element: depth by indentation, name,
//! presence, upper bound of occurrences (`*n`, else one), kind of value. Presence is `!` must, `?` may, `-` must not.
//! The receipt's table has one sign for each of the ten types, in the order of [`TYPES`]; a message's table has one
//! sign.

mod value;

use std::{collections::HashMap, sync::OnceLock};

use self::value::Kind;
use crate::xml::Element;

/// The ten types, in the order of the table's columns.
pub(crate) const TYPES: [u8; 10] = [31, 32, 33, 34, 41, 43, 44, 45, 46, 47];
/// Upper bound of reported faults in one document.
const MOST_FAULTS: usize = 20;

/// One element of the table.
#[derive(Debug)]
struct Node {
    name: &'static str,
    presence: &'static str,
    most: Most,
    kind: Option<Kind>,
    children: Vec<Node>,
}

#[derive(Debug, Clone, Copy)]
enum Most {
    Times(usize),
    /// The document's upper bound of lines.
    Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Must,
    May,
    MustNot,
}

/// Structure faults of a receipt (`ECF`) of that type; empty when the structure is valid.
pub(crate) fn faults_of_receipt(root: &Element, tipo: u8) -> Vec<String> {
    let Some(column) = TYPES.iter().position(|one| *one == tipo) else {
        return vec![format!("TipoeCF {tipo} no es válido.")];
    };
    if root.name != "ECF" {
        return vec![format!(
            "El elemento raíz '{}' no es válido, se esperaba 'ECF'.",
            root.name
        )];
    }
    faults(root, receipt_table(), &Column { index: column, tipo })
}

/// Structure faults of a message: `RFCE`, `ACECF`, `ANECF` or `SemillaModel`.
pub(crate) fn faults_of_message(root: &Element, name: &str) -> Vec<String> {
    match message_tables().get(name) {
        Some(children) if root.name == name => faults(root, children, &Column { index: 0, tipo: 0 }),
        _ => vec![format!(
            "El elemento raíz '{}' no es válido, se esperaba '{name}'.",
            root.name
        )],
    }
}

/// Whether a receipt of that type may have an element of that name.
pub(crate) fn is_allowed(name: &str, tipo: u8) -> bool {
    fn is_among(nodes: &[Node], name: &str, column: &Column) -> bool {
        let mut allowed = nodes.iter().filter(|node| column.presence(node) != Presence::MustNot);
        allowed.any(|node| node.name == name || is_among(&node.children, name, column))
    }
    let index = TYPES.iter().position(|one| *one == tipo);
    index.is_some_and(|index| is_among(receipt_table(), name, &Column { index, tipo }))
}

struct Column {
    index: usize,
    tipo: u8,
}

impl Column {
    fn presence(&self, node: &Node) -> Presence {
        match node.presence.as_bytes().get(self.index) {
            Some(b'!') => Presence::Must,
            Some(b'?') => Presence::May,
            _ => Presence::MustNot,
        }
    }

    fn lines(&self) -> usize {
        // The schemas of notes (33, 34) allow ten times the lines of the other types.
        if matches!(self.tipo, 33 | 34) { 10_000 } else { 1_000 }
    }

    fn most(&self, node: &Node) -> usize {
        match node.most {
            Most::Times(most) => most,
            Most::Lines => self.lines(),
        }
    }
}

fn faults(root: &Element, table: &[Node], column: &Column) -> Vec<String> {
    let mut found = Vec::new();
    let foreign = root
        .attributes
        .iter()
        .find(|(name, _)| !name.starts_with("xmlns:") && !name.starts_with("xsi:"));
    if let Some((name, _)) = foreign {
        found.push(format!("El elemento raíz no admite el atributo '{name}'."));
    }
    // The schema admits the signature as a trailing wildcard; `signature` verifies it.
    let content = match root.children.split_last() {
        Some((last, content)) if last.name == "Signature" => content,
        _ => root.children.as_slice(),
    };
    compare(content, table, column, &root.name, &mut found);
    found.truncate(MOST_FAULTS);
    found
}

fn compare(children: &[Element], table: &[Node], column: &Column, path: &str, found: &mut Vec<String>) {
    let mut position = 0;
    for node in table {
        let run = children[position..]
            .iter()
            .take_while(|child| child.name == node.name)
            .count();
        let present = &children[position..position + run];
        position += run;
        match column.presence(node) {
            Presence::Must if run == 0 => found.push(format!("Falta el elemento '{}' en {path}.", node.name)),
            Presence::MustNot if run > 0 => found.push(format!("El elemento '{}' no se permite en {path}.", node.name)),
            _ if run > column.most(node) => {
                found.push(format!(
                    "El elemento '{}' aparece {run} veces en {path}, máximo {}.",
                    node.name,
                    column.most(node)
                ));
            }
            _ => present
                .iter()
                .for_each(|child| element(child, node, column, path, found)),
        }
        if found.len() >= MOST_FAULTS {
            return;
        }
    }
    if let Some(unexpected) = children.get(position) {
        found.push(format!(
            "El elemento '{}' no se esperaba en {path} o está fuera de orden.",
            unexpected.name
        ));
    }
}

fn element(element: &Element, node: &Node, column: &Column, path: &str, found: &mut Vec<String>) {
    let path = format!("{path}/{}", node.name);
    if !element.attributes.is_empty() {
        found.push(format!("{path} no admite atributos."));
    }
    match node.kind {
        Some(kind) => {
            if !element.children.is_empty() {
                found.push(format!("{path} no admite elementos."));
            } else if element.text.is_empty() {
                found.push(format!("{path} está vacío."));
            } else if !kind.allows(&element.text, column.lines()) {
                found.push(format!("El valor '{}' de {path} no es válido.", element.text));
            }
        }
        None if element.children.is_empty() => found.push(format!("{path} está vacío.")),
        None => {
            if !element.text.trim().is_empty() {
                found.push(format!("{path} no admite texto."));
            }
            compare(&element.children, &node.children, column, &path, found);
        }
    }
}

fn receipt_table() -> &'static [Node] {
    static TABLE: OnceLock<Vec<Node>> = OnceLock::new();
    TABLE.get_or_init(|| read(include_str!("structure/ecf.txt")))
}

fn message_tables() -> &'static HashMap<&'static str, Vec<Node>> {
    static TABLES: OnceLock<HashMap<&'static str, Vec<Node>>> = OnceLock::new();
    TABLES.get_or_init(|| {
        read(include_str!("structure/messages.txt"))
            .into_iter()
            .map(|root| (root.name, root.children))
            .collect()
    })
}

fn read(table: &'static str) -> Vec<Node> {
    let lines: Vec<&'static str> = table.lines().collect();
    let mut position = 0;
    read_level(&lines, &mut position, 0)
}

fn read_level(lines: &[&'static str], position: &mut usize, depth: usize) -> Vec<Node> {
    let mut nodes = Vec::new();
    while let Some(line) = lines.get(*position) {
        if line.len() - line.trim_start().len() != depth {
            break;
        }
        *position += 1;
        let mut words = line.split_whitespace();
        let (name, presence) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (mut most, mut kind) = (Most::Times(1), None);
        for word in words {
            match word.strip_prefix('*') {
                Some("lines") => most = Most::Lines,
                Some(times) => most = Most::Times(times.parse().expect("the table's counts are numbers")),
                None => kind = Some(Kind::parse(word)),
            }
        }
        let children = read_level(lines, position, depth + 1);
        nodes.push(Node {
            name,
            presence,
            most,
            kind,
            children,
        });
    }
    nodes
}

#[cfg(test)]
mod tests;
