//! The one port: routes each request to its service, and closes the connections at shutdown.
//!
//! The JSON services are named in `X-Amz-Target`; a request without this header is for S3.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use s3s::Body;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::StartError;
use crate::aws_json::{self, AwsError};
use crate::calls::Calls;
use crate::clock::Pace;
use crate::data_dir::DataDir;
use crate::dynamodb::DynamoDb;
use crate::faults::{Faults, Lost};
use crate::latency::Latency;
use crate::s3::S3;
use crate::secrets::Secrets;
use crate::sqs::Sqs;

/// The services behind the port.
pub(crate) struct Services {
    dynamodb: DynamoDb,
    s3: S3,
    secrets: Secrets,
    sqs: Sqs,
    latency: Latency,
    faults: Faults,
    calls: Calls,
}

impl Services {
    /// Opens every database. Must be called inside the runtime that serves them.
    pub(crate) fn open(
        data_dir: &DataDir,
        endpoint_url: &str,
        pace: Pace,
        latency: Latency,
        faults: Faults,
        calls: Calls,
        stopping: watch::Receiver<bool>,
    ) -> Result<Arc<Services>, StartError> {
        Ok(Arc::new(Services {
            dynamodb: DynamoDb::open(data_dir)?,
            s3: S3::open(data_dir)?,
            secrets: Secrets::open(data_dir)?,
            sqs: Sqs::open(data_dir, endpoint_url, pace, stopping)?,
            latency,
            faults,
            calls,
        }))
    }

    /// Makes messages visible that an earlier process received and did not delete.
    pub(crate) fn release_in_flight(&self) -> Result<(), StartError> {
        self.sqs.release_in_flight()
    }

    pub(crate) fn oldest_messages(&self) -> BTreeMap<String, Duration> {
        self.sqs.oldest_messages()
    }

    /// The response, unless a fault loses it: then the connection closes without one.
    async fn answer_or_lose(&self, request: Request<Incoming>) -> Result<Response<Body>, Lost> {
        self.calls.count(request.method(), request.headers());
        let latency = self.latency.of(request.method(), request.headers());
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        let fault = self.faults.next(request.headers());
        fault.meet(request, |request| self.answer(request)).await
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let target = request
            .headers()
            .get("x-amz-target")
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let Some(target) = target else {
            return self.s3.answer(request).await;
        };
        match target.split_once('.') {
            Some((service, _)) if service.starts_with("DynamoDB") => self.dynamodb.answer(request).await,
            Some(("AmazonSQS", operation)) => {
                let result = match read(request).await {
                    Ok(body) => self.sqs.call(operation, &body).await,
                    Err(error) => Err(error),
                };
                aws_json::respond("1.0", result)
            }
            Some(("secretsmanager", operation)) => {
                let result = match read(request).await {
                    Ok(body) => self.secrets.call(operation, &body),
                    Err(error) => Err(error),
                };
                aws_json::respond("1.1", result)
            }
            _ => aws_json::respond(
                "1.0",
                Err(AwsError::new(
                    "UnknownOperationException",
                    format!("{target} is of no service that is embedded here"),
                )),
            ),
        }
    }
}

/// Reads the whole body of a JSON request.
pub(crate) async fn read(request: Request<Incoming>) -> Result<bytes::Bytes, AwsError> {
    Limited::new(request.into_body(), aws_json::MAX_REQUEST_BYTES)
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .map_err(|error| AwsError::new("SerializationException", error.to_string()))
}

/// Serves until `stopping` changes, then finishes the open requests.
pub(crate) async fn serve(listener: TcpListener, services: Arc<Services>, mut stopping: watch::Receiver<bool>) {
    // Aborted together with this task: a dropped `Embedded` leaves no connection open.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, Arc::clone(&services), stopping.clone()));
                }
                Err(error) => {
                    // Usually the process is out of file descriptors. Some become free when a connection closes.
                    tracing::warn!(error = &error as &dyn std::error::Error, "a connection could not be accepted");
                    connections.join_next().await;
                }
            },
            _ = connections.join_next(), if !connections.is_empty() => {}
            () = stopped(&mut stopping) => break,
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Resolves when a shutdown is requested, or when the owner of the services is dropped.
pub(crate) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped, which is a shutdown too.
    let _ = stopping.wait_for(|stop| *stop).await;
}

async fn connection(stream: TcpStream, services: Arc<Services>, mut stopping: watch::Receiver<bool>) {
    // Responses are small and written at once; Nagle's algorithm would add 40 ms to each.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(
            error = &error as &dyn std::error::Error,
            "a connection was gone at once"
        );
        return;
    }
    let service = service_fn(move |request| {
        let services = Arc::clone(&services);
        async move { services.answer_or_lose(request).await }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service)
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopped(&mut stopping) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error = &error as &dyn std::error::Error, "a connection ended early");
    }
}
