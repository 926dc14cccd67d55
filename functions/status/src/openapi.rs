//! `GET /openapi/public-v1.json`: the document that is checked in, which CI holds against the code.

use axum::http::header;
use axum::response::IntoResponse;

const DOCUMENT: &str = include_str!("../../../infra/openapi/public-v1.json");

/// Este documento
///
/// Answers with the OpenAPI document. No key is needed.
#[utoipa::path(
    get,
    path = "/openapi/public-v1.json",
    tag = "Servicio",
    responses((status = 200, description = "The OpenAPI document", body = Object)),
    security(()),
)]
pub(crate) async fn openapi() -> impl IntoResponse {
    (
        [
            (header::CONTENT_TYPE, "application/json"),
            (header::CACHE_CONTROL, "public, max-age=3600"),
        ],
        DOCUMENT,
    )
}
