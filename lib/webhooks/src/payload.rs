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
use crate::schema::{foreign_object, optional, payload, text};

/// A receipt without a final fiscal state has no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a receipt that is {state} has no event")]
pub struct NotFinal {
    /// Its state.
    pub state: ReceiptState,
}

payload! {
    /// The tax authority's verdict on a receipt. Members without a value are left out.
    VerdictEvent<'a> {
        event: &'a str,
        public_id: &'a str,
        company_rnc: &'a str,
        ecf_type: &'a str = text("Two digits"),
        #[serde(skip_serializing_if = "Option::is_none")]
        encf: Option<&'a str> = text("The receipt's number"),
        status: &'a str = text("The state, as in `event`"),
        #[serde(skip_serializing_if = "Option::is_none")]
        track_id: Option<&'a str> = optional(text("The authority's id")),
        #[serde(skip_serializing_if = "Option::is_none")]
        track_number: Option<&'a str> = optional(text("The same")),
        #[serde(skip_serializing_if = "Option::is_none")]
        security_code: Option<&'a str> = optional(text("Six characters of the signature")),
        // The authority's name has two spellings, and the contract serves both.
        #[serde(skip_serializing_if = "Option::is_none")]
        taxauth_security_code: Option<&'a str> = optional(text("The same")),
        #[serde(skip_serializing_if = "Option::is_none")]
        dgii_security_code: Option<&'a str> = optional(text("The same")),
        timestamp: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        taxauth_response: Option<&'a RawValue> = optional(foreign_object("The authority's answer, unchanged")),
        #[serde(skip_serializing_if = "Option::is_none")]
        dgii_response: Option<&'a RawValue> = optional(foreign_object("The authority's answer, unchanged")),
        #[serde(skip_serializing_if = "Option::is_none")]
        electronic_stamp: Option<&'a str> = optional(text("The address for the QR code")),
        #[serde(skip_serializing_if = "Option::is_none")]
        sign_date: Option<&'a str> = optional(text("`DD-MM-YYYY HH:MM:SS`, local")),
    }
}

payload! {
    /// The dry run; `public_id` is the webhook's.
    TestEvent<'a> {
        event: &'a str,
        public_id: &'a str,
        company_rnc: &'a str,
        timestamp: &'a str,
    }
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
    let signed = receipt.fiscal.signed.as_ref();
    let security_code = signed.map(|signed| signed.security_code.as_str());
    let taxauth_response = receipt.taxauth_response.as_deref().and_then(object);
    let body = bytes(&VerdictEvent {
        event: event.as_str(),
        public_id: &receipt.public_id.to_string(),
        company_rnc: &receipt.fiscal.company_rnc.to_string(),
        ecf_type: &receipt.fiscal.ecf_type.to_string(),
        encf: receipt.encf().map(ToString::to_string).as_deref(),
        status: &state.to_string(),
        track_id: receipt.sending.track_id.as_deref(),
        track_number: receipt.sending.track_id.as_deref(),
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

/// The body of a test event.
#[must_use]
pub fn test_event_body(webhook: &WebhookId, company_rnc: &str, now: Timestamp) -> Vec<u8> {
    bytes(&TestEvent {
        event: EventName::Test.as_str(),
        public_id: &webhook.to_string(),
        company_rnc,
        timestamp: &without_offset(now),
    })
}

fn bytes(payload: &impl Serialize) -> Vec<u8> {
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
