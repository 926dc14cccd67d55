//! The workbook of e-CF: receipts in the sheet ECF, summaries in the sheet RFCE.

use std::collections::{HashMap, HashSet};

use ecf::messages::{Rfce, SecurityCodeError};
use ecf::rules::{OnConditional, judge};
use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Ecf, Encf, Environment, Fecha, FechaHora, Node, Numbered, ReceiptType, Rnc, Violation};
use ecf_language::{Bilingual, Say, say};

use crate::columns::{Columns, RECEIPT, SUMMARY};
use crate::compare::{self, Difference, Unreadable};
use crate::file;
use crate::finding::{Finding, Findings, codes};
use crate::row::{self, Row};
use crate::sheet;

/// By what rows are judged.
#[derive(Debug, Clone)]
pub struct Criteria {
    /// The company that is certified; rows of another one are findings.
    pub company: Option<Rnc>,
    /// Where the rows are sent.
    pub environment: Environment,
    /// The day of the run.
    pub today: Fecha,
}

/// A workbook whose rows can all be sent.
#[derive(Debug, Clone)]
pub struct Suite {
    /// In the order of the workbook.
    pub receipts: Vec<Receipt>,
    /// In the order of the workbook.
    pub summaries: Vec<Summary>,
    /// Findings that do not stop the run.
    pub notices: Findings,
}

/// A row of the sheet ECF.
#[derive(Debug, Clone)]
pub struct Receipt {
    row: Row,
    numbered: Numbered,
}

/// A row of the sheet RFCE.
#[derive(Debug, Clone)]
pub struct Summary {
    row: Row,
    encf: Encf,
    summary: Rfce,
}

const RECEIPTS: &str = "ECF";
const SUMMARIES: &str = "RFCE";
const NUMBER: &str = "ENCF";
/// What signing the full invoice yields.
const SECURITY_CODE: &str = "CodigoSeguridadeCF";
/// Stands for the security code until the full invoice is signed.
const NO_CODE: &str = "000000";

impl Receipt {
    /// The row as the spreadsheet counts, from 1.
    pub fn row(&self) -> u32 {
        self.row.number
    }

    /// The prescribed number.
    pub fn encf(&self) -> Encf {
        self.numbered.encf()
    }

    /// The receipt exactly as its row, ready to be signed.
    pub fn numbered(&self) -> &Numbered {
        &self.numbered
    }

    /// The row as the payload of a request with `amounts=verbatim`.
    pub fn payload(&self) -> &Node {
        &self.row.document
    }

    /// The receipt that this note modifies.
    pub fn modifies(&self) -> Option<Encf> {
        let is_note = self.numbered.receipt_type().is_note();
        let modified = self.numbered.ncf_modificado().filter(|_| is_note)?;
        modified.encf()
    }

    /// The differences between the row and a document, signed or not. The signing time and the signature are not
    /// compared.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML.
    pub fn differences(&self, xml: &[u8]) -> Result<Vec<Difference>, Unreadable> {
        compare::differences(&self.row, &RECEIPT, xml, &[], |_, cell, written| cell == written)
    }
}

impl Summary {
    /// The row as the spreadsheet counts, from 1.
    pub fn row(&self) -> u32 {
        self.row.number
    }

    /// The number of the full invoice.
    pub fn encf(&self) -> Encf {
        self.encf
    }

    /// The row as a tree that has the shape of the summary.
    pub fn document(&self) -> &Node {
        &self.row.document
    }

    /// The summary exactly as its row, with the security code of the signed full invoice.
    ///
    /// # Errors
    ///
    /// When the code is not six characters long.
    pub fn with_security_code(&self, security_code: &str) -> Result<Rfce, SecurityCodeError> {
        self.summary.clone().with_security_code(security_code)
    }

    /// The differences between the row and a summary, signed or not. The security code is not compared.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML.
    pub fn differences(&self, xml: &[u8]) -> Result<Vec<Difference>, Unreadable> {
        let equal = |_: &str, cell: &str, written: &str| cell == written;
        compare::differences(&self.row, &SUMMARY, xml, &[SECURITY_CODE], equal)
    }
}

/// Reads the workbook of e-CF and judges all its rows.
///
/// # Errors
///
/// Every finding, if one of them stops the run.
pub fn receipts(bytes: &[u8], criteria: &Criteria) -> Result<Suite, Findings> {
    file::guarded(|| read(bytes, criteria))
}

