//! Receipts that are issued later: scheduled ones, and those stored because the vault did not answer.

use ecf::{Environment, ReceiptState};
use ecf_runtime::process_batch;
use ecf_store::{
    ArtifactKind, IssuingJob, Receipt,
    numbers::{NewRange, Numbering},
};
use ecf_testkit::{Fault, Queue};
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{
    Api, faults, id_of,
    issue::due,
    payloads::{invoice, numbered_invoice},
};

/// Noon of the next day; the tests begin at noon.
pub(crate) const TOMORROW: &str = "2026-11-28T12:00:00";

pub(crate) fn scheduled(mut body: Value, when: &str) -> Value {
    body["scheduled_for"] = json!(when);
    body
}

impl Api {
    /// A company with one range of type 31.
    async fn of_one_range((start, end): (u64, u64), valid_until: &str) -> Self {
        let api = Self::without_ranges().await;
        let range = NewRange {
            ecf_type: "31".parse().unwrap(),
            start,
            end,
            valid_until: Some(valid_until.parse().unwrap()),
            numbering: Some(Numbering::Service),
            created_at: api.stack.clock().now(),
        };
        api.stack.table().open_range(&api.company.scope, range).await.unwrap();
        api
    }

    /// Runs the worker until its queue is empty.
    pub(crate) async fn work(&self) -> usize {
        let worker = |event| {
            process_batch(
                event,
                |job, message| issuing::handle(&self.worker, job, message),
                |job, after| self.worker.resend(job, after),
            )
        };
        self.stack.drain(Queue::Issuing, worker).await
    }

    /// Enqueues the receipt, as housekeeping does when it is due, and runs the worker.
    pub(crate) async fn issue_kept(&self, receipt: &Receipt) -> Receipt {
        self.run_kept(receipt).await;
        let found = self.stack.table().receipt(&receipt.scope, &receipt.public_id).await;
        found.unwrap().unwrap()
    }

    async fn run_kept(&self, receipt: &Receipt) {
        let job = IssuingJob::Issue(receipt.job());
        self.stack
            .queues()
            .send_issuing(&job, std::time::Duration::ZERO)
            .await
            .unwrap();
        self.work().await;
    }

    /// The signed bytes of a receipt.
    pub(crate) async fn xml(&self, receipt: &Receipt) -> String {
        let hash = &receipt.fiscal.signed.as_ref().expect("it is signed").signed_xml;
        let artifacts = self.stack.artifacts();
        let found = artifacts.get(
            &receipt.scope,
            receipt.created_at,
            &receipt.public_id,
            ArtifactKind::SignedXml,
            hash,
        );
        String::from_utf8(found.await.unwrap().expect("it is kept").to_vec()).unwrap()
    }
}

