//! `index.csv`: one line for each receipt and each approval, for people and their spreadsheets.
//!
//! A spreadsheet evaluates a cell that begins like a formula, so such a cell is prefixed with an apostrophe. Control
//! characters and marks of text direction, which can make a line look like another, become blanks.

use ecf_store::{
    ForeignText, Receipt,
    approvals::{Approval, ApprovalWay, GivenAnswer, TransmissionState},
    inbox::{AuthorityState, InboxItem},
};

/// The first line. It begins with the byte-order mark, by which spreadsheets recognize UTF-8.
pub(super) const HEADING: &str = "\u{feff}kind,public_id,encf,ecf_type,status,issued_on,created_at,completed_at,counterparty_rnc,counterparty_name,\
monto_total,security_code,track_id,external_id,error_code,error_message,signer_trusted,authority_state,folder,remarks\r\n";

/// Columns of `counterparty_name` and `error_code` in the heading.
const COUNTERPARTY_NAME: usize = 9;
const ERROR_CODE: usize = 14;

/// One line, without its last cell (`remarks`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    cells: Vec<String>,
}

impl Row {
    /// A receipt that the company issued. The buyer's name comes from the document, see [`Row::with_name`].
    pub(super) fn issued(receipt: &Receipt, folder: Option<&str>) -> Self {
        let signed = receipt.fiscal.signed.as_ref();
        let optional = |text: &Option<String>| text.clone().unwrap_or_default();
        Self {
            cells: vec![
                "issued".to_owned(),
                receipt.public_id.to_string(),
                signed.map(|signed| signed.encf.to_string()).unwrap_or_default(),
                receipt.fiscal.ecf_type.to_string(),
                receipt.state.to_string(),
                receipt.fiscal.fecha_emision.to_string(),
                receipt.created_at.to_string(),
                receipt.completed_at.map(|at| at.to_string()).unwrap_or_default(),
                optional(&receipt.fiscal.rnc_comprador),
                String::new(),
                receipt.fiscal.monto_total.clone(),
                signed.map(|signed| signed.security_code.clone()).unwrap_or_default(),
                optional(&receipt.sending.track_id),
                optional(&receipt.external_id),
                optional(&receipt.error_code),
                optional(&receipt.error_message),
                String::new(),
                String::new(),
                folder.unwrap_or_default().to_owned(),
            ],
        }
    }

    /// The same line with the name of the other party.
    pub(super) fn with_name(mut self, name: Option<String>) -> Self {
        if let (Some(cell), Some(name)) = (self.cells.get_mut(COUNTERPARTY_NAME), name) {
            *cell = name;
        }
        self
    }

    /// An approval that the company gave or forwarded. The two error cells say what the authority has not accepted.
    pub(super) fn approval(approval: &Approval, folder: &str) -> Self {
        let told = [&approval.issuer, &approval.authority];
        let is_pending = told.iter().any(|told| told.is_pending());
        let completed_at = told.iter().filter_map(|told| told.at).max().filter(|_| !is_pending);
        let counterparty = match approval.way {
            ApprovalWay::Inbound => &approval.rnc_comprador,
            ApprovalWay::Submit | ApprovalWay::Outbound => &approval.rnc_emisor,
        };
        let mut cells = vec![
            "approval".to_owned(),
            approval.id.to_string(),
            approval.encf.to_string(),
            approval.encf.receipt_type().to_string(),
            approval.answer().to_owned(),
            String::new(),
            approval.created_at.to_string(),
            completed_at.map(|at| at.to_string()).unwrap_or_default(),
            counterparty.to_string(),
        ];
        cells.resize(ERROR_CODE, String::new());
        let open = Some(&approval.authority).filter(|authority| authority.state != TransmissionState::Taken);
        cells.push(
            open.map(|authority| authority.state.as_str().to_owned())
                .unwrap_or_default(),
        );
        cells.push(
            open.and_then(|authority| authority.words.as_ref())
                .map(|words| words.en.to_string())
                .unwrap_or_default(),
        );
        cells.resize(cells.len() + 2, String::new());
        cells.push(folder.to_owned());
        Self { cells }
    }