fn read(bytes: &[u8], criteria: &Criteria) -> Result<Suite, Findings> {
    let mut findings = Findings::default();
    let mut book = file::open(bytes)?;
    let name = sheet_named(&book, RECEIPTS)?;
    let sheet = sheet::read(&mut book, &name, NUMBER, &mut findings);
    let sheet = match sheet {
        Ok(sheet) => sheet,
        Err(finding) => {
            findings.push(finding);
            return Err(findings);
        }
    };
    let rates = IscRates::of(criteria.environment);
    let rows = read_rows(sheet, &RECEIPT, &mut findings);
    let mut known = Known {
        receipts: numbers(&rows),
        summaries: HashSet::new(),
    };
    let receipts: Vec<Receipt> = rows
        .into_iter()
        .filter_map(|row| receipt(row, criteria, &rates, &mut findings))
        .collect();
    let needs_summaries = receipts.iter().any(|receipt| receipt.numbered.goes_as_summary());
    let mut summaries = Vec::new();
    match sheet_named(&book, SUMMARIES) {
        Ok(name) => match sheet::read(&mut book, &name, NUMBER, &mut findings) {
            Ok(sheet) => {
                let rows = read_rows(sheet, &SUMMARY, &mut findings);
                known.summaries = numbers(&rows);
                for row in rows {
                    summaries.extend(summary(row, criteria, &mut findings));
                }
            }
            // A suite without small consumer invoices has no summaries.
            Err(finding) if finding.code == codes::NO_ROWS && !needs_summaries => {}
            Err(finding) => findings.push(finding),
        },
        Err(finding) if needs_summaries => findings.push(finding),
        Err(_) => {}
    }
    let suite = Suite {
        receipts,
        summaries,
        notices: Findings::default(),
    };
    judge_numbers(&suite, &mut findings);
    judge_references(&suite, &known, &mut findings);
    judge_summaries(&suite, &known, &mut findings);
    if findings.stop() {
        return Err(findings);
    }
    Ok(Suite {
        notices: findings,
        ..suite
    })
}

/// The numbers of all rows, also of those that cannot be sent: one mistake is reported once.
struct Known {
    receipts: HashSet<String>,
    summaries: HashSet<String>,
}

fn numbers(rows: &[Row]) -> HashSet<String> {
    rows.iter()
        .filter_map(|row| row.text(NUMBER))
        .map(str::to_owned)
        .collect()
}

fn sheet_named(book: &file::Book<'_>, wanted: &str) -> Result<String, Finding> {
    use calamine::Reader as _;
    sheet::find(book, wanted).ok_or_else(|| {
        let message = say!(
            "the workbook has no sheet {wanted}, only {}: download it again from the portal",
            "el libro no tiene la hoja {wanted}, solo {}: descárguelo otra vez del portal",
            book.sheet_names().join(", ")
        );
        Finding::new(codes::NO_SHEET, message)
    })
}

/// The rows with their cells assigned to fields.
pub(crate) fn read_rows(mut sheet: sheet::Sheet, columns: &Columns, findings: &mut Findings) -> Vec<Row> {
    let assigned = row::assign(&sheet, columns, findings);
    let raw = std::mem::take(&mut sheet.rows);
    raw.into_iter()
        .map(|raw| Row::read(raw, &sheet, &assigned, findings))
        .filter(|row| !row.cells.is_empty() || row.key.is_some())
        .collect()
}

/// Judges a row. `None` when it cannot be sent.
fn receipt(row: Row, criteria: &Criteria, rates: &IscRates, findings: &mut Findings) -> Option<Receipt> {
    judge_key(&row, findings);
    judge_company(&row, criteria, "RNCEmisor", findings);
    let at = |violation: Violation| row.finding_of(violation, &RECEIPT);
    let given = row.text("TipoeCF").unwrap_or_default();
    let receipt_type: ReceiptType = match given.parse() {
        Ok(receipt_type) => receipt_type,
        Err(unknown) => {
            let code = if given.is_empty() {
                ecf::codes::MISSING
            } else {
                ecf::codes::UNKNOWN_TYPE
            };
            findings.push(row.finding_at("TipoeCF", code, unknown.say()));
            return None;
        }
    };
    let Some(encf) = row.text(NUMBER) else {
        let message = say!("the row has no number", "la fila no tiene número");
        findings.push(row.finding_at(NUMBER, ecf::codes::MISSING, message));
        return None;
    };
    let number = encf.parse::<Encf>();
    let draft = match Draft::read(receipt_type, &row.document, Amounts::Verbatim) {
        Ok((draft, notices)) => {
            findings.extend(notices.into_iter().map(at));
            draft
        }
        Err(violations) => {
            findings.extend(violations.into_iter().map(at));
            return None;
        }
    };
    // The data are prescribed, so nobody can correct what the authority accepts only conditionally.
    let judged = judge(draft, criteria.environment, criteria.today, rates, OnConditional::Warn);
    let (ecf, notices): (Ecf, Vec<Violation>) = match judged {
        Ok(judged) => judged,
        Err(violations) => {
            findings.extend(violations.into_iter().map(at));
            return None;
        }
    };
    findings.extend(notices.into_iter().map(at));
    let numbered = match number.map(|number| ecf.numbered(number, None)) {
        Ok(Ok(numbered)) => numbered,
        Ok(Err(violation)) => {
            findings.push(at(*violation));
            return None;
        }
        Err(error) => {
            findings.push(row.finding_at(NUMBER, ecf::codes::NOT_AN_ENCF, error.say()));
            return None;
        }
    };
    let receipt = Receipt { row, numbered };
    let signed_at = format!("{} 00:00:00", criteria.today).parse::<FechaHora>();
    let signed_at = signed_at.expect("a day and midnight are a time");
    would_differ(
        &receipt.row,
        receipt.differences(&receipt.numbered.to_xml(signed_at)),
        findings,
    );
    Some(receipt)
}

