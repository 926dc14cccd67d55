//! Invitations to sign up. The code is shown in the answer only; only its hash is stored.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{App, OperatorError};

const MOST_USES: u32 = 1_000;
/// Default lifetime of an invitation.
const GOOD_FOR: SignedDuration = SignedDuration::from_hours(30 * 24);
const LONGEST: SignedDuration = SignedDuration::from_hours(366 * 24);

/// An invitation to create.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewInvitation {
    /// The number of companies that may sign up with it; 1 by default.
    uses: Option<u32>,
    expires_at: Option<Timestamp>,
}

pub(crate) async fn create(app: &App, new: NewInvitation) -> Result<Value, OperatorError> {
    let now = app.clock.now();
    let uses = new.uses.unwrap_or(1);
    if !(1..=MOST_USES).contains(&uses) {
        let message = format!("uses is {uses}; it may be 1 to {MOST_USES}");
        return Err(OperatorError::refused("bad_invitation", message));
    }
    let expires_at = new.expires_at.unwrap_or(now + GOOD_FOR);
    if expires_at <= now || expires_at > now + LONGEST {
        let message = format!("expires_at is {expires_at}; it is to be after {now} and within a year");
        return Err(OperatorError::refused("bad_invitation", message));
    }
    let code = hex::encode(ecf_runtime::random::<16>());
    if !app.table.create_invitation(&hash(&code), uses, expires_at).await? {
        return Err(OperatorError::refused("try_again", "the code that was drawn is in use"));
    }
    Ok(json!({ "invitation": { "code": code, "only_shown_once": true, "uses": uses, "expires_at": expires_at } }))
}

pub(crate) async fn revoke(app: &App, code: &str) -> Result<Value, OperatorError> {
    if app.table.revoke_invitation(&hash(code)).await? {
        Ok(json!({ "revoked": true }))
    } else {
        Err(OperatorError::refused(
            "not_found",
            "there is no invitation with this code",
        ))
    }
}

fn hash(code: &str) -> [u8; 32] {
    Sha256::digest(code.trim()).into()
}
