//! The alarms about receipts that wait too long, in every state that is not final.
//!
//! A signed receipt that the authority does not have alarms well before the 72 hours after which a receipt issued in
//! contingency has to be there. Each hour of a list alarms once for each receipt and state.

use ecf_runtime::Metric;
use ecf_store::{
    Receipt, StoreError, Table,
    receipts::{AlarmTimes, Awaited},
};
use jiff::Timestamp;

/// Alarms about a receipt whose hour has come; says what to count.
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
