//! Concurrent requests.

use std::{collections::BTreeSet, time::Duration};

use futures::future::join_all;
use serde_json::Value;

use crate::{
    Api,
    payloads::{invoice, note, numbered_invoice},
};

const CALLERS: u64 = 32;

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_of_one_key_make_one_receipt() {
    let api = Api::start().await;
    let body = invoice("a");
    let answers = join_all((0..CALLERS).map(|_| api.issue(&body))).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    assert_eq!(
        statuses.iter().filter(|status| **status == 201).count(),
        1,
        "{statuses:?}"
    );
    assert_eq!(
        statuses.iter().filter(|status| **status == 200).count(),
        31,
        "{statuses:?}"
    );
    let bodies: Vec<Value> = answers.iter().map(ecf_testkit::Answer::json).collect();
    for body in &bodies {
        assert_eq!(*body, bodies[0]);
    }
    for replayed in answers.iter().filter(|answer| answer.status == 200) {
        assert_eq!(replayed.header("Idempotency-Payload-Differs"), Some("false"));
    }
    assert_eq!(api.jobs().await.len(), 1);

    // Requests that lost the race took numbers as well; no receipt has those.
    let mut locked = Vec::new();
    for sequence in 0..api.numbers_taken("31").await {
        let encf = format!("E31{:010}", 5_000_000 + sequence).parse().unwrap();
        let found = api.stack.table().receipt_by_encf(&api.company.scope, &encf).await;
        locked.extend(found.unwrap().map(|_| encf.to_string()));
    }
    assert_eq!(locked, [bodies[0]["encf"].as_str().unwrap()]);
}

/// The first takes all that is left of the invoice: to the others, the note looks like one too many.
#[tokio::test(flavor = "multi_thread")]
async fn many_requests_of_one_note_make_one_note() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    let body = note("whole", "34", 1, "11800.00", &encf);
    let answers = join_all((0..CALLERS).map(async |late| {
        tokio::time::sleep(Duration::from_millis(2 * late)).await;
        api.issue(&body).await
    }));
    let answers = answers.await;
    let new = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(new, 1);
    for other in answers.iter().filter(|answer| answer.status != 201) {
        other.expect(200);
    }
    api.jobs().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_receipts_at_once_get_numbers_without_gaps() {
    let api = Api::start().await;
    let bodies: Vec<Value> = (0..CALLERS).map(|n| invoice(&format!("invoice-{n}"))).collect();
    let answers = join_all(bodies.iter().map(|body| api.issue(body))).await;
    let numbers: BTreeSet<String> = answers
        .iter()
        .map(|answer| answer.expect(201)["encf"].as_str().unwrap().to_owned())
        .collect();
    let expected: BTreeSet<String> = (0..CALLERS).map(|n| format!("E31{:010}", 5_000_000 + n)).collect();
    assert_eq!(numbers, expected);
    assert_eq!(api.numbers_taken("31").await, CALLERS);
    assert_eq!(api.jobs().await.len(), 32);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_receipts_with_one_number_one_gets_it() {
    let api = Api::start().await;
    let bodies: Vec<Value> = (0..8)
        .map(|n| numbered_invoice(&format!("invoice-{n}"), "E310000000001"))
        .collect();
    let answers = join_all(bodies.iter().map(|body| api.issue(body))).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
    assert_eq!(api.jobs().await.len(), 1);
}
