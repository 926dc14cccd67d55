//! In which order the rows are sent, as the authority's portal prescribes it.

use ecf::Encf;

use crate::suite::{Receipt, Suite};

/// The parts of a run, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Types 31, 32 from RD$250,000.00 on, 41, and 43 to 47.
    Receipts,
    /// Types 33 and 34, each after the authority accepted what it modifies.
    Notes,
    /// Summaries of consumer invoices below RD$250,000.00.
    Summaries,
    /// Full invoices below RD$250,000.00, which a person uploads in the portal after their summaries were accepted.
    Uploads,
    /// Commercial approvals, of the second workbook.
    Approvals,
}

/// One document to send, or to upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The part of the run.
    pub phase: Phase,
    /// The number.
    pub encf: Encf,
    /// The row in the sheet RFCE for a summary, else in the sheet ECF, as the spreadsheet counts.
    pub row: u32,
    /// The number that the authority must have accepted before.
    pub awaits: Option<Encf>,
}

impl Suite {
    /// All documents in the order of sending; the uploads, which a person does, come last.
    pub fn order(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = self.receipts.iter().map(|receipt| self.step(receipt)).collect();
        steps.extend(self.summaries.iter().map(|summary| Step {
            phase: Phase::Summaries,
            encf: summary.encf(),
            row: summary.row(),
            awaits: None,
        }));
        // Within a phase: the types in order, each in the order of the workbook. A note that modifies a note comes
        // after it, and a note on a consumer invoice below the threshold after all summaries.
        steps.sort_by_cached_key(|step| {
            let receipt_type = step.encf.receipt_type();
            let is_note = receipt_type.is_note();
            (
                step.phase,
                is_note,
                self.modified(step.encf).count(),
                receipt_type,
                step.row,
            )
        });
        steps
    }

    fn step(&self, receipt: &Receipt) -> Step {
        let awaits = receipt.modifies();
        let on_summary = self
            .modified(receipt.encf())
            .any(|other| other.numbered().goes_as_summary());
        let phase = match awaits {
            _ if receipt.numbered().goes_as_summary() => Phase::Uploads,
            Some(_) if on_summary => Phase::Summaries,
            Some(_) => Phase::Notes,
            None => Phase::Receipts,
        };
        Step {
            phase,
            encf: receipt.encf(),
            row: receipt.row(),
            awaits: match phase {
                // The full invoice is uploaded after its summary.
                Phase::Uploads => Some(receipt.encf()),
                _ => awaits,
            },
        }
    }

    /// What a receipt modifies, what that modifies, and so on. In a circle it ends after one entry per receipt of the workbook.
    pub(crate) fn modified(&self, encf: Encf) -> impl Iterator<Item = &Receipt> {
        let find = |encf: Encf| self.receipts.iter().find(move |receipt| receipt.encf() == encf);
        let next = move |receipt: &&Receipt| receipt.modifies().and_then(find);
        let first = find(encf);
        std::iter::successors(first, next).skip(1).take(self.receipts.len())
    }
}
