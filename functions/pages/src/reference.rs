//! `GET /api-reference`: an interactive view of the contract. The viewer is part of this binary; the page loads nothing
//! from other hosts, and its content security policy forbids it.

use axum::Extension;
use axum::extract::Path;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ecf_api::{ApiError, CodedError};
use ecf_runtime::PublicAddress;

const PAGE: &str = include_str!("../assets/api-reference/index.html");
const START: &str = include_str!("../assets/api-reference/start.js");
/// Served compressed; every browser accepts gzip.
const VIEWER: &[u8] = include_bytes!("../assets/api-reference/scalar-1.76.0.js.gz");

/// The viewer writes inline styles; scripts are served by this host only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SCRIPT: (HeaderName, &str) = (header::CONTENT_TYPE, "text/javascript; charset=utf-8");

/// Referencia interactiva
///
/// The reference page. No key is needed to read it; one that is typed in to try something stays in the page's memory.
#[utoipa::path(
    get,
    path = "/api-reference",
    operation_id = "api_reference",
    tag = "Servicio",
    responses((status = 200, description = "The page", body = String, content_type = "text/html")),
    security(()),
)]
pub(crate) async fn page() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "public, max-age=300"),
    ];
    (headers, PAGE)
}

/// `GET /api-reference/`: to the page, whose files are found from its address without the slash.
pub(crate) async fn with_slash(base: Option<Extension<PublicAddress>>) -> impl IntoResponse {
    let base = base.map(|Extension(PublicAddress(base))| base).unwrap_or_default();
    (StatusCode::FOUND, [(header::LOCATION, format!("{base}/api-reference"))])
}

/// Archivo de la referencia
///
/// A script of the reference page.
#[utoipa::path(
    get,
    path = "/api-reference/{file}",
    operation_id = "api_reference_file",
    tag = "Servicio",
    params(("file" = String, Path, description = "A file that the page names")),
    responses(
        (status = 200, description = "The file", body = String, content_type = "text/javascript"),
        (status = 404, description = "The page has no such file", body = CodedError),
    ),
    security(()),
)]
pub(crate) async fn file(Path(file): Path<String>) -> Result<Response, ApiError> {
    match file.as_str() {
        "start.js" => {
            let headers = [SCRIPT, (header::CACHE_CONTROL, "public, max-age=300")];
            Ok((headers, START).into_response())
        }
        // The file name contains the version, so the response never changes.
        "scalar-1.76.0.js" => {
            let headers = [
                SCRIPT,
                (header::CONTENT_ENCODING, "gzip"),
                (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ];
            Ok((headers, VIEWER).into_response())
        }
        _ => Err(ApiError::not_found()),
    }
}
