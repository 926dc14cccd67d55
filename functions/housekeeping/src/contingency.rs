//! The beginning and the end of an outage, for companies whose receipts are held.
//!
//! An event is announced before the record changes, so a run that dies announces it again, and the same announcement is
//! made once.

use ecf::ReceiptState;
use ecf_store::{Receipt, StoreError, contingencies::Contingency, due::DueEntry};
use ecf_webhooks::{News, announce};
use jiff::{SignedDuration, Timestamp};

use crate::App;
use crate::round::Round;

/// The next look at a contingency: in the next run.
const NEXT_LOOK: SignedDuration = SignedDuration::from_secs(30);

/// Announces the beginning, if the receipt is the company's first one whose send is held in this outage.
pub(crate) async fn begin(app: &App, round: &Round<'_>, receipt: &Receipt, now: Timestamp) -> Result<(), StoreError> {
    let scope = &receipt.scope;
    // A submitted receipt is with the authority; only its verdict waits.
    let awaits_send = matches!(receipt.state, ReceiptState::Signed | ReceiptState::Contingency);
    if !awaits_send || !round.is_first_held(receipt) || app.table.contingency(scope).await?.is_some() {
        return Ok(());
    }
    let Some(outage) = app.gates.outage(scope.environment).await else {
        return Ok(());
    };
    let new = Contingency {
        company_rnc: receipt.fiscal.company_rnc.clone(),
        outage,
    };
    let news = News::ContingencyStarted { outage };
    let announcement = news.announcement(scope, new.company_rnc.as_str(), now);
    announce(&app.table, &app.queues, scope, &announcement).await?;
    app.table.begin_contingency(scope, &new, now + NEXT_LOOK).await?;
    Ok(())
}

/// Announces the end, if calls are no longer held.
pub(crate) async fn look_after(app: &App, entry: &DueEntry, now: Timestamp) -> Result<(), StoreError> {
    let scope = &entry.scope;
    if app.gates.outage(scope.environment).await.is_some() {
        app.table.claim_due(entry, now + NEXT_LOOK).await?;
        return Ok(());
    }
    let Some(Contingency { company_rnc, outage }) = app.table.contingency(scope).await? else {
        return Ok(());
    };
    let news = News::ContingencyEnded { outage };
    let announcement = news.announcement(scope, company_rnc.as_str(), now);
    announce(&app.table, &app.queues, scope, &announcement).await?;
    app.table.end_contingency(scope).await?;
    Ok(())
}
