//! Compares the declarations with the machine-readable field reference: every path, its obligation in each type, its
//! limits, occurrences and codes.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::Document;
use crate::ReceiptType;
use crate::field::{Block as _, Class, Field, Form, Presence, Sign};

/// The rows of a CSV file, by column name.
fn table(name: &str) -> Option<Vec<HashMap<String, String>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/reference")
        .join(name);
    let Ok(text) = fs::read_to_string(path) else {
        eprintln!("skipped: {name} (../shared is not there)");
        return None;
    };
    let mut lines = text.trim_start_matches('\u{FEFF}').lines().map(cells);
    let header = lines.next().unwrap();
    Some(lines.map(|row| header.iter().cloned().zip(row).collect()).collect())
}

fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for character in line.trim_end().chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(character),
        }
    }
    cells
}

/// The part of a cell for one type: `[31,32] a ; [33] b` differs between types.
fn of_type(cell: &str, receipt_type: ReceiptType) -> &str {
    if !cell.starts_with("[3") && !cell.starts_with("[4") {
        return cell;
    }
    cell.split(" ; ")
        .find_map(|part| {
            let (types, said) = part.trim_start_matches('[').split_once("] ")?;
            types
                .split(',')
                .any(|code| code == receipt_type.as_str())
                .then_some(said)
        })
        .unwrap_or("")
}

fn declared(fields: &'static [Field], path: &str, found: &mut HashMap<String, &'static Field>) {
    for field in fields {
        let path = format!("{path}/{}", field.name);
        if let Some(children) = field.children {
            declared(children, &path, found);
        }
        assert!(found.insert(path.clone(), field).is_none(), "{path} is declared twice");
    }
}

#[test]
fn every_field_of_the_reference_is_declared_and_no_other() {
    let Some(rows) = table("ecf-fields.csv") else { return };
    let mut fields = HashMap::new();
    declared(Document::FIELDS, "ECF", &mut fields);
    assert_eq!(rows.len(), 264);
    let mut order = Vec::new();
    for row in &rows {
        let path = row["path"].as_str();
        // The root has no row, and the signature is written by `xmldsig`.
        if matches!(path, "ECF" | "ECF/Signature") {
            continue;
        }
        let field = fields.remove(path).unwrap_or_else(|| panic!("{path} is not declared"));
        order.push((path.to_owned(), field));
        for receipt_type in ReceiptType::ALL {
            compare(path, field, row, receipt_type);
        }
    }
    assert!(fields.is_empty(), "not in the reference: {:?}", fields.keys());
    let mut written = Vec::new();
    in_order(Document::FIELDS, "ECF", &mut written);
    let reference: Vec<String> = order.into_iter().map(|(path, _)| path).collect();
    assert_eq!(written, reference, "the order differs");
}

fn in_order(fields: &'static [Field], path: &str, written: &mut Vec<String>) {
    for field in fields {
        let path = format!("{path}/{}", field.name);
        written.push(path.clone());
        if let Some(children) = field.children {
            in_order(children, &path, written);
        }
    }
}

