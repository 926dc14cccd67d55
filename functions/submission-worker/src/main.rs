//! Entry point of the `submission-worker` function.

use ecf_runtime::env::Env;
use ecf_runtime::{Clock, telemetry};
use ecf_store::Clients;
use submission_worker::{App, handle};

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
