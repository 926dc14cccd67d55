//! The console: one page for every view, files that never change.

use axum::body::Body;
use ecf_testkit::{request, send};
use http::{Method, Request, StatusCode, header};

const VIEWS: [&str; 4] = [
    "/console",
    "/console/",
    "/console/comprobantes",
    "/console/comprobantes/0m5c8k2r7w9xq4t1v3y6zabdefghjnps",
];

#[tokio::test]
async fn the_root_leads_to_the_console() {
    let answer = request(&pages::router(), Method::GET, "/", None, None).await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (StatusCode::FOUND, Some("/console"))
    );
}

#[tokio::test]
async fn every_view_is_the_page_with_a_strict_policy() {
    let router = pages::router();
    for view in VIEWS {
        let answer = request(&router, Method::GET, view, None, None).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (StatusCode::OK, Some("text/html; charset=utf-8")),
            "{view}"
        );
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"));
    }
}

#[tokio::test]
async fn a_browser_that_has_the_page_gets_304() {
    let router = pages::router();
    let first = request(&router, Method::GET, "/console", None, None).await;
    let tag = first.header("etag").unwrap().to_owned();
    let again = Request::get("/console").header(header::IF_NONE_MATCH, tag);
    let again = send(&router, again.body(Body::empty()).unwrap()).await;
    assert_eq!((again.status, again.bytes.len()), (StatusCode::NOT_MODIFIED, 0));
}

#[tokio::test]
async fn files_never_change_and_unknown_ones_are_404() {
    let router = pages::router();
    let page = request(&router, Method::GET, "/console", None, None).await;
    let page = String::from_utf8(page.bytes).unwrap();
    let files: Vec<&str> = page
        .split("\"./console/")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(files.len() >= 3, "an icon, a style sheet and a script: {page}");
    for file in files {
        let answer = request(&router, Method::GET, &format!("/console/{file}"), None, None).await;
        assert_eq!(
            (answer.status, answer.header("content-encoding")),
            (StatusCode::OK, Some("gzip")),
            "{file}"
        );
        assert_eq!(
            answer.header("cache-control"),
            Some("public, max-age=31536000, immutable")
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert!(answer.bytes.starts_with(&[0x1f, 0x8b]), "{file}");
    }
    for path in [
        "/console/assets/other.js",
        "/console/x.js",
        "/console/comprobantes/x.css",
        "/consola",
    ] {
        let answer = request(&router, Method::GET, path, None, None).await;
        assert_eq!(answer.expect(404)["detail"]["code"], "not_found", "{path}");
    }
}