fn compare(path: &str, field: &Field, row: &HashMap<String, String>, receipt_type: ReceiptType) {
    let place = format!("{path} in type {receipt_type}");
    let code = char::from(field.obligations.format_code(receipt_type));
    assert_eq!(
        code.to_string(),
        row[&format!("type{receipt_type}")],
        "{place}: obligation"
    );
    let presence = field.obligations.presence(receipt_type);
    if presence == Presence::Forbidden || code == '0' {
        return;
    }
    // A field is mandatory exactly when the schema demands it inside its parent, regardless of the format.
    let in_schema = of_type(&row["min_occurs"], receipt_type);
    let accepted_absence = matches!(field.name, "TipoIngresos") && receipt_type.is_note();
    let mandatory = in_schema == "1" || (code == '1' && !accepted_absence);
    assert_eq!(presence == Presence::Mandatory, mandatory, "{place}: presence");

    let most: u32 = of_type(&row["max_occurs"], receipt_type).parse().unwrap();
    // Small consumer invoices have up to 10,000 lines, because only their summary is sent.
    let wider = receipt_type == ReceiptType::E32 && field.name == "Item";
    assert_eq!(
        field.limit.of(receipt_type),
        if wider { 10_000 } else { most },
        "{place}: occurrences"
    );
    assert_eq!(field.repeated, most > 1, "{place}: repetition");

    let datatype = of_type(&row["datatype"], receipt_type);
    let limit = of_type(&row["max_len"], receipt_type);
    let pattern = of_type(&row["pattern_or_enum"], receipt_type);
    match field.form {
        Form::Block => assert_eq!(datatype, "container", "{place}"),
        Form::Text { max, class } => {
            assert!(
                limit.is_empty() || limit == max.to_string(),
                "{place}: length {max} is not {limit}"
            );
            let expected = match pattern {
                "" | "minLength 1" => Class::Free,
                "[0-9]{1,20}" => Class::Digits,
                r"\d{3}-\d{3}-\d{4}" => Class::Telephone,
                r"[\s\d\w]{1,15}" => Class::Words,
                "[a-zA-ZñÑáéíóúÁÉÍÓÚ,\\s]*" => Class::Letters,
                _ if pattern.contains('@') => Class::Email,
                _ if pattern.contains(r"\D[^0-9]+") => Class::Place,
                other => panic!("{place}: {other} is a new pattern"),
            };
            let resolved = match class {
                Class::DigitsButIn45 if receipt_type == ReceiptType::E45 => Class::Free,
                Class::DigitsButIn45 => Class::Digits,
                Class::Destination if receipt_type == ReceiptType::E47 => Class::Letters,
                Class::Destination => Class::Place,
                class => class,
            };
            assert_eq!(resolved, expected, "{place}: pattern {pattern}");
        }
        Form::Decimal { integers, scale, sign } => {
            let sign = match sign {
                Sign::PositiveButIn41 if receipt_type == ReceiptType::E41 => " >=0",
                Sign::Positive | Sign::PositiveButIn41 => " >0",
                Sign::NotNegative => " >=0",
                Sign::Signed => "",
            };
            assert_eq!(
                format!("decimal({},{scale}){sign}", integers + scale),
                datatype,
                "{place}"
            );
        }
        Form::Integer { min, max } => {
            // Small consumer invoices have up to 10,000 lines here too.
            let max = match max.of(receipt_type) {
                10_000 if receipt_type == ReceiptType::E32 => 1_000,
                max => max,
            };
            assert_eq!(max.to_string().len().to_string(), limit, "{place}: digits");
            let range = match (min, max) {
                (0, _) => "integer".to_owned(),
                (2, _) => "integer >1".to_owned(),
                (min, max) => format!("integer >={min} <={max}"),
            };
            assert_eq!(range, datatype, "{place}: range");
        }
        Form::Code(catalogue) => {
            let codes: Vec<&str> = catalogue.iter().map(|(code, _)| *code).collect();
            match pattern.split_once(' ') {
                Some(("enum:", listed)) => assert_eq!(codes.join(","), listed, "{place}"),
                Some(("catalogue", name)) => compare_catalogue(name, catalogue),
                _ => assert_eq!(
                    (datatype, codes.as_slice()),
                    ("integer >=0 <=1", &["0", "1"][..]),
                    "{place}"
                ),
            }
        }
        Form::Fecha => assert_eq!((datatype, limit), ("string", "10"), "{place}"),
        Form::FechaHora => assert_eq!((datatype, limit), ("string", "19"), "{place}"),
        Form::Rnc => assert_eq!(limit, "9 or 11", "{place}"),
        Form::Encf => assert_eq!(limit, "13", "{place}"),
        Form::Ncf => assert_eq!((limit, pattern), ("19", "minLength 11"), "{place}"),
        Form::ReceiptType => assert!(pattern.ends_with("31,32,33,34,41,43,44,45,46,47"), "{place}"),
    }
}

fn compare_catalogue(name: &str, catalogue: crate::field::Catalogue) {
    let rows = table(&format!("catalogues/{name}")).unwrap();
    assert_eq!(rows.len(), catalogue.len(), "{name}");
    for row in rows {
        let words = ["descripcion", "moneda", "medida", "nombre"]
            .iter()
            .find_map(|column| row.get(*column))
            .unwrap();
        let entry = catalogue.iter().find(|(code, _)| *code == row["codigo"]);
        assert_eq!(
            entry.map(|(_, words)| *words),
            Some(words.trim()),
            "{name} {}",
            row["codigo"]
        );
    }
}

#[test]
fn the_short_catalogues_have_the_words_of_the_reference() {
    let mut fields = HashMap::new();
    declared(Document::FIELDS, "ECF", &mut fields);
    for (name, path) in [
        (
            "codigos-modificacion.csv",
            "ECF/InformacionReferencia/CodigoModificacion",
        ),
        (
            "formas-pago.csv",
            "ECF/Encabezado/IdDoc/TablaFormasPago/FormaDePago/FormaPago",
        ),
        ("tipos-cuenta-pago.csv", "ECF/Encabezado/IdDoc/TipoCuentaPago"),
        ("tipos-ingresos.csv", "ECF/Encabezado/IdDoc/TipoIngresos"),
        ("tipos-pago.csv", "ECF/Encabezado/IdDoc/TipoPago"),
        ("vias-transporte.csv", "ECF/Encabezado/Transporte/ViaTransporte"),
    ] {
        if table(&format!("catalogues/{name}")).is_none() {
            return;
        }
        let Form::Code(catalogue) = fields[path].form else {
            panic!("{path} is no code")
        };
        compare_catalogue(name, catalogue);
    }
    let titles = table("catalogues/tipos-ecf.csv").unwrap();
    for (row, receipt_type) in titles.iter().zip(ReceiptType::ALL) {
        assert_eq!(
            (row["codigo"].as_str(), row["nombre"].as_str()),
            (receipt_type.as_str(), receipt_type.title())
        );
        assert_eq!(
            row["requiere_FechaVencimientoSecuencia"] == "yes",
            receipt_type.carries_expiry()
        );
    }
}
