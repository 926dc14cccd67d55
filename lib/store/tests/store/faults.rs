//! Lost answers, and rejections that the embedded DynamoDB never returns.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::{Intercept, context::BeforeDeserializationInterceptorContextMut, dyn_dispatch_hint},
        orchestrator::{HttpResponse, Metadata},
        runtime_components::RuntimeComponents,
    },
};
use aws_smithy_types::{body::SdkBody, config_bag::ConfigBag};
use ecf_store::{
    StoreError, Table, local_config,
    receipts::{Claim, Created, Recorded, Verdict},
};
use jiff::SignedDuration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::support::{App, app, endpoint, new_receipt, noon, table_name};

/// Executes the operation, and loses its answer the first `times`.
#[derive(Debug)]
struct LoseAnswers {
    operation: &'static str,
    times: AtomicUsize,
}

#[dyn_dispatch_hint]
impl Intercept for LoseAnswers {
    fn name(&self) -> &'static str {
        "LoseAnswers"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        bag: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let ours = bag
            .load::<Metadata>()
            .is_some_and(|metadata| metadata.name() == self.operation);
        let left = |times: usize| times.checked_sub(1);
        if ours
            && self
                .times
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left)
                .is_ok()
        {
            *context.response_mut() = HttpResponse::new(500.try_into()?, SdkBody::empty());
        }
        Ok(())
    }
}

/// The same table, through a client that loses answers.
pub(crate) fn losing(operation: &'static str, times: usize) -> Table {
    let config = aws_sdk_dynamodb::config::Builder::from(&local_config(&endpoint()))
        .retry_config(RetryConfig::standard().with_initial_backoff(std::time::Duration::from_millis(1)))
        .interceptor(LoseAnswers {
            operation,
            times: AtomicUsize::new(times),
        })
        .build();
    Table::new(aws_sdk_dynamodb::Client::from_conf(config), table_name())
}

/// More often than the SDK retries.
const ALWAYS: usize = usize::MAX;
const LEASE: SignedDuration = SignedDuration::from_secs(30);

#[tokio::test]
async fn a_receipt_whose_answer_was_lost_is_found_to_be_ours() {
    let app = app("lost creation").await;
    for (key, number, times) in [("once", "E310000000001", 1), ("always", "E310000000002", ALWAYS)] {
        let new = new_receipt(&app.scope, key, number);
        let outcome = losing("TransactWriteItems", times)
            .create_receipt(&app.scope, new)
            .await
            .unwrap();
        let Created::New(receipt) = outcome else {
            panic!("{key}: {outcome:?}")
        };
        assert_eq!(
            app.table.receipt(&app.scope, &receipt.public_id).await.unwrap(),
            Some(receipt)
        );
    }
}

