//! Entry point of the `pages` function.

use ecf_runtime::telemetry;
use pages::router;

#[tokio::main]
async fn main() -> Result<(), ecf_runtime::Error> {
    telemetry::init();
    ecf_runtime::serve(router()).await
}
