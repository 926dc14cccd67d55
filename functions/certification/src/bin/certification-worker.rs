//! Entry point of the `certification-worker` function.

use certification::{Worker, handle};
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, telemetry};
use ecf_store::Clients;

#[tokio::main]
async fn main() -> Result<(), ecf_runtime::Error> {
    telemetry::init();
    let env = Env::process();
    let worker = Worker::from_env(&env, &Clients::from_env(&env)?, Clock::system())?;
    ecf_runtime::consume(
        |job, message| handle(&worker, job, message),
        |job, after| worker.resend(job, after),
    )
    .await
}
