//! The body of an event: a flat JSON object that never changes.
//!
//! All values come from the receipt at the time of its verdict, the timestamp included, so every attempt sends the same
//! bytes. A receiver can verify the raw bytes and drop duplicates by (`public_id`, `event`).

use ecf::{ReceiptState, StampHosts};
use ecf_store::{Receipt, WebhookId};
use jiff::{Timestamp, tz::Offset};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::event::EventName;

/// A receipt without a final fiscal state has no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a receipt that is {state} has no event")]
pub struct NotFinal {
    /// Its state.
    pub state: ReceiptState,
}

/// The fields in the order of the specification; absent values are left out. The authority's answer has two names, and
/// both are sent.
#[derive(Serialize)]
struct Payload<'a> {
    event: &'a str,
    public_id: &'a str,
    company_rnc: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ecf_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encf: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    track_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    track_number: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    security_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taxauth_security_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dgii_security_code: Option<&'a str>,
    timestamp: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    taxauth_response: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dgii_response: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    electronic_stamp: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sign_date: Option<&'a str>,
}

/// The event of a receipt's verdict, and its body.
///
/// `stamp_hosts` completes the URL of the receipt's QR code, which is derived and not stored.
///
/// # Errors
/// When the receipt has no final fiscal state.
pub fn event_body(receipt: &Receipt, stamp_hosts: &StampHosts) -> Result<(EventName, Vec<u8>), NotFinal> {
    let state = receipt.state;
    let event = EventName::of_state(state).ok_or(NotFinal { state })?;
    let signed = receipt.signed.as_ref();
    let security_code = signed.map(|signed| signed.security_code.as_str());
    let taxauth_response = receipt.taxauth_response.as_deref().and_then(object);
    let body = bytes(&Payload {
        event: event.as_str(),
        public_id: &receipt.public_id.to_string(),
        company_rnc: &receipt.company_rnc.to_string(),
        ecf_type: Some(&receipt.ecf_type.to_string()),
        encf: receipt.encf().map(ToString::to_string).as_deref(),
        status: Some(&state.to_string()),
        track_id: receipt.track_id.as_deref(),
        track_number: receipt.track_id.as_deref(),
        security_code,
        taxauth_security_code: security_code,
        dgii_security_code: security_code,
        // The instant of the verdict. `updated_at` of a final receipt changes only with its delivery, so the fallback
        // serves records without `completed_at`.
        timestamp: &without_offset(receipt.completed_at.unwrap_or(receipt.updated_at)),
        taxauth_response,
        dgii_response: taxauth_response,
        electronic_stamp: receipt.electronic_stamp(stamp_hosts).as_deref(),
        sign_date: signed.map(|signed| signed.sign_date.as_str()),
    });
    Ok((event, body))
}

/// The body of a test event: the same shape without a receipt; `public_id` is the webhook's id.
#[must_use]
pub fn test_event_body(webhook: &WebhookId, company_rnc: &str, now: Timestamp) -> Vec<u8> {
    bytes(&Payload {
        event: EventName::Test.as_str(),
        public_id: &webhook.to_string(),
        company_rnc,
        ecf_type: None,
        encf: None,
        status: None,
        track_id: None,
        track_number: None,
        security_code: None,
        taxauth_security_code: None,
        dgii_security_code: None,
        timestamp: &without_offset(now),
        taxauth_response: None,
        dgii_response: None,
        electronic_stamp: None,
        sign_date: None,
    })
}

fn bytes(payload: &Payload<'_>) -> Vec<u8> {
    serde_json::to_vec(payload).expect("texts and checked JSON always serialize")
}

/// The stored answer, if it is a JSON object as the contract promises.
fn object(json: &str) -> Option<&RawValue> {
    serde_json::from_str::<&RawValue>(json)
        .ok()
        .filter(|raw| raw.get().starts_with('{'))
}

/// UTC in whole seconds, without an offset as the contract requires.
pub(crate) fn without_offset(instant: Timestamp) -> String {
    Offset::UTC
        .to_datetime(instant)
        .strftime("%Y-%m-%dT%H:%M:%S")
        .to_string()
}

#[cfg(test)]
mod tests;
