//! The API gateway, played in process: HTTP request → version 1 proxy event with the real stage → the function's own Lambda
//! adapter → HTTP answer. What a function sees here is what it sees when deployed.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ecf_runtime::LambdaRequest;
use ecf_stack::{Api, Function};
use serde_json::{Value, json};

use crate::routes::RouteTable;

/// What the gateway itself takes at most; ours is smaller and answered by the functions.
const GATEWAY_LIMIT_BYTES: usize = 10 * 1024 * 1024;

/// The gateway: the template's routes, and a function behind each.
#[derive(Clone)]
pub(crate) struct Gateway {
    shared: Arc<Shared>,
}

struct Shared {
    stage: String,
    routes: RouteTable,
    functions: Vec<Router>,
}

impl Gateway {
    /// Builds the gateway from the template's API and the functions that have routes, each with its mounted router.
    pub(crate) fn new(api: &Api, mounted: Vec<(&Function, Router)>) -> Self {
        let mut routes = RouteTable::default();
        let mut functions = Vec::new();
        for (function, router) in mounted {
            for route in &function.routes {
                routes.insert(&route.method, &route.path, functions.len());
            }
            functions.push(router);
        }
        Self {
            shared: Arc::new(Shared {
                stage: api.stage.clone(),
                routes,
                functions,
            }),
        }
    }
}

/// Answers one request as the deployed gateway would.
pub(crate) async fn serve(State(gateway): State<Gateway>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, GATEWAY_LIMIT_BYTES).await else {
        return gateway_answer(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than 10 MB");
    };
    let path = parts.uri.path();
    let Some(found) = gateway.shared.routes.find(parts.method.as_str(), path) else {
        return gateway_answer(StatusCode::NOT_FOUND, "no such path");
    };
    let event = proxy_event(&gateway.shared.stage, found.resource, &parts, &body);
    match invoke(gateway.shared.functions[found.function].clone(), event).await {
        Ok(answer) => http_answer(&answer),
        Err(error) => {
            tracing::error!(error = %error, path, "a function's event or answer is not one");
            gateway_answer(StatusCode::BAD_GATEWAY, "the service failed to answer")
        }
    }
}

/// Event in, answer out, both as the JSON that travels between gateway and function.
async fn invoke(router: Router, event: Value) -> Result<Value, serde_json::Error> {
    let event: LambdaRequest = serde_json::from_value(event)?;
    serde_json::to_value(ecf_runtime::answer(router, event).await)
}

/// The event that API Gateway (REST, payload version 1) hands to a function.
fn proxy_event(stage: &str, resource: &str, parts: &axum::http::request::Parts, body: &Bytes) -> Value {
    let path = parts.uri.path();
    let mut single = serde_json::Map::new();
    let mut multi = serde_json::Map::new();
    for name in parts.headers.keys() {
        let values: Vec<&str> = parts
            .headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .collect();
        if let Some(last) = values.last() {
            single.insert(name.to_string(), json!(last));
            multi.insert(name.to_string(), json!(values));
        }
    }
    let mut query = serde_json::Map::new();
    let mut multi_query = serde_json::Map::new();
    for (name, value) in form_urlencoded(parts.uri.query().unwrap_or_default()) {
        query.insert(name.clone(), json!(value));
        let values = multi_query.entry(name).or_insert_with(|| json!([]));
        if let Value::Array(values) = values {
            values.push(json!(value));
        }
    }
    // `*/*` is declared binary in the template, so the gateway encodes every body.
    let body = if body.is_empty() {
        Value::Null
    } else {
        json!(BASE64.encode(body))
    };
    json!({
        "resource": resource,
        "path": path,
        "httpMethod": parts.method.as_str(),
        "headers": single,
        "multiValueHeaders": multi,
        "queryStringParameters": if query.is_empty() { Value::Null } else { Value::Object(query) },
        "multiValueQueryStringParameters": if multi_query.is_empty() { Value::Null } else { Value::Object(multi_query) },
        "pathParameters": Value::Null,
        "stageVariables": Value::Null,
        "requestContext": {
            "resourceId": "local",
            "resourcePath": resource,
            "httpMethod": parts.method.as_str(),
            "path": format!("/{stage}{path}"),
            "accountId": "000000000000",
            "protocol": "HTTP/1.1",
            "stage": stage,
            "requestId": request_id(),
            "apiId": "local",
            "identity": { "sourceIp": "127.0.0.1", "userAgent": parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()) },
        },
        "isBase64Encoded": !body.is_null(),
        "body": body,
    })
}

fn form_urlencoded(query: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

fn request_id() -> String {
    let bytes = ecf_runtime::random::<16>();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Turns the function's proxy answer into HTTP.
fn http_answer(answer: &Value) -> Response {
    let status = answer["statusCode"].as_u64().and_then(|code| u16::try_from(code).ok());
    let Some(Ok(status)) = status.map(StatusCode::from_u16) else {
        return gateway_answer(StatusCode::BAD_GATEWAY, "the service failed to answer");
    };
    let mut headers = HeaderMap::new();
    for field in ["headers", "multiValueHeaders"] {
        let Some(fields) = answer[field].as_object() else {
            continue;
        };
        for (name, value) in fields {
            let values = match value {
                Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
                Value::String(value) => vec![value.as_str()],
                _ => Vec::new(),
            };
            for value in values {
                if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
                    headers.append(name, value);
                }
            }
        }
    }
    let text = answer["body"].as_str().unwrap_or_default();
    let bytes = if answer["isBase64Encoded"].as_bool() == Some(true) {
        match BASE64.decode(text) {
            Ok(bytes) => bytes,
            Err(_) => return gateway_answer(StatusCode::BAD_GATEWAY, "the service failed to answer"),
        }
    } else {
        text.as_bytes().to_vec()
    };
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// An answer of the gateway itself, in the shape that the template gives its gateway responses.
fn gateway_answer(status: StatusCode, detail: &str) -> Response {
    (status, axum::Json(json!({ "detail": detail }))).into_response()
}
