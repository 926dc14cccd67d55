//! Signing: the receipt, and for a consumer invoice below the threshold the summary that is sent in its place.

use std::sync::Arc;

use bytes::Bytes;
use ecf::messages::Rfce;
use ecf::{FechaHora, Numbered};
use ecf_api::{ApiError, Caller};
use ecf_store::{ContentHash, Signed};
use jiff::Timestamp;
use xmldsig::Identity;

use crate::App;

/// The frozen bytes and what the record keeps of them.
pub(crate) struct SignedDocument {
    pub(crate) signed: Signed,
    pub(crate) xml: Bytes,
    pub(crate) rfce: Option<Bytes>,
}

/// The identity that signs for the caller now. It is asked for before a number is taken: without it the number would be lost.
///
/// # Errors
/// When the company has no certificate, or one that is not valid now.
pub(crate) async fn identity(app: &App, caller: &Caller, now: Timestamp) -> Result<Arc<Identity>, ApiError> {
    let Some(identity) = app.identities.of(caller.company(), now).await? else {
        return Err(ApiError::conflict(
            "certificate_missing",
            "the company has no certificate yet: upload its P12 first",
        ));
    };
    let certificate = identity.certificate();
    if !certificate.is_valid_at(now) {
        let message = format!(
            "the company's certificate is valid from {} to {}: upload a current one",
            certificate.not_before, certificate.not_after
        );
        return Err(ApiError::conflict("certificate_not_valid", message));
    }
    Ok(identity)
}

/// Signs a numbered receipt at this instant. The receipt is signed once: its summary carries the code of these very bytes.
///
/// # Errors
/// When the certificate cannot sign.
pub(crate) fn sign(numbered: &Numbered, identity: &Identity, now: Timestamp) -> Result<SignedDocument, ApiError> {
    let firma = FechaHora::at(now);
    let full = xmldsig::sign(&numbered.to_xml(firma), identity).map_err(ApiError::internal)?;
    // The security code is the beginning of the signature's text, case preserved (signature guide, "Código de seguridad").
    let security_code: String = full.signature_value.chars().take(6).collect();
    let rfce = if numbered.goes_as_summary() {
        let summary = Rfce::of(numbered, &security_code).map_err(ApiError::internal)?;
        Some(
            xmldsig::sign(&summary.to_xml(), identity)
                .map_err(ApiError::internal)?
                .xml,
        )
    } else {
        None
    };
    let signed = Signed {
        encf: numbered.encf(),
        sign_date: firma.to_string(),
        security_code,
        signed_xml: ContentHash::of(&full.xml),
        rfce: rfce.as_deref().map(ContentHash::of),
    };
    Ok(SignedDocument {
        signed,
        xml: full.xml.into(),
        rfce: rfce.map(Bytes::from),
    })
}
