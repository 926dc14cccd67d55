//! The beginning and the end of an outage, for companies whose receipts are held.
//!
//! The record comes first, and the events follow from it: an event whose announcement was lost is announced with the end,
//! and the same announcement is made once.

use ecf::{Environment, ReceiptState};
use ecf_store::{Receipt, StoreError, contingencies::Contingency};
use ecf_taxauth::outage;
use ecf_webhooks::{News, announce};
use jiff::Timestamp;

use crate::App;
use crate::round::Round;

/// Records and announces the beginning, if this is the company's first receipt whose send is held in this outage.
pub(crate) async fn begin(app: &App, round: &Round<'_>, receipt: &Receipt, now: Timestamp) -> Result<(), StoreError> {
    // A submitted receipt is with the authority; only its verdict waits.
    let awaits_send = matches!(receipt.state, ReceiptState::Signed | ReceiptState::Contingency);
    if !awaits_send || !round.is_first_held(receipt) {
        return Ok(());
    }
    let scope = receipt.scope;
    let Some(outage) = app.gates.outage(scope.environment).await else {
        return Ok(());
    };
    if app.table.contingency(&scope).await?.is_some() {
        return Ok(());
    }
    let new = Contingency {
        scope,
        company_rnc: receipt.fiscal.company_rnc.clone(),
        outage,
        begun_at: now,
    };
    if app.table.begin_contingency(&new).await? {
        publish(app, &new, News::ContingencyStarted { contingency: &new }, new.begun_at).await?;
    }
    Ok(())
}

/// Announces the end to every company with held receipts in environments whose outage is over.
///
/// # Errors
/// The first failure, after everything was processed.
pub(crate) async fn end_all(app: &App) -> Result<(), StoreError> {
    let mut failure = None;
    for environment in Environment::ALL {
        if let Err(error) = end(app, environment).await {
            failure.get_or_insert(error);
        }
    }
    failure.map_or(Ok(()), Err)
}

async fn end(app: &App, environment: Environment) -> Result<(), StoreError> {
    let held = app.table.contingencies(environment).await?;
    if held.is_empty() {
        return Ok(());
    }
    // Read anew: a cached condition of a table that does not answer would look like the end.
    let (condition, now) = (app.table.condition(environment).await?, app.clock.now());
    if outage(&condition, now).is_some() {
        return Ok(());
    }
    for contingency in &held {
        publish(
            app,
            contingency,
            News::ContingencyStarted { contingency },
            contingency.begun_at,
        )
        .await?;
        publish(app, contingency, News::ContingencyEnded { contingency }, now).await?;
        app.table.end_contingency(contingency).await?;
    }
    Ok(())
}

async fn publish(app: &App, contingency: &Contingency, news: News<'_>, at: Timestamp) -> Result<(), StoreError> {
    let scope = &contingency.scope;
    let announcement = news.announcement(scope, contingency.company_rnc.as_str(), at);
    announce(&app.table, &app.queues, scope, &announcement).await?;
    Ok(())
}
