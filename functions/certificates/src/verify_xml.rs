//! `POST /api/v1/client/tools/verify-xml`.
//!
//! Reports on any document of the scheme, from any author: signature, certificate, structure, amounts, file name. Bytes
//! that are not a document get a report too. If the signature verifies, the content is read from the signed bytes.

mod content;
mod signature;

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, BODY_LIMIT_BYTES, Caller, CodedError, FieldError, ValidationError};
use serde::Serialize;
use utoipa::ToSchema;
use xmldsig::{Limits, examine};

use crate::App;
use crate::xml_body::{XmlBody, XmlForm, XmlRequest};
use content::{Content, ContentView, FileNameView, Source};
use signature::{SignatureView, SignerView};

/// A finding about a document.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReportView {
    /// Signature, structure and rules are all right, and the certificate was valid when it was signed.
    valid: bool,
    signature: SignatureView,
    /// The signer; absent when no certificate could be read. Whether the authority knows its issuer is not asked.
    signer: Option<SignerView>,
    /// What the document states about itself; absent when it cannot be read.
    document: Option<ContentView>,
    /// What the official schema refuses, in the order of the document: fields that are missing, wrong or not allowed, elements that are out of
    /// order, empty or repeated, attributes, namespaces, text between elements.
    structure: Vec<FieldError>,
    /// What the fiscal rules find in an e-CF, each with its grade: `rejected`, `conditional` or `notice`.
    rules: Vec<FieldError>,
    /// The day that the rules of an e-CF took as today: that of its signature. A finding that only today's date brings is a `notice`.
    #[schema(example = "27-11-2026")]
    rules_as_of: Option<String>,
    file_name: FileNameView,
}

/// Verificar un XML firmado
///
/// Examines a document and lists everything that is wrong with it.
#[utoipa::path(
    post,
    path = "/api/v1/client/tools/verify-xml",
    tag = "Herramientas",
    request_body(content(
        (String = "application/xml"),
        (XmlForm = "multipart/form-data"),
        (XmlRequest = "application/json"),
    )),
    responses(
        (status = 200, description = "The report, whatever was sent", body = ReportView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 413, description = "The body is too large", body = CodedError),
        (status = 415, description = "The body is of another type", body = CodedError),
        (status = 422, description = "The document is missing or empty", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn verify_xml(
    State(app): State<App>,
    caller: Caller,
    body: XmlBody,
) -> Result<Json<ReportView>, ApiError> {
    let now = app.clock.now();
    let limits = Limits {
        max_bytes: BODY_LIMIT_BYTES,
        ..Limits::default()
    };
    let report = examine(&body.bytes, &limits);
    let signature = SignatureView::of(&report);
    let certificate = report.certificate.clone();
    let verified = report.into_result().ok();
    let source = Source {
        sent: &body.bytes,
        content: verified.as_ref().map_or(&body.bytes, |verified| &verified.document),
    };
    let content = Content::read(source, caller.environment(), now);
    let signer =
        certificate.map(|certificate| SignerView::of(&certificate, content.issuer(), content.signed_at(), now));
    Ok(Json(ReportView {
        valid: signature.valid && content.is_right() && signer.as_ref().is_some_and(|signer| signer.serves),
        signature,
        signer,
        file_name: content.file_name(body.file_name),
        document: content.document,
        structure: content.structure,
        rules: content.rules,
        rules_as_of: content.rules_as_of,
    }))
}
