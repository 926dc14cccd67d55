//! Whether a document that arrived is a receipt that can be acknowledged.
//!
//! The order is that of certified receivers: specification, signature; number and buyer are judged where they are known. It is
//! no judgement of the content: amounts, dates and the expiry of numbers are the authority's business, which is itself loose
//! with them in what it sends.

use ecf::catalogue::CodigoMotivoNoRecibido;
use ecf::{Document, Encf, Heading, Received, Rnc, Violation, structure};
use ecf_api::ApiError;
use ecf_certificates::{Judge, SignedBy, Signer};
use ecf_store::ContentHash;
use jiff::Timestamp;
use xmldsig::{Verified, VerifyError};

use crate::{MOST_UNSIGNED_BYTES, limits};

/// `CodigoSeguridad`: the first characters of the signature.
const SECURITY_CODE_CHARS: usize = 6;

/// A document that says whose it is.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) rnc_emisor: Rnc,
    pub(crate) rnc_comprador: Option<Rnc>,
    pub(crate) encf: Encf,
    /// A good receipt, or why it is none.
    pub(crate) verdict: Result<Good, CodigoMotivoNoRecibido>,
}

/// A receipt whose structure and signature are right.
#[derive(Debug)]
pub(crate) struct Good {
    /// Read from the bytes that were signed.
    pub(crate) received: Received,
    pub(crate) signer: Signer,
    /// Whether the signer's names are proven.
    pub(crate) signer_trusted: bool,
    /// The first six characters of the signature, by which the authority knows the document.
    pub(crate) security_code: String,
    /// The hash of the signature, which no other document has.
    pub(crate) signature: ContentHash,
}

/// Judges a document.
///
/// # Errors
/// 400 when it is not a receipt, or names no issuer or no number: an ARECF has to name both. 503 or 500 when the deployment's
/// authorities cannot be read.
pub(crate) async fn judge(signers: &Judge, xml: &[u8], now: Timestamp) -> Result<Arrived, ApiError> {
    let verified = xmldsig::verify(xml, &limits());
    let bytes = verified.as_ref().map_or(xml, |verified| &verified.document);
    let heading = Heading::from_xml(bytes).map_err(|error| unreadable(error.to_string()))?;
    let (Some(rnc_emisor), Some(encf)) = (heading.rnc_emisor, heading.encf) else {
        return Err(unreadable("RNCEmisor or eNCF is missing or cannot be read"));
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

/// A receipt with all its fields, in the form that the official schema wants, of a type that buyers are sent.
///
/// `xml` is what arrived: canonical bytes no longer tell where the signature stood, nor in which encoding they came.
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
            "a document was not received: its signature leaves most of it out"
        );
        return refused;
    }
    // The form first: it stops at a hundred faults, so that reading meets no more elements than a receipt has.
    let form = match structure::check(xml, Some(encf.receipt_type())) {
        Ok(form) => form,
        Err(error) if error.is_of_encoding() => {
            tracing::info!(%error, "a document was not received: its encoding is not read");
            return refused;
        }
        Err(error) => return Err(unreadable(error.to_string())),
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

/// Whether there are faults; the first is logged.
fn is_wrong(faults: &[Violation]) -> bool {
    if let Some(Violation {
        path, code, message, ..
    }) = faults.first()
    {
        let path = path.join("/");
        tracing::info!(
            path,
            code,
            message,
            "a document was not received: its structure is wrong"
        );
    }
    !faults.is_empty()
}

/// The signature with its signer, judged.
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

fn unreadable(why: impl Into<String>) -> ApiError {
    ApiError::bad_request("unreadable_document", why.into())
}
