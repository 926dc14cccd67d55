//! Entry point of functions that a timer starts.

use std::{error::Error as StdError, future::Future};

use lambda_runtime::{LambdaEvent, service_fn};
use serde::de::IgnoredAny;

use crate::{Error, telemetry::chain};

/// Runs `handler` at each tick of the function's schedule.
///
/// The event says nothing that the clock does not, so it is not handed on. A failure is logged with its sources and
/// reported, so that Lambda counts and repeats it.
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
