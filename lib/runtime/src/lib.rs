//! The runtime around a function: environment, clock, random bytes, logs, metrics, and the Lambda entry points.
//!
//! The other crates take time, randomness and settings as arguments; this crate is their source. Start reading at
//! [`serve`] (HTTP functions; [`serve_streaming`] for large responses), [`consume`] (queue workers), [`schedule`]
//! (timers) and [`invoke`] (direct invocation). The first two have a core that runs without Lambda, [`answer`] and
//! [`process_batch`], so that the local process and the tests run the same code.

mod clock;
mod cors;
pub mod env;
mod gateway;
mod invoke;
mod metrics;
mod queue;
mod random;
mod schedule;
pub mod telemetry;

pub use clock::Clock;
pub use cors::allow_origins;
pub use gateway::{MOST_FILE_BYTES, PublicAddress, RequestId, SourceAddress, answer, serve, serve_streaming, stream};
pub use invoke::invoke;
pub use lambda_http::{
    aws_lambda_events::apigw::{ApiGatewayProxyRequest, ApiGatewayProxyResponse},
    request::LambdaRequest,
};
pub use metrics::{Metric, Metrics};
pub use queue::{BatchItemFailure, Message, Outcome, SqsBatchResponse, SqsEvent, SqsRecord, consume, process_batch};
pub use random::random;
pub use schedule::schedule;

/// The error of `main`: anything that stops a function from starting.
pub type Error = lambda_runtime::Error;
