//! Alarms for receipts that stay too long in a state that is not final.
//!
//! A signed receipt that the authority does not have raises alarms well before 72 hours, the legal limit for receipts
//! issued in contingency. Each hour of a list raises one alarm per receipt and state.

use ecf_runtime::Metric;
use ecf_store::{
    Receipt, StoreError, Table,
    receipts::{AlarmTimes, Awaited},
};
use jiff::Timestamp;

/// Raises the alarm that is due for a receipt, and returns the metric to count.
pub(crate) async fn raise(
    table: &Table,
    times: &AlarmTimes,
    receipt: &Receipt,
    now: Timestamp,
) -> Result<Option<Metric>, StoreError> {
    let Some(alarm) = times.reached(receipt, now) else {
        return Ok(None);
    };
    if receipt.was_alarmed(alarm) || !table.record_alarm(&receipt.scope, receipt, alarm).await? {
        return Ok(None);
    }
    let (metric, what) = match alarm.awaited {
        Awaited::Delivery => (
            Metric::ReceiptsUndelivered,
            "a receipt was not delivered to the tax authority in time",
        ),
        Awaited::Step => (
            Metric::ReceiptsStuck,
            "a receipt has not left its state for hours: an operator decides",
        ),
    };
    tracing::error!(
        receipt.id = %receipt.public_id,
        encf = receipt.encf().map(tracing::field::display),
        company.rnc = %receipt.fiscal.company_rnc,
        environment = %receipt.scope.environment,
        state = %receipt.state,
        hours = alarm.hours,
        "{what}"
    );
    Ok(Some(metric))
}
