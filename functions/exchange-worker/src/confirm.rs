//! Confirms a received receipt with the tax authority: whether it has this document, and its verdict.
//!
//! Anyone can sign a document that names any issuer. The authority's answer for number, both RNCs and security code is
//! the proof, so the question is repeated until the answer is final or three days have passed.

use ecf_exchange::Exchange;
use ecf_store::{
    ExchangeJob, InboxId, Scope, StoreError,
    inbox::{AuthorityState, InboxItem},
    waits,
};
use ecf_taxauth::{Estado, ReceiptQuery};
use ecf_webhooks::News;
use jiff::Timestamp;

pub(crate) async fn confirm(exchange: &Exchange, scope: &Scope, id: &InboxId, attempt: u32) -> Result<(), StoreError> {
    let now = exchange.clock.now();
    let Some(item) = exchange.table.inbox_item(scope, id).await? else {
        tracing::warn!(inbox.id = %id, "a receipt to be confirmed does not exist");
        return Ok(());
    };
    if item.authority != Some(AuthorityState::Pending) || item.asked != attempt {
        return Ok(());
    }
    let attempts = attempt.saturating_add(1);
    let wait = waits::EXCHANGE.after(attempt);
    // After the last question the due index retries an answer that could not be recorded.
    let next = match wait {
        Some(wait) => waits::due_at(now, now + wait),
        None => waits::due_at(now, now + waits::EXCHANGE_LEASE),
    };
    if !exchange.table.claim_confirmation(scope, &item, next).await? {
        return Ok(());
    }
    let state = match (ask(exchange, scope, &item, now).await?, wait) {
        (Some(state), _) => state,
        (None, None) => AuthorityState::NotFound,
        (None, Some(wait)) => {
            let job = ExchangeJob::Confirm {
                scope: *scope,
                inbox: *id,
                attempt: attempts,
            };
            exchange.queue_next(&job, wait).await;
            return Ok(());
        }
    };
    record(exchange, scope, &item, state).await
}

/// The authority's final answer; `None` means that the question is repeated later.
async fn ask(
    exchange: &Exchange,
    scope: &Scope,
    item: &InboxItem,
    now: Timestamp,
) -> Result<Option<AuthorityState>, StoreError> {
    let Some(identity) = exchange.identity(&scope.company, now).await? else {
        tracing::info!(inbox.id = %item.id, "the authority cannot be asked: the company has no certificate that is valid now");
        return Ok(None);
    };
    let session = exchange
        .tokens
        .session(scope.environment, &identity)
        .of_company(&scope.company);
    let question = ReceiptQuery {
        rnc_emisor: &item.rnc_emisor,
        encf: &item.encf,
        rnc_comprador: Some(&item.rnc_comprador),
        codigo_seguridad: &item.security_code,
    };
    let answer = match session.receipt_state(question).await {
        Ok(answer) => answer,
        Err(error) => {
            let error = ecf_runtime::telemetry::chain(&error);
            tracing::info!(inbox.id = %item.id, %error, "the tax authority did not confirm a received receipt");
            return Ok(None);
        }
    };
    // A different code means another document with the same number. An answer without a code proves nothing.
    let is_this = answer.codigo_seguridad.as_deref() == Some(item.security_code.as_str());
    Ok(match answer.judged.verdict {
        Estado::Accepted if is_this => Some(AuthorityState::Accepted),
        Estado::ConditionallyAccepted if is_this => Some(AuthorityState::ConditionallyAccepted),
        Estado::Rejected { .. } if is_this => Some(AuthorityState::Rejected),
        _ => None,
    })
}

async fn record(exchange: &Exchange, scope: &Scope, item: &InboxItem, state: AuthorityState) -> Result<(), StoreError> {
    let now = exchange.clock.now();
    let news = News::InboxConfirmed { item, state }.announcement(scope, item.rnc_comprador.as_str(), now);
    exchange
        .table
        .record_confirmation(scope, &item.id, state, now, &news)
        .await?;
    tracing::info!(inbox.id = %item.id, encf = %item.encf, state = state.as_str(), "the tax authority's answer about a received receipt was recorded");
    if let Err(error) = ecf_webhooks::enqueue_announcement(&exchange.queues, scope, &news.id).await {
        let error = ecf_runtime::telemetry::chain(&error);
        tracing::warn!(inbox.id = %item.id, %error, "the event was not enqueued; housekeeping enqueues it");
    }
    Ok(())
}
