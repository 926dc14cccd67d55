//! Lambda functions and their triggers.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

use super::{Properties, queue::resource_of_arn, read};
use crate::{
    error::{Place, StackError},
    text::Text,
};

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name in the template.
    pub logical_id: String,
    /// Its crate, folder and binary.
    pub name: String,
    /// Its environment variables; [`Provisioned::environment_of`](crate::Provisioned::environment_of) returns the
    /// resolved values.
    pub environment: BTreeMap<String, Text>,
    /// API routes that invoke it.
    pub routes: Vec<Route>,
    /// Queues that trigger it.
    pub queues: Vec<QueueSource>,
    /// Schedules that trigger it.
    pub schedules: Vec<Schedule>,
    /// Upper bound of one invocation.
    pub timeout: Duration,
}

/// A route of the API.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Route {
    /// An HTTP method in capitals, or `ANY`.
    pub method: String,
    /// A path in the gateway's form, such as `/api/v1/ecf/{proxy+}`.
    pub path: String,
    /// Whether the response is streamed.
    #[serde(rename = "ResponseTransferMode", default, deserialize_with = "streams")]
    pub streams: bool,
}

impl Properties for Route {
    /// `RestApiId`: there is one API. `TimeoutInMillis`: the function's own timeout ends a response here.
    const WITHOUT_EFFECT: &'static [&'static str] = &["RestApiId", "TimeoutInMillis"];
}

/// A queue that triggers a function.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct QueueSource {
    /// The queue's logical id.
    #[serde(deserialize_with = "resource_of_arn")]
    pub queue: String,
    /// Upper bound of messages in one invocation.
    pub batch_size: u16,
    /// Whether the function reports which messages of a batch failed.
    #[serde(rename = "FunctionResponseTypes", default, deserialize_with = "partial_failures")]
    pub partial_failures: bool,
}

impl Properties for QueueSource {
    /// `ScalingConfig`: the local system has fewer pollers than any limit.
    const WITHOUT_EFFECT: &'static [&'static str] = &["ScalingConfig"];
}

/// A schedule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The interval between two runs.
    #[serde(rename = "Schedule", deserialize_with = "rate")]
    pub rate: Duration,
}

impl Properties for Schedule {}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct AsWritten {
    environment: Environment,
    /// A function without events is invoked directly.
    #[serde(default)]
    events: BTreeMap<String, Event>,
    timeout: u64,
}

impl Properties for AsWritten {
    /// Permissions, logs, runtime and failure destinations have no effect in one process.
    const WITHOUT_EFFECT: &'static [&'static str] = &[
        "Architectures",
        "CodeUri",
        "Description",
        "Handler",
        "LoggingConfig",
        "MemorySize",
        "ReservedConcurrentExecutions",
        "Role",
        "Runtime",
        "Tracing",
    ];
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Environment {
    variables: BTreeMap<String, Text>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Event {
    #[serde(rename = "Type")]
    kind: Trigger,
    properties: Value,
}

#[derive(Deserialize)]
enum Trigger {
    Api,
    #[serde(rename = "SQS")]
    Sqs,
    Schedule,
}

impl Function {
    /// `name` comes from the build metadata: the crate whose program is deployed.
    pub(crate) fn read(logical_id: String, name: String, properties: Value, place: &Place) -> Result<Self, StackError> {
        let written: AsWritten = read(properties, place)?;
        let mut function = Self {
            logical_id,
            name,
            environment: written.environment.variables,
            routes: Vec::new(),
            queues: Vec::new(),
            schedules: Vec::new(),
            timeout: Duration::from_secs(written.timeout),
        };
        for (name, Event { kind, properties }) in written.events {
            let place = place.below("Events").below(name).below("Properties");
            match kind {
                Trigger::Api => function.routes.push(read(properties, &place)?),
                Trigger::Sqs => function.queues.push(read(properties, &place)?),
                Trigger::Schedule => function.schedules.push(read(properties, &place)?),
            }
        }
        Ok(function)
    }
}

fn streams<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(PartialEq, Deserialize)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    enum Mode {
        Buffered,
        ResponseStream,
    }
    Ok(Mode::deserialize(deserializer)? == Mode::ResponseStream)
}

fn partial_failures<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let kinds = Vec::<String>::deserialize(deserializer)?;
    Ok(kinds.iter().any(|kind| kind == "ReportBatchItemFailures"))
}

/// Reads `rate(5 minutes)`. The template uses no other unit and no cron expression, so only this form is supported.
fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    let count = text.strip_prefix("rate(").and_then(|rest| {
        let count = rest.strip_suffix(" minute)").or(rest.strip_suffix(" minutes)"))?;
        count.parse::<u32>().ok().filter(|count| *count > 0)
    });
    let minutes = count.ok_or_else(|| D::Error::custom(format_args!("expected rate(n minutes), found {text}")))?;
    Ok(Duration::from_secs(60 * u64::from(minutes)))
}

#[cfg(test)]
mod tests {
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    #[test]
    fn rates_are_read_and_nothing_else_is() {
        let read = |text| rate(StrDeserializer::<Error>::new(text)).ok();
        assert_eq!(read("rate(1 minute)"), Some(Duration::from_secs(60)));
        assert_eq!(read("rate(2 minutes)"), Some(Duration::from_secs(120)));
        for other in [
            "rate(0 minutes)",
            "rate(minute)",
            "rate(1 second)",
            "cron(0 12 * * ? *)",
            "rate(1 minute",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
