//! What is wrong with a workbook: one entry per finding, with sheet, row, column and cell.

use ecf::Grade;
use ecf_language::Bilingual;

/// Permanent codes of findings about the file, its sheets and cells. The words may improve, the code stays. Findings
/// about the content of a document have the codes of [`ecf::codes`] and [`ecf::rules`].
pub mod codes {
    /// The file is larger than [`MAX_FILE_BYTES`](crate::MAX_FILE_BYTES).
    pub const FILE_TOO_LARGE: &str = "LIBRO-01";
    /// The file is text, such as CSV.
    pub const IS_TEXT: &str = "LIBRO-02";
    /// The file is in the format of Excel 97 to 2003.
    pub const IS_XLS: &str = "LIBRO-03";
    /// The file is protected by a password.
    pub const IS_ENCRYPTED: &str = "LIBRO-04";
    /// The file is something else.
    pub const NOT_A_WORKBOOK: &str = "LIBRO-05";
    /// The file is damaged.
    pub const DAMAGED: &str = "LIBRO-06";
    /// The file unpacks to more than [`MAX_UNPACKED_BYTES`](crate::MAX_UNPACKED_BYTES).
    pub const UNPACKS_TOO_LARGE: &str = "LIBRO-07";
    /// A sheet is missing.
    pub const NO_SHEET: &str = "HOJA-01";
    /// The header is not in the first row.
    pub const HEADER_SHIFTED: &str = "HOJA-02";
    /// A column is missing.
    pub const NO_COLUMN: &str = "HOJA-03";
    /// A column with values has a header that does not name a field.
    pub const UNKNOWN_HEADER: &str = "HOJA-04";
    /// Two columns have the same header.
    pub const HEADER_TWICE: &str = "HOJA-05";
    /// The sheet has no rows.
    pub const NO_ROWS: &str = "HOJA-06";
    /// The sheet has too many rows.
    pub const TOO_MANY_ROWS: &str = "HOJA-07";
    /// A formula has no stored value.
    pub const FORMULA_WITHOUT_VALUE: &str = "CELDA-01";
    /// The cell shows an error.
    pub const CELL_ERROR: &str = "CELDA-02";
    /// The cell is merged with others.
    pub const MERGED: &str = "CELDA-03";
    /// The cell has the wrong type, such as a date where an amount is expected.
    pub const WRONG_CELL_TYPE: &str = "CELDA-04";
    /// A number has more digits than a spreadsheet keeps.
    pub const DIGITS_LOST: &str = "CELDA-05";
    /// The cell is in a column without a header.
    pub const NO_HEADER: &str = "CELDA-06";
    /// `CasoPrueba` is not RNCEmisor and eNCF of the row.
    pub const OTHER_KEY: &str = "FILA-01";
    /// Two rows have the same number.
    pub const NUMBER_TWICE: &str = "FILA-02";
    /// The row of the modified receipt is not in the workbook.
    pub const NO_REFERENCE: &str = "FILA-03";
    /// The date of the modified receipt is not that of its row.
    pub const OTHER_REFERENCE_DATE: &str = "FILA-04";
    /// A consumer invoice below RD$250,000.00 has no summary.
    pub const NO_SUMMARY: &str = "FILA-05";
    /// A summary has no consumer invoice below RD$250,000.00.
    pub const NO_FULL_INVOICE: &str = "FILA-06";
    /// A summary and its invoice have different totals or dates.
    pub const SUMMARY_DIFFERS: &str = "FILA-07";
    /// The row is of another company.
    pub const OTHER_COMPANY: &str = "FILA-08";
    /// The document that would be sent differs from the cells.
    pub const WOULD_DIFFER: &str = "FILA-09";

