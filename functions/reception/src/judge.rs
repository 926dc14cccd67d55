//! Whether a document that arrived is a receipt that can be acknowledged.
//!
//! The order is that of certified receivers: specification, signature; number and buyer are judged where they are known. It is
//! no judgement of the content: amounts, dates and the expiry of numbers are the authority's business, which is itself loose
//! with them in what it sends.

use ecf::catalogue::CodigoMotivoNoRecibido;
use ecf::{Document, Encf, Heading, Received, Rnc, Violation, structure};
use ecf_api::ApiError;
use jiff::Timestamp;
use xmldsig::{Certificate, Verified, VerifyError};

use crate::limits;

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
    pub(crate) signer: Certificate,
}

/// Judges a document.
///
/// # Errors
/// 400 when it is no receipt, or does not say of whom and which: an ARECF has to name both.
pub(crate) fn judge(xml: &[u8], now: Timestamp) -> Result<Arrived, ApiError> {
    let verified = xmldsig::verify(xml, &limits());
    let bytes = verified.as_ref().map_or(xml, |verified| &verified.document);
    let heading = Heading::from_xml(bytes).map_err(|error| unreadable(error.to_string()))?;
    let (Some(rnc_emisor), Some(encf)) = (heading.rnc_emisor, heading.encf) else {
        return Err(unreadable("RNCEmisor or eNCF is missing or cannot be read"));
    };
    let verdict = well_formed(xml, bytes, &encf).and_then(|received| {
        let signer = signature(verified, &received, now)?;
        Ok(Good { received, signer })
    });
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
fn well_formed(xml: &[u8], verified: &[u8], encf: &Encf) -> Result<Received, CodigoMotivoNoRecibido> {
    let refused = Err(CodigoMotivoNoRecibido::ErrorEspecificacion);
    let read = Document::from_xml(verified).and_then(|received| {
        let form = structure::check(xml, Some(received.receipt_type))?;
        Ok((received, form))
    });
    let (received, form) = match read {
        Ok(read) => read,
        Err(error) => {
            let error = ecf_runtime::telemetry::chain(&error).to_string();
            tracing::info!(error, "a document was not received: it cannot be read");
            return refused;
        }
    };
    if let Some(Violation {
        path, code, message, ..
    }) = form.first().or(received.violations.first())
    {
        let path = path.join("/");
        tracing::info!(
            path,
            code,
            message,
            "a document was not received: its structure is wrong"
        );
        return refused;
    }
    if !received.receipt_type.is_exchanged() || encf.receipt_type() != received.receipt_type {
        tracing::info!(ecf_type = %received.receipt_type, "a document was not received: its type is not sent to buyers");
        return refused;
    }
    Ok(received)
}

/// The signer, whose certificate was valid when it signed.
fn signature(
    verified: Result<Verified, VerifyError>,
    received: &Received,
    now: Timestamp,
) -> Result<Certificate, CodigoMotivoNoRecibido> {
    let signed_at = received.document.fecha_hora_firma.and_then(|firma| firma.instant());
    let usable = verified.map_err(|error| error.to_string()).and_then(|verified| {
        let certificate = verified.certificate;
        let usable = certificate.check_usable_at(signed_at.unwrap_or(now));
        usable.map(|()| certificate).map_err(|error| error.to_string())
    });
    usable.map_err(|reason| {
        tracing::info!(reason, "a document was not received: its signature is not acceptable");
        CodigoMotivoNoRecibido::ErrorFirma
    })
}

fn unreadable(why: impl Into<String>) -> ApiError {
    ApiError::bad_request("unreadable_document", why.into())
}
