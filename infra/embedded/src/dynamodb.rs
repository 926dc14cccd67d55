//! DynamoDB: the `dynoxide` server on a loopback port of its own.
//!
//! Its router is private, so requests are forwarded over a connection pool. This module adds the timer for time to
//! live.

use std::net::Ipv4Addr;
use std::time::Duration;

use dynoxide::Database;
use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use s3s::Body;

use crate::StartError;
use crate::aws_json::{self, AwsError};
use crate::data_dir::DataDir;
use crate::sqlite::blocking;

/// AWS may take days to delete expired items. Thirty seconds keep a local table small and are still late enough that no
/// code can rely on the deletion.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

pub(crate) struct DynamoDb {
    client: Client<HttpConnector, Incoming>,
    server: Authority,
}

impl DynamoDb {
    pub(crate) fn open(data_dir: &DataDir) -> Result<DynamoDb, StartError> {
        let file = data_dir.join("dynamodb.sqlite");
        let database = match &file {
            Some(path) => Database::new(&path.to_string_lossy()),
            None => Database::memory(),
        }
        .map_err(StartError::DynamoDb)?;
        let server = serve(database.clone()).map_err(|source| StartError::Listen { port: 0, source })?;
        // A table in memory ends with its process. Its test has a clock of its own, and the sweep follows the system's.
        if file.is_some() {
            tokio::spawn(sweep(database));
        }
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Ok(DynamoDb {
            client: Client::builder(TokioExecutor::new()).build(connector),
            server,
        })
    }

    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        self.pass_on(request)
            .await
            .unwrap_or_else(|error| aws_json::respond("1.0", Err(AwsError::internal(error.as_ref()))))
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
}

/// Starts the server and returns its address.
fn serve(database: Database) -> std::io::Result<Authority> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    tokio::spawn(async move {
        // The server ends with the runtime, after the front has finished the open requests.
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

/// Deletes expired items every [`SWEEP_EVERY`].
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
