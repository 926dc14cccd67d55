//! Lists by what only the records say: the buyer and the day of issue.
//!
//! The index of lists has neither, and another index would cost every receipt two write units. So the records
//! themselves are read, in batches, and a search over more than [`MOST_SEARCHED`] of them is refused.

use jiff::{Timestamp, civil::Date};

use super::{PageRequest, ReceiptFilter, ReceiptPage};
use crate::{
    StoreError,
    ids::Scope,
    table::{Table, receipts::Receipt},
};

/// Upper bound of the records that one search reads.
pub const MOST_SEARCHED: u64 = 5_000;
/// Records that are read in one step.
const STEP: usize = 1_000;

/// A filter by what the document says. `None` matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentFilter {
    pub rnc_comprador: Option<String>,
    /// The first and the last `FechaEmision`, both included.
    pub issued_from: Option<Date>,
    pub issued_to: Option<Date>,
}

impl ContentFilter {
    /// Whether every receipt matches.
    pub fn takes_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a receipt matches.
    pub fn takes(&self, receipt: &Receipt) -> bool {
        let fiscal = &receipt.fiscal;
        let issued_on = fiscal.fecha_emision.date();
        (self.rnc_comprador.is_none() || self.rnc_comprador == fiscal.rnc_comprador)
            && self.issued_from.is_none_or(|from| from <= issued_on)
            && self.issued_to.is_none_or(|to| issued_on <= to)
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Searched {
    Page(ReceiptPage),
    /// This number of receipts matches the other filters, more than [`MOST_SEARCHED`].
    TooMany(u64),
}

impl Table {
    /// A page of the receipts that match both filters, newest first; optionally of one `external_id`.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn search_receipts(
        &self,
        scope: &Scope,
        external_id: Option<&str>,
        filter: &ReceiptFilter,
        content: &ContentFilter,
        page: &PageRequest,
        now: Timestamp,
    ) -> Result<Searched, StoreError> {
        let mut found = Vec::new();
        // The first step is small: it also counts how many there are.
        let mut step = PageRequest {
            limit: 1,
            offset: 0,
            after: None,
        };
        loop {
            let read = match external_id {
                Some(external_id) => self.receipts_by_external_id(scope, external_id, filter, &step).await?,
                None => self.list_receipts(scope, filter, &step, now).await?,
            };
            if read.total > MOST_SEARCHED {
                return Ok(Searched::TooMany(read.total));
            }
            found.extend(read.receipts.into_iter().filter(|receipt| content.takes(receipt)));
            if read.next.is_none() {
                return Ok(Searched::Page(ReceiptPage::of_all(found, page)));
            }
            step.limit = STEP;
            step.after = read.next;
        }
    }
}