    /// A receipt that the company received.
    pub(super) fn received(item: &InboxItem, answer: Option<&GivenAnswer>, folder: &str) -> Self {
        let optional = |text: &Option<ForeignText>| text.as_deref().unwrap_or_default().to_owned();
        let mut cells = vec![
            "received".to_owned(),
            item.id.to_string(),
            item.encf.to_string(),
            item.ecf_type.to_string(),
            item.status(answer).to_owned(),
            optional(&item.fecha_emision),
            item.received_at.to_string(),
            item.acked_at.map(|at| at.to_string()).unwrap_or_default(),
            item.rnc_emisor.to_string(),
            optional(&item.razon_social_emisor),
            optional(&item.monto_total),
        ];
        cells.resize(16, String::new());
        cells.push(item.signer_trusted.to_string());
        cells.push(item.authority.map_or("", AuthorityState::as_str).to_owned());
        cells.push(folder.to_owned());
        Self { cells }
    }

    /// The cells, as input of the content hash.
    pub(super) fn cells(&self) -> impl Iterator<Item = &[u8]> {
        self.cells.iter().map(|cell| cell.as_bytes())
    }

    /// The complete line, including the remarks.
    pub(super) fn line(&self, remarks: &[String]) -> String {
        let remarks = remarks.join("; ");
        let cells: Vec<String> = self.cells.iter().chain([&remarks]).map(|cell| cell_of(cell)).collect();
        cells.join(",") + "\r\n"
    }
}

/// The text with control characters and marks of text direction replaced by blanks.
pub(super) fn visible(text: &str) -> String {
    let visible = |character: char| match character {
        character if character.is_control() => ' ',
        // Marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs.
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => ' ',
        character => character,
    };
    text.chars().map(visible).collect()
}

/// A text as a CSV cell that no spreadsheet evaluates.
fn cell_of(text: &str) -> String {
    let text = visible(text);
    // Spreadsheets skip blanks before a formula, and accept the full-width forms of the signs.
    let is_formula = text
        .trim_start()
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let apostrophe = if is_formula { "'" } else { "" };
    if is_formula || text.contains(['"', ',', ';', '\'']) || text != text.trim() {
        format!("\"{apostrophe}{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_never_a_formula_a_line_or_another_text_than_it_seems() {
        for (text, cell) in [
            ("1180.00", "1180.00"),
            ("Ñandú & Hijos", "Ñandú & Hijos"),
            ("=1+1", "\"'=1+1\""),
            ("  =cmd|' /C calc'!A0", "\"'  =cmd|' /C calc'!A0\""),
            ("\t@SUM(A1)", "\"' @SUM(A1)\""),
            ("\r\n+1", "\"'  +1\""),
            ("-5", "\"'-5\""),
            ("＝1", "\"'＝1\""),
            ("a,\"b\"", "\"a,\"\"b\"\"\""),
            ("a\r\nissued,x", "\"a  issued,x\""),
            ("txt\u{202e}fdp", "txt fdp"),
            ("\u{feff}\u{2066}=1", "\"'  =1\""),
            ("", ""),
        ] {
            assert_eq!(cell_of(text), cell, "{text:?}");
        }
    }

    #[test]
    fn every_line_has_as_many_cells_as_the_heading() {
        let heading = HEADING.trim_end().split(',').count();
        let row = Row {
            cells: vec![String::new(); heading - 1],
        };
        assert_eq!(row.line(&[]).matches(',').count(), heading - 1);
        assert_eq!(HEADING.lines().count(), 1);
        let names: Vec<_> = HEADING.trim_end().split(',').collect();
        assert_eq!(
            (names[COUNTERPARTY_NAME], names[ERROR_CODE]),
            ("counterparty_name", "error_code")
        );
    }
}
