//! What happened to a receipt: the steps whose instant its record has.

use ecf::{FechaHora, ReceiptState};
use ecf_api::Instant;
use ecf_store::Receipt;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A step of a receipt.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct StepView {
    #[schema(value_type = String, format = DateTime)]
    at: Instant,
    /// The state that began then, one of those that `GET /api/v1/ecf/states` lists. `contingency` is the last time that the receipt
    /// was held, `failed` is listed while the receipt is `failed`.
    #[schema(value_type = String, example = "signed")]
    state: &'static str,
    /// The `error_code` of the step, if it has one.
    note: Option<String>,
}

impl StepView {
    pub(crate) fn all_of(receipt: &Receipt) -> Vec<Self> {
        let is_stored_first = receipt.payload.is_some();
        let first = match receipt.scheduled_for {
            Some(due) if is_stored_first && due > receipt.created_at => ReceiptState::Deferred,
            _ if is_stored_first => ReceiptState::Received,
            _ => ReceiptState::Signed,
        };
        let signed = receipt.fiscal.signed.as_ref().filter(|_| is_stored_first);
        let signed_at = signed.and_then(|signed| signed.sign_date.parse::<FechaHora>().ok()?.instant());
        let ended_at = match receipt.state {
            ReceiptState::Failed => Some(receipt.updated_at),
            _ => receipt.completed_at,
        };
        let steps = [
            (Some(receipt.created_at), first),
            // `FechaHoraFirma` has no fraction of a second.
            (signed_at.map(|at| at.max(receipt.created_at)), ReceiptState::Signed),
            (receipt.sending.held_at, ReceiptState::Contingency),
            (receipt.sending.submitted_at, ReceiptState::Submitted),
            (ended_at, receipt.state),
        ];
        let mut steps: Vec<(Timestamp, ReceiptState)> =
            steps.into_iter().filter_map(|(at, state)| Some((at?, state))).collect();
        // Steps of one instant stay in this order.
        steps.sort_by_key(|(at, _)| *at);
        let last = steps.len().saturating_sub(1);
        let view = |(place, (at, state)): (usize, (Timestamp, ReceiptState))| Self {
            at: at.into(),
            state: state.as_str(),
            note: receipt.error_code.clone().filter(|_| place == last),
        };
        steps.into_iter().enumerate().map(view).collect()
    }
}
