//! A new attempt of the certification: every number of its workbook can be sent.

use ecf::Environment;
use ecf_testkit::TestStack;
use serde_json::json;

use crate::Api;
use crate::later::{TOMORROW, scheduled};
use crate::payloads::{note, numbered_invoice};

const ENCF: &str = "E310000000042";

async fn certifying() -> Api {
    let stack = TestStack::start().await;
    stack.leave_messages();
    let company = stack.company_builder().environment(Environment::CerteCF).build().await;
    Api::of(stack, company)
}

impl Api {
    /// The caller's step after the authority has reset the step.
    async fn begin_attempt(&self, key: &str) {
        self.stack.clock().advance(jiff::SignedDuration::from_mins(1));
        let (table, now) = (self.stack.table(), self.stack.clock().now());
        table.begin_attempt(&self.company.scope, key, now).await.unwrap();
    }
}

#[tokio::test]
async fn d1_a_prescribed_number_can_be_sent_again_in_a_new_attempt() {
    let api = certifying().await;
    let first = api.issue(&numbered_invoice("first", ENCF)).await.expect(201);
    let refused = api.issue(&numbered_invoice("again", ENCF)).await.expect(409);
    assert_eq!(refused["detail"]["code"], "encf_already_used");
    let message = refused["detail"]["message"].as_str().unwrap();
    assert!(
        message.contains("POST /api/v1/client/certification/attempts"),
        "{message}"
    );
    assert!(!message.contains("leave eNCF out"), "{message}");

    api.begin_attempt("reset").await;
    let body = numbered_invoice("again", ENCF);
    let forecast = api.post("/api/v1/ecf?validate_only=true", &body).await.expect(200);
    assert_eq!(forecast["encf"], ENCF);
    let second = api.issue(&body).await.expect(201);
    assert_eq!(second["encf"], ENCF);
    assert_ne!(second["public_id"], first["public_id"]);
    api.issue(&numbered_invoice("third", ENCF)).await.expect(409);

    // The first receipt remains readable by its id, and its key is answered with it.
    let path = format!("/api/v1/ecf/{}", first["public_id"].as_str().unwrap());
    assert_eq!(api.get(&path).await.expect(200)["encf"], ENCF);
    let replayed = api.issue(&numbered_invoice("first", ENCF)).await.expect(200);
    assert_eq!(replayed["public_id"], first["public_id"]);
    // The number counts once, as before.
    let range = api.ranges("31").await.remove(0);
    assert_eq!((range.used, range.next), (1, 43));
}

#[tokio::test]
async fn d1_a_number_that_the_service_gave_in_an_earlier_attempt_can_be_named() {
    let api = certifying().await;
    let first = api.issue(&crate::payloads::invoice("first")).await.expect(201);
    let encf = first["encf"].as_str().unwrap();
    let refused = api.issue(&numbered_invoice("again", encf)).await.expect(409);
    assert_eq!(refused["detail"]["code"], "range_numbered_by_service");
    api.begin_attempt("reset").await;
    let second = api.issue(&numbered_invoice("again", encf)).await.expect(201);
    assert_eq!(second["encf"], encf);
}

#[tokio::test]
async fn d1_a_note_is_held_against_the_new_attempts_invoice_alone() {
    let api = certifying().await;
    api.issue(&numbered_invoice("invoice", ENCF)).await.expect(201);
    let whole = |key: &str, encf: &str| {
        let mut body = note(key, "34", 3, "11800.00", ENCF);
        body["payload"]["Encabezado"]["IdDoc"]["eNCF"] = json!(encf);
        body
    };
    api.issue(&whole("credit", "E340000000001")).await.expect(201);
    // The whole invoice is credited.
    assert_eq!(api.issue(&whole("credit 2", "E340000000002")).await.status, 422);

    api.begin_attempt("reset").await;
    api.issue(&numbered_invoice("invoice again", ENCF)).await.expect(201);
    api.issue(&whole("credit again", "E340000000001")).await.expect(201);
    assert_eq!(api.issue(&whole("credit 2", "E340000000002")).await.status, 422);
}

#[tokio::test]
async fn d1_a_scheduled_receipt_may_name_a_number_of_an_earlier_attempt() {
    let api = certifying().await;
    api.issue(&numbered_invoice("first", ENCF)).await.expect(201);
    let body = scheduled(numbered_invoice("again", ENCF), TOMORROW);
    api.issue(&body).await.expect(409);
    api.begin_attempt("reset").await;
    api.issue(&body).await.expect(201);
}

#[tokio::test]
async fn d1_in_no_other_environment_a_number_comes_twice() {
    let api = Api::start().await;
    api.issue(&numbered_invoice("first", ENCF)).await.expect(201);
    api.begin_attempt("reset").await;
    let refused = api.issue(&numbered_invoice("again", ENCF)).await.expect(409);
    assert_eq!(refused["detail"]["code"], "encf_already_used");
    api.jobs().await;
}
