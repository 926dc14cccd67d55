//! Validates a note (33, 34) against the receipt that it modifies, if that was issued here.

use ecf::rules::modified::{self, Modified};
use ecf::{Document, ReceiptState, ReceiptType, Violation};
use ecf_api::ApiError;
use ecf_store::{
    Scope, Table,
    receipts::{ModifiedReceipt, NewNote},
};

/// Validates a note against the receipt that it modifies. Returns `None` for a document that is not a note, and for a
/// note on a receipt that is not known here. `holds` is the company's setting to hold notes until the verdict on what
/// they modify.
///
/// # Errors
/// 422 when the authority would reject the note because of the modified receipt's type, state or balance.
pub async fn judge(
    table: &Table,
    scope: &Scope,
    document: &Document,
    receipt_type: ReceiptType,
    holds: bool,
) -> Result<Option<NewNote>, ApiError> {
    let Some(encf) = modified::modified_encf(document, receipt_type) else {
        return Ok(None);
    };
    let Some(known) = table.modified_receipt(scope, &encf).await? else {
        return Ok(None);
    };
    let violations = modified::check(document, receipt_type, &as_stored(&known));
    if !violations.is_empty() {
        return Err(ApiError::violations(&violations));
    }
    let annuls = modified::annuls(document);
    let is_early = holds
        && (!is_accepted(&known)
            || annuls
                && table
                    .open_credit(scope, &known, &known.receipt.public_id)
                    .await?
                    .is_some());
    Ok(Some(NewNote {
        modifies: encf,
        annuls,
        awaits_invoice: is_early,
        amount: document
            .encabezado
            .totales
            .monto_total
            .as_ref()
            .map(ecf::Monto::value)
            .unwrap_or_default(),
        owner: known.receipt.public_id,
        monto_total: known.monto_total,
    }))
}

/// The warning for a note that is not sent at once.
pub fn waits(note: Option<&NewNote>) -> Option<Violation> {
    let note = note.filter(|note| note.awaits_invoice)?;
    Some(modified::waits(note.modifies))
}

fn as_stored(known: &ModifiedReceipt) -> Modified<'_> {
    Modified {
        state: known.receipt.state,
        number_is_free: known.receipt.secuencia_utilizada == Some(false),
        balance: known.balance,
        annulled: known.annulled_by.is_some(),
        has_open_debits: !known.open_debits.is_empty(),
        fecha_emision: known.receipt.fiscal.fecha_emision,
        rnc_comprador: known.receipt.fiscal.rnc_comprador.as_deref(),
    }
}

fn is_accepted(known: &ModifiedReceipt) -> bool {
    matches!(
        known.receipt.state,
        ReceiptState::Accepted | ReceiptState::ConditionallyAccepted
    )
}