    /// All of them.
    pub const ALL: &[&str] = &[
        FILE_TOO_LARGE,
        IS_TEXT,
        IS_XLS,
        IS_ENCRYPTED,
        NOT_A_WORKBOOK,
        DAMAGED,
        UNPACKS_TOO_LARGE,
        NO_SHEET,
        HEADER_SHIFTED,
        NO_COLUMN,
        UNKNOWN_HEADER,
        HEADER_TWICE,
        NO_ROWS,
        TOO_MANY_ROWS,
        FORMULA_WITHOUT_VALUE,
        CELL_ERROR,
        MERGED,
        WRONG_CELL_TYPE,
        DIGITS_LOST,
        NO_HEADER,
        OTHER_KEY,
        NUMBER_TWICE,
        NO_REFERENCE,
        OTHER_REFERENCE_DATE,
        NO_SUMMARY,
        NO_FULL_INVOICE,
        SUMMARY_DIFFERS,
        OTHER_COMPANY,
        WOULD_DIFFER,
    ];
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// A permanent code.
    pub code: &'static str,
    /// One sentence that says how to correct it.
    pub message: Box<Bilingual>,
    /// What it means for the run; [`Grade::Rejected`] stops it before the first row is sent.
    pub grade: Grade,
    /// The sheet.
    pub sheet: Option<Box<str>>,
    /// The row as the spreadsheet counts, from 1.
    pub row: Option<u32>,
    /// The letters of the column.
    pub column: Option<Box<str>>,
    /// The header of the column.
    pub header: Option<Box<str>>,
    /// The content of the cell, shortened when long.
    pub cell: Option<Box<str>>,
}

impl Finding {
    pub(crate) fn new(code: &'static str, message: Bilingual) -> Self {
        Self {
            code,
            message: Box::new(message),
            grade: Grade::Rejected,
            sheet: None,
            row: None,
            column: None,
            header: None,
            cell: None,
        }
    }

    pub(crate) fn in_sheet(mut self, sheet: &str) -> Self {
        self.sheet = Some(sheet.into());
        self
    }

    pub(crate) fn in_row(mut self, row: u32) -> Self {
        self.row = Some(row);
        self
    }

    pub(crate) fn in_column(mut self, column: u32) -> Self {
        self.column = Some(letters(column).into());
        self
    }

    pub(crate) fn under(mut self, header: &str) -> Self {
        self.header = Some(shortened(header).into());
        self
    }

    pub(crate) fn with_cell(mut self, cell: &str) -> Self {
        self.cell = Some(shortened(cell).into());
        self
    }
}

/// Upper bound of the findings that are listed; the others are counted.
pub const MOST_FINDINGS: usize = 200;

/// The findings of a workbook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The first [`MOST_FINDINGS`], in the order of the workbook.
    pub list: Vec<Finding>,
    /// The number of all.
    pub total: usize,
    stops: bool,
}

impl Findings {
    /// Whether a finding stops the run.
    pub fn stop(&self) -> bool {
        self.stops
    }

    pub(crate) fn push(&mut self, finding: Finding) {
        self.total += 1;
        let stops = finding.grade == Grade::Rejected;
        // Notices must not fill the list before the finding that stops the run.
        if stops && !self.stops && self.list.len() == MOST_FINDINGS {
            self.list.pop();
        }
        self.stops |= stops;
        if self.list.len() < MOST_FINDINGS {
            self.list.push(finding);
        }
    }
}

impl From<Finding> for Findings {
    fn from(finding: Finding) -> Self {
        let mut findings = Self::default();
        findings.push(finding);
        findings
    }
}

impl Extend<Finding> for Findings {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        for finding in findings {
            self.push(finding);
        }
    }
}

/// The letters of a column that is counted from 0.
pub(crate) fn letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        letters.push(b'A' + ((rest - 1) % 26) as u8);
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().map(|letter| char::from(*letter)).collect()
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_letters_of_a_spreadsheet() {
        for (column, expected) in [
            (0, "A"),
            (25, "Z"),
            (26, "AA"),
            (701, "ZZ"),
            (702, "AAA"),
            (5_214, "GRO"),
        ] {
            assert_eq!(letters(column), expected);
        }
    }

    #[test]
    fn notices_never_hide_the_finding_that_stops_the_run() {
        let mut findings = Findings::default();
        for _ in 0..MOST_FINDINGS + 5 {
            let mut notice = Finding::new(codes::NO_HEADER, Bilingual::default());
            notice.grade = Grade::Notice;
            findings.push(notice);
        }
        assert!(!findings.stop());
        findings.push(Finding::new(codes::MERGED, Bilingual::default()));
        assert!(findings.stop());
        assert_eq!(findings.list.last().unwrap().code, codes::MERGED);
        assert_eq!(
            (findings.list.len(), findings.total),
            (MOST_FINDINGS, MOST_FINDINGS + 6)
        );
    }
}
