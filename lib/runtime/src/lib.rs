//! What surrounds a function: environment, clock, random bytes, logs, and the Lambda entry points.
//!
//! Everything else in the workspace takes time, randomness and settings as arguments; this crate is where they come
//! from. Start reading at [`serve`] (HTTP functions; [`serve_streaming`] where answers are large), [`consume`] (queue workers), [`schedule`] (timers) and
//! [`invoke`] (by hand). The first two have a core that needs no Lambda, [`answer`] and [`process_batch`], so the local
//! process and the tests run the same code.

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

/// What `main` returns: anything that stops a function from starting.
pub type Error = lambda_runtime::Error;
