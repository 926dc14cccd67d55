//! Tokens: JSON Web Tokens, valid for one hour, for the owner of a certificate in one environment.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, header};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::{environment::Environment, signature::Signer, state::random_id};

/// "One hour, for now", says the authority.
const LIFETIME: SignedDuration = SignedDuration::from_hours(1);
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// The holder of a token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// The owner of the certificate.
    #[serde(rename = "sub")]
    pub(crate) owner: String,
    /// SHA-256 of the certificate.
    pub(crate) fingerprint: String,
    #[serde(rename = "aud")]
    environment: String,
    #[serde(rename = "iat")]
    issued_at: i64,
    #[serde(rename = "exp")]
    expires_at: i64,
    #[serde(rename = "jti")]
    id: String,
}

/// A token with its times of issue and expiry.
#[derive(Debug)]
pub(crate) struct Issued {
    pub(crate) token: String,
    pub(crate) expira: Timestamp,
    pub(crate) expedido: Timestamp,
}

/// Issues a token.
pub(crate) fn issue(key: &str, signer: &Signer, environment: Environment, now: Timestamp) -> Issued {
    let expira = now.saturating_add(LIFETIME).unwrap_or(Timestamp::MAX);
    let holder = Holder {
        owner: signer.owner.clone(),
        fingerprint: signer.fingerprint.clone(),
        environment: environment.segment().to_owned(),
        issued_at: now.as_second(),
        expires_at: expira.as_second(),
        id: random_id(),
    };
    let claims = serde_json::to_vec(&holder).expect("strings and numbers are always JSON");
    let body = format!(
        "{}.{}",
        BASE64_URL_SAFE_NO_PAD.encode(HEADER),
        BASE64_URL_SAFE_NO_PAD.encode(claims)
    );
    let seal = BASE64_URL_SAFE_NO_PAD.encode(mac(key, &body).finalize().into_bytes());
    Issued {
        token: format!("{body}.{seal}"),
        expira,
        expedido: now,
    }
}

/// The holder of the request's token, if this simulator issued it for this environment and it has not expired.
pub(crate) fn holder(key: &str, headers: &HeaderMap, environment: Environment, now: Timestamp) -> Option<Holder> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let (body, seal) = token.trim().rsplit_once('.')?;
    mac(key, body)
        .verify_slice(&BASE64_URL_SAFE_NO_PAD.decode(seal).ok()?)
        .ok()?;
    let claims = BASE64_URL_SAFE_NO_PAD.decode(body.split_once('.')?.1).ok()?;
    let holder: Holder = serde_json::from_slice(&claims).ok()?;
    let valid = scheme.eq_ignore_ascii_case("bearer")
        && holder.environment == environment.segment()
        && now.as_second() < holder.expires_at;
    valid.then_some(holder)
}

fn mac(key: &str, body: &str) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("any length is a key");
    mac.update(body.as_bytes());
    mac
}