fn summary(row: Row, criteria: &Criteria, findings: &mut Findings) -> Option<Summary> {
    judge_key(&row, findings);
    judge_company(&row, criteria, "RNCEmisor", findings);
    let summary = match Rfce::prescribed(&row.document, NO_CODE) {
        Ok(summary) => summary,
        Err(violations) => {
            findings.extend(
                violations
                    .into_iter()
                    .map(|violation| row.finding_of(violation, &SUMMARY)),
            );
            return None;
        }
    };
    if let Some(code) = row.text(SECURITY_CODE) {
        let message = say!(
            "{SECURITY_CODE} {code} is prescribed, but it follows from the signature: expected is #e",
            "{SECURITY_CODE} {code} está prescrito, pero resulta de la firma: se esperaba #e"
        );
        findings.push(row.finding_at(SECURITY_CODE, codes::WOULD_DIFFER, message));
    }
    let encf = summary.encabezado.id_doc.encf?;
    let summary = Summary { row, encf, summary };
    would_differ(&summary.row, summary.differences(&summary.summary.to_xml()), findings);
    Some(summary)
}

/// The last check: what would be sent is what the cells say.
pub(crate) fn would_differ(row: &Row, differences: Result<Vec<Difference>, Unreadable>, findings: &mut Findings) {
    let differences = match differences {
        Ok(differences) => differences,
        Err(unreadable) => {
            let message = Bilingual::of(&unreadable, "no se puede leer el documento que se enviaría");
            findings.push(row.finding(codes::WOULD_DIFFER, message));
            return;
        }
    };
    for difference in differences {
        let path = &difference.path;
        let message = match &difference.written {
            Some(written) => say!(
                "{path} would be sent as {written:?}, which is not what the cell says",
                "{path} se enviaría como {written:?}, que no es lo que dice la celda"
            ),
            None => say!(
                "{path} would not be sent, but the cell has a value",
                "{path} no se enviaría, pero la celda tiene un valor"
            ),
        };
        let mut finding = row.finding(codes::WOULD_DIFFER, message);
        finding.column = difference.column.map(Into::into);
        finding.header = difference.header.map(Into::into);
        if let Some(cell) = &difference.cell {
            finding = finding.with_cell(cell);
        }
        findings.push(finding);
    }
}

fn judge_key(row: &Row, findings: &mut Findings) {
    let Some(key) = &row.key else { return };
    let expected = format!(
        "{}{}",
        row.text("RNCEmisor").unwrap_or_default(),
        row.text(NUMBER).unwrap_or_default()
    );
    if *key != expected {
        let message = say!(
            "CasoPrueba is {key}, but RNCEmisor and {NUMBER} of the row are {expected}: the cells are shifted",
            "CasoPrueba es {key}, pero RNCEmisor y {NUMBER} de la fila son {expected}: las celdas están corridas"
        );
        findings.push(row.finding_at("CasoPrueba", codes::OTHER_KEY, message).with_cell(key));
    }
}

pub(crate) fn judge_company(row: &Row, criteria: &Criteria, header: &str, findings: &mut Findings) {
    if let (Some(company), Some(given)) = (&criteria.company, row.text(header))
        && given != company.as_str()
    {
        let message = say!(
            "{header} is {given}, but the company of this key is {company}: it is another company's workbook",
            "{header} es {given}, pero la empresa de esta clave es {company}: el libro es de otra empresa"
        );
        findings.push(row.finding_at(header, codes::OTHER_COMPANY, message));
    }
}

