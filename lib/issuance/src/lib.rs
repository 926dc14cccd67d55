//! What two functions need to have a receipt issued: `issuing`, for its callers, and `certification`, for the rows of a
//! workbook.
//!
//! - [`StoredRequest`]: the part of a request that is stored until the issuing worker numbers and signs the receipt;
//! - [`note`]: validates a note against the receipt that it modifies;
//! - [`create`]: writes the record of a receipt.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

pub mod note;
mod stored;

use ecf::Document;
use ecf_api::ApiError;
use ecf_store::{
    Scope, Table,
    receipts::{Created, NewReceipt},
};

pub use stored::{AMOUNTS, ON_CONDITIONAL, StoredRequest, StoredRequestError};

/// Upper bound of the validations of a note whose modified receipt changes concurrently.
const NOTE_ROUNDS: usize = 8;

/// Writes the record. When the receipt that a note modifies has changed since the note was validated, the note is
/// validated again: two notes that are valid separately may exceed the balance together. `holds_notes` is the company's
/// setting to hold notes until the verdict on what they modify.
///
/// # Errors
/// Fails when the store fails, and when the note is not valid any more.
pub async fn create(
    table: &Table,
    scope: &Scope,
    document: &Document,
    mut new: NewReceipt,
    holds_notes: bool,
) -> Result<Created, ApiError> {
    for _ in 0..NOTE_ROUNDS {
        // The invoice may change before a stored note is issued, so the invoice is checked again before sending.
        if new.signed.is_none()
            && let Some(note) = &mut new.note
        {
            note.awaits_invoice = true;
        }
        match table.create_receipt(scope, new.clone()).await? {
            Created::ModifiedChanged => {
                new.note = note::judge(table, scope, document, new.ecf_type, holds_notes).await?;
            }
            created => return Ok(created),
        }
    }
    Ok(Created::ModifiedChanged)
}
