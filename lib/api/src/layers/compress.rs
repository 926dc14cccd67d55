//! Compresses JSON answers for clients that accept gzip. Files are left as they are: they are frozen, or compressed
//! already.

use axum::response::Response;
use http::header::{CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, ETAG};
use http::{Extensions, HeaderMap, HeaderValue, StatusCode, Version};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};

/// Smaller answers fit into one packet anyway.
const SMALLEST_BYTES: u16 = 1_400;

pub(super) fn compress() -> CompressionLayer<impl Predicate + Send + Sync> {
    CompressionLayer::new().compress_when(SizeAbove::new(SMALLEST_BYTES).and(is_json))
}

/// JSON that a handler does not offer as a file.
fn is_json(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let is_json = headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    is_json && !headers.contains_key(CONTENT_DISPOSITION)
}

/// A strong entity tag names the bytes, which are others when they are compressed.
pub(super) async fn weaken_tag(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let strong = headers
        .get(ETAG)
        .and_then(|tag| tag.to_str().ok())
        .filter(|tag| tag.starts_with('"') && headers.contains_key(CONTENT_ENCODING));
    let weak = strong.and_then(|tag| HeaderValue::from_str(&format!("W/{tag}")).ok());
    if let Some(weak) = weak {
        headers.insert(ETAG, weak);
    }
    response
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use axum::body::{Body, to_bytes};
    use axum::extract::Request;
    use axum::routing::get;
    use flate2::read::GzDecoder;
    use http::header::{ACCEPT_ENCODING, VARY};
    use serde_json::{Value, json};
    use tower::ServiceExt as _;

    use super::*;
    use crate::{ApiError, Download, finish};

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
