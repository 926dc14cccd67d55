//! The authority's certification data: every row becomes a receipt without changes, valid under the official schema,
//! and no rule rejects it.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "certification/workbook.rs"]
mod workbook;

mod schema;

use std::collections::BTreeMap;

use ecf::catalogue::EstadoAprobacion;
use ecf::messages::Acecf;
use ecf::messages::acecf::Answered;
use ecf::rules::{OnConditional, judge};
use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Ecf, Environment, Fecha, Grade, Monto, ReceiptType, Violation};

use workbook::{Row, SUITES};

fn today() -> Fecha {
    "27-11-2026".parse().unwrap()
}

fn receipt_type(row: &Row) -> ReceiptType {
    row["TipoeCF"].parse().unwrap()
}

/// The receipt of a row, and the findings about it.
fn issue(row: &Row) -> (Ecf, Vec<Violation>) {
    let payload = workbook::payload(row, receipt_type(row));
    let read = Draft::read(receipt_type(row), &payload, Amounts::Verbatim);
    let (mut draft, mut told) = read.unwrap_or_else(|violations| panic!("{}: {violations:#?}", row["ENCF"]));
    let rates = IscRates::of(Environment::CerteCF);
    assert_eq!(
        draft.complete(&rates),
        [],
        "{}: verbatim amounts are never added to",
        row["ENCF"]
    );
    let judged = judge(draft, Environment::CerteCF, today(), &rates, OnConditional::Refuse);
    let (ecf, warnings) = judged.unwrap_or_else(|violations| panic!("{}: {violations:#?}", row["ENCF"]));
    told.extend(warnings);
    (ecf, told)
}

fn xml(ecf: Ecf) -> String {
    let encf = *ecf.encf().unwrap();
    let numbered = ecf.numbered(encf, None).unwrap();
    String::from_utf8(numbered.to_xml("27-11-2026 10:30:00".parse().unwrap())).unwrap()
}

#[test]
fn no_row_of_the_workbooks_is_refused_and_each_is_valid_under_its_schema() {
    let mut documents: BTreeMap<ReceiptType, Vec<(String, String)>> = BTreeMap::new();
    if SUITES.is_empty() {
        return;
    }
    for (workbook, rows) in SUITES.iter() {
        assert_eq!(rows.len(), 25, "{workbook}");
        for row in rows {
            let (ecf, told) = issue(row);
            assert!(
                told.iter().all(|violation| violation.grade == Grade::Notice),
                "{told:#?}"
            );
            let case = format!("{}-{}", workbook.trim_end_matches(".xlsx"), row["ENCF"]);
            documents.entry(receipt_type(row)).or_default().push((case, xml(ecf)));
        }
    }
    assert_eq!(documents.len(), 10);
    for (receipt_type, documents) in &documents {
        if !schema::validate_all(&format!("e-CF-{receipt_type}"), documents) {
            return;
        }
    }
}

/// Every cell appears in the XML exactly as in the sheet.
#[test]
fn every_cell_is_written_as_it_stands() {
    for (_, rows) in SUITES.iter() {
        for row in rows {
            let written = xml(issue(row).0);
            let mut values: Vec<&str> = values(&written);
            for (header, cell) in row.iter().filter(|(header, _)| *header != "CasoPrueba") {
                let cell = cell.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                let place = values.iter().position(|value| *value == cell);
                let place = place.unwrap_or_else(|| panic!("{}: {header} {cell:?} is not written", row["ENCF"]));
                values.swap_remove(place);
            }
            assert_eq!(
                values,
                ["27-11-2026 10:30:00"],
                "{}: more is written than the row says",
                row["ENCF"]
            );
        }
    }
}

/// The text of every element that has text.
fn values(xml: &str) -> Vec<&str> {
    xml.split('<')
        .filter_map(|piece| piece.split_once('>'))
        .filter(|(_, text)| !text.is_empty())
        .map(|(_, text)| text)
        .collect()
}

/// The authority's own data differ by a cent in three rows.
#[test]
fn the_known_differences_of_a_cent_are_notices_and_no_other_amount_differs() {
    if SUITES.is_empty() {
        return;
    }
    let mut found = Vec::new();
    for (_, rows) in SUITES.iter() {
        for row in rows {
            let told = issue(row).1;
            let amounts = told
                .iter()
                .filter_map(|violation| Some((violation, violation.difference.as_ref()?)));
            found.extend(amounts.map(|(violation, difference)| {
                let field = violation.path.last().unwrap();
                format!("{} {field} {difference} {}", row["ENCF"], violation.code)
            }));
        }
    }
    found.sort();
    let expected = [
        "E310000000002 MontoTotal +0.01 TOTALES-05",
        "E310000000003 MontoImpuestoAdicional -0.01 TOTALES-04",
        "E410000000007 TotalISRRetencion +0.01 RETENCION-06",
        "E410000000007 TotalITBISRetenido +0.01 RETENCION-06",
    ];
    assert_eq!(found, expected);
}

/// The certification's third step: each row becomes an approval or rejection that is valid under the official schema.
#[test]
fn every_row_of_the_approvals_workbooks_becomes_a_valid_approval() {
    let mut documents = Vec::new();
    let mut rejections = 0;
    for workbook in ["suite-1-acecf.xlsx", "suite-2-acecf.xlsx"] {
        let Some(rows) = workbook::rows(workbook) else {
            return;
        };
        assert!((10..=13).contains(&rows.len()), "{workbook}: {}", rows.len());
        for row in &rows {
            let cell = |name: &str| row.get(name).map(String::as_str);
            let estado: EstadoAprobacion = cell("Estado").unwrap().parse().unwrap();
            let answered = Answered {
                rnc_emisor: cell("RNCEmisor").unwrap().parse().unwrap(),
                encf: cell("eNCF").or(cell("ENCF")).unwrap().parse().unwrap(),
                fecha_emision: cell("FechaEmision").unwrap().parse().unwrap(),
                // A number in the sheet.
                monto_total: Monto::parse(cell("MontoTotal").unwrap(), Amounts::Verbatim).unwrap(),
                rnc_comprador: cell("RNCComprador").unwrap().parse().unwrap(),
            };
            let at = cell("FechaHoraAprobacionComercial").unwrap().parse().unwrap();
            let acecf = match estado {
                EstadoAprobacion::Aceptado => Acecf::approved(answered, at),
                EstadoAprobacion::Rechazado => {
                    rejections += 1;
                    let reason = cell("DetalleMotivoRechazo").map(|reason| reason.parse().unwrap());
                    Acecf::rejected(answered, reason, at)
                }
            };
            let written = String::from_utf8(acecf.to_xml()).unwrap();
            for name in [
                "RNCEmisor",
                "FechaEmision",
                "RNCComprador",
                "Estado",
                "FechaHoraAprobacionComercial",
            ] {
                let element = format!("<{name}>{}</{name}>", cell(name).unwrap());
                assert!(written.contains(&element), "{element}: {written}");
            }
            let case = format!("{}-{}", workbook.trim_end_matches(".xlsx"), documents.len());
            documents.push((case, written));
        }
    }
    if !documents.is_empty() && schema::validate_all("ACECF", &documents) {
        assert_eq!((documents.len() > 20, rejections), (true, 1));
    }
}
