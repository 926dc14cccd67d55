//! Entry point of functions that run on a schedule.

use std::{error::Error as StdError, future::Future};

use lambda_runtime::{LambdaEvent, service_fn};
use serde::de::IgnoredAny;

use crate::{Error, telemetry::chain};

/// Runs `handler` at each tick of the function's schedule. The event is not passed on: its only content is the time.
///
/// A failure is logged with its sources and returned, so that Lambda counts and retries it.
///
/// # Errors
/// Fails when the Lambda runtime fails.
pub async fn schedule<F, Fut, E>(handler: F) -> Result<(), Error>
where
    F: Fn() -> Fut,
    Fut: Future<Output = Result<(), E>>,
    E: StdError + Send + Sync + 'static,
{
    lambda_runtime::run(service_fn(|_tick: LambdaEvent<IgnoredAny>| async {
        handler().await.map_err(|error| {
            tracing::error!(error = %chain(&error), "scheduled run failed");
            Error::from(error)
        })
    }))
    .await
}
