//! Notifies the operator's portal of a new company. Tried a few times, then logged: nothing waits for it.

use ecf_runtime::Outcome;
use ecf_store::{CompanyId, StoreError, WebhookJob, waits};
use ecf_webhooks::WebhookSecret;
use serde::Serialize;

use crate::App;

#[derive(Serialize)]
struct NewCompany<'a> {
    event: &'static str,
    public_id: String,
    rnc: &'a str,
    name: &'a str,
    email: &'a str,
    created_at: String,
}

/// Posts the company's profile, without anything secret.
pub(crate) async fn deliver(app: &App, id: &CompanyId, attempt: u32) -> Result<Outcome<WebhookJob>, StoreError> {
    let (Some(url), Some(company)) = (&app.portal_url, app.table.company(id).await?) else {
        return Ok(Outcome::Done);
    };
    let body = NewCompany {
        event: "company.registered",
        public_id: id.to_string(),
        rnc: company.rnc.as_str(),
        name: &company.name,
        email: &company.email,
        created_at: company.created_at.to_string(),
    };
    let body = serde_json::to_vec(&body).map_err(|error| StoreError::unexpected("tell portal", error))?;
    let secret = app.portal_secret.text(app.clock.now()).await?;
    let secret = match secret.map(|text| WebhookSecret::parse(&text)).transpose() {
        Ok(secret) => secret,
        Err(error) => return Ok(again(id, attempt, &error)),
    };
    match app.client.post_json(url, secret.as_ref(), body).await {
        Ok(()) => Ok(Outcome::Done),
        Err(error) => Ok(again(id, attempt, &error)),
    }
}

/// The next try, or the end of them.
pub(crate) fn again(id: &CompanyId, attempt: u32, error: &dyn std::fmt::Display) -> Outcome<WebhookJob> {
    let Some(after) = waits::PORTAL.after(attempt) else {
        return Outcome::GiveUp {
            reason: format!("the portal was not told of company {id}: {error}"),
        };
    };
    tracing::warn!(company.id = %id, %error, "the portal was not notified; the job is retried");
    Outcome::Again {
        job: WebhookJob::Portal {
            company: *id,
            attempt: attempt.saturating_add(1),
        },
        after,
    }
}
