//! Lambda functions and what triggers them.

use std::{collections::BTreeMap, time::Duration};

use crate::{error::StackError, fields::Fields, text::Text};

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name in the template.
    pub logical_id: String,
    /// Its crate, folder and binary.
    pub name: String,
    /// Its environment variables; [`Provisioned::environment_of`](crate::Provisioned::environment_of) has them resolved.
    pub environment: BTreeMap<String, Text>,
    /// Routes of the API that lead to it.
    pub routes: Vec<Route>,
    /// Queues that it is fed from.
    pub queues: Vec<QueueSource>,
    /// Schedules that it runs on.
    pub schedules: Vec<Schedule>,
    /// How long one invocation may take.
    pub timeout: Duration,
}

/// A route of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// An HTTP method, or `ANY`.
    pub method: String,
    /// A path in the gateway's form, such as `/api/v1/ecf/{proxy+}`.
    pub path: String,
    /// Whether answers leave while they are made.
    pub streams: bool,
}

/// A queue that feeds a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSource {
    /// The queue's logical id.
    pub queue: String,
    /// At most so many messages in an invocation.
    pub batch_size: u16,
    /// Whether the function says which messages of a batch failed.
    pub partial_failures: bool,
}

/// A schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The time from one run to the next.
    pub rate: Duration,
}

impl Function {
    /// `binary` comes from the build metadata: it is the crate whose program is deployed.
    pub(crate) fn read(logical_id: &str, binary: String, mut fields: Fields) -> Result<Self, StackError> {
        // Who may do what, where it logs, what it runs on and what it leaves to others makes no difference in one process.
        fields.without_effect(&[
            "Architectures",
            "CodeUri",
            "Description",
            "LoggingConfig",
            "MemorySize",
            "ReservedConcurrentExecutions",
            "Role",
            "Tracing",
        ]);
        fields.exactly("Handler", "bootstrap")?;
        fields.exactly("Runtime", "provided.al2023")?;
        let mut function = Self {
            logical_id: logical_id.to_owned(),
            name: binary,
            environment: environment(&mut fields)?,
            routes: Vec::new(),
            queues: Vec::new(),
            schedules: Vec::new(),
            timeout: Duration::from_secs(fields.integer("Timeout")?),
        };
        // Without events it is invoked by hand.
        if let Some(events) = fields.optional_fields("Events")? {
            for (_, event) in events.all_fields()? {
                function.add_event(event)?;
            }
        }
        fields.finish()?;
        Ok(function)
    }

    fn add_event(&mut self, mut event: Fields) -> Result<(), StackError> {
        let kind = event.literal("Type")?;
        let mut properties = event.fields("Properties")?;
        match kind.as_str() {
            "Api" => {
                properties.resource("RestApiId", "Ref")?;
                let method = properties.literal("Method")?.to_uppercase();
                let streams = match properties.optional_literal("ResponseTransferMode")?.as_deref() {
                    None | Some("BUFFERED") => false,
                    Some("RESPONSE_STREAM") => true,
                    Some(other) => {
                        return Err(properties.invalid("ResponseTransferMode", "BUFFERED or RESPONSE_STREAM", other));
                    }
                };
                // How long the gateway waits for the last byte; the function's own limit ends it here.
                properties.without_effect(&["TimeoutInMillis"]);
                self.routes.push(Route {
                    method,
                    path: properties.literal("Path")?,
                    streams,
                });
            }
            "SQS" => self.queues.push(QueueSource::read(&mut properties)?),
            "Schedule" => self.schedules.push(Schedule::read(&mut properties)?),
            other => return Err(event.invalid("Type", "Api, SQS or Schedule", other)),
        }
        properties.finish()?;
        event.finish()
    }
}

fn environment(fields: &mut Fields) -> Result<BTreeMap<String, Text>, StackError> {
    let mut environment = fields.fields("Environment")?;
    let variables = environment.fields("Variables")?.all_texts()?;
    environment.finish()?;
    Ok(variables)
}

impl QueueSource {
    fn read(properties: &mut Fields) -> Result<Self, StackError> {
        // Its pollers are few enough.
        properties.without_effect(&["ScalingConfig"]);
        let response_types = properties.list_of_literals("FunctionResponseTypes")?;
        Ok(Self {
            queue: properties.resource("Queue", "Arn")?,
            batch_size: properties.integer("BatchSize")?,
            partial_failures: response_types.iter().any(|kind| kind == "ReportBatchItemFailures"),
        })
    }
}

impl Schedule {
    fn read(properties: &mut Fields) -> Result<Self, StackError> {
        let text = properties.literal("Schedule")?;
        let rate =
            rate(&text).ok_or_else(|| properties.invalid("Schedule", "rate(n minutes), hours or days", &text))?;
        Ok(Self { rate })
    }
}

/// Reads `rate(5 minutes)`. Cron expressions are not used by the template, so they are not read.
fn rate(text: &str) -> Option<Duration> {
    let (count, unit) = text.strip_prefix("rate(")?.strip_suffix(')')?.split_once(' ')?;
    let unit_seconds = match unit.strip_suffix('s').unwrap_or(unit) {
        "minute" => 60,
        "hour" => 3_600,
        "day" => 86_400,
        _ => return None,
    };
    let count: u32 = count.parse().ok().filter(|count| *count > 0)?;
    Some(Duration::from_secs(u64::from(count) * unit_seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_nothing_else_is() {
        assert_eq!(rate("rate(1 minute)"), Some(Duration::from_secs(60)));
        assert_eq!(rate("rate(2 hours)"), Some(Duration::from_secs(7_200)));
        assert_eq!(rate("rate(1 day)"), Some(Duration::from_secs(86_400)));
        for other in [
            "rate(0 minutes)",
            "rate(minute)",
            "rate(1 second)",
            "cron(0 12 * * ? *)",
            "rate(1 minute",
        ] {
            assert_eq!(rate(other), None, "{other}");
        }
    }
}
