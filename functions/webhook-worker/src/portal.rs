//! Tells the operator's portal of a new company. Never in the way of anything: tried a few times, then logged.

use std::time::Duration;

use ecf_runtime::{Message, Outcome};
use ecf_store::{CompanyId, StoreError, WebhookJob};
use serde::Serialize;

use crate::App;

/// After so many deliveries of the message the portal is left alone.
const TRIES: u32 = 4;

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
pub(crate) async fn tell(app: &App, id: &CompanyId, message: &Message) -> Result<Outcome<WebhookJob>, StoreError> {
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
    match app.client.post_json(url, body).await {
        Ok(()) => Ok(Outcome::Done),
        Err(error) if message.receive_count < TRIES => {
            tracing::warn!(company.id = %id, error = %error, "the portal does not answer; trying again");
            Ok(Outcome::Again {
                job: WebhookJob::Portal { company: *id },
                after: Duration::from_secs(60),
            })
        }
        Err(error) => Ok(Outcome::GiveUp {
            reason: format!("the portal was not told of company {id}: {error}"),
        }),
    }
}
