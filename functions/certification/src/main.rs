//! Entry point of the `certification` function.

use certification::{App, router};
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, telemetry};
use ecf_store::Clients;

#[tokio::main]
async fn main() -> Result<(), ecf_runtime::Error> {
    telemetry::init();
    let env = Env::process();
    let app = App::from_env(&env, &Clients::from_env(&env)?, Clock::system())?;
    ecf_runtime::serve(router(app)).await
}
