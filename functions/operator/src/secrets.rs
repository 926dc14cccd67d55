//! Checks which key encrypts the secrets, and moves those of earlier versions to the deployment's own key.

use ecf_store::{CompanyId, vault::EncryptedSecret};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{App, OperatorError};

/// The largest page of Secrets Manager.
const MOST_PER_PART: u8 = 100;

/// A part of the secrets to check.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckSecrets {
    /// Where the part begins: `next` of the last answer.
    at: Option<String>,
    limit: Option<u8>,
    /// Whether to move the companies' certificates to the deployment's key.
    #[serde(default)]
    repair: bool,
}

/// The result of one part.
#[derive(Debug, Default, Serialize)]
struct Findings {
    secrets: usize,
    /// Names of secrets that are encrypted with another key.
    other_key: Vec<String>,
    /// Companies whose certificate was moved.
    moved: Vec<CompanyId>,
}

/// Checks one part. A failing move ends it; the same part again moves the rest.
pub(crate) async fn check(app: &App, check: CheckSecrets) -> Result<Value, OperatorError> {
    let limit = check.limit.unwrap_or(MOST_PER_PART);
    if !(1..=MOST_PER_PART).contains(&limit) {
        let message = format!("limit is {limit}; it may be 1 to {MOST_PER_PART}");
        return Err(OperatorError::refused("bad_part", message));
    }
    let Some(key) = app.vault.kms_key() else {
        let message = "SECRETS_KMS_KEY is not set, so there is no key to move secrets to";
        return Err(OperatorError::refused("no_key", message));
    };
    let Some(page) = app.vault.secrets(check.at, limit).await? else {
        let message = "at is not a position in the list of secrets: give the last answer's `next`, or leave it out";
        return Err(OperatorError::refused("bad_part", message));
    };
    let mut findings = Findings {
        secrets: page.secrets.len(),
        ..Findings::default()
    };
    for EncryptedSecret { name, company, kms_key } in page.secrets {
        match company {
            _ if kms_key.as_deref() == Some(key) => {}
            Some(company) if check.repair => {
                if app.vault.move_certificate_to_key(&company).await? {
                    tracing::info!(company.id = %company, "a certificate was moved to the deployment's key");
                    findings.moved.push(company);
                }
            }
            _ => findings.other_key.push(name),
        }
    }
    Ok(json!({ "agrees": findings.other_key.is_empty(), "found": findings, "next": page.next }))
}
