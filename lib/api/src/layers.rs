//! The layers around the router of every function.

use axum::{Router, extract::DefaultBodyLimit, middleware};
use http::{Method, StatusCode};
use tower_http::catch_panic::CatchPanicLayer;

use crate::ApiError;

mod compress;
mod edge;
mod inflate;
mod operations;
mod rewrite;

pub(crate) use operations::{Needs, needs};
pub use rewrite::other_spelling;

/// Upper bound of a body: below the limits of API Gateway and Lambda, far above any receipt.
pub const BODY_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// Turns the routes of a function into a complete service: alternative spellings of paths, request ids, `{detail}` for
/// every failure (unknown paths and methods, panics, rejections by libraries), compressed bodies and answers, the body
/// limit, conditional downloads, and headers against caching and content sniffing. Under `/api/v1/`, undeclared parameters and
/// bodies are rejected.
pub fn finish(router: Router) -> Router {
    let routes = router
        .fallback(async || ApiError::not_found())
        .method_not_allowed_fallback(other_method)
        .layer(middleware::from_fn(operations::refuse_undeclared))
        .layer(DefaultBodyLimit::max(BODY_LIMIT_BYTES));
    // Layers of a router run after its routing. The rewrite must run before it, so the routes become the fallback of an
    // outer router without routes.
    Router::new()
        .fallback_service(routes)
        .layer(middleware::from_fn(inflate::inflate))
        .layer(CatchPanicLayer::custom(edge::panicked))
        .layer(middleware::from_fn(edge::edge))
        .layer(compress::compress())
        .layer(middleware::map_response(compress::weaken_tag))
}

/// Answers `OPTIONS` with 204 and any other method with 405. axum adds the header `Allow` to both.
async fn other_method(method: Method) -> Result<StatusCode, ApiError> {
    if method == Method::OPTIONS {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(ApiError::method_not_allowed())
    }
}

#[cfg(test)]
mod tests;
