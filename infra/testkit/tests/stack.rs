//! Tests of the kit itself: the guarantees that other tests rely on.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use axum::{Json, Router, routing::post};
use ecf::{Environment, Fecha, ReceiptType};
use ecf_runtime::{BatchItemFailure, Message, Outcome, SqsBatchResponse, SqsEvent, SqsRecord, process_batch};
use ecf_store::{
    CompanyId, WebhookJob,
    companies::{CompanyCreated, NewCompany},
    numbers::{NextNumber, Numbering},
};
use ecf_testkit::{Fault, P12_PIN, Queue, Receiver, TestStack, Timeline, request, test_p12};
use http::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn a_company_is_ready_to_issue() {
    let stack = TestStack::start().await;
    let company = stack.company().await;
    assert_eq!(company.scope.environment, Environment::TesteCF);
    let stored = stack
        .vault()
        .certificate(&company.scope.company)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (stored.file.p12.as_slice(), stored.file.pin.as_str()),
        (test_p12(), P12_PIN)
    );
    let ranges = stack.table().ranges(&company.scope, None).await.unwrap();
    assert_eq!(ranges.len(), 2 * ReceiptType::ALL.len());
    assert!(ranges.iter().any(|range| range.numbering == Some(Numbering::Caller)));
    let now = stack.clock().now();
    let today = Fecha::at(now);
    let ecf_type = "31".parse().unwrap();
    let taken = stack
        .table()
        .take_next_number(&company.scope, ecf_type, today, now)
        .await
        .unwrap();
    assert!(
        matches!(taken, NextNumber::Taken { encf, .. } if encf.to_string() == "E310005000000"),
        "{taken:?}"
    );
}

#[tokio::test]
async fn stacks_do_not_see_each_other() {
    let (one, two) = (TestStack::start().await, TestStack::start().await);
    let company = one.company().await;
    assert!(two.table().company(&company.scope.company).await.unwrap().is_none());
    assert_ne!(one.queue_url(Queue::Webhook), two.queue_url(Queue::Webhook));
}

#[tokio::test]
async fn a_worker_is_fed_until_its_queue_is_empty_and_delays_are_noted() {
    let stack = TestStack::start().await;
    let company = stack
        .company_builder()
        .without_certificate()
        .without_ranges()
        .build()
        .await
        .scope
        .company;
    stack
        .queues()
        .send_webhook(&WebhookJob::Portal { company, attempt: 0 }, Duration::from_secs(30))
        .await
        .unwrap();
    let queues = stack.queues();
    let again = |job: WebhookJob, after| {
        let queues = queues.clone();
        async move { queues.send_webhook(&job, after).await }
    };
    let rounds = std::sync::atomic::AtomicU32::new(0);
    let given = stack
        .drain(Queue::Webhook, |event| {
            let handler = |job: WebhookJob, message: Message| {
                assert_eq!(message.receive_count, 1);
                let first = rounds.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
                let after = Duration::from_secs(60);
                async move {
                    if first {
                        Outcome::Again { job, after }
                    } else {
                        Outcome::Done
                    }
                }
            };
            process_batch(event, handler, again)
        })
        .await;
    assert_eq!(given, 2);
    assert_eq!(
        stack.calls().delays(),
        [Duration::from_secs(30), Duration::from_secs(60)]
    );
}

#[tokio::test]
async fn messages_can_be_taken_out_and_looked_at() {
    let stack = TestStack::start().await;
    let company = stack
        .company_builder()
        .without_certificate()
        .without_ranges()
        .build()
        .await
        .scope
        .company;
    stack
        .queues()
        .send_webhook(&WebhookJob::Portal { company, attempt: 0 }, Duration::ZERO)
        .await
        .unwrap();
    let bodies = stack.take_messages(Queue::Webhook).await;
    let [body] = bodies.as_slice() else {
        panic!("{bodies:?}")
    };
    let job: WebhookJob = serde_json::from_str(body).unwrap();
    assert_eq!(job, WebhookJob::Portal { company, attempt: 0 });
}

