//! Decides whether a received document is a receipt that can be acknowledged.
//!
//! The order is that of certified receivers: specification, then signature. Number and buyer are validated where they
//! are known. Amounts, dates and the expiry of numbers are not validated: they are the authority's business, and its
//! own test documents violate them.

use ecf::catalogue::CodigoMotivoNoRecibido;
use ecf::{Document, Encf, Heading, Received, Rnc, Violation, structure};
use ecf_api::ApiError;
use ecf_certificates::{Judge, SignedBy, Signer};
use ecf_language::{Bilingual, Say, say};
use ecf_store::ContentHash;
use jiff::Timestamp;
use xmldsig::{Verified, VerifyError};

use crate::{MOST_UNSIGNED_BYTES, limits};

/// `CodigoSeguridad`: the first characters of the signature.
const SECURITY_CODE_CHARS: usize = 6;

/// A document that names its issuer and its number.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) rnc_emisor: Rnc,
    pub(crate) rnc_comprador: Option<Rnc>,
    pub(crate) encf: Encf,
    /// A valid receipt, or the reason why it is not one.
    pub(crate) verdict: Result<Good, CodigoMotivoNoRecibido>,
}

/// A receipt with a valid structure and signature.
#[derive(Debug)]
pub(crate) struct Good {
    /// Read from the signed bytes.
    pub(crate) received: Received,
    pub(crate) signer: Signer,
    /// Whether the certificate has a trusted issuer, so that the names in it are proven.
    pub(crate) signer_trusted: bool,
    /// The first six characters of the signature, by which the authority identifies the document.
    pub(crate) security_code: String,
    /// The hash of the signature, which identifies the document.
    pub(crate) signature: ContentHash,
}

/// Validates a document.
///
/// # Errors
/// 400 when it is not a receipt, or lacks an issuer or a number, both of which an ARECF must name. 503 or 500 when the
/// deployment's trusted authorities cannot be read.
pub(crate) async fn judge(signers: &Judge, xml: &[u8], now: Timestamp) -> Result<Arrived, ApiError> {
    let verified = xmldsig::verify(xml, &limits());
    let bytes = verified.as_ref().map_or(xml, |verified| &verified.document);
    let heading = Heading::from_xml(bytes).map_err(|error| unreadable(error.say()))?;
    let (Some(rnc_emisor), Some(encf)) = (heading.rnc_emisor, heading.encf) else {
        return Err(unreadable(say!(
            "RNCEmisor or eNCF is missing or cannot be read",
            "RNCEmisor o eNCF falta o no se puede leer"
        )));
    };
    let verdict = match well_formed(xml, bytes, &encf)? {
        Ok(received) => signature(signers, verified, received, &rnc_emisor, now).await?,
        Err(reason) => Err(reason),
    };
    Ok(Arrived {
        rnc_emisor,
        rnc_comprador: heading.rnc_comprador,
        encf,
        verdict,
    })
}

/// Validates that the document is a complete receipt of the official schema, of a type that is sent to buyers.
///
/// `xml` is the document as received: the canonical bytes do not show the place of the signature or the original
/// encoding.
///
/// # Errors
/// 400 when it is not XML. A document in another encoding is acknowledged as not received.
fn well_formed(xml: &[u8], verified: &[u8], encf: &Encf) -> Result<Result<Received, CodigoMotivoNoRecibido>, ApiError> {
    let refused = Ok(Err(CodigoMotivoNoRecibido::ErrorEspecificacion));
    if xml.len() > 2 * verified.len() + MOST_UNSIGNED_BYTES {
        let (bytes, signed) = (xml.len(), verified.len());
        tracing::info!(
            bytes,
            signed,
            "a document was not received: its signature does not cover most of it"
        );
        return refused;
    }
    // The form is checked first. It stops at a hundred faults, which bounds the number of elements that are read
    // afterwards.
    let form = match structure::check(xml, Some(encf.receipt_type())) {
        Ok(form) => form,
        Err(error) if error.is_of_encoding() => {
            tracing::info!(%error, "a document was not received: its encoding is not supported");
            return refused;
        }
        Err(error) => return Err(unreadable(error.say())),
    };
    if is_wrong(&form) {
        return refused;
    }
    let received = match Document::from_xml(verified) {
        Ok(received) => received,
        Err(error) => {
            let error = ecf_runtime::telemetry::chain(&error).to_string();
            tracing::info!(error, "a document was not received: it cannot be read");
            return refused;
        }
    };
    if is_wrong(&received.violations) {
        return refused;
    }
    if !received.receipt_type.is_exchanged() || encf.receipt_type() != received.receipt_type {
        tracing::info!(ecf_type = %received.receipt_type, "a document was not received: its type is not sent to buyers");
        return refused;
    }
    Ok(Ok(received))
}

/// Whether there are faults; the first one is logged.
fn is_wrong(faults: &[Violation]) -> bool {
    if let Some(Violation {
        path, code, message, ..
    }) = faults.first()
    {
        let path = path.join("/");
        tracing::info!(
            path,
            code,
            message = &*message.en,
            "a document was not received: its structure is wrong"
        );
    }
    !faults.is_empty()
}

/// Validates the signature and its signer.
async fn signature(
    signers: &Judge,
    verified: Result<Verified, VerifyError>,
    received: Received,
    rnc_emisor: &Rnc,
    now: Timestamp,
) -> Result<Result<Good, CodigoMotivoNoRecibido>, ApiError> {
    let refused = |reason: &dyn std::fmt::Display| {
        tracing::info!(%reason, "a document was not received: its signature is not acceptable");
        Ok(Err(CodigoMotivoNoRecibido::ErrorFirma))
    };
    let verified = match verified {
        Ok(verified) => verified,
        Err(error) => return refused(&error),
    };
    let signed = SignedBy {
        chain: (&verified).into(),
        signed_at: received.document.fecha_hora_firma.and_then(|firma| firma.instant()),
        taxpayer: Some(rnc_emisor),
    };
    let (signer, signer_trusted) = match signers.judge(signed, now).await?.accepted() {
        Ok(accepted) => accepted,
        Err(refusal) => return refused(&refusal),
    };
    Ok(Ok(Good {
        received,
        signer,
        signer_trusted,
        security_code: verified.signature_value.chars().take(SECURITY_CODE_CHARS).collect(),
        signature: ContentHash::of(verified.signature_value.as_bytes()),
    }))
}

fn unreadable(why: Bilingual) -> ApiError {
    ApiError::bad_request("unreadable_document", why)
}
