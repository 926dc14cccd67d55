//! The IAM actions that a request requires, and on which resources. They are derived from the request on the wire, not
//! from our code's claims.
//!
//! Resource names omit the parts that differ between deployments: `table`, `table/index/due`, `bucket`,
//! `queue:Webhook`, `secret:data-key`. The key is the part of a record or object that a policy can select: the kind of
//! a partition key (`r#`), the folder or kind of an object (`exports/*`, `*/signed-xml-*`).

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// A name part of this length is an id.
const ID_LENGTH: usize = 32;

pub(crate) struct Request<'r> {
    pub(crate) service: &'r str,
    pub(crate) operation: &'r str,
    pub(crate) uri: &'r str,
    pub(crate) body: &'r [u8],
    /// Whether the request sets an object lock.
    pub(crate) locks: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) action: String,
    pub(crate) resource: String,
    pub(crate) key: String,
}

fn demand(action: impl Into<String>, resource: impl Into<String>, key: impl Into<String>) -> Demand {
    Demand {
        action: action.into(),
        resource: resource.into(),
        key: key.into(),
    }
}

/// The permissions that this request requires.
pub(crate) fn demands(request: &Request<'_>) -> Vec<Demand> {
    match request.service {
        "DynamoDB" => dynamodb(request.operation, &json(request.body)),
        "S3" => s3(request),
        "SQS" => vec![sqs(request.operation, &json(request.body))],
        "Secrets Manager" => secrets(request.operation, &json(request.body)),
        other => vec![demand(format!("{other}:{}", request.operation), "?", "?")],
    }
}

/// The permission with which S3 answers 404 for a missing object; without it S3 answers 403.
pub(crate) fn missed(request: &Request<'_>) -> Option<Demand> {
    let reads = request.service == "S3" && matches!(request.operation, "GetObject" | "HeadObject");
    reads.then(|| demand("s3:ListBucket", "bucket", object(request.uri)))
}

fn json(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_default()
}

fn dynamodb(operation: &str, body: &Value) -> Vec<Demand> {
    let of = |operation: &str, resource: &str, key: &Value| {
        demand(format!("dynamodb:{operation}"), resource, kind(&key["S"]))
    };
    match operation {
        "PutItem" => vec![of(operation, "table", &body["Item"]["pk"])],
        "GetItem" | "UpdateItem" | "DeleteItem" => vec![of(operation, "table", &body["Key"]["pk"])],
        "Query" => {
            let resource = match body["IndexName"].as_str() {
                Some(index) => format!("table/index/{index}"),
                None => "table".to_owned(),
            };
            let condition = body["KeyConditionExpression"].as_str().unwrap_or_default();
            let name = condition.split_whitespace().find(|word| word.starts_with(':'));
            vec![of(
                operation,
                &resource,
                &body["ExpressionAttributeValues"][name.unwrap_or_default()],
            )]
        }
        "BatchGetItem" => {
            let tables = body["RequestItems"].as_object().into_iter().flatten();
            let keys = tables.flat_map(|(_, table)| table["Keys"].as_array().into_iter().flatten());
            keys.map(|key| of(operation, "table", &key["pk"])).collect()
        }
        "TransactWriteItems" => {
            let parts = body["TransactItems"].as_array().into_iter().flatten();
            let parts = parts.flat_map(|part| part.as_object().into_iter().flatten());
            parts
                .map(|(kind, part)| match kind.as_str() {
                    "Put" => of("PutItem", "table", &part["Item"]["pk"]),
                    "Update" => of("UpdateItem", "table", &part["Key"]["pk"]),
                    "Delete" => of("DeleteItem", "table", &part["Key"]["pk"]),
                    _ => of("ConditionCheckItem", "table", &part["Key"]["pk"]),
                })
                .collect()
        }
        // A scan names no keys, so a policy cannot restrict it to some.
        "Scan" => vec![demand("dynamodb:Scan", "table", "-")],
        // Unknown operation: it becomes a demand that no policy grants, so the comparison reports it.
        other => vec![demand(format!("dynamodb:{other}"), "table", "?")],
    }
}

