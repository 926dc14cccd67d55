//! Cancelling a receipt and marking it for incapacity: only receipts that were never sent, and never concurrently with
//! a send.

use ecf::ReceiptState;
use ecf_store::{
    Receipt,
    receipts::{Claim, Failure, Recorded, Withdrawal},
};
use ecf_testkit::{Answer, Fault, Queue};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{Api, id_of, issue::due, payloads::invoice};

const LEASE: SignedDuration = SignedDuration::from_secs(90);

impl Api {
    pub(crate) async fn cancel(&self, document: &Value) -> Answer {
        self.withdraw(document, "cancel").await
    }

    async fn mark_incapacity(&self, document: &Value) -> Answer {
        self.withdraw(document, "mark-incapacity").await
    }

    async fn withdraw(&self, document: &Value, verb: &str) -> Answer {
        let path = format!("/api/v1/ecf/{}/{verb}", document["public_id"].as_str().unwrap());
        ecf_testkit::request(
            &self.router,
            http::Method::POST,
            &path,
            Some(&self.company.api_key),
            None,
        )
        .await
    }

    /// A receipt that is scheduled for tomorrow.
    async fn deferred(&self, key: &str) -> Value {
        let mut body = invoice(key);
        body["scheduled_for"] = json!("2026-11-28T12:00:00");
        self.issue(&body).await.expect(201)
    }

    async fn claim(&self, document: &Value) -> Claim {
        let (table, now) = (self.stack.table(), self.stack.clock().now());
        let id = id_of(document);
        table.claim_send(&self.company.scope, &id, now, LEASE).await.unwrap()
    }
}

fn claimed(claim: Claim) -> Receipt {
    match claim {
        Claim::Claimed(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_signed_receipt_is_cancelled_and_its_number_is_to_be_annulled() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    api.stack.clock().advance(SignedDuration::from_secs(1));
    let cancelled = api.cancel(&issued).await.expect(200);
    let mut expected = issued.clone();
    for (field, value) in [
        ("status", "cancelled"),
        ("updated_at", "2026-11-27T16:00:01.000Z"),
        ("completed_at", "2026-11-27T16:00:01.000Z"),
        ("error_code", "number_to_annul"),
        (
            "error_message",
            "E310005000000 was signed and never sent: no other receipt gets it, and it is to be annulled",
        ),
    ] {
        expected[field] = json!(value);
    }
    assert_eq!(cancelled, expected);

    // A repeated cancellation changes nothing, and a worker finds nothing to send.
    assert_eq!(api.cancel(&issued).await.expect(200), cancelled);
    assert!(matches!(api.claim(&issued).await, Claim::NotSendable(_)));
    api.stack.clock().advance(SignedDuration::from_hours(1));
    assert_eq!(due(&api).await, []);
    let next = api.issue(&invoice("b")).await.expect(201);
    assert_eq!(
        next["encf"], "E310005000001",
        "the number of the cancelled one is not reused"
    );
    assert_eq!(api.stack.take_messages(Queue::Webhook).await, Vec::<String>::new());
    api.jobs().await;
}

#[tokio::test]
async fn a_receipt_that_waits_is_withdrawn_either_way_and_never_issued() {
    let api = Api::start().await;
    for (key, verb, state) in [("a", "cancel", "cancelled"), ("b", "mark-incapacity", "incapacity")] {
        let kept = api.deferred(key).await;
        let withdrawn = api.withdraw(&kept, verb).await.expect(200);
        assert_eq!(withdrawn["status"], state);
        assert_eq!(withdrawn["error_code"], json!(null), "it has no number");
    }
    api.stack.clock().advance(SignedDuration::from_hours(24));
    assert_eq!(due(&api).await, []);
    assert_eq!(api.numbers_taken("31").await, 0);
}

#[tokio::test]
async fn a_state_that_does_not_allow_it_is_told_with_those_that_do() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let refused = api.mark_incapacity(&issued).await.expect(409);
    insta::assert_json_snapshot!(refused, { ".detail.request_id" => "[id]" }, @r#"
    {
      "detail": {
        "code": "state_does_not_allow",
        "message": "the receipt is signed and cannot become incapacity; that is open to received, deferred, validated, contingency, failed",
        "request_id": "[id]"
      }
    }
    "#);
    api.cancel(&issued).await.expect(200);
    let refused = api.mark_incapacity(&issued).await.expect(409);
    assert_eq!(refused["detail"]["code"], "state_does_not_allow");
    let unknown = json!({ "public_id": "0123456789abcdefghjkmnpqrstvwxyz" });
    api.cancel(&unknown).await.expect(404);
    api.jobs().await;
}

#[tokio::test]
async fn what_may_have_been_sent_is_not_withdrawn() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let receipt = claimed(api.claim(&issued).await);
    for _ in ["under way", "its lease ran out"] {
        let refused = api.cancel(&issued).await.expect(409);
        assert_eq!(refused["detail"]["code"], "already_sent");
        api.stack.clock().advance(LEASE);
    }
    // A failure afterwards changes nothing: a receipt that the authority has cannot be withdrawn.
    let failure = Failure {
        code: "refused",
        message: "no",
        taxauth_response: None,
    };
    let (table, now) = (api.stack.table(), api.stack.clock().now());
    let failed = table.record_failed(&receipt.scope, &receipt, failure, now).await;
    assert!(matches!(failed.unwrap(), Recorded::Now(_)));
    let refused = api.cancel(&issued).await.expect(409);
    assert_eq!(
        refused["detail"]["message"],
        "the receipt is failed and was sent, or may have been: it cannot become cancelled; what was sent is corrected by a note"
    );
    api.jobs().await;
}

#[tokio::test]
async fn a_send_that_certainly_did_not_arrive_leaves_the_receipt_to_its_caller() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let receipt = claimed(api.claim(&issued).await);
    let table = api.stack.table();
    table.release_send(&receipt.scope, &receipt.public_id, 1).await.unwrap();
    assert_eq!(api.cancel(&issued).await.expect(200)["status"], "cancelled");

    // A later send that did not arrive does not undo an earlier one that may have.
    let issued = api.issue(&invoice("b")).await.expect(201);
    let receipt = claimed(api.claim(&issued).await);
    let (scope, id) = (receipt.scope, receipt.public_id);
    let mut attempt = receipt.sending.attempts;
    for _ in 0..2 {
        api.stack.clock().advance(LEASE);
        let now = api.stack.clock().now();
        claimed(table.claim_lookup(&scope, &id, now, LEASE).await.unwrap());
        table.record_lookup_negative(&scope, &id, attempt, now).await.unwrap();
    }
    let now = api.stack.clock().now();
    attempt = claimed(table.claim_resend(&scope, &id, now, LEASE).await.unwrap())
        .sending
        .attempts;
    table.release_send(&scope, &id, attempt).await.unwrap();
    assert_eq!(api.cancel(&issued).await.expect(409)["detail"]["code"], "already_sent");
    api.jobs().await;
}

