//! The target of a command, for the log: ids only, nothing secret or personal.

use serde_json::Value;

/// The ids that a command or its answer contains.
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
    /// These ids, completed with those of the answer.
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

/// The ids in a command; all commands use the same member names.
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

/// The ids in an answer, for a record that the command created.
pub(crate) fn of_answer(answer: &Value) -> Target {
    let id = |member: &str, id: &str| answer[member][id].as_str().map(str::to_owned);
    Target {
        company: id("company", "public_id"),
        key: id("api_key", "id"),
        notice: id("notice", "id"),
        ..Target::default()
    }
}
