//! CORS: which origins may call the API from a browser (`CORS_ORIGINS`), and the answers to their preflight requests.

use std::str::FromStr;

use axum::{Router, extract::Request};
use lambda_http::http::{
    HeaderName, HeaderValue, Method, Uri,
    header::{
        ACCESS_CONTROL_REQUEST_METHOD, ALLOW, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
        RETRY_AFTER,
    },
};
use tower::{Layer as _, ServiceExt as _};
use tower_http::cors::{AllowMethods, AllowOrigin, CorsLayer};

use crate::env::{Env, EnvError};

/// How long a browser may cache a preflight answer, in seconds.
const KEPT_SECONDS: u64 = 3600;
const ASKED: [HeaderName; 4] = [
    CONTENT_ENCODING,
    CONTENT_TYPE,
    IF_NONE_MATCH,
    HeaderName::from_static("x-api-key"),
];
const TOLD: [HeaderName; 9] = [
    CONTENT_DISPOSITION,
    ETAG,
    RETRY_AFTER,
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("idempotency-replayed"),
    HeaderName::from_static("idempotency-payload-differs"),
    HeaderName::from_static("ratelimit-limit"),
    HeaderName::from_static("ratelimit-remaining"),
    HeaderName::from_static("ratelimit-reset"),
];

/// Adds CORS for the origins in `CORS_ORIGINS`: a comma-separated list, or `*` for every origin. Without the variable
/// the router is unchanged, so browsers refuse cross-origin calls.
///
/// # Errors
/// Fails when an entry is not an origin.
pub fn allow_origins(router: Router, env: &Env) -> Result<Router, EnvError> {
    let Some(Origins(origins)) = env.parsed("CORS_ORIGINS")? else {
        return Ok(router);
    };
    let layer = CorsLayer::new()
        .allow_origin(origins)
        .allow_headers(ASKED)
        .expose_headers(TOLD)
        .max_age(std::time::Duration::from_secs(KEPT_SECONDS));
    Ok(Router::new().fallback(async move |request: Request| {
        let is_options = request.method() == Method::OPTIONS;
        match (
            is_options,
            request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD),
        ) {
            // `OPTIONS` without `Access-Control-Request-Method` is not a preflight: the route answers.
            (true, false) => router.oneshot(request).await,
            // A layer on the router itself runs after routing, and a preflight's `OPTIONS` matches no route.
            (true, true) => {
                let methods = methods(router.clone(), request.uri()).await;
                layer.allow_methods(methods).layer(router).oneshot(request).await
            }
            (false, _) => layer.layer(router).oneshot(request).await,
        }
    }))
}

/// The methods of the route at `uri`, taken from the route's `Allow` header. Without a route, the method that the
/// preflight names is allowed, so that the page can read the 404.
async fn methods(router: Router, uri: &Uri) -> AllowMethods {
    let mut question: Request = Request::default();
    *question.method_mut() = Method::OPTIONS;
    *question.uri_mut() = uri.clone();
    let answer = match router.oneshot(question).await {
        Ok(answer) => answer,
        Err(never) => match never {},
    };
    let allowed = answer.headers().get(ALLOW).and_then(|allowed| allowed.to_str().ok());
    let methods = allowed.map(|allowed| allowed.split(',').filter_map(|method| method.trim().parse().ok()));
    methods.map_or_else(AllowMethods::mirror_request, AllowMethods::list)
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

/// Parses an origin as browsers write it: scheme and host, and the port unless it is the scheme's default.
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
