//! Receipts as rows of a workbook, independently of the code under test.

#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test binary uses a part of it, and only one uses everything"
)]

use std::collections::{BTreeMap, BTreeSet};

use ecf::messages::Rfce;
use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Encf, Environment, Node, Numbered, ReceiptType};
use ecf_workbook::Criteria;
use quick_xml::Reader;
use quick_xml::events::Event;
use rust_xlsxwriter::{Format, Workbook, Worksheet};
use serde_json::{Value, json};

/// The cells of a row by header.
pub(crate) type Cells = BTreeMap<String, String>;

pub(crate) const ISSUER: &str = "130000001";
pub(crate) const ISSUED: &str = "01-11-2026";
pub(crate) const SIGNED: &str = "29-11-2026 10:30:00";

pub(crate) fn criteria() -> Criteria {
    Criteria {
        company: Some(ISSUER.parse().unwrap()),
        environment: Environment::CerteCF,
        today: "29-11-2026".parse().unwrap(),
    }
}

/// A line that every type may have, with this price.
pub(crate) fn line(receipt_type: ReceiptType, price: &str) -> Value {
    let mut line = json!({
        "NombreItem": "Ñame & \"yuca\" <2 lb>", "IndicadorFacturacion": 4,
        "IndicadorBienoServicio": if receipt_type == ReceiptType::E47 { 2 } else { 1 },
        "CantidadItem": 2, "PrecioUnitarioItem": price,
    });
    if receipt_type == ReceiptType::E41 {
        line["Retencion"] = json!({"IndicadorAgenteRetencionoPercepcion": 1, "MontoITBISRetenido": "0.00"});
    }
    if receipt_type == ReceiptType::E47 {
        line["Retencion"] = json!({"IndicadorAgenteRetencionoPercepcion": 1, "MontoISRRetenido": "0.10"});
    }
    if receipt_type == ReceiptType::E46 {
        line["IndicadorFacturacion"] = json!(3);
    }
    line
}

/// A receipt with these lines; missing amounts are computed.
pub(crate) fn receipt(receipt_type: ReceiptType, number: u64, lines: &[Value], modifies: Option<&str>) -> Numbered {
    let mut payload = json!({
        "Encabezado": {
            "IdDoc": {},
            "Emisor": {
                "RNCEmisor": ISSUER, "RazonSocialEmisor": "Ejemplo & Hijos SRL",
                "DireccionEmisor": "Calle Primera No. 1", "FechaEmision": ISSUED,
            },
        },
        "DetallesItems": {"Item": lines},
    });
    let header = &mut payload["Encabezado"];
    if receipt_type != ReceiptType::E43 && receipt_type != ReceiptType::E47 {
        header["IdDoc"]["TipoPago"] = json!(1);
        if receipt_type != ReceiptType::E41 {
            header["IdDoc"]["TipoIngresos"] = json!("01");
        }
        header["Comprador"] = json!({"RNCComprador": "131996035", "RazonSocialComprador": "Cliente de Prueba SRL"});
    }
    if receipt_type == ReceiptType::E34 {
        header["IdDoc"]["IndicadorNotaCredito"] = json!(0);
    }
    if let Some(modified) = modifies {
        payload["InformacionReferencia"] =
            json!({"NCFModificado": modified, "FechaNCFModificado": ISSUED, "CodigoModificacion": 3});
    }
    let rated = |line: &Value| matches!(line["IndicadorFacturacion"].as_u64(), Some(1 | 2));
    let may_be_included = !matches!(
        receipt_type,
        ReceiptType::E43 | ReceiptType::E44 | ReceiptType::E46 | ReceiptType::E47
    );
    if may_be_included && lines.iter().any(rated) {
        payload["Encabezado"]["IdDoc"]["IndicadorMontoGravado"] = json!(0);
    }
    let payload = Node::parse(payload.to_string().as_bytes()).unwrap();
    let (mut draft, _) = Draft::read(receipt_type, &payload, Amounts::Scaled)
        .unwrap_or_else(|violations| panic!("{receipt_type}: {violations:#?}"));
    draft.complete(&IscRates::of(Environment::CerteCF));
    let ecf = draft
        .check()
        .unwrap_or_else(|violations| panic!("{receipt_type}: {violations:#?}"));
    let expiry = "31-12-2028".parse().unwrap();
    ecf.numbered(Encf::new(receipt_type, number).unwrap(), Some(expiry))
        .unwrap()
}

