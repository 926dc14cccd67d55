//! `GET /openapi/public-v1.json`: the document that is checked in, which CI holds against the code, with the address at which it is served.

use std::borrow::Cow;

use axum::Extension;
use axum::http::header;
use axum::response::IntoResponse;
use ecf_runtime::BaseAddress;

const DOCUMENT: &str = include_str!("../../../infra/openapi/public-v1.json");
/// The document's only server: the root of whatever host it is read from.
const SERVER: &str = r#""url": "/""#;

/// Este documento
///
/// Answers with the OpenAPI document. Its `servers` names the address at which it is served, the stage included. No key is needed.
#[utoipa::path(
    get,
    path = "/openapi/public-v1.json",
    tag = "Servicio",
    responses((status = 200, description = "The OpenAPI document", body = Object)),
    security(()),
)]
pub(crate) async fn openapi(base: Option<Extension<BaseAddress>>) -> impl IntoResponse {
    (
        [
            (header::CONTENT_TYPE, "application/json"),
            (header::CACHE_CONTROL, "public, max-age=3600"),
        ],
        document(
            base.map(|Extension(BaseAddress(base))| base)
                .unwrap_or_default()
                .as_str(),
        ),
    )
}

/// The document for readers at a base address; empty: the root of their host.
fn document(base: &str) -> Cow<'static, str> {
    if base.is_empty() {
        return Cow::Borrowed(DOCUMENT);
    }
    let url = serde_json::Value::from(base);
    Cow::Owned(DOCUMENT.replacen(SERVER, &format!(r#""url": {url}"#), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b2_the_document_has_one_server_which_becomes_the_address_that_was_called() {
        assert_eq!(DOCUMENT.matches(SERVER).count(), 1);
        assert_eq!(document(""), DOCUMENT);
        let bases = [
            "https://a1b2.execute-api.us-east-1.amazonaws.com/api",
            "https://ecf.example.com",
            "/api",
        ];
        for base in bases {
            let document: serde_json::Value = serde_json::from_str(&document(base)).unwrap();
            assert_eq!(document["servers"], serde_json::json!([{ "url": base }]));
        }
    }
}
