//! `GET /api/v1/ecf/{id}`.

use std::time::{Duration, Instant};

use ecf::Environment;
use ecf_api::ApiKeySecret;
use ecf_runtime::random;
use ecf_store::{ApiKeyId, api_keys::NewApiKey, receipts::OutboxEntry};
use ecf_testkit::request;
use http::Method;

use crate::{Api, faults, later::scheduled, payloads::invoice};

#[tokio::test]
async fn a_receipt_is_read_under_both_spellings() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let id = issued["public_id"].as_str().unwrap();
    for path in [format!("/api/v1/ecf/{id}"), format!("/api/v1/eCF/{id}")] {
        assert_eq!(api.get(&path).await.expect(200), issued, "{path}");
    }
    api.jobs().await;
}

#[tokio::test]
async fn an_unknown_id_and_one_that_cannot_be_one_are_not_found() {
    let api = Api::start().await;
    for id in ["0000000000000000000000000000000z", "1", "E310005000000", "%ff", "a%2Fb"] {
        let answer = api.get(&format!("/api/v1/ecf/{id}")).await;
        let body = answer.expect(404);
        assert_eq!(body["detail"]["code"], "not_found", "{id}");
        assert_eq!(
            body["detail"]["message"],
            "there is nothing at this address, or nothing that this key may see"
        );
        assert!(body["detail"]["request_id"].is_string());
    }
}

#[tokio::test]
async fn another_companys_receipt_is_not_found() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let path = format!("/api/v1/ecf/{}", issued["public_id"].as_str().unwrap());
    let other = api.stack.company_builder().rnc("131880681").build().await;
    let answer = request(&api.router, Method::GET, &path, Some(&other.api_key), None).await;
    assert_eq!(answer.expect(404)["detail"]["code"], "not_found");
    api.get(&path).await.expect(200);
    api.jobs().await;
}

#[tokio::test]
async fn the_same_companys_key_of_another_environment_finds_nothing() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let path = format!("/api/v1/ecf/{}", issued["public_id"].as_str().unwrap());
    let secret = ApiKeySecret::generate(Environment::CerteCF, random());
    let key = NewApiKey {
        company: api.company.scope.company,
        environment: Environment::CerteCF,
        rnc: api.company.rnc.clone(),
        id: ApiKeyId::from_random(random()),
        hash: secret.hash(),
        prefix: secret.prefix().to_owned(),
        name: None,
        created_at: api.stack.clock().now(),
        expires_at: None,
        scope: ecf_store::api_keys::KeyScope::Full,
        created_by: None,
    };
    let created = api.stack.table().create_api_key(key).await.unwrap();
    assert_eq!(created, ecf_store::api_keys::ApiKeyCreated::New);
    let answer = request(&api.router, Method::GET, &path, Some(secret.text()), None).await;
    assert_eq!(answer.expect(404)["detail"]["code"], "not_found");
    api.jobs().await;
}

/// Runs a request while the verdict arrives after some time, and returns its status and how long it took.
async fn judged_meanwhile(api: &Api, path: &str, issued: &serde_json::Value, after: Duration) -> (String, Duration) {
    let began = Instant::now();
    let receipt = api.record(issued).await;
    let judge = async {
        tokio::time::sleep(after).await;
        api.stack.clock().advance(jiff::SignedDuration::from_secs(1));
        api.stack.accept(&receipt, vec![OutboxEntry::Webhook]).await
    };
    let (answer, _) = tokio::join!(api.get(path), judge);
    (
        answer.expect(200)["status"].as_str().unwrap().to_owned(),
        began.elapsed(),
    )
}

#[tokio::test]
async fn p5_a_read_waits_for_the_verdict_and_no_longer_than_asked() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let path = format!("/api/v1/ecf/{}", issued["public_id"].as_str().unwrap());
    for (wait, longest) in [("0", Duration::from_millis(900)), ("1", Duration::from_millis(1_900))] {
        let began = Instant::now();
        let read = api.get(&format!("{path}?wait={wait}")).await.expect(200);
        assert_eq!(read, issued);
        let took = began.elapsed();
        assert!(took < longest, "{took:?}");
        assert_eq!(took >= Duration::from_millis(850), wait == "1", "{took:?}");
    }
    let soon = Duration::from_millis(400);
    let (status, took) = judged_meanwhile(&api, &format!("{path}?wait=20"), &issued, soon).await;
    assert_eq!(status, "accepted");
    assert!(took < Duration::from_secs(5), "{took:?}");
    // What is final is answered at once.
    let began = Instant::now();
    assert_eq!(
        api.get(&format!("{path}?wait=20")).await.expect(200)["status"],
        "accepted"
    );
    assert!(began.elapsed() < Duration::from_millis(900));
    for wrong in ["21", "-1", "soon", ""] {
        let fault = api.get(&format!("{path}?wait={wrong}")).await.expect(422);
        assert_eq!(faults(&fault)[0].0, "query/wait", "{wrong}");
    }
    api.jobs().await;
}

#[tokio::test]
async fn p5_issuing_waits_too_and_a_failed_look_hides_no_receipt() {
    let api = Api::start().await;
    let waiting = "/api/v1/ecf?wait=1";
    let issued = api.post(waiting, &invoice("a")).await.expect(201);
    assert_eq!(issued["status"], "signed");
    // A deferred receipt is answered at once, and a repeated key waits like a new one.
    let began = Instant::now();
    let deferred = api
        .post("/api/v1/ecf?wait=20", &scheduled(invoice("b"), "2026-11-28T12:00:00Z"))
        .await;
    assert_eq!(deferred.expect(201)["status"], "deferred");
    assert!(began.elapsed() < Duration::from_secs(5));
    let receipt = api.record(&issued).await;
    api.stack.clock().advance(jiff::SignedDuration::from_secs(1));
    api.stack.accept(&receipt, vec![OutboxEntry::Webhook]).await;
    assert_eq!(api.post(waiting, &invoice("a")).await.expect(200)["status"], "accepted");
    // The batch does not wait.
    let batch = serde_json::json!({ "items": [invoice("c")] });
    let fault = api.post("/api/v1/ecf/batch?wait=1", &batch).await.expect(422);
    assert_eq!(faults(&fault)[0].0, "query/wait");
    api.jobs().await;
}
