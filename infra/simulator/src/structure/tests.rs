//! Compares the tables with the official schemas, and checks documents against the tables.

use std::path::PathBuf;

use super::*;

fn schemas() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/xsd"));
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: the structure tables against the official schemas (../shared is not there)");
    None
}

/// `path presence most` of each element, in document order.
fn of_schema(element: &Element, path: &str, out: &mut Vec<String>) {
    let sequence = element
        .at(&["xs:complexType", "xs:sequence"])
        .map_or(&[][..], |sequence| &sequence.children);
    for child in sequence.iter().filter(|child| child.name == "xs:element") {
        let occurs = |name| child.attribute_value(name).unwrap_or("1");
        let name = child.attribute_value("name").unwrap_or_default();
        let path = format!("{path}/{name}");
        let presence = if occurs("minOccurs") == "0" { '?' } else { '!' };
        out.push(format!("{path} {presence} {}", occurs("maxOccurs")));
        of_schema(child, &path, out);
    }
}

fn of_table(table: &[Node], column: &Column, path: &str, out: &mut Vec<String>) {
    for node in table {
        let path = format!("{path}/{}", node.name);
        let presence = match column.presence(node) {
            Presence::Must => '!',
            Presence::May => '?',
            Presence::MustNot => continue,
        };
        out.push(format!("{path} {presence} {}", column.most(node)));
        of_table(&node.children, column, &path, out);
    }
}

fn schema_of(file: &std::path::Path) -> Vec<String> {
    let bytes = std::fs::read(file).expect("a schema can be read");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let schema = Element::parse(bytes).expect("a schema is XML");
    let root = schema.get("xs:element").expect("a schema has a root element");
    let mut out = Vec::new();
    of_schema(root, root.attribute_value("name").unwrap_or_default(), &mut out);
    out
}

#[test]
fn the_receipt_table_agrees_with_the_ten_official_schemas() {
    let Some(folder) = schemas() else { return };
    for (index, tipo) in TYPES.into_iter().enumerate() {
        let mut official = schema_of(&folder.join(format!("e-CF-{tipo}.xsd")));
        official.retain(|line| !line.contains("/Signature"));
        let mut ours = Vec::new();
        of_table(receipt_table(), &Column { index, tipo }, "ECF", &mut ours);
        let only = |these: &[String], those: &[String]| {
            these
                .iter()
                .filter(|line| !those.contains(line))
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (only(&official, &ours), only(&ours, &official)),
            (vec![], vec![]),
            "type {tipo}"
        );
        assert_eq!(official, ours, "type {tipo}: order");
    }
}

#[test]
fn the_message_tables_agree_with_the_official_schemas() {
    let Some(folder) = schemas() else { return };
    for (name, file) in [
        ("RFCE", "RFCE-32"),
        ("ACECF", "ACECF"),
        ("ANECF", "ANECF"),
        ("SemillaModel", "Semilla"),
    ] {
        let mut official = schema_of(&folder.join(format!("{file}.xsd")));
        // The schema repeats NoLinea where it means Anulacion: one per entry is correct.
        for line in official.iter_mut().filter(|line| line.contains("/NoLinea ")) {
            *line = line.replace("! 10", "! 1");
        }
        let mut ours = Vec::new();
        of_table(&message_tables()[name], &Column { index: 0, tipo: 0 }, name, &mut ours);
        assert_eq!(official, ours, "{name}");
    }
}

fn approval(middle: &str) -> Element {
    let text = format!(
        "<ACECF><DetalleAprobacionComercial><Version>1.0</Version>{middle}</DetalleAprobacionComercial></ACECF>"
    );
    Element::parse(text.as_bytes()).expect("test documents are XML")
}

const GOOD: &str = "<RNCEmisor>131880738</RNCEmisor><eNCF>E310000000001</eNCF><FechaEmision>01-04-2026</FechaEmision>\
    <MontoTotal>10.00</MontoTotal><RNCComprador>101672919</RNCComprador><Estado>1</Estado>\
    <FechaHoraAprobacionComercial>02-04-2026 10:11:12</FechaHoraAprobacionComercial>";

#[test]
fn order_presence_emptiness_and_values_are_judged() {
    assert_eq!(faults_of_message(&approval(GOOD), "ACECF"), Vec::<String>::new());
    for (change, with, fault) in [
        ("<Estado>1</Estado>", "", "Falta el elemento 'Estado'"),
        ("<Estado>1</Estado>", "<Estado>3</Estado>", "El valor '3'"),
        ("<Estado>1</Estado>", "<Estado></Estado>", "está vacío"),
        (
            "<Estado>1</Estado>",
            "<Estado>1</Estado><Otro>x</Otro>",
            "Falta el elemento 'FechaHoraAprobacionComercial'",
        ),
        (
            "<Estado>1</Estado>",
            "<Estado>1</Estado><Estado>1</Estado>",
            "aparece 2 veces",
        ),
        ("<Estado>1", "<Estado Id=\"x\">1", "no admite atributos"),
        (
            "<RNCEmisor>131880738</RNCEmisor><eNCF>E310000000001</eNCF>",
            "<eNCF>E310000000001</eNCF><RNCEmisor>131880738</RNCEmisor>",
            "Falta el elemento 'RNCEmisor'",
        ),
    ] {
        let faults = faults_of_message(&approval(&GOOD.replace(change, with)), "ACECF");
        assert!(faults.iter().any(|one| one.contains(fault)), "{with}: {faults:?}");
    }
    assert_eq!(faults_of_message(&approval(GOOD), "ANECF").len(), 1);
}

#[test]
fn a_type_that_does_not_exist_and_a_wrong_root_are_told() {
    assert_eq!(faults_of_receipt(&Element::new("ECF"), 42).len(), 1);
    assert!(faults_of_receipt(&Element::new("eCF"), 31)[0].contains("raíz"));
}
