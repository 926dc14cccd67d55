//! Browsers on other sites: which of them may call, as `CORS_ORIGINS` says.

use std::str::FromStr;

use axum::{Router, extract::Request};
use lambda_http::http::{
    HeaderName, HeaderValue, Method, Uri,
    header::{
        ACCESS_CONTROL_REQUEST_METHOD, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
        RETRY_AFTER,
    },
};
use tower::ServiceExt as _;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::env::{Env, EnvError};

/// How long a browser may keep what it was told, in seconds.
const KEPT_SECONDS: u64 = 3600;
const ASKED: [HeaderName; 4] = [
    CONTENT_ENCODING,
    CONTENT_TYPE,
    IF_NONE_MATCH,
    HeaderName::from_static("x-api-key"),
];
const TOLD: [HeaderName; 6] = [
    CONTENT_DISPOSITION,
    ETAG,
    RETRY_AFTER,
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("idempotency-replayed"),
    HeaderName::from_static("idempotency-payload-differs"),
];

/// Lets pages of the origins in `CORS_ORIGINS` call a router: their addresses with a comma between them, or `*` for every
/// page. Without the variable no page of another site is let in, which is what browsers do by themselves.
///
/// # Errors
/// When an entry is no origin.
pub fn allow_origins(router: Router, env: &Env) -> Result<Router, EnvError> {
    let Some(Origins(origins)) = env.parsed("CORS_ORIGINS")? else {
        return Ok(router);
    };
    let layer = CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::PATCH, Method::DELETE])
        .allow_headers(ASKED)
        .expose_headers(TOLD)
        .max_age(std::time::Duration::from_secs(KEPT_SECONDS));
    // A layer of the router itself would come after the choice of the route, where a question before the request is
    // no method that the route has.
    let answering = Router::new().fallback_service(router.clone()).layer(layer);
    Ok(Router::new().fallback(async move |request: Request| {
        // Who asks for a route's methods is no browser, and gets them from the route.
        let asks_for_methods =
            request.method() == Method::OPTIONS && !request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let router = if asks_for_methods { router } else { answering };
        router.oneshot(request).await
    }))
}

struct Origins(AllowOrigin);

impl FromStr for Origins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "*" {
            return Ok(Self(AllowOrigin::any()));
        }
        let origins: Result<Vec<_>, _> = text.split(',').map(|origin| self::origin(origin.trim())).collect();
        Ok(Self(AllowOrigin::list(origins?)))
    }
}

/// An origin as browsers write it: scheme and host, and the port if it is not the scheme's own.
fn origin(text: &str) -> Result<HeaderValue, String> {
    let no_origin = || format!("\"{text}\" is no origin such as https://erp.example.com, or * alone");
    let uri: Uri = text.parse().map_err(|_| no_origin())?;
    let is_origin = uri
        .scheme_str()
        .zip(uri.authority())
        .is_some_and(|(scheme, authority)| {
            ["http", "https"].contains(&scheme) && text == format!("{scheme}://{authority}") && !text.contains('@')
        });
    HeaderValue::from_str(text)
        .ok()
        .filter(|_| is_origin)
        .ok_or_else(no_origin)
}

#[cfg(test)]
mod tests;
