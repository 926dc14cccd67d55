//! Commands of the operator. The function has no route: permission to invoke it is permission for every command.
//!
//! A command is a JSON object with its name in `command`; `docs/operator.md` shows each command with its answer. A
//! rejection is also an answer, `{"error": {"code", "message"}}`, so that scripts parse one format.
//!
//! | commands | module |
//! |---|---|
//! | create, show, activate, deactivate, verify a company; issue, list, find, revoke its keys; open a range | [`companies`] |
//! | list companies, add those from before the list | [`walk`] |
//! | examine a company; list webhooks; show the condition of the tax authority | [`health`] |
//! | list ranges and certificates | [`ending`] |
//! | find receipts by number or id | [`finding`] |
//! | find receipts that wait too long | [`stuck`] |
//! | show, requeue, retry a receipt; resolve an unknown outcome | [`receipts`] |
//! | load, show the register of taxpayers | [`register`] |
//! | create, revoke an invitation to sign up | [`invitations`] |
//! | draft, show, publish, update, resolve, withdraw a notice | [`notices`] |
//! | list, replay dead letters | [`letters`] |
//! | export a company's evidence of a span of time | [`evidence`] |
//! | check the consistency of a company's stored data | [`check`] |
//! | fill in what lists show of older receipts | [`lists`] |
//! | check which key encrypts the secrets | [`secrets`] |

mod check;
mod command;
mod companies;
mod ending;
mod evidence;
mod finding;
mod health;
mod invitations;
mod letters;
mod lists;
mod notices;
mod receipts;
mod register;
mod secrets;
mod stuck;
mod target;
mod walk;

use std::collections::BTreeMap;

use ecf_evidence::Files;
use ecf_evidence::audit::Auditor;
use ecf_runtime::Clock;
use ecf_runtime::env::{Env, EnvError};
use ecf_store::{
    Artifacts, Clients, DeadLetters, Exports, Identities, QueueUrls, Queues, Register, StoreError, Table, Vault,
    receipts::AlarmTimes, stamp_hosts,
};
use serde_json::{Value, json};

use command::Command;

/// The resources that this function uses. Its policies in `template.yaml` grant exactly these.
#[derive(Clone)]
pub struct App {
    table: Table,
    artifacts: Artifacts,
    register: Register,
    auditor: Auditor,
    vault: Vault,
    queues: Queues,
    /// Dead-letter queues by the queue's name in commands.
    dead_letters: BTreeMap<&'static str, DeadLetters>,
    alarm_times: AlarmTimes,
    clock: Clock,
}

/// A queue's name in commands, and the variables with the addresses of its dead-letter queue and of the queue itself.
const QUEUES: [(&str, &str, &str); 8] = [
    ("issuing", "ISSUING_DEAD_QUEUE_URL", "ISSUING_QUEUE_URL"),
    (
        "submission-testecf",
        "SUBMISSION_DEAD_QUEUE_TESTECF_URL",
        "SUBMISSION_QUEUE_TESTECF_URL",
    ),
    (
        "submission-certecf",
        "SUBMISSION_DEAD_QUEUE_CERTECF_URL",
        "SUBMISSION_QUEUE_CERTECF_URL",
    ),
    (
        "submission-ecf",
        "SUBMISSION_DEAD_QUEUE_ECF_URL",
        "SUBMISSION_QUEUE_ECF_URL",
    ),
    ("webhook", "WEBHOOK_DEAD_QUEUE_URL", "WEBHOOK_QUEUE_URL"),
    ("webhook-slow", "WEBHOOK_SLOW_DEAD_QUEUE_URL", "WEBHOOK_SLOW_QUEUE_URL"),
    ("exchange", "EXCHANGE_DEAD_QUEUE_URL", "EXCHANGE_QUEUE_URL"),
    (
        "certification",
        "CERTIFICATION_DEAD_QUEUE_URL",
        "CERTIFICATION_QUEUE_URL",
    ),
];