pub(crate) fn xml(numbered: &Numbered) -> String {
    String::from_utf8(numbered.to_xml(SIGNED.parse().unwrap())).unwrap()
}

pub(crate) fn summary_xml(numbered: &Numbered) -> String {
    String::from_utf8(Rfce::of(numbered, "a+/9Zé").unwrap().to_xml()).unwrap()
}

const REPEATED: [&str; 11] = [
    "FormaDePago",
    "TelefonoEmisor",
    "ImpuestoAdicional",
    "ImpuestoAdicionalOtraMoneda",
    "Item",
    "CodigosItem",
    "SubcantidadItem",
    "SubDescuento",
    "SubRecargo",
    "DescuentoORecargo",
    "Pagina",
];

/// A document as the cells of its row.
pub(crate) fn cells(xml: &str) -> Cells {
    let mut reader = Reader::from_str(xml);
    let mut cells = Cells::new();
    let mut path: Vec<String> = Vec::new();
    // How often each repeated element occurred in each open element.
    let mut counts: Vec<BTreeMap<String, usize>> = vec![BTreeMap::new()];
    let mut indices: Vec<usize> = Vec::new();
    let mut text = String::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                let name = start.local_name().as_ref().to_owned();
                if REPEATED.contains(&name.as_str()) {
                    let count = counts.last_mut().unwrap().entry(name.clone()).or_default();
                    *count += 1;
                    indices.push(*count);
                }
                path.push(name);
                counts.push(BTreeMap::new());
                text.clear();
            }
            Event::Text(part) => text.push_str(&part),
            Event::GeneralRef(reference) => {
                let reference: &str = &reference;
                text.push_str(&quick_xml::escape::unescape(&format!("&{reference};")).unwrap());
            }
            Event::End(_) => {
                let name = path.last().unwrap().clone();
                if !text.is_empty() && !matches!(name.as_str(), "FechaHoraFirma" | "CodigoSeguridadeCF") {
                    let parent = &path[path.len() - 2];
                    let name = match (name.as_str(), parent.as_str()) {
                        ("eNCF", _) => "ENCF",
                        ("MontoSubRecargo", _) => "MontosubRecargo",
                        ("NumeroLinea", "DescuentoORecargo") => "NumeroLineaDoR",
                        (name, _) => name,
                    };
                    let mut header = name.to_owned();
                    for index in &indices {
                        header.push_str(&format!("[{index}]"));
                    }
                    cells.insert(header, text.clone());
                }
                text.clear();
                counts.pop();
                if REPEATED.contains(&path.pop().unwrap().as_str()) {
                    indices.pop();
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let key = format!("{}{}", cells["RNCEmisor"], cells["ENCF"]);
    cells.insert("CasoPrueba".to_owned(), key);
    cells
}

/// How a cell is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Text,
    /// Amounts as numbers with their decimals shown, dates as numbers with a date format.
    Number,
    /// The same as results of formulas.
    Formula,
}

/// The headers of rows, with some that no row needs.
pub(crate) fn headers(rows: &[Cells]) -> Vec<String> {
    let mut headers: BTreeSet<String> = rows.iter().flat_map(|row| row.keys().cloned()).collect();
    headers.remove("CasoPrueba");
    headers.extend(
        [
            "NumeroContenedor ",
            "SubtotalImpuestoAdicionalPaginaTabla[1]",
            "ZonaVenta",
        ]
        .map(str::to_owned),
    );
    let mut ordered = vec!["CasoPrueba".to_owned()];
    ordered.extend(headers);
    ordered
}

pub(crate) fn fill(sheet: &mut Worksheet, rows: &[Cells], style: impl Fn(usize, &str) -> Style) {
    for (column, header) in headers(rows).iter().enumerate() {
        let column = u16::try_from(column).unwrap();
        sheet.write_string(0, column, header).unwrap();
        for (row, cells) in (1..).zip(rows) {
            match cells.get(header) {
                Some(text) => write(sheet, row, column, text, style(row as usize, header)),
                None => {
                    sheet.write_string(row, column, "#e").unwrap();
                }
            }
        }
    }
}