#[tokio::test]
async fn a_lost_answer_on_a_known_key_is_a_replay_all_the_same() {
    let app = app("lost replay").await;
    let first = app.receipt("order-1", "E310000000001").await;
    let again = new_receipt(&app.scope, "order-1", "E310000000002");
    let outcome = losing("TransactWriteItems", ALWAYS)
        .create_receipt(&app.scope, again)
        .await
        .unwrap();
    assert_eq!(outcome, Created::Replay(first));
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_still_ours() {
    let app = app("lost claim").await;
    let id = app.receipt("order-1", "E310000000001").await.public_id;
    let claim = losing("UpdateItem", 1)
        .claim_send(&app.scope, &id, noon(), LEASE)
        .await
        .unwrap();
    assert!(
        matches!(&claim, Claim::Claimed(receipt) if receipt.sending.attempts == 1),
        "{claim:?}"
    );
    let claim = app.table.claim_send(&app.scope, &id, noon(), LEASE).await.unwrap();
    assert!(matches!(claim, Claim::Leased(_)), "{claim:?}");
}

#[tokio::test]
async fn a_verdict_whose_answer_was_lost_counts_as_recorded_now() {
    let app = app("lost verdict").await;
    let id = app.receipt("order-1", "E310000000001").await.public_id;
    app.table
        .record_submitted(&app.scope, &id, "track-1", noon())
        .await
        .unwrap();
    let verdict = Verdict {
        state: ecf::ReceiptState::Accepted,
        track_id: None,
        error_code: None,
        error_message: None,
        secuencia_utilizada: None,
        taxauth_response: None,
        outbox: Vec::new(),
    };
    let recorded = losing("UpdateItem", 1)
        .record_verdict(&app.scope, &id, verdict, noon())
        .await
        .unwrap();
    assert!(matches!(recorded, Recorded::Now(_)), "{recorded:?}");
}

const CONFLICT: (u16, &str) = (
    400,
    r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled","CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict","Message":"in use"}]}"#,
);
const UNAVAILABLE: (u16, &str) = (503, "{}");
const DONE: (u16, &str) = (200, "{}");

/// A server that returns these answers in turn, then the last one forever.
async fn scripted(answers: &'static [(u16, &'static str)]) -> (Table, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            let operation = loop {
                let read = stream.read(&mut buffer).await.unwrap();
                request.extend_from_slice(&buffer[..read]);
                let text = String::from_utf8_lossy(&request);
                let Some((head, body)) = text.split_once("\r\n\r\n") else {
                    continue;
                };
                let header = |name: &str| {
                    head.lines().find_map(|line| {
                        let (found, value) = line.split_once(':')?;
                        found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
                    })
                };
                let length: usize = header("content-length").unwrap().parse().unwrap();
                if body.len() >= length {
                    break header("x-amz-target")
                        .unwrap()
                        .split('.')
                        .next_back()
                        .unwrap()
                        .to_owned();
                }
            };
            let place = {
                let mut log = log.lock().unwrap();
                log.push(operation);
                log.len() - 1
            };
            let (status, body) = answers.get(place).or(answers.last()).unwrap();
            let answer = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: {}\r\n\
                 connection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    let config = aws_sdk_dynamodb::config::Builder::from(&local_config(&format!("http://{address}")))
        .retry_config(RetryConfig::disabled())
        .build();
    (Table::new(aws_sdk_dynamodb::Client::from_conf(config), "t"), asked)
}

async fn create(app: &App, table: &Table) -> Result<Created, StoreError> {
    table
        .create_receipt(&app.scope, new_receipt(&app.scope, "order-1", "E310000000001"))
        .await
}

#[tokio::test]
async fn a_transaction_conflict_is_tried_again() {
    let app = app("conflict").await;
    let (table, asked) = scripted(&[CONFLICT, CONFLICT, DONE]).await;
    assert!(matches!(create(&app, &table).await.unwrap(), Created::New(_)));
    assert_eq!(*asked.lock().unwrap(), ["TransactWriteItems"; 3]);
}

#[tokio::test]
async fn a_conflict_without_end_becomes_a_retryable_error_after_a_last_look() {
    let app = app("endless conflict").await;
    let (table, asked) = scripted(&[
        CONFLICT, CONFLICT, CONFLICT, CONFLICT, CONFLICT, CONFLICT, CONFLICT, CONFLICT, DONE,
    ])
    .await;
    let error = create(&app, &table).await.unwrap_err();
    assert!(matches!(error, StoreError::Contended { attempts: 8, .. }), "{error:?}");
    assert!(error.is_retryable());
    assert_eq!(asked.lock().unwrap().last().unwrap(), "GetItem");
}

#[tokio::test]
async fn an_unknown_outcome_without_a_record_is_a_retryable_error() {
    let app = app("unknown").await;
    let (table, asked) = scripted(&[UNAVAILABLE, DONE]).await;
    let error = create(&app, &table).await.unwrap_err();
    assert!(matches!(error, StoreError::Retry { .. }), "{error:?}");
    assert_eq!(*asked.lock().unwrap(), ["TransactWriteItems", "GetItem"]);
}
