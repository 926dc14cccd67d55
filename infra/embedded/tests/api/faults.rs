//! Fault injection, as the SDK reports it.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use aws_sdk_s3::config::retry::RetryConfig;
use ecf_embedded::FaultRate;

use crate::stack::Stack;

/// Enough calls for each kind of fault to occur.
const CALLS: usize = 150;

/// Collects the error codes of a call. Successful calls and lost responses have none.
fn note<T, E: ProvideErrorMetadata>(codes: &mut BTreeSet<String>, result: Result<T, E>) {
    codes.extend(result.err().and_then(|error| error.code().map(str::to_owned)));
}

#[tokio::test]
async fn r9_each_service_refuses_in_its_own_words() {
    let stack = Stack::start().await;
    let once = RetryConfig::disabled();
    let dynamodb = stack
        .dynamodb()
        .config()
        .to_builder()
        .retry_config(once.clone())
        .build();
    let dynamodb = aws_sdk_dynamodb::Client::from_conf(dynamodb);
    let s3 = stack
        .s3()
        .config()
        .to_builder()
        .retry_config(once.clone())
        .force_path_style(true)
        .build();
    let s3 = aws_sdk_s3::Client::from_conf(s3);
    let sqs = aws_sdk_sqs::Client::from_conf(stack.sqs().config().to_builder().retry_config(once.clone()).build());
    let secrets = stack.secrets().config().to_builder().retry_config(once).build();
    let secrets = aws_sdk_secretsmanager::Client::from_conf(secrets);
    stack.embedded.misbehave(Some(FaultRate { percent: 100, seed: 9 }));
    let mut codes: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    // Delayed calls take up to 1.5 seconds, so all run at once.
    let calls = futures::future::join_all((0..CALLS).map(async |_| {
        let key = AttributeValue::S("x".to_owned());
        let put = Put::builder().table_name("t").item("pk", key.clone()).build().unwrap();
        let part = TransactWriteItem::builder().put(put).build();
        (
            dynamodb.put_item().table_name("t").item("pk", key.clone()).send().await,
            dynamodb
                .transact_write_items()
                .transact_items(part.clone())
                .transact_items(part)
                .send()
                .await,
            dynamodb.get_item().table_name("t").key("pk", key).send().await,
            s3.get_object().bucket("b").key("k").send().await,
            sqs.send_message()
                .queue_url("http://127.0.0.1/0/q")
                .message_body("m")
                .send()
                .await,
            secrets.get_secret_value().secret_id("s").send().await,
        )
    }))
    .await;
    for (put, transaction, get, object, message, secret) in calls {
        let cancelled = transaction.as_ref().err().and_then(|error| error.as_service_error());
        if let Some(
            aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError::TransactionCanceledException(
                why,
            ),
        ) = cancelled
        {
            let reasons: Vec<_> = why
                .cancellation_reasons()
                .iter()
                .filter_map(|reason| reason.code())
                .collect();
            assert_eq!(reasons, ["TransactionConflict", "None"]);
        }
        note(codes.entry("put").or_default(), put);
        note(codes.entry("transaction").or_default(), transaction);
        note(codes.entry("get").or_default(), get);
        note(codes.entry("object").or_default(), object);
        note(codes.entry("message").or_default(), message);
        note(codes.entry("secret").or_default(), secret);
    }
    for (call, wanted) in [
        (
            "put",
            [
                "ProvisionedThroughputExceededException",
                "TransactionConflictException",
                "InternalServerError",
            ],
        ),
        (
            "transaction",
            [
                "ProvisionedThroughputExceededException",
                "TransactionCanceledException",
                "InternalServerError",
            ],
        ),
        (
            "get",
            ["ThrottlingException", "ThrottlingException", "InternalServerError"],
        ),
        ("object", ["SlowDown", "SlowDown", "InternalError"]),
        ("message", ["RequestThrottled", "RequestThrottled", "InternalFailure"]),
        (
            "secret",
            ["ThrottlingException", "ThrottlingException", "InternalServiceError"],
        ),
    ] {
        for code in wanted {
            assert!(
                codes[call].contains(code),
                "{call} was never refused with {code}: {:?}",
                codes[call]
            );
        }
    }
    stack.embedded.misbehave(None);
    let answered = sqs.create_queue().queue_name("q").send().await;
    assert!(answered.is_ok(), "the faults end when they are told to: {answered:?}");
}