fn write(sheet: &mut Worksheet, row: u32, column: u16, text: &str, style: Style) {
    let days = moment(text);
    let decimals = text.split_once('.').map(|(_, rest)| rest.len());
    let number: Option<f64> = text.parse().ok().filter(|_| text.len() < 14);
    let amount = number.filter(|_| decimals.is_some() && text != "1.0");
    let (number, format) = match (days, amount, decimals) {
        (Some(days), ..) if text.len() > 10 => (days, Format::new().set_num_format("dd-mm-yyyy hh:mm:ss")),
        (Some(days), ..) => (days, Format::new().set_num_format("dd-mm-yyyy")),
        (None, Some(amount), Some(decimals)) => {
            let format = format!("#,##0.{}", "0".repeat(decimals));
            (amount, Format::new().set_num_format(format))
        }
        _ => {
            sheet.write_string(row, column, text).unwrap();
            return;
        }
    };
    match style {
        Style::Text => {
            sheet.write_string(row, column, text).unwrap();
        }
        Style::Number => {
            sheet.write_number_with_format(row, column, number, &format).unwrap();
        }
        Style::Formula => {
            let formula = rust_xlsxwriter::Formula::new("=A1").set_result(number.to_string());
            sheet.write_formula_with_format(row, column, formula, &format).unwrap();
        }
    }
}

/// The days of a date, with or without a time, in a spreadsheet.
fn moment(text: &str) -> Option<f64> {
    let Some((day, time)) = text.split_once(' ') else {
        return date(text);
    };
    let parts: Vec<f64> = time.split(':').filter_map(|part| part.parse().ok()).collect();
    let ([hour, minute, second], 8) = (parts.as_slice(), time.len()) else {
        return None;
    };
    Some(date(day)? + ((hour * 60.0 + minute) * 60.0 + second) / 86_400.0)
}

/// The days of a date in a spreadsheet.
fn date(text: &str) -> Option<f64> {
    let parts: Vec<i64> = text.split('-').filter_map(|part| part.parse().ok()).collect();
    let ([day, month, year], 10) = (parts.as_slice(), text.len()) else {
        return None;
    };
    let leap = |year: i64| i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    let lengths = [31, 28 + leap(*year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let years: i64 = (1900..*year).map(|year| 365 + leap(year)).sum();
    let months: i64 = lengths.iter().take(usize::try_from(month - 1).ok()?).sum();
    // One day more, because spreadsheets believe in a 29 February 1900.
    Some((years + months + day + 1) as f64)
}

/// A workbook as the portal gives it: all cells are text.
pub(crate) fn workbook(receipts: &[Cells], summaries: &[Cells]) -> Vec<u8> {
    styled(receipts, summaries, |_, _| Style::Text)
}

pub(crate) fn styled(receipts: &[Cells], summaries: &[Cells], style: impl Fn(usize, &str) -> Style) -> Vec<u8> {
    let mut book = Workbook::new();
    fill(book.add_worksheet().set_name("ECF").unwrap(), receipts, &style);
    fill(book.add_worksheet().set_name("RFCE").unwrap(), summaries, &style);
    book.save_to_buffer().unwrap()
}

/// A workbook with one sheet.
pub(crate) fn only(name: &str, rows: &[Cells], style: impl Fn(usize, &str) -> Style) -> Vec<u8> {
    let mut book = Workbook::new();
    fill(book.add_worksheet().set_name(name).unwrap(), rows, style);
    book.save_to_buffer().unwrap()
}

/// A small suite: an invoice, two consumer invoices, one of them below the threshold, and two notes.
pub(crate) fn small() -> (Vec<Numbered>, Vec<Cells>, Vec<Cells>) {
    let lines = |receipt_type, price: &str| vec![line(receipt_type, price), line(receipt_type, "1.2500")];
    let receipt = |receipt_type, number, price: &str, modifies: Option<&str>| {
        receipt(receipt_type, number, &lines(receipt_type, price), modifies)
    };
    let receipts = vec![
        receipt(ReceiptType::E34, 1, "10", Some("E310000000007")),
        receipt(ReceiptType::E33, 1, "10", Some("E320000000002")),
        receipt(ReceiptType::E32, 1, "500", None),
        receipt(ReceiptType::E32, 2, "300000", None),
        receipt(ReceiptType::E31, 7, "500", None),
    ];
    let rows = receipts.iter().map(|receipt| cells(&xml(receipt))).collect();
    let summaries = receipts.iter().filter(|receipt| receipt.goes_as_summary());
    let summaries = summaries.map(|receipt| cells(&summary_xml(receipt))).collect();
    (receipts, rows, summaries)
}