/// Returns `r#` for `r#0m5c…`.
fn kind(key: &Value) -> String {
    match key.as_str().and_then(|key| key.split_once('#')) {
        Some((kind, _)) => format!("{kind}#"),
        None => key.as_str().unwrap_or("?").to_owned(),
    }
}

fn s3(request: &Request<'_>) -> Vec<Demand> {
    let action = match request.operation {
        "GetObject" | "HeadObject" => "s3:GetObject".to_owned(),
        "PutObject" | "CreateMultipartUpload" | "UploadPart" | "CompleteMultipartUpload" => "s3:PutObject".to_owned(),
        "ListObjectsV2" => return vec![demand("s3:ListBucket", "bucket", prefix(request.uri))],
        other => format!("s3:{other}"),
    };
    let key = object(request.uri);
    let mut demands = vec![demand(action, "bucket", key.clone())];
    if request.locks {
        demands.push(demand("s3:PutObjectRetention", "bucket", key));
    }
    demands
}

/// The object's name in the URL, without ids. The first path segment is the bucket.
fn object(uri: &str) -> String {
    let path = url::Url::parse(uri)
        .map(|url| url.path().to_owned())
        .unwrap_or_default();
    let path = percent_decode_str(&path).decode_utf8_lossy();
    let name = path.trim_start_matches('/').split_once('/').map(|(_bucket, name)| name);
    without_ids(name.unwrap_or_default())
}

fn prefix(uri: &str) -> String {
    let url = url::Url::parse(uri).ok();
    let prefix = url.and_then(|url| {
        url.query_pairs()
            .find(|(name, _)| name == "prefix")
            .map(|(_, value)| value.into_owned())
    });
    without_ids(&prefix.unwrap_or_default())
}

/// Returns `exports/*` for `exports/0m5c…/…`, and `*/signed-xml-*` for `0m5c…/ecf/2026/11/…/signed-xml-e3b0…`: policies
/// name no companies, months or hashes.
fn without_ids(name: &str) -> String {
    match name.split_once('/') {
        Some((first, rest)) if first.len() == ID_LENGTH => {
            let document = rest.rsplit('/').next().and_then(|last| last.rsplit_once('-'));
            document.map_or_else(|| "*".to_owned(), |(kind, _hash)| format!("*/{kind}-*"))
        }
        Some((first, _)) => format!("{first}/*"),
        None => name.to_owned(),
    }
}

fn sqs(operation: &str, body: &Value) -> Demand {
    let name = operation.strip_suffix("Batch").unwrap_or(operation);
    let url = body["QueueUrl"].as_str().unwrap_or("?");
    let queue = url.rsplit('/').next().unwrap_or("?").rsplit('-').next().unwrap_or("?");
    demand(format!("sqs:{name}"), format!("queue:{queue}"), "-")
}

fn secrets(operation: &str, body: &Value) -> Vec<Demand> {
    // The operation names no secret, so a policy cannot restrict it to one.
    if operation == "ListSecrets" {
        return vec![demand("secretsmanager:ListSecrets", "*", "-")];
    }
    let name = body["SecretId"].as_str().or(body["Name"].as_str()).unwrap_or("?");
    // The name begins with `ecf/{stack}/`.
    let name = name.splitn(3, '/').nth(2).unwrap_or(name);
    let secret = format!("secret:{}", without_ids_at_the_end(name));
    let mut demands = vec![demand(format!("secretsmanager:{operation}"), secret.clone(), "-")];
    if body["Tags"].as_array().is_some_and(|tags| !tags.is_empty()) {
        demands.push(demand("secretsmanager:TagResource", secret, "-"));
    }
    demands
}

