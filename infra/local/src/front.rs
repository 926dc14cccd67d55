//! The API gateway in process: HTTP request → version 1 proxy event with the real stage → the function's own Lambda
//! adapter → HTTP response. A function gets the same events as when deployed, and the gateway's own error responses are
//! those of the template.

mod answer;
mod event;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use axum::response::Response;
use bytes::BytesMut;
use ecf_runtime::LambdaRequest;
use ecf_stack::{Api, Function, GatewayResponse};
use futures::StreamExt as _;
use serde_json::Value;

use self::answer::{Own, http_answer};
use crate::invocations::{Meter, OfFunction};
use crate::routes::RouteTable;

/// Upper bound of a body at the gateway. The service's own limit is lower and enforced by the functions.
const GATEWAY_LIMIT_BYTES: usize = 10 * 1024 * 1024;
/// Integration timeout of a regional REST API.
const GATEWAY_TIME_LIMIT: Duration = Duration::from_secs(29);

/// The gateway: the template's routes, and a function for each.
#[derive(Clone)]
pub(crate) struct Gateway {
    shared: Arc<Shared>,
}

struct Shared {
    stage: String,
    routes: RouteTable,
    functions: Vec<Mount>,
    responses: std::collections::BTreeMap<String, GatewayResponse>,
}

struct Mount {
    name: String,
    metered: OfFunction,
    router: Router,
    /// The function's timeout.
    timeout: Duration,
    /// Whether its responses are streamed.
    streams: bool,
}

impl Gateway {
    /// Builds the gateway from the template's API and the functions with routes, each with its mounted router.
    pub(crate) fn new(api: &Api, mounted: Vec<(&Function, Router)>, meter: &Meter) -> Self {
        let mut routes = RouteTable::default();
        let mut functions = Vec::new();
        for (function, router) in mounted {
            for route in &function.routes {
                routes.insert(&route.method, &route.path, functions.len());
            }
            functions.push(Mount {
                name: function.name.clone(),
                metered: meter.of(&function.name),
                router,
                timeout: function.timeout,
                streams: function.routes.iter().any(|route| route.streams),
            });
        }
        Self {
            shared: Arc::new(Shared {
                stage: api.stage.clone(),
                routes,
                functions,
                responses: api.gateway_responses.clone(),
            }),
        }
    }

    async fn answer(&self, request: Request) -> Result<Response, Own> {
        let (parts, body) = request.into_parts();
        let body = whole(body).await.ok_or(Own::TooLarge)?;
        let path = parts.uri.path();
        let found = self
            .shared
            .routes
            .find(parts.method.as_str(), path)
            .ok_or(Own::NoRoute)?;
        let event = event::proxy(&self.shared.stage, &found, &parts, &body);
        let function = &self.shared.functions[found.function];
        if function.streams {
            return streamed(function, event, &parts.uri).await;
        }
        let answer = invoke(function, event, &parts.uri).await?;
        http_answer(&answer).ok_or_else(|| {
            tracing::error!(function = function.name, path, "a function's answer is none");
            Own::Failed
        })
    }
}

/// Reads a body within the gateway's limit. A larger body is read up to eight times the limit and discarded: otherwise
/// the caller, still sending, would find the connection closed before it reads the response.
async fn whole(body: Body) -> Option<Bytes> {
    let (mut stream, mut bytes, mut length) = (body.into_data_stream(), BytesMut::new(), 0);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.ok()?;
        length += chunk.len();
        if length <= GATEWAY_LIMIT_BYTES {
            bytes.extend_from_slice(&chunk);
        } else if length > 8 * GATEWAY_LIMIT_BYTES {
            break;
        }
    }
    (length <= GATEWAY_LIMIT_BYTES).then(|| bytes.freeze())
}

/// Answers one request like the deployed gateway.
pub(crate) async fn serve(State(gateway): State<Gateway>, request: Request) -> Response {
    match gateway.answer(request).await {
        Ok(response) => response,
        Err(own) => own.response(&gateway.shared.responses),
    }
}

/// Invokes a function with an event; event and response are the JSON of the Lambda protocol. As when deployed, the
/// function continues if the caller disconnects, ends at its timeout, and a panic affects only its own request.
async fn invoke(function: &Mount, event: Value, uri: &Uri) -> Result<Value, Own> {
    let path = uri.path();
    let event = of_lambda(function, event, path)?;
    let (metered, router) = (function.metered.clone(), function.router.clone());
    let mut invocation = tokio::spawn(async move { metered.measure(0, ecf_runtime::answer(router, event)).await });
    let limit = function.timeout.min(GATEWAY_TIME_LIMIT);
    match tokio::time::timeout(limit, &mut invocation).await {
        Ok(Ok(answer)) => serde_json::to_value(answer).map_err(|error| {
            tracing::error!(function = function.name, path, error = %error, "a function's answer is no JSON");
            Own::Failed
        }),
        Ok(Err(error)) => {
            tracing::error!(function = function.name, path, error = %error, "a function broke off");
            Err(Own::Failed)
        }
        Err(_) if function.timeout <= GATEWAY_TIME_LIMIT => {
            tracing::error!(function = function.name, path, "a function was ended at its time limit");
            invocation.abort();
            Err(Own::Failed)
        }
        Err(_) => Err(Own::TimedOut),
    }
}

/// Invokes a function and streams its response: the head at once, the body as it is produced. Such a function may run
/// longer than the gateway's integration timeout.
async fn streamed(function: &Mount, event: Value, uri: &Uri) -> Result<Response, Own> {
    let path = uri.path();
    let event = of_lambda(function, event, path)?;
    let invocation = tokio::spawn(ecf_runtime::stream(function.router.clone(), event));
    match tokio::time::timeout(function.timeout, invocation).await {
        Ok(Ok(answer)) => {
            let mut response = Response::new(Body::from_stream(answer.stream));
            *response.status_mut() = answer.metadata_prelude.status_code;
            *response.headers_mut() = answer.metadata_prelude.headers;
            // Transfer headers are set by the gateway.
            for name in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
                response.headers_mut().remove(name);
            }
            Ok(response)
        }
        Ok(Err(error)) => {
            tracing::error!(function = function.name, path, error = %error, "a function broke off");
            Err(Own::Failed)
        }
        Err(_) => {
            tracing::error!(function = function.name, path, "a function was ended at its time limit");
            Err(Own::Failed)
        }
    }
}

fn of_lambda(function: &Mount, event: Value, path: &str) -> Result<LambdaRequest, Own> {
    serde_json::from_value(event).map_err(|error| {
        tracing::error!(function = function.name, path, error = %error, "a request makes no event");
        Own::Failed
    })
}

#[cfg(test)]
mod tests;
