//! What people see in a browser: the console, and the published contract with its page. This function uses no AWS
//! resource: everything is part of the binary.
//!
//! | Route | Handler |
//! |---|---|
//! | `GET /` | [`console`]: redirects to the console |
//! | `GET /console…` | [`console`]: the page, whatever view its address names |
//! | `GET /console/assets/{file}` | [`console`]: scripts, styles and the icon of the page |
//! | `GET /openapi/public-v1.json` | [`openapi`]: the contract, as checked in |
//! | `GET /api-reference`, `/{file}` | [`reference`]: an interactive view of the contract |

mod console;
mod files;
mod openapi;
mod reference;

use axum::Router;
use axum::routing::get;

/// The contract of this function's routes. The console is not part of it: it may change at any time.
#[derive(utoipa::OpenApi)]
#[openapi(paths(openapi::openapi, reference::page, reference::file))]
pub struct Contract;

/// The routes of this function.
pub fn router() -> Router {
    let routes = Router::new()
        .route("/", get(console::home))
        .route("/console", get(console::page))
        .route("/console/", get(console::page))
        .route("/console/{*view}", get(console::page))
        .route("/console/assets/{file}", get(console::file))
        .route("/openapi/public-v1.json", get(openapi::openapi))
        .route("/api-reference", get(reference::page))
        .route("/api-reference/", get(reference::with_slash))
        .route("/api-reference/{file}", get(reference::file));
    ecf_api::finish(routes)
}
