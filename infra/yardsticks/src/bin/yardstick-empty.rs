//! Baseline of an HTTP function: the same entry point, logs and SDK clients, a router with the paths in `ROUTES`, and a
//! handler that does nothing. The budget of a real function is twice this time, at least 15 ms
//! (`infra/checks/budgets`).

use std::hint::black_box;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::any;
use ecf_runtime::env::Env;
use ecf_runtime::telemetry;
use ecf_store::Clients;

#[tokio::main]
async fn main() -> Result<(), ecf_runtime::Error> {
    telemetry::init();
    let env = Env::process();
    let clients = black_box(Clients::from_env(&env)?);
    let mut router = Router::new();
    for path in env.required("ROUTES")?.split(',') {
        router = router.route(path, any(nothing));
    }
    ecf_runtime::serve(router.fallback(nothing)).await?;
    drop(clients);
    Ok(())
}

async fn nothing() -> StatusCode {
    StatusCode::OK
}