/// Within a sheet, a number is used once.
fn judge_numbers(suite: &Suite, findings: &mut Findings) {
    let receipts = suite.receipts.iter().map(|receipt| (receipt.encf(), &receipt.row));
    let summaries = suite.summaries.iter().map(|summary| (summary.encf, &summary.row));
    for rows in [receipts.collect::<Vec<_>>(), summaries.collect()] {
        let mut seen = HashMap::new();
        for (encf, row) in rows {
            if let Some(other) = seen.insert(encf, row.number) {
                let message = say!(
                    "{encf} is also the number of row {other}",
                    "{encf} también es el número de la fila {other}"
                );
                findings.push(row.finding_at(NUMBER, codes::NUMBER_TWICE, message));
            }
        }
    }
}

/// A note modifies a receipt of the same workbook, and repeats its date.
fn judge_references(suite: &Suite, known: &Known, findings: &mut Findings) {
    let receipts: HashMap<Encf, &Receipt> = suite.receipts.iter().map(|receipt| (receipt.encf(), receipt)).collect();
    for note in &suite.receipts {
        if !note.numbered.receipt_type().is_note() {
            continue;
        }
        let row = &note.row;
        let Some(modified) = note.modifies().and_then(|encf| receipts.get(&encf)) else {
            if row
                .text("NCFModificado")
                .is_some_and(|number| known.receipts.contains(number))
            {
                continue;
            }
            let message = say!(
                "the receipt that the note modifies is no row of this workbook, so the authority does not know it",
                "el comprobante que la nota modifica no es una fila de este libro, así que la DGII no lo conoce"
            );
            findings.push(row.finding_at("NCFModificado", codes::NO_REFERENCE, message));
            continue;
        };
        if suite.modified(note.encf()).count() == suite.receipts.len() {
            let message = say!(
                "the notes modify each other in a circle",
                "las notas se modifican entre sí en un círculo"
            );
            findings.push(row.finding_at("NCFModificado", codes::NO_REFERENCE, message));
        }
        let issued = modified.numbered.fecha_emision();
        let reference = &note.numbered.document().informacion_referencia;
        if reference.fecha_ncf_modificado != Some(issued) {
            let message = say!(
                "{} was issued on {issued}, in row {}",
                "{} se emitió el {issued}, en la fila {}",
                modified.encf(),
                modified.row()
            );
            findings.push(row.finding_at("FechaNCFModificado", codes::OTHER_REFERENCE_DATE, message));
        }
    }
}

/// Consumer invoices below the threshold and summaries belong together.
fn judge_summaries(suite: &Suite, known: &Known, findings: &mut Findings) {
    let small: Vec<&Receipt> = suite
        .receipts
        .iter()
        .filter(|receipt| receipt.numbered.goes_as_summary())
        .collect();
    for receipt in &small {
        if !known.summaries.contains(&receipt.encf().to_string()) {
            let message = say!(
                "{} is a consumer invoice below RD$250,000.00 and has no row in the sheet {SUMMARIES}",
                "{} es una factura de consumo menor de RD$250,000.00 y no tiene fila en la hoja {SUMMARIES}",
                receipt.encf()
            );
            findings.push(receipt.row.finding_at(NUMBER, codes::NO_SUMMARY, message));
        }
    }
    for summary in &suite.summaries {
        let row = &summary.row;
        let Some(receipt) = small.iter().find(|receipt| receipt.encf() == summary.encf) else {
            let is_broken = !suite.receipts.iter().any(|receipt| receipt.encf() == summary.encf);
            if is_broken && known.receipts.contains(&summary.encf.to_string()) {
                continue;
            }
            let message = say!(
                "{} is no consumer invoice below RD$250,000.00 of the sheet {RECEIPTS}",
                "{} no es una factura de consumo menor de RD$250,000.00 de la hoja {RECEIPTS}",
                summary.encf
            );
            findings.push(row.finding_at(NUMBER, codes::NO_FULL_INVOICE, message));
            continue;
        };
        let header = &summary.summary.encabezado;
        let total = receipt.numbered.monto_total();
        if header.totales.monto_total.as_ref() != Some(total) {
            let message = say!(
                "the full invoice in row {} of {RECEIPTS} has the total {total}",
                "la factura completa en la fila {} de {RECEIPTS} tiene el total {total}",
                receipt.row()
            );
            findings.push(row.finding_at("MontoTotal", codes::SUMMARY_DIFFERS, message));
        }
        let issued = receipt.numbered.fecha_emision();
        if header.emisor.fecha_emision != Some(issued) {
            let message = say!(
                "the full invoice in row {} of {RECEIPTS} has the date {issued}",
                "la factura completa en la fila {} de {RECEIPTS} tiene la fecha {issued}",
                receipt.row()
            );
            findings.push(row.finding_at("FechaEmision", codes::SUMMARY_DIFFERS, message));
        }
    }
}