#[tokio::test]
async fn a_receipt_for_tomorrow_is_kept_without_a_number_and_issued_when_it_is_due() {
    let api = Api::start().await;
    let mut body = scheduled(invoice("invoice-1"), TOMORROW);
    // Validated as of the day of its issue: today this date would be in the future.
    body["payload"]["Encabezado"]["Emisor"]["FechaEmision"] = json!("28-11-2026");
    let kept = api.issue(&body).await.expect(201);
    insta::assert_json_snapshot!(kept, { ".public_id" => "[id]" }, @r#"
    {
      "completed_at": null,
      "created_at": "2026-11-27T16:00:00.000Z",
      "dgii_security_code": null,
      "dgii_track_id": null,
      "ecf_type": "31",
      "electronic_stamp": null,
      "encf": null,
      "environment": "TesteCF",
      "error_code": null,
      "error_message": null,
      "external_id": null,
      "idempotency_key": "invoice-1",
      "public_id": "[id]",
      "scheduled_for": "2026-11-28T16:00:00.000Z",
      "security_code": null,
      "sign_date": null,
      "stages": [],
      "status": "deferred",
      "submitted_at": null,
      "taxauth_security_code": null,
      "taxauth_track_id": null,
      "track_id": null,
      "updated_at": "2026-11-27T16:00:00.000Z"
    }
    "#);
    assert_eq!(api.numbers_taken("31").await, 0);
    let record = api.record(&kept).await;

    // A job that comes too early has no effect.
    assert_eq!(api.issue_kept(&record).await, record);
    api.stack.clock().advance(SignedDuration::from_secs(24 * 3_600 - 1));
    assert_eq!(due(&api).await, []);
    api.stack.clock().advance(SignedDuration::from_secs(1));
    assert_eq!(due(&api).await, [id_of(&kept)]);
    let issued = api.issue_kept(&record).await;
    assert_eq!(issued.state, ReceiptState::Signed);
    assert_eq!(issued.encf().unwrap().to_string(), "E310005000000");
    assert_eq!(issued.fiscal.signed.as_ref().unwrap().sign_date, "28-11-2026 12:00:00");
    let xml = api.xml(&issued).await;
    assert!(xml.contains("<FechaEmision>28-11-2026</FechaEmision>"), "{xml}");
    assert!(!xml.contains("IndicadorEnvioDiferido"), "nobody asked for it");
    assert_eq!(api.jobs().await.len(), 1);

    // The key has its receipt, in any state.
    let replayed = api.issue(&body).await.expect(200);
    assert_eq!(replayed["encf"], "E310005000000");
}

#[tokio::test]
async fn two_workers_and_a_message_that_comes_twice_make_one_receipt() {
    let api = Api::start().await;
    let kept = api.issue(&scheduled(invoice("a"), TOMORROW)).await.expect(201);
    api.stack.clock().advance(SignedDuration::from_hours(24));
    let record = api.record(&kept).await;
    let [first, second] = [api.issue_kept(&record).await, api.issue_kept(&record).await];
    assert_eq!(first, second);
    assert_eq!(api.numbers_taken("31").await, 1);
    // The retry could not know that the first run had enqueued the submission.
    assert_eq!(api.jobs().await.len(), 2);
}

#[tokio::test]
async fn a_schedule_too_far_ahead_is_refused_with_the_limit() {
    let api = Api::start().await;
    let refused = api
        .issue(&scheduled(invoice("a"), "2026-12-27T12:00:01"))
        .await
        .expect(422);
    insta::assert_json_snapshot!(refused, @r#"
    {
      "detail": [
        {
          "ctx": {
            "code": "scheduled_too_far",
            "given": "2026-12-27T16:00:01Z",
            "le": "2026-12-27T16:00:00Z"
          },
          "input": "2026-12-27T16:00:01Z",
          "loc": [
            "body",
            "scheduled_for"
          ],
          "msg": "scheduled_for is 2026-12-27T16:00:01Z; it may be at most 30 days ahead, until 2026-12-27T16:00:00Z",
          "type": "less_than_equal"
        }
      ]
    }
    "#);
    let kept = api.issue(&scheduled(invoice("a"), "2026-12-27T12:00:00")).await;
    assert_eq!(kept.expect(201)["status"], "deferred");
}

#[tokio::test]
async fn what_would_be_refused_when_it_is_due_is_refused_now() {
    let api = Api::start().await;
    // The last day of the range is before the day of issue.
    let short = Api::of_one_range((1, 9), "27-11-2026").await;
    let refused = short.issue(&scheduled(invoice("a"), TOMORROW)).await.expect(422);
    assert_eq!(faults(&refused)[0].1, "range_expired");

    let mut body = scheduled(invoice("a"), TOMORROW);
    body["payload"]["Encabezado"]["Emisor"]["FechaEmision"] = json!("29-11-2026");
    api.issue(&body).await.expect(422);
    api.issue(&numbered_invoice("b", "E310000000007")).await.expect(201);
    let used = scheduled(numbered_invoice("a", "E310000000007"), TOMORROW);
    assert_eq!(
        api.issue(&used).await.expect(409)["detail"]["code"],
        "encf_already_used"
    );
    api.jobs().await;
}

#[tokio::test]
async fn what_passes_no_more_when_it_is_due_fails_and_says_what_to_do() {
    let api = Api::start().await;
    let number = "E310000000007";
    let kept = api
        .issue(&scheduled(numbered_invoice("a", number), TOMORROW))
        .await
        .expect(201);
    api.issue(&numbered_invoice("b", number)).await.expect(201);
    api.jobs().await;
    api.stack.clock().advance(SignedDuration::from_hours(24));
    let failed = api.issue_kept(&api.record(&kept).await).await;
    assert_eq!(failed.state, ReceiptState::Failed);
    assert_eq!(failed.error_code.as_deref(), Some("encf_already_used"));
    assert_eq!(
        failed.error_message.as_deref(),
        Some("another receipt has this eNCF by now; send it with another eNCF and a new idempotency_key")
    );
    assert!(failed.waits_for_a_person());

    // The last number of its range was taken by another receipt.
    let api = Api::of_one_range((1, 1), "31-12-2028").await;
    let kept = api.issue(&scheduled(invoice("a"), TOMORROW)).await.expect(201);
    api.issue(&invoice("b")).await.expect(201);
    api.jobs().await;
    api.stack.clock().advance(SignedDuration::from_hours(24));
    let failed = api.issue_kept(&api.record(&kept).await).await;
    assert_eq!(failed.state, ReceiptState::Failed);
    assert_eq!(failed.error_code.as_deref(), Some("range_exhausted"));
    assert_eq!(
        failed.error_message.as_deref(),
        Some(
            "body/payload/Encabezado/IdDoc/eNCF: the ranges of type 31 have no number left; open a range, then send it with a new idempotency_key, or have this receipt retried"
        )
    );
}

#[tokio::test]
async fn a_receipt_is_kept_when_the_vault_does_not_answer_and_signed_by_the_worker() {
    for fault in [Fault::NotSent, Fault::AnswerLost] {
        let api = Api::start().await;
        // The function's first attempt, and the worker's.
        api.stack.calls().inject("GetSecretValue", 1, fault);
        api.stack.calls().inject("GetSecretValue", 2, fault);
        let kept = api.issue(&invoice("a")).await.expect(201);
        assert_eq!(
            (&kept["status"], &kept["encf"], &kept["security_code"]),
            (&json!("received"), &json!(null), &json!(null))
        );
        assert_eq!(api.numbers_taken("31").await, 0);
        assert_eq!(api.work().await, 2);
        assert_eq!(api.stack.calls().faults_to_come(), 0);
        let issued = api.record(&kept).await;
        assert_eq!(issued.state, ReceiptState::Signed);
        assert_eq!(issued.encf().unwrap().to_string(), "E310005000000");
        assert_eq!(api.jobs().await.len(), 1);
        let replayed = api.issue(&invoice("a")).await.expect(200);
        assert_eq!(replayed["status"], "signed");
    }
}

#[tokio::test]
async fn a_kept_receipt_whose_company_has_no_certificate_fails() {
    let stack = ecf_testkit::TestStack::start().await;
    let company = stack.company_builder().without_certificate().build().await;
    let api = Api::of(stack, company);
    api.stack.calls().inject("GetSecretValue", 1, Fault::NotSent);
    let kept = api.issue(&invoice("a")).await.expect(201);
    api.work().await;
    let failed = api.record(&kept).await;
    assert_eq!(failed.state, ReceiptState::Failed);
    assert_eq!(failed.error_code.as_deref(), Some("certificate_missing"));
    assert_eq!(
        failed.error_message.as_deref(),
        Some(
            "the company has no certificate yet: upload its P12 first; then send it with a new idempotency_key, or have this receipt retried"
        )
    );
}

#[tokio::test]
async fn a_kept_request_that_is_not_to_be_read_fails_its_receipt() {
    let api = Api::start().await;
    let kept = api.issue(&scheduled(invoice("a"), TOMORROW)).await.expect(201);
    let record = api.record(&kept).await;
    api.stack.lose_objects("").await;
    api.stack.clock().advance(SignedDuration::from_hours(24));
    let failed = api.issue_kept(&record).await;
    assert_eq!(failed.error_code.as_deref(), Some("payload_unreadable"));
}

/// Fewer calls than the worker makes for one receipt.
const AT_LEAST: u32 = 7;
/// More than it makes.
const AT_MOST: u32 = 20;

/// The fault hits the worker's first call, then the second for the next receipt, and so on to the last.
async fn every_call_of_the_worker_meets(fault: Fault) {
    let mut api = Api::start().await;
    for nth in 1..=AT_MOST {
        let soon = api.stack.clock().now() + SignedDuration::from_mins(1);
        let body = scheduled(invoice(&format!("invoice-{nth}")), &soon.to_string());
        let kept = api.issue(&body).await.expect(201);
        let record = api.record(&kept).await;
        // A process with an empty cache.
        api = Api::of(api.stack, api.company);
        let clock = api.stack.clock();
        let wait = record.next_action_at.unwrap().duration_since(clock.now());
        clock.advance(wait.max(SignedDuration::ZERO));
        api.stack.calls().inject("*", nth + 1, fault);
        // The first call is the test's own, which enqueues the job.
        api.run_kept(&record).await;
        if api.stack.calls().faults_to_come() > 0 {
            // Past the last call: no fault occurred.
            api.stack.leave_messages();
            return assert!(nth > AT_LEAST, "only {nth} calls met {fault:?}");
        }
        let mut issued = api.record(&kept).await;
        if issued.state != ReceiptState::Signed {
            // SQS delivers the message of a crashed worker again after its visibility timeout.
            issued = api.issue_kept(&record).await;
        }
        assert_eq!(issued.state, ReceiptState::Signed, "{fault:?} at call {nth}");
        let encf = *issued.encf().unwrap();
        let owner = api.stack.table().receipt_by_encf(&issued.scope, &encf).await.unwrap();
        assert_eq!(owner.as_ref(), Some(&issued), "{fault:?} at call {nth}");
        assert!(api.xml(&issued).await.contains(&format!("<eNCF>{encf}</eNCF>")));
        assert_ne!(issued.next_action_at, None, "housekeeping goes on looking after it");
        api.jobs().await;
    }
    panic!("the worker makes more than {AT_MOST} calls");
}

#[tokio::test]
async fn a_kept_receipt_survives_whatever_befalls_its_worker() {
    for fault in [Fault::NotSent, Fault::AnswerLost, Fault::DiesBefore, Fault::DiesAfter] {
        every_call_of_the_worker_meets(fault).await;
    }
}

#[tokio::test]
async fn a_kept_receipt_belongs_to_its_company_and_environment() {
    let api = Api::start().await;
    let kept = api.issue(&scheduled(invoice("a"), TOMORROW)).await.expect(201);
    let neighbour = api
        .stack
        .company_builder()
        .environment(Environment::CerteCF)
        .rnc("131880681");
    let neighbour = neighbour.build().await;
    let path = format!("/api/v1/ecf/{}/cancel", kept["public_id"].as_str().unwrap());
    let answer = ecf_testkit::request(&api.router, Method::POST, &path, Some(&neighbour.api_key), None).await;
    answer.expect(404);
}
