//! The certificate and a token. Both come before the claim: what fails here was not sent.

use std::sync::{Arc, OnceLock};

use ecf::sending::Call;
use ecf_store::{StoreError, SubmissionJob};
use ecf_taxauth::{TaxAuthError, TokenError};
use xmldsig::Identity;

use crate::App;
use crate::report::{Happened, Learned, Report, Words};

pub(crate) async fn authenticate<'a>(
    app: &'a App,
    job: &SubmissionJob,
    opened: &'a OnceLock<Arc<Identity>>,
) -> Result<Report<'a>, StoreError> {
    let scope = job.scope();
    let identity = match app.identities.of(&scope.company, app.clock.now()).await {
        Ok(Some(identity)) => identity,
        Ok(None) => return Ok(Happened::NoCertificate.into()),
        Err(error @ StoreError::Corrupt { .. }) => return Ok(Happened::UnusableCertificate(error.to_string()).into()),
        Err(error) => return Err(error),
    };
    let session = app.session(&scope, opened.get_or_init(|| identity));
    let happened = match session.authenticate().await {
        Ok(()) => return Ok(Report::of(Happened::Authenticated, Learned::Session(session))),
        Err(TokenError::Refused(answer)) => Happened::CertificateRefused {
            is_wrong_kind: answer.refuses_the_kind_of_certificate(),
            answer,
        },
        Err(TokenError::Held(held)) => Happened::Held(Call::Token, held.until),
        Err(TokenError::Identity(error)) => Happened::UnusableCertificate(error.to_string()),
        Err(error) => no_token(app, job, error),
    };
    Ok(happened.into())
}

/// Logs a refusal of the certificate that is not believed yet.
pub(crate) fn retry_refused_certificate(app: &App, job: &SubmissionJob, answer: Words) -> Report<'static> {
    no_token(app, job, TokenError::Refused(answer)).into()
}

fn no_token(app: &App, job: &SubmissionJob, error: TokenError) -> Happened {
    let error = TaxAuthError::NoToken(error);
    let chain = ecf_runtime::telemetry::chain(&error).to_string();
    tracing::warn!(receipt.id = %job.receipt(), error = %chain, "no token was granted; the job is retried");
    app.emit_error(job);
    Happened::NoToken(error.retry_after())
}
