//! Decompresses bodies with `Content-Encoding` before any other code reads them, within the body limit.

use std::io::{self, Read};

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ecf_language::say;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::BODY_LIMIT_BYTES;
use crate::ApiError;

const ACCEPTED: &str = "gzip, deflate";

#[derive(Debug, Clone, Copy)]
enum Encoding {
    Gzip,
    Deflate,
}

pub(super) async fn inflate(request: Request, next: Next) -> Response {
    match inflated(request).await {
        Ok(request) => next.run(request).await,
        Err(error) => {
            let is_other_encoding = error.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE;
            let mut response = error.into_response();
            if is_other_encoding {
                // RFC 9110, section 15.5.16: the answer lists the accepted encodings.
                let headers = response.headers_mut();
                headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
            }
            response
        }
    }
}

async fn inflated(request: Request) -> Result<Request, ApiError> {
    let Some(encoding) = encoding(request.headers())? else {
        return Ok(request);
    };
    let (mut parts, body) = request.into_parts();
    let packed = to_bytes(body, BODY_LIMIT_BYTES).await;
    let packed = packed.map_err(|_| ApiError::payload_too_large(BODY_LIMIT_BYTES))?;
    let bytes = unpack(encoding, &packed).map_err(|error| {
        let message = say!(
            "the body is not what Content-Encoding says: {error}",
            "el cuerpo no es lo que dice Content-Encoding"
        );
        ApiError::bad_request("invalid_content_encoding", message)
    })?;
    if bytes.len() > BODY_LIMIT_BYTES {
        return Err(ApiError::payload_too_large(BODY_LIMIT_BYTES));
    }
    parts.headers.remove(CONTENT_ENCODING);
    parts.headers.insert(CONTENT_LENGTH, bytes.len().into());
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// The encoding of the body; `None` for an unencoded body.
fn encoding(headers: &HeaderMap) -> Result<Option<Encoding>, ApiError> {
    let given: Vec<String> = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .flat_map(|value| {
            let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
            text.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>()
        })
        .filter(|name| !matches!(name.as_str(), "" | "identity"))
        .collect();
    let names: Vec<&str> = given.iter().map(String::as_str).collect();
    match names.as_slice() {
        [] => Ok(None),
        ["gzip" | "x-gzip"] => Ok(Some(Encoding::Gzip)),
        ["deflate"] => Ok(Some(Encoding::Deflate)),
        other => Err(ApiError::unsupported_content_encoding(
            &other.join(", "),
            "gzip or deflate",
        )),
    }
}

/// Reads at most one byte more than the body limit, because a small file may decompress to gigabytes.
fn unpack(encoding: Encoding, packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if packed.is_empty() {
        return Ok(bytes);
    }
    let limit = BODY_LIMIT_BYTES as u64 + 1;
    match encoding {
        Encoding::Gzip => MultiGzDecoder::new(packed).take(limit).read_to_end(&mut bytes),
        Encoding::Deflate if is_zlib(packed) => ZlibDecoder::new(packed).take(limit).read_to_end(&mut bytes),
        // RFC 9110 defines `deflate` as the zlib format; some clients send a raw deflate stream.
        Encoding::Deflate => DeflateDecoder::new(packed).take(limit).read_to_end(&mut bytes),
    }?;
    Ok(bytes)
}

/// Whether the bytes begin with a zlib header (RFC 1950, section 2.2).
fn is_zlib(packed: &[u8]) -> bool {
    let [method, flags, ..] = packed else { return false };
    method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]) % 31 == 0
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use axum::Router;
    use axum::routing::post;
    use bytes::Bytes;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use serde_json::Value;
    use tower::ServiceExt;

    use super::*;

    async fn echo(encoding: &[&str], body: Vec<u8>) -> (StatusCode, HeaderMap, Bytes) {
        let router = crate::finish(Router::new().route(
            "/echo",
            post(|headers: HeaderMap, body: Bytes| async move {
                assert!(!headers.contains_key(CONTENT_ENCODING) || encoding_is_identity(&headers));
                assert_eq!(headers[CONTENT_LENGTH], body.len().to_string());
                body
            }),
        ));
        let mut request = Request::post("/echo").header(CONTENT_LENGTH, body.len());
        for value in encoding {
            request = request.header(CONTENT_ENCODING, *value);
        }
        let response = router.oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts.status, parts.headers, to_bytes(body, usize::MAX).await.unwrap())
    }

    fn encoding_is_identity(headers: &HeaderMap) -> bool {
        headers[CONTENT_ENCODING] == "identity"
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn bare(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[tokio::test]
    async fn a6_gzip_and_deflate_are_inflated() {
        let text = "Ñandú ".repeat(1_000).into_bytes();
        let two_members = [gzip(&text[..50]), gzip(&text[50..])].concat();
        for (encoding, body) in [
            (vec!["gzip"], gzip(&text)),
            (vec!["GZip"], gzip(&text)),
            (vec!["x-gzip"], gzip(&text)),
            (vec!["identity, gzip"], gzip(&text)),
            (vec!["gzip"], two_members),
            (vec!["deflate"], zlib(&text)),
            (vec!["deflate"], bare(&text)),
            (vec!["identity"], text.clone()),
            (vec![], text.clone()),
        ] {
            let (status, _, answer) = echo(&encoding, body).await;
            assert_eq!(
                (status, answer.as_ref()),
                (StatusCode::OK, text.as_slice()),
                "{encoding:?}"
            );
        }
        assert_eq!(echo(&["gzip"], Vec::new()).await.0, StatusCode::OK);
    }

    #[tokio::test]
    async fn a6_another_encoding_is_415_and_named() {
        for (encoding, named) in [
            (vec!["br"], "br"),
            (vec!["gzip, gzip"], "gzip, gzip"),
            (vec!["gzip", "zstd"], "gzip, zstd"),
        ] {
            let (status, headers, body) = echo(&encoding, gzip(b"{}")).await;
            assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{encoding:?}");
            assert_eq!(headers[ACCEPT_ENCODING], ACCEPTED);
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["detail"]["code"], "unsupported_content_encoding");
            let message = body["detail"]["message"].as_str().unwrap();
            assert!(
                message.contains(&format!("{named:?}")) && message.contains("gzip or deflate"),
                "{message}"
            );
        }
    }

    #[tokio::test]
    async fn a6_what_is_not_in_the_encoding_is_400() {
        let whole = gzip(b"Ilamame Ismael");
        for (encoding, body) in [
            ("gzip", b"{\"a\":1}".to_vec()),
            ("gzip", whole[..whole.len() - 9].to_vec()),
            ("deflate", b"\xff\xff\xff".to_vec()),
            ("deflate", zlib(b"abc")[..6].to_vec()),
        ] {
            let (status, _, body) = echo(&[encoding], body).await;
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(
                (status, &body["detail"]["code"]),
                (StatusCode::BAD_REQUEST, &Value::from("invalid_content_encoding")),
                "{body}"
            );
        }
    }

    #[tokio::test]
    async fn a6_the_limit_holds_for_the_inflated_body() {
        let at_limit = vec![b' '; BODY_LIMIT_BYTES];
        assert_eq!(echo(&["gzip"], gzip(&at_limit)).await.0, StatusCode::OK);
        let beyond = vec![b' '; BODY_LIMIT_BYTES + 1];
        for (encoding, packed) in [("gzip", gzip(&beyond)), ("deflate", zlib(&beyond))] {
            assert!(packed.len() < 100_000);
            let (status, _, body) = echo(&[encoding], packed).await;
            assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["detail"]["code"], "payload_too_large");
        }
    }

    #[test]
    fn a6_a_bomb_is_read_to_the_limit_only() {
        let bomb = gzip(&vec![0; 64 * 1024 * 1024]);
        assert_eq!(unpack(Encoding::Gzip, &bomb).unwrap().len(), BODY_LIMIT_BYTES + 1);
    }
}
