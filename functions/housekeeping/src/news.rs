//! Events about a receipt that stopped or waits, for webhooks that subscribed to them.
//!
//! The due index is the outbox: a receipt that fails is due at once, and one that waits at each alarm hour. An event is
//! announced before the look is over, so a run that dies announces it again, and the same announcement is made once.

use ecf::ReceiptState;
use ecf_store::{Receipt, StoreError, receipts::Awaited};
use ecf_webhooks::{News, announce};
use jiff::Timestamp;

use crate::App;

/// Announces what a look at the receipt shows.
pub(crate) async fn report_alert(app: &App, receipt: &Receipt, now: Timestamp) -> Result<(), StoreError> {
    if receipt.state == ReceiptState::Failed {
        publish(app, receipt, News::ReceiptFailed { receipt }, now).await?;
    }
    let alarm = app.alarm_times.reached(receipt, now);
    match alarm.filter(|alarm| alarm.awaited == Awaited::Delivery && !receipt.was_alarmed(*alarm)) {
        Some(alarm) => {
            let hours = alarm.hours;
            publish(app, receipt, News::DeliveryAlarm { receipt, hours }, now).await
        }
        None => Ok(()),
    }
}

async fn publish(app: &App, receipt: &Receipt, news: News<'_>, now: Timestamp) -> Result<(), StoreError> {
    let announcement = news.announcement(&receipt.scope, receipt.fiscal.company_rnc.as_str(), now);
    announce(&app.table, &app.queues, &receipt.scope, &announcement).await?;
    Ok(())
}