/// Returns `company/*` for `company/0m5c…`.
fn without_ids_at_the_end(name: &str) -> String {
    match name.rsplit_once('/') {
        Some((before, last)) if last.len() == ID_LENGTH => format!("{before}/*"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0m5c8k2r7w9xq4t1v3y6zabdefghjnps";

    fn told(service: &str, operation: &str, uri: &str, body: &Value) -> Vec<String> {
        let body = body.to_string();
        let request = Request {
            service,
            operation,
            uri,
            body: body.as_bytes(),
            locks: false,
        };
        let line = |demand: Demand| format!("{} {} {}", demand.action, demand.resource, demand.key);
        demands(&request).into_iter().map(line).collect()
    }

    #[test]
    fn a_transaction_needs_what_its_parts_need() {
        let key = |kind: &str| serde_json::json!({ "pk": { "S": format!("{kind}#{ID}") }, "sk": { "S": "x" } });
        let body = serde_json::json!({ "TransactItems": [
            { "Put": { "TableName": "t", "Item": key("r") } },
            { "Update": { "TableName": "t", "Key": key("n") } },
            { "Delete": { "TableName": "t", "Key": key("iu") } },
            { "ConditionCheck": { "TableName": "t", "Key": key("co") } },
        ]});
        let expected = [
            "dynamodb:PutItem table r#",
            "dynamodb:UpdateItem table n#",
            "dynamodb:DeleteItem table iu#",
            "dynamodb:ConditionCheckItem table co#",
        ];
        assert_eq!(told("DynamoDB", "TransactWriteItems", "http://x/", &body), expected);
    }

    #[test]
    fn a_query_is_of_its_index_and_of_the_partition_that_it_names() {
        let body = serde_json::json!({
            "TableName": "t", "IndexName": "due", "KeyConditionExpression": "#partition = :partition AND #sort BETWEEN :low AND :high",
            "ExpressionAttributeValues": { ":partition": { "S": "due#3" }, ":low": { "S": "a#" }, ":high": { "S": "b#" } },
        });
        assert_eq!(
            told("DynamoDB", "Query", "http://x/", &body),
            ["dynamodb:Query table/index/due due#"]
        );
        let body = serde_json::json!({ "RequestItems": { "t": { "Keys": [
            { "pk": { "S": "r#1" } }, { "pk": { "S": "n#1" } },
        ]}}});
        assert_eq!(
            told("DynamoDB", "BatchGetItem", "http://x/", &body),
            ["dynamodb:BatchGetItem table r#", "dynamodb:BatchGetItem table n#"]
        );
    }

    #[test]
    fn objects_queues_and_secrets_are_named_without_ids() {
        let uri = format!("http://127.0.0.1:1/t0-bucket/{ID}/testecf/2026/11/x/signed-xml-e3b0?x-id=PutObject");
        assert_eq!(
            told("S3", "PutObject", &uri, &Value::Null),
            ["s3:PutObject bucket */signed-xml-*"]
        );
        let part = "http://127.0.0.1:1/t0-bucket/exports/x/y?partNumber=1";
        assert_eq!(
            told("S3", "UploadPart", part, &Value::Null),
            ["s3:PutObject bucket exports/*"]
        );
        let list = "http://127.0.0.1:1/t0-bucket/?list-type=2&prefix=register%2Fx";
        assert_eq!(
            told("S3", "ListObjectsV2", list, &Value::Null),
            ["s3:ListBucket bucket register/*"]
        );
        let body = serde_json::json!({ "QueueUrl": "http://127.0.0.1:1/000000000000/t0-SubmissionTesteCF" });
        assert_eq!(
            told("SQS", "SendMessageBatch", "http://x/", &body),
            ["sqs:SendMessage queue:SubmissionTesteCF -"]
        );
        let body = serde_json::json!({ "SecretId": format!("ecf/t0/company/{ID}") });
        assert_eq!(
            told("Secrets Manager", "GetSecretValue", "http://x/", &body),
            ["secretsmanager:GetSecretValue secret:company/* -"]
        );
        let body = serde_json::json!({ "Filters": [{ "Key": "name", "Values": ["ecf/t0/"] }] });
        assert_eq!(
            told("Secrets Manager", "ListSecrets", "http://x/", &body),
            ["secretsmanager:ListSecrets * -"]
        );
    }

    #[test]
    fn an_object_that_is_not_there_needs_the_right_to_list() {
        let request = |operation| Request {
            service: "S3",
            operation,
            uri: "http://127.0.0.1:1/t0-bucket/register/now",
            body: b"",
            locks: false,
        };
        assert_eq!(
            missed(&request("GetObject")),
            Some(demand("s3:ListBucket", "bucket", "register/*"))
        );
        assert_eq!(missed(&request("PutObject")), None);
    }
}
