//! The layers around every function's router.

use axum::{Router, extract::DefaultBodyLimit, middleware};
use http::{Method, StatusCode};
use tower_http::catch_panic::CatchPanicLayer;

use crate::ApiError;

mod edge;
mod inflate;
mod operations;
mod rewrite;

pub(crate) use operations::{Needs, needs};
pub use rewrite::other_spelling;

/// The largest body: below what API Gateway and Lambda carry, and far above any receipt.
pub const BODY_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// Makes a function's routes a whole service: other spellings of paths, request ids, `{detail}` for whatever fails
/// (unknown paths and methods, panics, libraries' own refusals), compressed bodies, the body limit, conditional
/// downloads, and headers that keep caches and browsers from making more of an answer than it is. Under `/api/v1/`, what the contract does not declare is refused.
pub fn finish(router: Router) -> Router {
    let routes = router
        .fallback(async || ApiError::not_found())
        .method_not_allowed_fallback(other_method)
        .layer(middleware::from_fn(operations::refuse_undeclared))
        .layer(DefaultBodyLimit::max(BODY_LIMIT_BYTES));
    // Layers of a router run after its routing. The rewrite must come before, so the routes become the fallback of an
    // outer router that has none.
    Router::new()
        .fallback_service(routes)
        .layer(middleware::from_fn(inflate::inflate))
        .layer(CatchPanicLayer::custom(edge::panicked))
        .layer(middleware::from_fn(edge::edge))
}

/// axum adds the header `Allow` to both answers.
async fn other_method(method: Method) -> Result<StatusCode, ApiError> {
    if method == Method::OPTIONS {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(ApiError::method_not_allowed())
    }
}

#[cfg(test)]
mod tests;
