//! Compresses JSON answers for clients that accept gzip. Files are left as they are: they are frozen, or compressed
//! already.

use std::io::Write as _;

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderValue};

use crate::ApiError;

/// Smaller answers fit into one packet anyway.
const SMALLEST_BYTES: u64 = 1_400;

pub(super) async fn compress(request: Request, next: Next) -> Response {
    let accepts = accepts_gzip(request.headers());
    let mut response = next.run(request).await;
    let size = response.body().size_hint().exact();
    if !is_plain_json(response.headers()) || size.is_none_or(|size| size < SMALLEST_BYTES) {
        return response;
    }
    response
        .headers_mut()
        .append(VARY, HeaderValue::from_static("accept-encoding"));
    if !accepts {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return ApiError::internal("a body in memory broke off").into_response();
    };
    match gzip(&bytes) {
        Ok(packed) => {
            parts.headers.remove(CONTENT_LENGTH);
            parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            weaken(&mut parts.headers);
            Response::from_parts(parts, Body::from(packed))
        }
        Err(error) => {
            tracing::error!(%error, "an answer could not be compressed");
            Response::from_parts(parts, Body::from(bytes))
        }
    }
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 8), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// JSON that a handler neither encoded nor offers as a file.
fn is_plain_json(headers: &HeaderMap) -> bool {
    let is_json = headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    is_json && !headers.contains_key(CONTENT_ENCODING) && !headers.contains_key(CONTENT_DISPOSITION)
}

/// A strong entity tag names the bytes, which are others now.
fn weaken(headers: &mut HeaderMap) {
    let weak = headers
        .get(ETAG)
        .and_then(|tag| tag.to_str().ok())
        .filter(|tag| tag.starts_with('"'))
        .and_then(|tag| HeaderValue::from_str(&format!("W/{tag}")).ok());
    if let Some(weak) = weak {
        headers.insert(ETAG, weak);
    }
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let given = headers.get_all(ACCEPT_ENCODING).iter();
    let mut codings = given
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','));
    codings.any(|coding| {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let quality = parameters.trim().strip_prefix("q=").map(str::trim);
        let is_refused = quality.is_some_and(|quality| quality.trim_end_matches('0').trim_end_matches('.').is_empty());
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use axum::routing::get;
    use flate2::read::GzDecoder;
    use http::StatusCode;
    use serde_json::{Value, json};
    use tower::ServiceExt as _;

    use super::*;
    use crate::{Download, finish};

    fn large() -> Value {
        json!({ "items": vec!["the same words"; 200] })
    }

    async fn ask(path: &str, accepts: Option<&str>, known: Option<&str>) -> (StatusCode, HeaderMap, Vec<u8>) {
        let tagged = async || ([(ETAG, "\"abc\"")], axum::Json(large()));
        let routes = axum::Router::new()
            .route("/large", get(async || axum::Json(large())))
            .route("/small", get(async || axum::Json(json!({ "items": [] }))))
            .route("/tagged", get(tagged))
            .route(
                "/file",
                get(async || Download::new(vec![7; 5_000], "application/json", "a.json")),
            )
            .route(
                "/xml",
                get(async || Download::new(vec![b'x'; 5_000], "application/xml", "a.xml")),
            )
            .route(
                "/pdf",
                get(async || ([(CONTENT_TYPE, "application/pdf")], vec![7_u8; 5_000])),
            )
            .route("/none", get(async || ApiError::not_found()));
        let mut request = Request::get(path);
        if let Some(accepts) = accepts {
            request = request.header(ACCEPT_ENCODING, accepts);
        }
        if let Some(known) = known {
            request = request.header(http::header::IF_NONE_MATCH, known);
        }
        let response = finish(routes)
            .oneshot(request.body(Body::empty()).unwrap())
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        (
            parts.status,
            parts.headers,
            to_bytes(body, usize::MAX).await.unwrap().to_vec(),
        )
    }

    #[tokio::test]
    async fn large_json_is_compressed_for_those_who_accept_it() {
        let plain = large().to_string().into_bytes();
        for accepts in [
            "gzip",
            "gzip, deflate, br",
            "br;q=1.0, GZip;q=0.5",
            "deflate,gzip;q=0.001",
        ] {
            let (status, headers, body) = ask("/large", Some(accepts), None).await;
            assert_eq!(status, StatusCode::OK, "{accepts}");
            assert_eq!(headers[CONTENT_ENCODING], "gzip", "{accepts}");
            assert_eq!(headers[CONTENT_TYPE], "application/json");
            assert_eq!(headers[VARY], "accept-encoding");
            assert!(body.len() < plain.len() / 10, "{}", body.len());
            let mut read = Vec::new();
            GzDecoder::new(body.as_slice()).read_to_end(&mut read).unwrap();
            assert_eq!(read, plain);
        }
        for accepts in [
            None,
            Some("identity"),
            Some("br"),
            Some("gzip;q=0"),
            Some("gzip; q=0.00"),
        ] {
            let (_, headers, body) = ask("/large", accepts, None).await;
            assert_eq!(
                (headers.get(CONTENT_ENCODING), body),
                (None, plain.clone()),
                "{accepts:?}"
            );
            assert_eq!(headers[VARY], "accept-encoding");
        }
    }

    #[tokio::test]
    async fn small_answers_errors_and_files_are_left_as_they_are() {
        for (path, length) in [("/small", 12), ("/file", 5_000), ("/xml", 5_000), ("/pdf", 5_000)] {
            let (status, headers, body) = ask(path, Some("gzip"), None).await;
            assert_eq!((status, body.len()), (StatusCode::OK, length), "{path}");
            assert_eq!(
                (headers.get(CONTENT_ENCODING), headers.get(VARY)),
                (None, None),
                "{path}"
            );
        }
        let (status, headers, body) = ask("/none", Some("gzip"), None).await;
        assert_eq!((status, headers.get(CONTENT_ENCODING)), (StatusCode::NOT_FOUND, None));
        serde_json::from_slice::<Value>(&body).unwrap();
    }

    #[tokio::test]
    async fn an_entity_tag_still_answers_304() {
        let (_, headers, _) = ask("/tagged", Some("gzip"), None).await;
        assert_eq!(headers[ETAG], "W/\"abc\"");
        for known in ["W/\"abc\"", "\"abc\""] {
            let (status, headers, body) = ask("/tagged", Some("gzip"), Some(known)).await;
            assert_eq!((status, body.len()), (StatusCode::NOT_MODIFIED, 0), "{known}");
            assert_eq!(headers.get(CONTENT_ENCODING), None);
        }
    }
}
