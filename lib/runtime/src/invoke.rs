//! Entry point of functions that an operator invokes directly: one JSON value in, one out.

use std::future::Future;

use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;
use tracing::Instrument as _;

use crate::Error;

/// Runs `handler` for each invocation. The log lines carry the request id, under which CloudTrail names the principal.
/// A rejected command is a normal answer; an error here means that the function itself failed.
///
/// # Errors
/// Fails when the Lambda runtime fails.
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
