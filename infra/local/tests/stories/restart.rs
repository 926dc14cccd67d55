//! Durability: each acknowledged receipt reaches its verdict after a restart, and is sent once.

use std::path::Path;

use ecf_local::{Local, RunOptions};
use ecf_testkit::Receiver;
use futures::future::join_all;
use http::Method;
use serde_json::{Value, json};

use crate::payloads::payload;
use crate::program::Program;
use crate::support::{ApiClient, TIME_LIMIT, eventually, signature, start_in, webhook_of, webhooks_of};

const RECEIPTS: usize = 10;

/// Makes the tax authority slow enough for a stop in the middle of the work.
async fn slow_down(caller: &ApiClient) {
    caller
        .control(Method::PUT, "verdict-delay", &json!({ "ms": 5_000 }))
        .await;
}

async fn issue_ten(caller: &ApiClient) -> Vec<Value> {
    let payload = payload(&caller.rnc, &caller.today(), "31", 1_000);
    let issued = (0..RECEIPTS).map(async |number| {
        caller
            .issue(&format!("sale {number}"), "31", &payload)
            .await
            .expect(201)
    });
    join_all(issued).await
}

async fn each_is_accepted_and_was_sent_once(caller: &ApiClient, receipts: &[Value]) {
    let accepted = receipts
        .iter()
        .map(|receipt| caller.wait_for_state(receipt, "accepted"));
    join_all(accepted).await;
    for receipt in receipts {
        let documents = caller.documents(receipt).await;
        assert_eq!(documents.len(), 1, "{documents:?}");
        assert_eq!(documents[0]["times"], 1, "{documents:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_the_middle_of_ten_receipts_loses_none() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let local = start_in(folder.path()).await;
    let caller = ApiClient::of(&local);
    let secret = caller.subscribe(&receiver).await;
    slow_down(&caller).await;
    let receipts = issue_ten(&caller).await;
    local.shutdown().await;
    assert!(
        receiver.received().is_empty(),
        "the stop came too late to prove anything"
    );

    let local = start_in(folder.path()).await;
    let first_key = caller.key;
    let caller = ApiClient::of(&local);
    assert_eq!(caller.key, first_key, "the demo company is still there");
    each_is_accepted_and_was_sent_once(&caller, &receipts).await;
    for receipt in &receipts {
        let told = webhook_of(&receiver, receipt).await;
        assert_eq!(
            told.header("X-ECF-Signature"),
            Some(signature(&secret, &told.body).as_str())
        );
    }
    local.shutdown().await;
    for receipt in &receipts {
        assert_eq!(webhooks_of(&receiver, receipt).len(), 1, "{receipt}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_sent_before_a_stop_is_sent_after_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let local = start_with_authority(folder.path(), "http://127.0.0.1:9").await;
    let caller = ApiClient::of(&local);
    let receipts = issue_ten(&caller).await;
    local.shutdown().await;

    let local = start_in(folder.path()).await;
    let caller = ApiClient::of(&local);
    each_is_accepted_and_was_sent_once(&caller, &receipts).await;
    local.shutdown().await;
}

/// Starts with another tax authority than the built-in one.
async fn start_with_authority(folder: &Path, url: &str) -> Local {
    let options = RunOptions {
        port: 0,
        data: folder.to_owned(),
        simulator: Some(url.to_owned()),
        ..RunOptions::default()
    };
    Local::start(&options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_killed_in_the_middle_of_ten_receipts_loses_none() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let program = Program::start(folder.path());
    let caller = program.caller();
    caller.subscribe(&receiver).await;
    let slow_answers = json!({ "service": "consultaresultado", "fault": "delay", "delay_ms": 10_000 });
    caller.control(Method::POST, "faults", &slow_answers).await;
    let receipts = issue_ten(&caller).await;
    // Submitted, but without a verdict: a worker killed during the submission leaves a lease, and its receipt is looked
    // up for minutes.
    for receipt in &receipts {
        let path = format!("/ecf/{}", receipt["public_id"].as_str().unwrap());
        let handed_over = async || {
            let now = caller.get(&path).await.expect(200);
            (now["status"] != "signed").then_some(())
        };
        eventually("handed over", TIME_LIMIT, handed_over).await;
    }
    eventually("a worker asks for a verdict", TIME_LIMIT, async || {
        (program.in_flight().await > 0).then_some(())
    })
    .await;
    program.kill();
    assert!(
        receiver.received().len() < RECEIPTS,
        "the kill came too late to prove anything"
    );

    // In-flight messages of the dead workers are received at once, not after their visibility timeout of six minutes.
    let program = Program::start(folder.path());
    let caller = program.caller();
    caller.control(Method::DELETE, "faults", &Value::Null).await;
    each_is_accepted_and_was_sent_once(&caller, &receipts).await;
    for receipt in &receipts {
        webhook_of(&receiver, receipt).await;
    }
    program.interrupt();
}
