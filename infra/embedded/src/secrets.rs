//! Secrets Manager on SQLite. Values are stored byte for byte, and are on disk before the response.
//!
//! [`records`] finds, lists and describes secrets, [`lifecycle`] creates and deletes them, [`versions`] stores their
//! values, [`password`] generates random ones.

mod lifecycle;
mod password;
mod records;
mod versions;

use rusqlite::Transaction;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::StartError;
use crate::aws_json::{self, AwsError};
use crate::clock::Millis;
use crate::data_dir::DataDir;
use crate::sqlite::{Db, Schema};

/// Unused columns belong to an earlier version with the same layout number. Each version opens the other's folder
/// (`infra/checks/upgrade`).
const SCHEMA: Schema = Schema {
    service: "secrets manager",
    layout: 1,
    sql: "
        CREATE TABLE secrets (
            arn TEXT PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            description TEXT,
            kms_key_id TEXT,
            tags TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            changed_at INTEGER NOT NULL,
            accessed_at INTEGER,
            deleted_at INTEGER,
            purge_at INTEGER
        ) STRICT;
        CREATE TABLE versions (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            arn TEXT NOT NULL REFERENCES secrets (arn) ON DELETE CASCADE,
            version_id TEXT NOT NULL,
            text TEXT,
            binary BLOB,
            created_at INTEGER NOT NULL,
            UNIQUE (arn, version_id)
        ) STRICT;
        CREATE TABLE stages (
            arn TEXT NOT NULL REFERENCES secrets (arn) ON DELETE CASCADE,
            stage TEXT NOT NULL,
            version_id TEXT NOT NULL,
            PRIMARY KEY (arn, stage)
        ) STRICT;
    ",
};

/// A request whose only parameter is the secret.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct NamedRequest {
    secret_id: String,
}

pub(crate) struct Secrets {
    db: Db,
}

impl Secrets {
    pub(crate) fn open(data_dir: &DataDir) -> Result<Secrets, StartError> {
        Ok(Secrets {
            db: Db::open(data_dir.join("secrets.sqlite").as_deref(), &SCHEMA)?,
        })
    }

    pub(crate) fn call(&self, operation: &str, body: &[u8]) -> Result<Value, AwsError> {
        let now = Millis::now();
        match operation {
            "CreateSecret" => self.run(body, now, lifecycle::create),
            "DeleteSecret" => self.run(body, now, lifecycle::delete),
            "DescribeSecret" => self.run(body, now, records::describe),
            "GetRandomPassword" => password::generate(&aws_json::parse(body)?),
            "GetSecretValue" => self.run(body, now, versions::read),
            "ListSecrets" => self.run(body, now, records::list),
            "PutSecretValue" => self.run(body, now, versions::put),
            "UpdateSecret" => self.run(body, now, lifecycle::update),
            _ => Err(AwsError::new(
                "UnknownOperationException",
                format!("{operation} is not embedded here"),
            )),
        }
    }

    fn run<R: DeserializeOwned>(
        &self,
        body: &[u8],
        now: Millis,
        work: impl FnOnce(&Transaction<'_>, R, Millis) -> Result<Value, AwsError>,
    ) -> Result<Value, AwsError> {
        let request = aws_json::parse(body)?;
        self.db.write(|tx| {
            records::purge_overdue(tx, now)?;
            work(tx, request, now)
        })
    }
}

fn invalid_request(message: impl Into<String>) -> AwsError {
    AwsError::new("InvalidRequestException", message)
}

fn invalid_parameter(message: impl Into<String>) -> AwsError {
    AwsError::new("InvalidParameterException", message)
}

fn not_found(message: impl Into<String>) -> AwsError {
    AwsError::new("ResourceNotFoundException", message)
}

fn already_exists(message: impl Into<String>) -> AwsError {
    AwsError::new("ResourceExistsException", message)
}
