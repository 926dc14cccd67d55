//! The workbook of commercial approvals.

use calamine::Reader as _;
use ecf::messages::Acecf;
use ecf::{Encf, Monto, Node};
use ecf_language::say;

use crate::columns::APPROVAL;
use crate::compare::{self, Difference, Unreadable};
use crate::file;
use crate::finding::{Finding, Findings, codes};
use crate::row::Row;
use crate::sheet;
use crate::suite::{Criteria, judge_company, read_rows, would_differ};

/// A workbook whose approvals can all be sent.
#[derive(Debug, Clone)]
pub struct Approvals {
    /// In the order of the workbook, which is that of sending.
    pub approvals: Vec<Approval>,
    /// Findings that do not stop the run.
    pub notices: Findings,
}

/// A row.
#[derive(Debug, Clone)]
pub struct Approval {
    row: Row,
    encf: Encf,
    acecf: Acecf,
}

const SHEET: &str = "ACEECF_Generadas";
const KEY: &str = "Estado";
const TOTAL: &str = "MontoTotal";

impl Approval {
    /// The row as the spreadsheet counts, from 1.
    pub fn row(&self) -> u32 {
        self.row.number
    }

    /// The number of the receipt that is answered.
    pub fn encf(&self) -> Encf {
        self.encf
    }

    /// The message, ready to be signed.
    pub fn acecf(&self) -> &Acecf {
        &self.acecf
    }

    /// The row as a tree that has the shape of the message.
    pub fn document(&self) -> &Node {
        &self.row.document
    }

    /// The differences between the row and a message, signed or not. Totals are compared as amounts, since the message
    /// has two decimals in any case.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML.
    pub fn differences(&self, xml: &[u8]) -> Result<Vec<Difference>, Unreadable> {
        compare::differences(&self.row, &APPROVAL, xml, &[], |name, cell, written| {
            if name == TOTAL {
                let amount = |text: &str| text.parse::<Monto>().ok();
                let has_two_decimals = written.rsplit_once('.').is_some_and(|(_, rest)| rest.len() == 2);
                has_two_decimals && amount(cell).is_some() && amount(cell) == amount(written)
            } else {
                cell == written
            }
        })
    }
}

/// Reads the workbook of approvals and judges all its rows.
///
/// # Errors
///
/// Every finding, if one of them stops the run.
pub fn approvals(bytes: &[u8], criteria: &Criteria) -> Result<Approvals, Findings> {
    file::guarded(|| read(bytes, criteria))
}

fn read(bytes: &[u8], criteria: &Criteria) -> Result<Approvals, Findings> {
    let mut findings = Findings::default();
    let mut book = file::open(bytes)?;
    let names = book.sheet_names();
    let only = match names.as_slice() {
        [name] => Some(name.clone()),
        _ => None,
    };
    let name = sheet::find(&book, SHEET).or(only).ok_or_else(|| {
        let message = say!(
            "the workbook has no sheet {SHEET}, only {}",
            "el libro no tiene la hoja {SHEET}, solo {}",
            names.join(", ")
        );
        Finding::new(codes::NO_SHEET, message)
    })?;
    let sheet = match sheet::read(&mut book, &name, KEY, &mut findings) {
        Ok(sheet) => sheet,
        Err(finding) => {
            findings.push(finding);
            return Err(findings);
        }
    };
    let mut approvals: Vec<Approval> = Vec::new();
    for row in read_rows(sheet, &APPROVAL, &mut findings) {
        judge_company(&row, criteria, "RNCComprador", &mut findings);
        let acecf = match Acecf::from_node(&row.document) {
            Ok(acecf) => acecf,
            Err(violations) => {
                let violations = violations.into_iter();
                findings.extend(violations.map(|violation| row.finding_of(violation, &APPROVAL)));
                continue;
            }
        };
        let Some(encf) = acecf.detalle_aprobacion_comercial.encf else {
            continue;
        };
        if let Some(other) = approvals.iter().find(|other| other.encf == encf) {
            let message = say!(
                "{encf} is also answered in row {}",
                "{encf} también se responde en la fila {}",
                other.row()
            );
            findings.push(row.finding_at("ENCF", codes::NUMBER_TWICE, message));
        }
        let approval = Approval { row, encf, acecf };
        would_differ(
            &approval.row,
            approval.differences(&approval.acecf.to_xml()),
            &mut findings,
        );
        approvals.push(approval);
    }
    if findings.stop() {
        return Err(findings);
    }
    Ok(Approvals {
        approvals,
        notices: findings,
    })
}
