//! Promise 1, "answered means kept", when a call to AWS fails or its answer is lost: either nothing is stored and the
//! key is free, or the next request and housekeeping find the receipt.

use ecf_testkit::{Answer, Fault};
use jiff::SignedDuration;

use crate::{Api, issue::due, payloads::invoice};

/// A company whose key and certificate are cached, so that the next calls are issuing's own.
async fn warm() -> Api {
    let api = Api::start().await;
    api.issue(&invoice("warm-up")).await.expect(201);
    api.jobs().await;
    api
}

fn assert_unavailable(answer: &Answer) {
    let body = answer.expect(503);
    assert_eq!(body["detail"]["code"], "unavailable");
    assert!(body["detail"]["request_id"].is_string());
    let seconds: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!(seconds >= 1);
}

/// The number of taken numbers that a receipt has locked.
async fn locked(api: &Api) -> usize {
    let mut locked = 0;
    for sequence in 0..api.numbers_taken("31").await {
        let encf = format!("E31{:010}", 5_000_000 + sequence).parse().unwrap();
        let found = api.stack.table().receipt_by_encf(&api.company.scope, &encf).await;
        locked += usize::from(found.unwrap().is_some());
    }
    locked
}

#[tokio::test]
async fn nothing_is_kept_when_the_document_cannot_be_stored() {
    for fault in [Fault::NotSent, Fault::AnswerLost] {
        let api = warm().await;
        api.stack.calls().inject("PutObject", 1, fault);
        assert_unavailable(&api.issue(&invoice("a")).await);
        assert_eq!(locked(&api).await, 1);
        assert_eq!(api.jobs().await, []);
        let issued = api.issue(&invoice("a")).await.expect(201);
        assert_eq!(issued["status"], "signed");
        assert_eq!(locked(&api).await, 2);
        assert_eq!(api.jobs().await.len(), 1);
        assert_eq!(api.stack.calls().faults_to_come(), 0);
    }
}

#[tokio::test]
async fn nothing_is_kept_when_the_transaction_does_not_get_out() {
    let api = warm().await;
    api.stack.calls().inject("TransactWriteItems", 1, Fault::NotSent);
    assert_unavailable(&api.issue(&invoice("a")).await);
    assert_eq!(locked(&api).await, 1);
    api.issue(&invoice("a")).await.expect(201);
    assert_eq!(locked(&api).await, 2);
    assert_eq!(api.jobs().await.len(), 1);
}

#[tokio::test]
async fn a_receipt_whose_transactions_answer_was_lost_is_answered_all_the_same() {
    let api = warm().await;
    api.stack.calls().inject("TransactWriteItems", 1, Fault::AnswerLost);
    let issued = api.issue(&invoice("a")).await.expect(201);
    assert_eq!(api.stack.calls().faults_to_come(), 0);
    assert_eq!(issued["encf"], "E310005000001");
    assert_eq!(locked(&api).await, 2);
    assert_eq!(api.jobs().await.len(), 1);
    let replayed = api.issue(&invoice("a")).await.expect(200);
    assert_eq!(replayed, issued);
    assert_eq!(api.numbers_taken("31").await, 2);
}

#[tokio::test]
async fn a_receipt_that_nobody_could_confirm_is_found_by_the_next_request_and_by_housekeeping() {
    let api = warm().await;
    api.stack.calls().inject("TransactWriteItems", 1, Fault::AnswerLost);
    // The first read looks up the key's receipt, the second the result of the transaction.
    api.stack.calls().inject("GetItem", 2, Fault::NotSent);
    assert_unavailable(&api.issue(&invoice("a")).await);
    assert_eq!(api.stack.calls().faults_to_come(), 0);
    let answer = api.issue(&invoice("a")).await;
    let replayed = answer.expect(200);
    assert_eq!(answer.header("Idempotency-Replayed"), Some("true"));
    assert_eq!(replayed["status"], "signed");
    assert_eq!(locked(&api).await, 2);
    assert_eq!(api.jobs().await, []);
    api.stack.clock().advance(SignedDuration::from_mins(10));
    assert!(due(&api).await.contains(&crate::id_of(&replayed)));
}

#[tokio::test]
async fn a_receipt_is_issued_although_its_submission_could_not_be_queued() {
    let api = warm().await;
    api.stack.calls().inject("SendMessage", 1, Fault::NotSent);
    let issued = api.issue(&invoice("a")).await.expect(201);
    assert_eq!(api.stack.calls().faults_to_come(), 0);
    assert_eq!(api.jobs().await, []);
    api.stack.clock().advance(SignedDuration::from_mins(10));
    assert!(due(&api).await.contains(&crate::id_of(&issued)));
}

#[tokio::test]
async fn a_receipt_is_issued_although_it_could_not_be_counted() {
    let api = warm().await;
    // The first update takes the number, the second counts.
    api.stack.calls().inject("UpdateItem", 2, Fault::NotSent);
    api.issue(&invoice("a")).await.expect(201);
    assert_eq!(api.stack.calls().faults_to_come(), 0);
    assert_eq!(api.jobs().await.len(), 1);
}

#[tokio::test]
async fn a_number_whose_taking_was_not_confirmed_is_on_no_receipt() {
    let api = warm().await;
    api.stack.calls().inject("UpdateItem", 1, Fault::AnswerLost);
    assert_unavailable(&api.issue(&invoice("a")).await);
    let issued = api.issue(&invoice("a")).await.expect(201);
    assert_eq!(issued["encf"], "E310005000002");
    assert_eq!(locked(&api).await, 2);
    api.jobs().await;
}

#[tokio::test]
async fn without_keys_the_caller_is_asked_to_come_again() {
    let api = Api::start().await;
    api.stack.calls().inject("GetItem", 1, Fault::NotSent);
    assert_unavailable(&api.issue(&invoice("a")).await);
    assert_eq!(api.numbers_taken("31").await, 0);
    api.issue(&invoice("a")).await.expect(201);
    assert_eq!(api.jobs().await.len(), 1);
}