#[tokio::test]
async fn of_a_send_claim_and_a_withdrawal_exactly_one_wins() {
    let api = Api::start().await;
    let (mut sent, mut cancelled) = (0, 0);
    for round in 0..24 {
        let issued = api.issue(&invoice(&format!("invoice-{round}"))).await.expect(201);
        let id = id_of(&issued);
        let receipt = api.record(&issued).await;
        let (table, scope) = (api.stack.table(), api.company.scope);
        let now = api.stack.clock().now();
        // Every race includes lost answers that the SDK retries.
        if round % 3 == 1 {
            api.stack.calls().inject("UpdateItem", 1 + round % 2, Fault::AnswerLost);
        }
        let claiming = table.claim_send(&scope, &id, now, LEASE);
        let withdrawing = table.withdraw(&scope, &receipt, Withdrawal::Cancel, now);
        let (claim, withdrawal) = if round % 2 == 0 {
            tokio::join!(claiming, withdrawing)
        } else {
            let (withdrawal, claim) = tokio::join!(withdrawing, claiming);
            (claim, withdrawal)
        };
        let told_sent = matches!(claim, Ok(Claim::Claimed(_)));
        let told_cancelled = matches!(withdrawal, Ok(Recorded::Now(_)));
        assert!(!(told_sent && told_cancelled), "round {round}: both won");
        let record = api.record(&issued).await;
        match record.state {
            ReceiptState::Cancelled => {
                assert!(!told_sent && record.sending.attempts == 0, "round {round}: {record:?}");
                cancelled += 1;
            }
            ReceiptState::Signed => {
                assert!(
                    !told_cancelled && record.sending.attempts == 1,
                    "round {round}: {record:?}"
                );
                sent += 1;
            }
            other => panic!("round {round}: {other}"),
        }
    }
    assert_eq!(sent + cancelled, 24);
    assert!(sent > 0 && cancelled > 0, "{sent} sent, {cancelled} cancelled: no race");
    api.jobs().await;
}

#[tokio::test]
async fn a_withdrawal_whose_answer_was_lost_is_answered_when_it_is_asked_again() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    // The first update records the use of the key.
    api.stack.calls().inject("UpdateItem", 2, Fault::AnswerLost);
    api.cancel(&issued).await.expect(503);
    assert_eq!(api.cancel(&issued).await.expect(200)["status"], "cancelled");
    api.jobs().await;
}
