//! Entry point of the `issuing-worker` function.

use ecf_runtime::env::Env;
use ecf_runtime::{Clock, telemetry};
use ecf_store::Clients;
use issuing::{App, handle};

#[tokio::main]
async fn main() -> Result<(), ecf_runtime::Error> {
    telemetry::init();
    let env = Env::process();
    let app = App::from_env(&env, &Clients::from_env(&env)?, Clock::system())?;
    ecf_runtime::consume(
        |job, message| handle(&app, job, message),
        |job, after| app.resend(job, after),
    )
    .await
}
