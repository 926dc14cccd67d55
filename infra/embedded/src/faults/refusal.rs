//! The error responses with which each AWS service rejects a call.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use s3s::Body;
use serde_json::{Value, json};

use crate::aws_json::{self, AwsError};
use crate::{calls, front};

/// DynamoDB operations on one item that fail while a transaction holds the item.
const WRITES: [&str; 3] = ["PutItem", "UpdateItem", "DeleteItem"];

/// The rejected call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) service: &'static str,
    pub(super) operation: String,
}

impl Call {
    pub(super) fn of(method: &Method, headers: &HeaderMap) -> Call {
        let (service, operation) = calls::operation(method, headers);
        let service = match service {
            "AmazonSQS" => "SQS",
            "secretsmanager" => "SecretsManager",
            "S3" => "S3",
            _ => "DynamoDB",
        };
        Call {
            service,
            operation: operation.to_owned(),
        }
    }

    /// The service throttles the call.
    pub(super) fn throttled(&self) -> Response<Body> {
        match (self.service, self.operation.as_str()) {
            ("S3", _) => s3_error(
                StatusCode::SERVICE_UNAVAILABLE,
                "SlowDown",
                "Please reduce your request rate.",
            ),
            ("SQS", _) => {
                let error = AwsError::new("RequestThrottled", "The request was denied due to request throttling.");
                aws_json::respond("1.0", Err(error.with_query_code("RequestThrottled")))
            }
            ("SecretsManager", _) => self.refuse("ThrottlingException", "Rate exceeded"),
            (_, operation) if operation.starts_with("Transact") || WRITES.contains(&operation) => self.refuse(
                "ProvisionedThroughputExceededException",
                "The level of configured provisioned throughput for the table was exceeded.",
            ),
            _ => self.refuse(
                "ThrottlingException",
                "Throughput exceeds the current capacity of your table or index.",
            ),
        }
    }

    /// A transaction holds the item, or one of the items.
    pub(super) async fn conflict(&self, request: Request<Incoming>) -> Response<Body> {
        match (self.service, self.operation.as_str()) {
            ("DynamoDB", "TransactWriteItems") => match front::read(request).await {
                Ok(body) => cancelled(&body),
                Err(error) => aws_json::respond("1.0", Err(error)),
            },
            ("DynamoDB", operation) if WRITES.contains(&operation) => {
                self.refuse("TransactionConflictException", "Transaction is ongoing for the item")
            }
            _ => self.throttled(),
        }
    }

    /// The service failed.
    pub(super) fn failed(&self) -> Response<Body> {
        let code = match self.service {
            "S3" => {
                let message = "We encountered an internal error. Please try again.";
                return s3_error(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message);
            }
            "SQS" => "InternalFailure",
            "SecretsManager" => "InternalServiceError",
            _ => "InternalServerError",
        };
        let error = AwsError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            ..AwsError::new(code, "The request processing has failed because of an unknown error.")
        };
        aws_json::respond(self.protocol(), Err(error))
    }

    fn refuse(&self, code: &'static str, message: &str) -> Response<Body> {
        aws_json::respond(self.protocol(), Err(AwsError::new(code, message)))
    }

    fn protocol(&self) -> &'static str {
        match self.service {
            "SecretsManager" => "1.1",
            _ => "1.0",
        }
    }
}

/// A transaction that is cancelled because another one holds its first item.
fn cancelled(body: &[u8]) -> Response<Body> {
    let parts = serde_json::from_slice::<Value>(body)
        .ok()
        .and_then(|request| request["TransactItems"].as_array().map(Vec::len))
        .unwrap_or(1);
    let reason = |part: usize| match part {
        0 => json!({ "Code": "TransactionConflict", "Message": "Transaction is ongoing for the item" }),
        _ => json!({ "Code": "None" }),
    };
    let reasons: Vec<Value> = (0..parts).map(reason).collect();
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]",
        "CancellationReasons": reasons,
    });
    answer(StatusCode::BAD_REQUEST, "application/x-amz-json-1.0", body.to_string())
}

fn s3_error(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    );
    answer(status, "application/xml", body)
}

fn answer(status: StatusCode, content_type: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
