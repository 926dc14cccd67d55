//! Shared by the two reception services: check a document, store it, return the verdict.

use std::sync::PoisonError;

use jiff::SignedDuration;

use crate::{
    App, data_test,
    document::Document,
    environment::Environment,
    facts::Facts,
    failure::Failure,
    fault::Forced,
    judge::{self, Case},
    signature,
    state::{Kind, NewDocument},
    verdict::Verdict,
};

/// The result of a reception.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) track_id: String,
    pub(crate) verdict: Verdict,
}

/// Checks and stores a document on a blocking thread, because signature verification is CPU-bound.
pub(crate) async fn decide(
    app: App,
    environment: Environment,
    kind: Kind,
    document: Document,
    facts: Facts,
    forced: Option<Forced>,
) -> Result<Decision, Failure> {
    let judged = move || {
        let signature = signature::verify(&document);
        // One document at a time from here on: of two documents with one number, the second must find the first.
        let _turn = app.judging.lock().unwrap_or_else(PoisonError::into_inner);
        let now = app.now();
        let case = Case {
            state: &app.state,
            environment,
            document: &document,
            facts: &facts,
            signature: &signature,
            now,
        };
        let verdict = match (forced, kind) {
            (Some(Forced(verdict)), _) => verdict,
            (None, Kind::Rfce) => judge::summary(&case)?,
            (None, _) => judge::receipt(&case)?,
        };
        let verdict = data_test::judge(&app.state, environment, kind, &document, &facts, verdict)?;
        let delay = if kind == Kind::Ecf {
            app.verdict_delay()
        } else {
            SignedDuration::ZERO
        };
        let track_id = app.state.add_document(&NewDocument {
            environment,
            kind,
            sha256: &document.sha256,
            received_at: now,
            visible_at: now.saturating_add(delay).unwrap_or(now),
            verdict: &verdict,
            facts: &facts,
        })?;
        tracing::info!(
            encf = facts.encf,
            issuer.rnc = facts.rnc_emisor,
            verdict = verdict.codigo.estado(),
            "received a document"
        );
        Ok(Decision { track_id, verdict })
    };
    tokio::task::spawn_blocking(judged).await?
}
