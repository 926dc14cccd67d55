//! The `aws-chunked` transfer coding: chunks with their sizes, then trailing headers with the checksum.
//!
//! `s3s` undoes it only together with the signature, which is not checked here.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use futures::stream::{self, Stream};
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use s3s::Body;

const MAX_LINE_BYTES: usize = 16 * 1024;
const DECODED_LENGTH: &str = "x-amz-decoded-content-length";
const CONTENT_SHA256: &str = "x-amz-content-sha256";

/// The headers that followed the body; complete once the body was read.
#[derive(Clone, Default)]
pub(crate) struct Trailers(Arc<Mutex<HeaderMap>>);

impl Trailers {
    /// The value of a trailing header.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        let trailers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(trailers.get(name)?.to_str().ok()?.to_owned())
    }

    fn add(&self, line: &[u8]) -> Option<()> {
        let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
        let name = HeaderName::try_from(name.trim()).ok()?;
        let value = HeaderValue::try_from(value.trim()).ok()?;
        let mut trailers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        trailers.insert(name, value);
        Some(())
    }
}

/// Turns a request into the one that it would have been without the coding.
pub(crate) fn undo(request: Request<Incoming>) -> Request<Body> {
    let (mut parts, body) = request.into_parts();
    let is_chunked = parts
        .headers
        .get(CONTENT_SHA256)
        .is_some_and(|value| value.as_bytes().starts_with(b"STREAMING-"));
    // Digest of a body whose signature nobody checks.
    parts.headers.remove(CONTENT_SHA256);
    if !is_chunked {
        return Request::from_parts(parts, Body::from(body));
    }
    if let Some(length) = parts.headers.remove(DECODED_LENGTH) {
        parts.headers.insert(http::header::CONTENT_LENGTH, length);
    }
    remove_coding(&mut parts.headers);
    let trailers = Trailers::default();
    parts.extensions.insert(trailers.clone());
    let frames = futures::TryStreamExt::map_ok(decoded(body, trailers), Frame::data);
    Request::from_parts(parts, Body::http_body_unsync(StreamBody::new(frames)))
}

/// Takes `aws-chunked` out of the content codings, which are otherwise the object's own.
fn remove_coding(headers: &mut HeaderMap) {
    let Some(codings) = headers.remove(http::header::CONTENT_ENCODING) else {
        return;
    };
    let own: Vec<&str> = codings
        .to_str()
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|coding| !coding.is_empty() && *coding != "aws-chunked")
        .collect();
    if let Ok(value) = HeaderValue::try_from(own.join(","))
        && !own.is_empty()
    {
        headers.insert(http::header::CONTENT_ENCODING, value);
    }
}

#[derive(Debug, thiserror::Error)]
enum ChunkError {
    #[error("the connection broke in the middle of a body")]
    Read(#[from] hyper::Error),
    #[error("the body ended in the middle of a chunk")]
    Ended,
    #[error("a chunk does not start with its size, or end with a line break")]
    Malformed,
}

enum Place {
    Size,
    Data { left: usize },
    LineBreak,
    Trailers,
    End,
}

struct Decoder {
    body: Incoming,
    buffer: BytesMut,
    place: Place,
    trailers: Trailers,
}

fn decoded(body: Incoming, trailers: Trailers) -> impl Stream<Item = Result<Bytes, ChunkError>> {
    let decoder = Decoder {
        body,
        buffer: BytesMut::new(),
        place: Place::Size,
        trailers,
    };
    stream::try_unfold(decoder, |mut decoder| async {
        let chunk = decoder.next().await?;
        Ok(chunk.map(|chunk| (chunk, decoder)))
    })
}

impl Decoder {
    async fn next(&mut self) -> Result<Option<Bytes>, ChunkError> {
        loop {
            match self.place {
                Place::Size => {
                    let line = self.line().await?.ok_or(ChunkError::Ended)?;
                    let left = chunk_size(&line).ok_or(ChunkError::Malformed)?;
                    self.place = match left {
                        0 => Place::Trailers,
                        left => Place::Data { left },
                    };
                }
                Place::Data { left } => {
                    if self.buffer.is_empty() && !self.read().await? {
                        return Err(ChunkError::Ended);
                    }
                    let taken = self.buffer.len().min(left);
                    self.place = match left - taken {
                        0 => Place::LineBreak,
                        left => Place::Data { left },
                    };
                    return Ok(Some(self.buffer.split_to(taken).freeze()));
                }
                Place::LineBreak => {
                    if !self.line().await?.ok_or(ChunkError::Ended)?.is_empty() {
                        return Err(ChunkError::Malformed);
                    }
                    self.place = Place::Size;
                }
                Place::Trailers => match self.line().await? {
                    Some(line) if !line.is_empty() => {
                        self.trailers.add(&line).ok_or(ChunkError::Malformed)?;
                    }
                    _ => self.place = Place::End,
                },
                Place::End => return Ok(None),
            }
        }
    }

    /// The next line without its end; none when the body is over.
    async fn line(&mut self) -> Result<Option<Bytes>, ChunkError> {
        loop {
            if let Some(length) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                let line = self.buffer.split_to(length).freeze();
                let _line_break = self.buffer.split_to(2);
                return Ok(Some(line));
            }
            if self.buffer.len() > MAX_LINE_BYTES {
                return Err(ChunkError::Malformed);
            }
            if !self.read().await? {
                return match self.buffer.is_empty() {
                    true => Ok(None),
                    false => Err(ChunkError::Ended),
                };
            }
        }
    }

    /// Reads more of the body; false at its end.
    async fn read(&mut self) -> Result<bool, ChunkError> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(data) = frame?.into_data()
                && !data.is_empty()
            {
                self.buffer.extend_from_slice(&data);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn chunk_size(line: &[u8]) -> Option<usize> {
    let digits = line.split(|byte| *byte == b';').next()?;
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
