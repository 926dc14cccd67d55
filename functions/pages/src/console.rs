//! `GET /console…`: the console. Its files are part of this binary, built from `console/` and checked in; the page loads
//! nothing from other hosts, and its content security policy forbids it.

use axum::Extension;
use axum::extract::Path;
use axum::http::{HeaderName, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use ecf_api::ApiError;
use ecf_runtime::PublicAddress;
use sha2::{Digest, Sha256};

use crate::files::FILES;

const PAGE: &str = include_str!("../assets/console/index.html");
/// Stands in the page for the way from its address up to the address of the service: a stage may be part of both.
const UP: &str = "{up}";

/// Scripts and styles come from files of this host; prints are shown from memory. `trusted-types` lets one function of
/// the console read XML, and nothing write markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
    frame-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types xml";

/// `GET /`: to the console.
pub(crate) async fn home(base: Option<Extension<PublicAddress>>) -> impl IntoResponse {
    let base = base.map(|Extension(PublicAddress(base))| base).unwrap_or_default();
    (StatusCode::FOUND, [(header::LOCATION, format!("{base}/console"))])
}

/// The page. The view that its address names is found by its script.
pub(crate) async fn page(uri: Uri) -> Result<Response, ApiError> {
    let path = uri.path();
    if path.rsplit('/').next().is_some_and(|last| last.contains('.')) {
        return Err(ApiError::not_found());
    }
    let page = PAGE.replace(UP, &way_up(path));
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        // Asked for each time, answered with 304 while it is the same.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    let tag = format!("\"{}\"", hex::encode(Sha256::digest(&page)));
    Ok((headers, [(header::ETAG, tag)], page).into_response())
}

/// A file of the page. Its name contains a hash of its content, so the answer never changes.
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, ApiError> {
    let (_, bytes) = FILES
        .iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(ApiError::not_found)?;
    let content_type = match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => "image/svg+xml; charset=utf-8",
    };
    let headers = [
        (header::CONTENT_TYPE, content_type),
        // Every browser accepts gzip.
        (header::CONTENT_ENCODING, "gzip"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((headers, *bytes).into_response())
}

/// The relative address of the service, seen from a page at this path.
fn way_up(path: &str) -> String {
    match path.matches('/').count() {
        0 | 1 => "./".to_owned(),
        slashes => "../".repeat(slashes - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_from_every_view() {
        for (path, up) in [
            ("/console", "./"),
            ("/console/", "../"),
            ("/console/comprobantes", "../"),
            ("/console/comprobantes/1", "../../"),
        ] {
            assert_eq!(way_up(path), up, "{path}");
        }
    }

    #[test]
    fn each_file_is_compressed_and_the_page_names_only_files_that_are_there() {
        for (name, bytes) in FILES {
            assert!(bytes.starts_with(&[0x1f, 0x8b]), "{name}");
        }
        let named = PAGE.split("console/assets/").skip(1).map(|rest| rest.split('"').next());
        for name in named {
            assert!(FILES.iter().any(|(known, _)| Some(*known) == name), "{name:?}");
        }
    }

    #[test]
    fn the_page_names_no_other_host_and_holds_no_script() {
        assert!(!PAGE.contains("//"));
        assert!(PAGE.contains(r#"<script type="module" src="{up}console/assets/main-"#));
        assert_eq!(PAGE.matches("<script").count(), 1);
        assert!(!PAGE.contains("style="));
    }
}