#[tokio::test]
#[should_panic(expected = "the test left messages in its queues")]
async fn a_message_that_is_left_fails_the_test() {
    let stack = TestStack::start().await;
    let company = stack
        .company_builder()
        .without_certificate()
        .without_ranges()
        .build()
        .await
        .scope
        .company;
    stack
        .queues()
        .send_webhook(&WebhookJob::Portal { company, attempt: 0 }, Duration::ZERO)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_message_may_be_left_when_the_test_says_so() {
    let stack = TestStack::start().await;
    let company = stack
        .company_builder()
        .without_certificate()
        .without_ranges()
        .build()
        .await
        .scope
        .company;
    stack
        .queues()
        .send_webhook(&WebhookJob::Portal { company, attempt: 0 }, Duration::ZERO)
        .await
        .unwrap();
    stack.leave_messages();
}

#[tokio::test]
async fn calls_and_their_units_are_counted() {
    let stack = TestStack::start().await;
    let company = stack.company().await;
    let table = stack.table();
    stack.calls().reset();

    table.company(&company.scope.company).await.unwrap();
    let units = stack.calls().units();
    assert_eq!((units.read, units.write), (1.0, 0.0));

    let ecf_type = "32".parse().unwrap();
    let now = stack.clock().now();
    let today = Fecha::at(now);
    stack.calls().reset();
    table
        .take_next_number(&company.scope, ecf_type, today, now)
        .await
        .unwrap();
    assert_eq!(
        stack.calls().counts().values().sum::<usize>(),
        stack.calls().calls().len()
    );
    assert_eq!(stack.calls().count("UpdateItem"), 1);
    assert_eq!(stack.calls().units().write, 1.0);
    assert_eq!(stack.calls().requests_to("DynamoDB"), 2);
    assert_eq!(stack.calls().requests_to("SQS"), 0);
}

#[tokio::test]
async fn a_refused_transaction_costs_two_units_a_part() {
    let stack = TestStack::start().await;
    let builder = || {
        stack
            .company_builder()
            .verified()
            .without_certificate()
            .without_ranges()
    };
    let company = builder().build().await;
    let mut second = NewCompany {
        id: CompanyId::from_random([7; 20]),
        rnc: company.rnc,
        name: "Otra SRL".to_owned(),
        email: "otra@example.com".to_owned(),
        trade_name: None,
        address: None,
        phone: None,
        default_environment: Environment::TesteCF,
        verified: true,
        certificate: None,
        signup: None,
        invitation: None,
        created_at: stack.clock().now(),
    };
    stack.calls().reset();
    let refused = stack.table().create_company(second.clone(), None).await.unwrap();
    assert_eq!(refused, CompanyCreated::RncTaken);
    // Profile, owner of the RNC, and entry in the list of companies.
    assert_eq!(stack.calls().units().write, 6.0);
    second.verified = false;
    stack.calls().reset();
    assert_eq!(
        stack.table().create_company(second, None).await.unwrap(),
        CompanyCreated::New
    );
    assert_eq!(stack.calls().units().write, 4.0);
}

#[tokio::test]
async fn a_call_can_fail_before_or_after_it_was_carried_out() {
    let stack = TestStack::start().await;
    let company = stack
        .company_builder()
        .without_certificate()
        .without_ranges()
        .build()
        .await
        .scope
        .company;
    let job = WebhookJob::Portal { company, attempt: 0 };
    let queues = stack.queues();
    stack.calls().inject("SendMessage", 1, Fault::NotSent);
    stack.calls().inject("SendMessage", 2, Fault::AnswerLost);

    let error = queues.send_webhook(&job, Duration::ZERO).await.unwrap_err();
    assert!(error.is_retryable(), "{error:?}");
    assert_eq!(stack.take_messages(Queue::Webhook).await.len(), 0);

    let error = queues.send_webhook(&job, Duration::ZERO).await.unwrap_err();
    assert!(error.is_retryable(), "{error:?}");
    assert_eq!(stack.take_messages(Queue::Webhook).await.len(), 1);

    queues.send_webhook(&job, Duration::ZERO).await.unwrap();
    assert_eq!(stack.take_messages(Queue::Webhook).await.len(), 1);
    assert_eq!(stack.calls().faults_to_come(), 0);
    let sent: Vec<_> = stack
        .calls()
        .calls()
        .into_iter()
        .filter(|call| call.operation == "SendMessage")
        .collect();
    let seen: Vec<_> = sent.iter().map(|call| (call.requests, call.succeeded)).collect();
    assert_eq!(seen, [(0, false), (1, false), (1, true)]);
}

/// A worker that enqueues a job. It dies in that call when a fault says so, and reports nothing.
async fn queue_or_die(stack: &TestStack, job: &WebhookJob) -> SqsBatchResponse {
    let again = |_: WebhookJob, _| async { Ok::<_, std::convert::Infallible>(()) };
    let handler = |_: WebhookJob, _: Message| async {
        stack.queues().send_webhook(job, Duration::from_secs(30)).await.unwrap();
        Outcome::Done
    };
    let record = SqsRecord {
        body: serde_json::to_string(job).unwrap(),
        ..SqsRecord::default()
    };
    process_batch(SqsEvent { records: vec![record] }, handler, again).await
}

#[tokio::test]
async fn a_worker_can_die_before_or_after_a_call_and_nothing_of_it_runs_on() {
    let stack = TestStack::start().await;
    let job = WebhookJob::Portal {
        company: CompanyId::from_random([7; 20]),
        attempt: 0,
    };
    for (fault, sent) in [(Fault::DiesBefore, 0), (Fault::DiesAfter, 1)] {
        stack.calls().inject("*", 1, fault);
        let response = queue_or_die(&stack, &job).await;
        assert_eq!(response.batch_item_failures.len(), 1, "{fault:?}");
        assert_eq!(stack.take_messages(Queue::Webhook).await.len(), sent, "{fault:?}");
        assert_eq!(stack.calls().faults_to_come(), 0);
    }
}

#[tokio::test]
async fn a_timeline_moves_the_clock_to_each_message_and_brings_failed_ones_back() {
    let stack = TestStack::start().await;
    let job = |attempt| WebhookJob::Portal {
        company: CompanyId::from_random([7; 20]),
        attempt,
    };
    for (attempt, delay) in [(1, 90), (0, 5)] {
        stack
            .queues()
            .send_webhook(&job(attempt), Duration::from_secs(delay))
            .await
            .unwrap();
    }
    let start = stack.clock().now();
    let mut timeline = Timeline::of(Queue::Webhook);
    let mut seen = Vec::new();
    let respond = |fails: bool, event: &SqsEvent| {
        let failure = |record: &SqsRecord| BatchItemFailure {
            item_identifier: record.message_id.clone(),
        };
        SqsBatchResponse {
            batch_item_failures: event.records.iter().filter(|_| fails).map(failure).collect(),
        }
    };
    loop {
        let worker = async |event: SqsEvent| {
            let job: WebhookJob = serde_json::from_str(&event.records[0].body).unwrap();
            seen.push((stack.clock().now().duration_since(start).as_secs(), job));
            respond(seen.len() == 1, &event)
        };
        if !timeline.step(&stack, worker).await {
            break;
        }
    }
    assert_eq!(seen, [(5, job(0)), (90, job(1)), (365, job(0))]);
}

#[tokio::test]
async fn a_signed_receipt_is_one_that_issuing_could_have_made() {
    let stack = TestStack::start().await;
    let company = stack.company_builder().without_ranges().build().await;
    for encf in ["E310000000001", "E320000000001"] {
        let receipt = stack.signed_receipt(&company, encf).await;
        let found = stack
            .table()
            .receipt_by_encf(&company.scope, &encf.parse().unwrap())
            .await;
        assert_eq!(found.unwrap(), Some(receipt.clone()));
        assert_eq!(receipt.is_sent_as_summary(), encf.starts_with("E32"));
        let hash = receipt.fiscal.signed.unwrap().signed_xml;
        let kind = ecf_store::ArtifactKind::SignedXml;
        let (created_at, id) = (receipt.created_at, receipt.public_id);
        let bytes = stack
            .artifacts()
            .get(&company.scope, created_at, &id, kind, &hash)
            .await;
        let bytes = bytes.unwrap().expect("the bytes are kept");
        xmldsig::verify(&bytes, &xmldsig::Limits::default()).unwrap();
    }
}

#[tokio::test]
async fn routers_are_called_with_key_and_body() {
    async fn echo(headers: http::HeaderMap, Json(body): Json<Value>) -> Json<Value> {
        Json(json!({ "key": headers["x-api-key"].to_str().unwrap(), "body": body }))
    }
    let router = Router::new().route("/echo", post(echo));
    let answer = request(
        &router,
        Method::POST,
        "/echo",
        Some("ecf_test_1"),
        Some(&json!({ "a": 1 })),
    )
    .await;
    assert_eq!(answer.expect(200), json!({ "key": "ecf_test_1", "body": { "a": 1 } }));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let answer = request(&router, Method::GET, "/api/v1/nothing", None, None).await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn a_receiver_keeps_the_bytes_and_answers_as_told() {
    let receiver = Receiver::start().await;
    receiver.answer_next(&[500]);
    let statuses = [
        post_raw(&receiver.url(), "{ \"a\" : 1 }").await,
        post_raw(&receiver.url(), "{}").await,
    ];
    assert_eq!(statuses, [500, 200]);
    let received = receiver.wait_for(2).await;
    assert_eq!(&received[0].body[..], b"{ \"a\" : 1 }");
    assert_eq!(received[0].header("x-event"), Some("accepted"));
    assert_eq!(received[1].json(), json!({}));
}

/// A bare HTTP/1.1 request, so that the kit needs no HTTP client.
async fn post_raw(url: &str, body: &str) -> u16 {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {address}\r\nX-Event: accepted\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let (address, request) = (address.to_owned(), head + body);
    let exchange = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = tokio::task::spawn_blocking(exchange).await.unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}
