//! Fields that are served under two names.
//!
//! The specification writes `taxauth` where the published client writes `dgii`; both are served. Each pair is built
//! here and flattened into the views, so that a view cannot contain one without the other.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// The number under which the tax authority works on a receipt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct TrackId {
    track_id: Option<String>,
    taxauth_track_id: Option<String>,
    dgii_track_id: Option<String>,
}

impl From<Option<String>> for TrackId {
    fn from(track_id: Option<String>) -> Self {
        Self {
            taxauth_track_id: track_id.clone(),
            dgii_track_id: track_id.clone(),
            track_id,
        }
    }
}

/// The six characters that a printed receipt shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SecurityCode {
    security_code: Option<String>,
    taxauth_security_code: Option<String>,
    dgii_security_code: Option<String>,
}

impl From<Option<String>> for SecurityCode {
    fn from(security_code: Option<String>) -> Self {
        Self {
            taxauth_security_code: security_code.clone(),
            dgii_security_code: security_code.clone(),
            security_code,
        }
    }
}

/// What the tax authority answered, as it answered it.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct TaxauthResponse {
    #[schema(value_type = Option<Object>)]
    taxauth_response: Option<Box<RawValue>>,
    #[schema(value_type = Option<Object>)]
    dgii_response: Option<Box<RawValue>>,
}

impl TaxauthResponse {
    /// Reads the stored text. Clients require an object: any other answer is wrapped as `{"text": …}`.
    pub fn of(stored: Option<&str>) -> Self {
        let taxauth_response = stored.and_then(as_object);
        Self {
            dgii_response: taxauth_response.clone(),
            taxauth_response,
        }
    }
}

/// The tax authority's answer as an object: byte for byte when it is one, wrapped otherwise.
pub fn as_object(stored: &str) -> Option<Box<RawValue>> {
    match serde_json::from_str::<Box<RawValue>>(stored) {
        Ok(json) if json.get().starts_with('{') => Some(json),
        _ => serde_json::value::to_raw_value(&Wrapped { text: stored }).ok(),
    }
}

#[derive(Serialize)]
struct Wrapped<'t> {
    text: &'t str,
}

/// Whether the tax authority's answer can be downloaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct TaxauthArtifact {
    taxauth_response: bool,
    dgii_response: bool,
}

impl From<bool> for TaxauthArtifact {
    fn from(kept: bool) -> Self {
        Self {
            taxauth_response: kept,
            dgii_response: kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_twin_says_the_same() {
        let track_id = TrackId::from(Some("t-1".to_owned()));
        assert_eq!(
            serde_json::to_value(&track_id).unwrap(),
            json!({"track_id": "t-1", "taxauth_track_id": "t-1", "dgii_track_id": "t-1"})
        );
        let code = SecurityCode::from(None);
        assert_eq!(
            serde_json::to_value(&code).unwrap(),
            json!({"security_code": null, "taxauth_security_code": null, "dgii_security_code": null})
        );
        assert_eq!(
            serde_json::to_value(TaxauthArtifact::from(true)).unwrap(),
            json!({"taxauth_response": true, "dgii_response": true})
        );
    }

    #[test]
    fn an_answer_is_always_an_object_and_keeps_its_digits() {
        let written = |stored| serde_json::to_string(&TaxauthResponse::of(stored)).unwrap();
        assert_eq!(
            written(Some(r#"{"monto":1.10}"#)),
            r#"{"taxauth_response":{"monto":1.10},"dgii_response":{"monto":1.10}}"#
        );
        assert_eq!(
            written(Some("[1]")),
            r#"{"taxauth_response":{"text":"[1]"},"dgii_response":{"text":"[1]"}}"#
        );
        assert_eq!(
            written(Some("<html>")),
            r#"{"taxauth_response":{"text":"<html>"},"dgii_response":{"text":"<html>"}}"#
        );
        assert_eq!(written(None), r#"{"taxauth_response":null,"dgii_response":null}"#);
    }
}
