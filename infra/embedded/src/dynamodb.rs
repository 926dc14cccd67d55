//! DynamoDB: the `dynoxide` server on a loopback port of its own, and the calls it lacks.
//!
//! Its router is private, so requests are passed on over a connection pool. What we add is the point-in-time recovery
//! setting, which provisioning turns on and reads back, and the timer behind time to live.

use std::net::Ipv4Addr;
use std::time::Duration;

use dynoxide::Database;
use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rusqlite::OptionalExtension;
use s3s::Body;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::aws_json::{self, AwsError};
use crate::clock::Millis;
use crate::data_dir::DataDir;
use crate::sqlite::{Db, Schema, blocking};
use crate::{StartError, front};

/// AWS may take days to delete expired items; half a minute keeps a local table small without being relied upon.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// How far back AWS can restore a table, and what it answers when nothing else was asked for.
const RECOVERY_PERIOD_DAYS: i64 = 35;

const SCHEMA: Schema = Schema {
    service: "dynamodb backup settings",
    layout: 1,
    sql: "CREATE TABLE recovery (table_name TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT;",
};

pub(crate) struct DynamoDb {
    database: Database,
    recovery: Db,
    client: Client<HttpConnector, Incoming>,
    server: Authority,
}

impl DynamoDb {
    pub(crate) fn open(data_dir: &DataDir) -> Result<DynamoDb, StartError> {
        let database = match data_dir.join("dynamodb.sqlite") {
            Some(path) => Database::new(&path.to_string_lossy()),
            None => Database::memory(),
        }
        .map_err(StartError::DynamoDb)?;
        let recovery = Db::open(data_dir.join("dynamodb-backups.sqlite").as_deref(), &SCHEMA)?;
        let server = serve(database.clone()).map_err(|source| StartError::Listen { port: 0, source })?;
        tokio::spawn(sweep(database.clone()));
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Ok(DynamoDb {
            database,
            recovery,
            client: Client::builder(TokioExecutor::new()).build(connector),
            server,
        })
    }

    pub(crate) async fn answer(&self, operation: &str, request: Request<Incoming>) -> Response<Body> {
        match operation {
            "DescribeContinuousBackups" | "UpdateContinuousBackups" => {
                let result = match front::read(request).await {
                    Ok(body) => self.continuous_backups(operation, &body),
                    Err(error) => Err(error),
                };
                aws_json::respond("1.0", result)
            }
            _ => self
                .pass_on(request)
                .await
                .unwrap_or_else(|error| aws_json::respond("1.0", Err(AwsError::internal(error.as_ref())))),
        }
    }

    async fn pass_on(
        &self,
        mut request: Request<Incoming>,
    ) -> Result<Response<Body>, Box<dyn std::error::Error + Send + Sync>> {
        let mut parts = request.uri().clone().into_parts();
        parts.scheme = Some(Scheme::HTTP);
        parts.authority = Some(self.server.clone());
        *request.uri_mut() = Uri::from_parts(parts)?;
        Ok(self.client.request(request).await?.map(Body::from))
    }

    fn continuous_backups(&self, operation: &str, body: &[u8]) -> Result<Value, AwsError> {
        let now = Millis::now();
        let request: BackupsRequest = aws_json::parse(body)?;
        let table = request.table_name;
        let created_at = self.table_created_at(&table)?;
        let since: Option<i64> = self.recovery.write(|tx| -> Result<_, AwsError> {
            // A deleted table takes its setting along; one of the same name starts without.
            tx.execute(
                "DELETE FROM recovery WHERE table_name = ?1 AND since < ?2",
                (&table, created_at.0),
            )?;
            match (operation, request.specification) {
                ("UpdateContinuousBackups", Some(RecoverySpecification { enabled: true })) => {
                    tx.execute(
                        "INSERT INTO recovery (table_name, since) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                        (&table, now.0),
                    )?;
                }
                ("UpdateContinuousBackups", Some(RecoverySpecification { enabled: false })) => {
                    tx.execute("DELETE FROM recovery WHERE table_name = ?1", [&table])?;
                }
                ("UpdateContinuousBackups", None) => {
                    return Err(AwsError::new(
                        "ValidationException",
                        "PointInTimeRecoverySpecification is required",
                    ));
                }
                _ => {}
            }
            Ok(tx
                .query_row("SELECT since FROM recovery WHERE table_name = ?1", [&table], |row| {
                    row.get(0)
                })
                .optional()?)
        })?;
        let recovery = match since {
            Some(since) => json!({
                "PointInTimeRecoveryStatus": "ENABLED",
                "RecoveryPeriodInDays": RECOVERY_PERIOD_DAYS,
                "EarliestRestorableDateTime": Millis(since).as_epoch_seconds(),
                "LatestRestorableDateTime": now.as_epoch_seconds(),
            }),
            None => json!({"PointInTimeRecoveryStatus": "DISABLED"}),
        };
        Ok(json!({"ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": recovery,
        }}))
    }

    fn table_created_at(&self, name: &str) -> Result<Millis, AwsError> {
        let request = serde_json::from_value(json!({"TableName": name}))?;
        let description = blocking(|| self.database.describe_table(request))
            .map_err(|_| AwsError::new("TableNotFoundException", format!("Table not found: {name}")))?;
        let description = serde_json::to_value(description)?;
        let seconds = description["Table"]["CreationDateTime"].as_f64();
        Ok(Millis(seconds.map_or(0, |seconds| (seconds * 1000.0) as i64)))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BackupsRequest {
    table_name: String,
    #[serde(rename = "PointInTimeRecoverySpecification")]
    specification: Option<RecoverySpecification>,
}

#[derive(Deserialize)]
struct RecoverySpecification {
    #[serde(rename = "PointInTimeRecoveryEnabled")]
    enabled: bool,
}

/// Starts the server and answers with where it listens.
fn serve(database: Database) -> std::io::Result<Authority> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    tokio::spawn(async move {
        // It ends with the runtime, after the front has let the requests under way finish.
        let never = std::future::pending();
        if let Err(reason) = dynoxide::server::serve_with_shutdown(listener, database, never).await {
            tracing::error!(reason, "the dynamodb server ended");
        }
    });
    address
        .to_string()
        .parse()
        .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidInput, error))
}

/// Deletes expired items every now and then.
async fn sweep(database: Database) {
    let mut timer = tokio::time::interval(SWEEP_EVERY);
    timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        timer.tick().await;
        match blocking(|| database.sweep_ttl()) {
            Ok(0) => {}
            Ok(deleted) => tracing::debug!(deleted, "expired items were deleted"),
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "expired items could not be deleted"
            ),
        }
    }
}
