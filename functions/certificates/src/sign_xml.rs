//! `POST /api/v1/client/tools/sign-xml`.
//!
//! For forms of the authority's portal that must be signed: the application for certification, the sworn statement.
//! Receipts, the messages about them and the seed are rejected: other routes number and store receipts and messages,
//! and a signed seed grants a token.

use axum::extract::State;
use ecf::{Document, XmlError};
use ecf_api::{ApiError, BODY_LIMIT_BYTES, Caller, CodedError, Download, FieldError, ValidationError};
use ecf_certificates::signing_identity;
use ecf_language::{Bilingual, Say, say};
use hex::ToHex as _;
use sha2::{Digest as _, Sha256};
use xmldsig::{Limits, SignError, sign_foreign};

use crate::App;
use crate::xml_body::{XmlBody, XmlForm};

/// Firmar un XML del portal
///
/// Signs a document with the company's certificate and answers it as a file. Blanks between elements and comments are
/// left out, as the authority wants it; what comes out is to be uploaded byte for byte.
#[utoipa::path(
    post,
    path = "/api/v1/client/tools/sign-xml",
    tag = "Herramientas",
    request_body(content(
        (String = "application/xml"),
        (XmlForm = "multipart/form-data"),
        (crate::xml_body::XmlRequest = "application/json"),
    )),
    responses(
        (status = 200, description = "The signed document", body = String, content_type = "application/xml"),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "The company has no certificate that is valid now", body = CodedError),
        (status = 413, description = "The body is too large", body = CodedError),
        (status = 415, description = "The body is of another type", body = CodedError),
        (status = 422, description = "Why it is not signed; `ctx.code` has the reason", body = ValidationError),
    ),
    security(("api_key" = ["full", "highest_environment"])),
)]
pub(crate) async fn sign_xml(State(app): State<App>, caller: Caller, body: XmlBody) -> Result<Download, ApiError> {
    let identity = signing_identity(&app.identities, caller.company(), app.clock.now()).await?;
    let limits = Limits {
        max_bytes: BODY_LIMIT_BYTES,
        ..Limits::default()
    };
    let signed = sign_foreign(&body.bytes, &identity, &limits).map_err(not_signed)?;
    // Checked on the canonical bytes, which have one reading only.
    check_root(&signed.xml)?;
    tracing::info!(
        company.id = %caller.company(),
        api_key.id = %caller.key_id,
        certificate.sha256 = identity.certificate().fingerprint_hex(),
        document.sha256 = Sha256::digest(&signed.xml).encode_hex::<String>(),
        "document signed for the portal"
    );
    Ok(Download::new(
        signed.xml,
        "application/xml",
        file_name(body.file_name.as_deref()),
    ))
}

fn check_root(xml: &[u8]) -> Result<(), ApiError> {
    let root = match Document::from_xml(xml) {
        Err(XmlError::Root { given, .. }) => given,
        Err(XmlError::ReceiptType(_)) | Ok(_) => "ECF".to_owned(),
        Err(error) => return Err(refused("unreadable", error.say())),
    };
    match what_signs(&root) {
        Some(instead) => Err(refused(
            "receipt_document",
            say!(
                [instead],
                "{root} is not signed here: {instead}",
                "{root} no se firma aquí: {instead}"
            ),
        )),
        None => Ok(()),
    }
}

/// The route that signs a document with this root element, for those that are rejected here.
fn what_signs(root: &str) -> Option<Bilingual> {
    Some(match root.to_ascii_uppercase().as_str() {
        "ECF" => say!("issue it with POST /api/v1/ecf", "emítalo con POST /api/v1/ecf"),
        "RFCE" => say!(
            "the summary is made with the receipt by POST /api/v1/ecf",
            "POST /api/v1/ecf hace el resumen junto con el comprobante"
        ),
        "ARECF" => say!(
            "acknowledgements are signed when a receipt arrives",
            "los acuses de recibo se firman cuando llega un comprobante"
        ),
        "ACECF" => say!(
            "answer the receipt with POST /api/v1/ecf/acecf/submit",
            "responda el comprobante con POST /api/v1/ecf/acecf/submit"
        ),
        "ANECF" => say!(
            "annul numbers with POST /api/v1/ecf/cancellations",
            "anule números con POST /api/v1/ecf/cancellations"
        ),
        "SEMILLAMODEL" => say!(
            "the service fetches its own tokens from the tax authority",
            "el servicio busca sus propios tokens en la DGII"
        ),
        _ => return None,
    })
}

fn not_signed(error: SignError) -> ApiError {
    match error {
        SignError::AlreadySigned => refused(
            "already_signed",
            say!(
                "the document has a signature: take the file as the portal gave it",
                "el documento tiene una firma: use el archivo tal como lo dio el portal"
            ),
        ),
        SignError::Xml(error) => refused("not_well_formed", error.say()),
        other => ApiError::internal(other),
    }
}

fn refused(code: &'static str, msg: Bilingual) -> ApiError {
    let error = FieldError::new(["body"], "value_error", msg).with_code(code);
    ApiError::validation(vec![error])
}

fn file_name(given: Option<&str>) -> String {
    let stem = given.map_or("document", |name| {
        let end = name.len()
            - if name.to_ascii_lowercase().ends_with(".xml") {
                4
            } else {
                0
            };
        &name[..end]
    });
    format!("{stem}-signed.xml")
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn the_signed_file_is_named_after_the_one_that_came() {
        assert_eq!(file_name(Some("Postulacion.XML")), "Postulacion-signed.xml");
        assert_eq!(file_name(Some("declaración")), "declaración-signed.xml");
        assert_eq!(file_name(None), "document-signed.xml");
    }
}
