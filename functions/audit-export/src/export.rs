//! `GET /api/v1/client/audit-export`.

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use ecf_api::{ApiError, Caller, CodedError, DateRange, FieldError, ValidQuery, ValidationError};
use ecf_evidence::audit::{ArchiveRequest, AuditError, Plan, TooLarge};
use ecf_language::say;
use ecf_store::{exports::StoredExport, fiscal_day};
use futures::stream;
use http::{HeaderValue, header};
use serde_json::{Value, json};

use crate::App;

/// Upper bound of the estimated size of an archive.
const LIMIT_BYTES: u64 = 180 * MEGABYTE;
/// Lambda's limit for a streamed response.
const CARRIED_BYTES: u64 = 200 * MEGABYTE;
const MEGABYTE: u64 = 1024 * 1024;

/// Exportar la evidencia fiscal (ZIP)
///
/// All evidence of the span in one ZIP: of each receipt the signed XML, the summary (RFCE), the print (RI) and the tax authority's answer; of
/// each that was received the XML and the acknowledgement (ARECF); the certificates, an index, and a manifest with the SHA-256 of every
/// file, signed with the company's key. There is no P12, PIN or private key in it. It is made while it is sent; an archive of the
/// same content comes from the store.
#[utoipa::path(
    get,
    path = "/api/v1/client/audit-export",
    operation_id = "audit_export",
    tag = "Documentos",
    params(
        DateRange,
        ("If-None-Match" = Option<String>, Header, description = "Entity tags that the caller has"),
    ),
    responses(
        (status = 200, description = "The archive", content((Vec<u8> = "application/zip"))),
        (status = 304, description = "The caller has this archive"),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "`certificate_unusable`: the company's certificate does not open, so the manifest cannot be signed", body = CodedError),
        (status = 422, description = "A bad instant, a missing key, or `range_too_large`: the archive would not fit; `ctx.ranges` are spans that do", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn export(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(range): ValidQuery<DateRange>,
) -> Result<Response, ApiError> {
    let request = ArchiveRequest {
        scope: caller.scope,
        span: range.into(),
    };
    let now = app.clock.now();
    if let Some(found) = app
        .auditor
        .too_large(&request, LIMIT_BYTES, now)
        .await
        .map_err(failed)?
    {
        return Err(too_large(&found));
    }
    let plan = app.auditor.plan(request, now).await.map_err(failed)?;
    if let Some(kept) = app.auditor.stored(&plan).await.map_err(failed)? {
        let size = kept.size_bytes;
        let mut response = archive(&plan, Body::from_stream(stream::try_unfold(kept, next)));
        response.headers_mut().insert(header::CONTENT_LENGTH, size.into());
        return Ok(response);
    }
    let pieces = app.auditor.clone().stream(plan.clone(), CARRIED_BYTES);
    Ok(archive(&plan, Body::from_stream(pieces)))
}

async fn next(mut kept: StoredExport) -> Result<Option<(bytes::Bytes, StoredExport)>, ecf_store::StoreError> {
    Ok(kept.next().await?.map(|piece| (piece, kept)))
}

fn archive(plan: &Plan, body: Body) -> Response {
    let ArchiveRequest { scope, span } = plan.request;
    let day = |at: Option<jiff::Timestamp>| at.map(|at| format!("-{}", fiscal_day(at))).unwrap_or_default();
    let days = format!("{}{}", day(span.from), day(span.to));
    let disposition = format!(
        "attachment; filename=\"evidencia-{}-{}{days}.zip\"",
        plan.rnc,
        scope.environment.as_str()
    );
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/zip"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    for (name, value) in [
        (header::ETAG, format!("\"{}\"", plan.content)),
        (header::CONTENT_DISPOSITION, disposition),
    ] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
    response
}

fn too_large(found: &TooLarge) -> ApiError {
    let megabytes = |bytes: u64| bytes.div_ceil(MEGABYTE);
    let instant = |at: Option<jiff::Timestamp>| at.map(|at| at.to_string());
    let ranges: Vec<Value> = found
        .ranges
        .iter()
        .map(|range| json!({ "date_from": instant(range.from), "date_to": instant(range.to) }))
        .collect();
    let msg = say!(
        "the archive would have about {} MB, at most {} MB are sent at once: ask for the {} ranges in ctx.ranges one \
         by one, or have the operator export it",
        "el archivo tendría unos {} MB, se envían {} MB como máximo a la vez: pida uno por uno los {} rangos de \
         ctx.ranges, o pida al operador que lo exporte",
        megabytes(found.estimated_bytes),
        megabytes(LIMIT_BYTES),
        ranges.len()
    );
    let error = FieldError::new(["query", "date_to"], "range_too_large", msg)
        .with_ctx("estimated_mb", megabytes(found.estimated_bytes))
        .with_ctx("limit_mb", megabytes(LIMIT_BYTES))
        .with_ctx("ranges", ranges);
    ApiError::validation(vec![error])
}

fn failed(error: AuditError) -> ApiError {
    match error {
        AuditError::Store(error) => error.into(),
        AuditError::Certificate(error) => {
            let message = say!(
                "the company's certificate does not open any more: upload its P12 again",
                "el certificado de la empresa ya no abre: suba su P12 otra vez"
            );
            ApiError::conflict("certificate_unusable", message).caused_by(error)
        }
        error => ApiError::internal(error),
    }
}
