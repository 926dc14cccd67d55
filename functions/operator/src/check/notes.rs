//! Checks notes against the receipts that they modify. The amounts that notes take are stored on the lock of the
//! receipt's number. Every note that counts must be listed there, every listed note must count, and the notes must not
//! take more than the balance.

use ecf::{Encf, ReceiptType};
use ecf_store::{Receipt, StoreError};
use rust_decimal::Decimal;

use super::days::Found;
use crate::App;

pub(super) async fn look_at(app: &App, receipt: &Receipt, problems: &mut Found) -> Result<(), StoreError> {
    look_at_note(app, receipt, problems).await?;
    match receipt.encf() {
        Some(encf) => look_at_modified(app, receipt, encf, problems).await,
        None => Ok(()),
    }
}

/// Checks a note against the receipt that it modifies.
async fn look_at_note(app: &App, note: &Receipt, problems: &mut Found) -> Result<(), StoreError> {
    let Some(reference) = note.note else { return Ok(()) };
    // The modified receipt may have lost its number to a receipt of the new attempt.
    if app.table.is_of_earlier_attempt(&note.scope, note.created_at).await? {
        return Ok(());
    }
    let Some(modified) = app.table.modified_receipt(&note.scope, &reference.modifies).await? else {
        problems.push((
            "modified_missing",
            format!("it modifies {}, which no receipt has", reference.modifies),
        ));
        return Ok(());
    };
    let is_listed = modified.credits.contains(&note.public_id) || modified.open_debits.contains(&note.public_id);
    if reference.reserved && !is_listed {
        problems.push((
            "note_not_counted",
            format!("it counts, and {} does not know of it", reference.modifies),
        ));
    }
    Ok(())
}

/// Checks a receipt that has its number against its notes.
async fn look_at_modified(app: &App, receipt: &Receipt, encf: &Encf, problems: &mut Found) -> Result<(), StoreError> {
    let modified = match app.table.modified_receipt(&receipt.scope, encf).await? {
        Some(modified) if modified.receipt.public_id == receipt.public_id => modified,
        // A successor has the number. A receipt without its number is reported by the check of the numbers.
        _ => return Ok(()),
    };
    let mut credited = Decimal::ZERO;
    for id in modified.credits.iter().chain(&modified.open_debits) {
        let note = app.table.receipt(&receipt.scope, id).await?;
        let counts = |note: &&Receipt| {
            note.note
                .is_some_and(|reference| reference.reserved && reference.modifies == *encf)
        };
        match note.as_ref().filter(counts) {
            Some(note) if note.fiscal.ecf_type == ReceiptType::E34 => {
                credited += note.fiscal.monto_total.parse::<Decimal>().unwrap_or_default();
            }
            Some(_) => {}
            None => problems.push((
                "note_counted_in_vain",
                format!("{id} is counted, and is no note that counts"),
            )),
        }
    }
    // The part of the balance that is neither the receipt's own amount nor credited came from accepted debit notes.
    let debited = modified.balance + credited - modified.monto_total;
    if modified.balance.is_sign_negative() && !modified.balance.is_zero()
        || debited.is_sign_negative() && !debited.is_zero()
    {
        let (left, total) = (modified.balance, modified.monto_total);
        problems.push((
            "balance_drifted",
            format!("{left} of {total} is left, and notes credit {credited}"),
        ));
    }
    if modified
        .annulled_by
        .is_some_and(|annulment| !modified.credits.contains(&annulment))
    {
        problems.push((
            "note_counted_in_vain",
            "it is annulled by a note that does not count".to_owned(),
        ));
    }
    Ok(())
}