impl App {
    /// Builds the app from the environment: `TABLE_NAME`, `BUCKET_NAME`, `SECRET_PREFIX`, `DELIVERY_ALARM_HOURS`,
    /// `STUCK_ALARM_HOURS`, optionally `SECRETS_KMS_KEY`, `STAMP_ECF_URL` and `STAMP_FC_URL`, and for each queue its
    /// own address and that of its dead-letter queue: `ISSUING_QUEUE_URL`, `ISSUING_DEAD_QUEUE_URL`,
    /// `SUBMISSION_QUEUE_*_URL`, `SUBMISSION_DEAD_QUEUE_*_URL`, `WEBHOOK_QUEUE_URL`, `WEBHOOK_DEAD_QUEUE_URL`.
    ///
    /// # Errors
    /// Names the first variable that is missing or invalid.
    pub fn from_env(env: &Env, clients: &Clients, clock: Clock) -> Result<Self, EnvError> {
        let mut dead_letters = BTreeMap::new();
        for (name, dead, queue) in QUEUES {
            let letters = DeadLetters::new(clients.sqs.clone(), env.required(dead)?, env.required(queue)?);
            dead_letters.insert(name, letters);
        }
        let table = Table::new(clients.dynamodb.clone(), env.required("TABLE_NAME")?);
        let bucket = env.required("BUCKET_NAME")?;
        let artifacts = Artifacts::new(clients.s3.clone(), &bucket);
        let vault = Vault::new(clients.secretsmanager.clone(), env.required("SECRET_PREFIX")?)
            .with_kms_key(env.optional("SECRETS_KMS_KEY")?);
        let auditor = Auditor::new(
            table.clone(),
            Files::new(table.clone(), artifacts.clone(), stamp_hosts(env)?),
            Exports::new(clients.s3.clone(), &bucket),
            Identities::new(vault.clone()),
        );
        Ok(Self {
            table,
            artifacts,
            register: Register::new(clients.s3.clone(), bucket),
            auditor,
            vault,
            queues: Queues::new(clients.sqs.clone(), QueueUrls::from_env(env)?),
            dead_letters,
            alarm_times: AlarmTimes {
                delivery: env.required_as("DELIVERY_ALARM_HOURS")?,
                step: env.required_as("STUCK_ALARM_HOURS")?,
            },
            clock,
        })
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperatorError {
    /// The command is malformed or impossible.
    #[error("{message}")]
    Refused { code: &'static str, message: String },
    #[error("the store failed")]
    Store(#[from] StoreError),
}

impl OperatorError {
    pub(crate) fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self::Refused {
            code,
            message: message.into(),
        }
    }
}

/// Executes one command. The log names the command and its target; together with the request id in CloudTrail it shows
/// who did what to which record.
pub async fn handle(app: &App, command: Value) -> Value {
    let given = target::of_command(&command);
    let (name, result) = match serde_json::from_value::<Command>(command) {
        // Boxed, because the future of all commands together is too large for the compiler.
        Ok(command) => (command.name(), Box::pin(command.run(app)).await),
        Err(error) => {
            let refused = Err(OperatorError::refused("bad_command", error.to_string()));
            // A malformed command may have any text in place of its ids, so they are not logged.
            tracing::info!(outcome = "bad_command", "operator's command refused");
            return answer(refused);
        }
    };
    let answer = answer(result);
    let outcome = answer["error"]["code"].as_str().unwrap_or("done");
    let target = given.or(target::of_answer(&answer));
    tracing::info!(
        command = name,
        outcome,
        company.id = target.company,
        environment = target.environment,
        receipt.id = target.receipt,
        api_key.id = target.key,
        notice.id = target.notice,
        queue = target.queue,
        "operator's command"
    );
    answer
}

fn answer(result: Result<Value, OperatorError>) -> Value {
    result.unwrap_or_else(|error| {
        let code = match &error {
            OperatorError::Refused { code, .. } => code,
            OperatorError::Store(error) if error.is_retryable() => "try_again",
            OperatorError::Store(_) => "store_failed",
        };
        json!({ "error": { "code": code, "message": ecf_runtime::telemetry::chain(&error).to_string() } })
    })
}
