//! File downloads.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use ecf_runtime::MOST_FILE_BYTES;
use http::{HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

/// A file, sent byte for byte with its SHA-256 as entity tag. The outermost layer answers 304 to a caller that has it
/// already. A file above the response limit is a redirect to an address that expires.
#[derive(Debug, Clone)]
pub struct Download {
    bytes: Bytes,
    link: Option<String>,
    content_type: &'static str,
    file_name: String,
}

impl Download {
    /// A file under this name.
    pub fn new(bytes: impl Into<Bytes>, content_type: &'static str, file_name: impl Into<String>) -> Self {
        Self {
            bytes: bytes.into(),
            link: None,
            content_type,
            file_name: file_name.into(),
        }
    }

    /// Whether the file is within the response limit, [`MOST_FILE_BYTES`].
    pub fn fits(&self) -> bool {
        self.bytes.len() <= MOST_FILE_BYTES
    }

    /// The same file, served from another address: 303 with that `Location`.
    pub fn at(self, link: String) -> Self {
        Self {
            link: Some(link),
            ..self
        }
    }

    /// The `Content-Disposition` header of the file.
    pub fn disposition(&self) -> String {
        format!("attachment; filename=\"{}\"", plain(&self.file_name))
    }
}

impl IntoResponse for Download {
    fn into_response(self) -> Response {
        if let Some(link) = &self.link {
            let headers = [(header::LOCATION, link.as_str()), (header::CACHE_CONTROL, "no-store")];
            return (StatusCode::SEE_OTHER, headers).into_response();
        }
        let disposition = self.disposition();
        let tag = format!("\"{}\"", hex::encode(Sha256::digest(&self.bytes)));
        let mut response = Response::new(Body::from(self.bytes));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        // Private to the company, and revalidated each time; the entity tag makes that cheap.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        for (name, value) in [(header::ETAG, tag), (header::CONTENT_DISPOSITION, disposition)] {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
        response
    }
}

/// Replaces every character that a header, a shell or a file system may misread.
fn plain(name: &str) -> String {
    let safe = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_');
    name.chars()
        .map(|character| if safe(character) { character } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_names_its_file_type_and_hash() {
        let response = Download::new("abc", "application/xml", "E310000000001.xml").into_response();
        let header = |name: http::HeaderName| response.headers().get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!(header(header::CONTENT_TYPE), "application/xml");
        assert_eq!(
            header(header::CONTENT_DISPOSITION),
            "attachment; filename=\"E310000000001.xml\""
        );
        assert_eq!(
            header(header::ETAG),
            "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\""
        );
    }

    #[test]
    fn a_file_name_cannot_break_out_of_its_header() {
        assert_eq!(plain("a\"; b\r\nñ/../c.pdf"), "a___b____.._c.pdf");
    }
}
