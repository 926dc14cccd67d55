//! Entry point of the `operator` function.

use ecf_runtime::env::Env;
use ecf_runtime::{Clock, telemetry};
use operator::{App, handle};

#[tokio::main]
async fn main() -> Result<(), ecf_runtime::Error> {
    telemetry::init();
    let env = Env::process();
    let app = App::from_env(&env, &env.clients()?, Clock::system())?;
    ecf_runtime::invoke(|command| handle(&app, command)).await
}
