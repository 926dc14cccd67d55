//! Entry point of functions that somebody invokes by hand: one JSON value in, one out.

use std::future::Future;

use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;
use tracing::Instrument as _;

use crate::Error;

/// Runs `handler` for each invocation, whose id the log carries: CloudTrail has under it who invoked. What it refuses is an answer too: an error here means that the function broke.
pub async fn invoke<H, Fut>(handler: H) -> Result<(), Error>
where
    H: Fn(Value) -> Fut,
    Fut: Future<Output = Value>,
{
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| {
        let span = tracing::info_span!("invocation", request.id = event.context.request_id);
        let answer = handler(event.payload).instrument(span);
        async { Ok::<_, Error>(answer.await) }
    }))
    .await
}
