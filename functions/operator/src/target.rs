//! Whom a command concerns, for the log: ids, and nothing secret or personal.

use serde_json::Value;

/// The ids that a command or its answer names.
#[derive(Debug, Default)]
pub(crate) struct Target {
    pub(crate) company: Option<String>,
    pub(crate) environment: Option<String>,
    pub(crate) receipt: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) notice: Option<String>,
    pub(crate) queue: Option<String>,
}

impl Target {
    /// The ids that were given, and those that the answer adds.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            company: self.company.or(other.company),
            environment: self.environment.or(other.environment),
            receipt: self.receipt.or(other.receipt),
            key: self.key.or(other.key),
            notice: self.notice.or(other.notice),
            queue: self.queue.or(other.queue),
        }
    }
}

/// All commands spell these members alike.
pub(crate) fn of_command(command: &Value) -> Target {
    let text = |member: &str| command[member].as_str().map(str::to_owned);
    Target {
        company: text("company"),
        environment: text("environment"),
        receipt: text("receipt"),
        key: text("key"),
        notice: text("notice"),
        queue: text("queue"),
    }
}

/// What a command made has its id in the answer.
pub(crate) fn of_answer(answer: &Value) -> Target {
    let id = |member: &str, id: &str| answer[member][id].as_str().map(str::to_owned);
    Target {
        company: id("company", "public_id"),
        key: id("api_key", "id"),
        notice: id("notice", "id"),
        ..Target::default()
    }
}
