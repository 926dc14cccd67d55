//! Authentication against a real table: the router's only handler greets its caller.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use axum::{Router, extract::FromRef, routing::get};
use ecf_api::{Caller, Keys, RecordingCaller, finish};
use ecf_runtime::env::Env;
use ecf_testkit::{Fault, TestStack, request};
use http::Method;
use jiff::SignedDuration;
use serde_json::json;

#[derive(Clone)]
struct App {
    keys: Keys,
}

impl FromRef<App> for Keys {
    fn from_ref(app: &App) -> Self {
        app.keys.clone()
    }
}

async fn whoami(caller: Caller) -> String {
    format!("{} {}", caller.rnc, caller.environment())
}

async fn issue(RecordingCaller(caller): RecordingCaller) -> String {
    caller.rnc.to_string()
}

fn router(stack: &TestStack) -> Router {
    let keys = Keys::from_env(&stack.env("issuing"), stack.table(), stack.clock().clone()).unwrap();
    finish(
        Router::new()
            .route("/whoami", get(whoami))
            .route("/issue", get(issue))
            .with_state(App { keys }),
    )
}

#[tokio::test]
async fn a_missing_key_is_422_and_a_wrong_one_401() {
    let stack = TestStack::start().await;
    let router = router(&stack);
    stack.calls().reset();
    let missing = request(&router, Method::GET, "/whoami", None, None).await;
    assert_eq!(
        missing.expect(422),
        json!({"detail": [{
            "loc": ["header", "X-API-Key"], "msg": "X-API-Key: Field required", "type": "missing", "input": null, "ctx": { "code": "missing" },
        }]})
    );
    for wrong in ["nonsense", "", "sk_live_1"] {
        let answer = request(&router, Method::GET, "/whoami", Some(wrong), None).await;
        assert_eq!(answer.expect(401)["detail"]["code"], "invalid_api_key", "{wrong}");
    }
    assert_eq!(
        stack.calls().count("GetItem"),
        0,
        "what cannot be a key is not looked up"
    );
    let unknown = format!("ecf_test_{}", "0".repeat(48));
    let answer = request(&router, Method::GET, "/whoami", Some(&unknown), None).await;
    assert_eq!(answer.expect(401)["detail"]["code"], "invalid_api_key");
    assert_ne!(stack.calls().count("GetItem"), 0);
}

#[tokio::test]
async fn a_good_key_is_looked_up_once_a_minute_and_a_revocation_works_within_it() {
    let stack = TestStack::start().await;
    let company = stack
        .company_builder()
        .without_certificate()
        .without_ranges()
        .build()
        .await;
    let router = router(&stack);
    let ask = || request(&router, Method::GET, "/whoami", Some(&company.api_key), None);
    stack.calls().reset();
    for _ in 0..3 {
        let answer = ask().await;
        assert_eq!(answer.bytes, format!("{} TesteCF", company.rnc).into_bytes());
    }
    assert_eq!(stack.calls().count("GetItem"), 1);

    let now = stack.clock().now();
    assert!(
        stack
            .table()
            .revoke_api_key(&company.scope.company, &company.api_key_id, now)
            .await
            .unwrap()
    );
    stack.clock().advance(SignedDuration::from_secs(60));
    ask().await.expect(401);
}

/// An instance that allows this number of requests per second for a key.
fn instance(stack: &TestStack, rate: &str) -> Router {
    let env = Env::of([("KEY_REQUESTS_PER_SECOND".to_owned(), rate.to_owned())].into());
    let keys = Keys::from_env(&env, stack.table(), stack.clock().clone()).unwrap();
    finish(Router::new().route("/issue", get(issue)).with_state(App { keys }))
}

#[tokio::test]
async fn k3_a_key_over_its_rate_is_refused_by_every_instance_until_the_window_ends() {
    let stack = TestStack::start().await;
    let company = stack.company_builder().without_certificate().without_ranges();
    let company = company.build().await;
    let other = stack
        .company_builder()
        .rnc("131880681")
        .without_certificate()
        .without_ranges();
    let other = other.build().await;
    let instances = [instance(&stack, "50"), instance(&stack, "50")];
    let ask = async |instance: usize, key: &str| {
        let answer = request(&instances[instance], Method::GET, "/issue", Some(key), None).await;
        (answer.status.as_u16(), answer)
    };
    stack.clock().advance(SignedDuration::from_secs(3));
    // A burst up to the limit of the whole window passes, on any instance.
    for number in 0..500 {
        assert_eq!(ask(number % 2, &company.api_key).await.0, 200, "{number}");
    }
    let mut refused = Vec::new();
    for number in 0..100 {
        let (status, answer) = ask(number % 2, &company.api_key).await;
        if status != 200 {
            refused.push(answer);
        }
    }
    // Each instance may use up the share that it has begun.
    assert!((50..=100).contains(&refused.len()), "{} refused", refused.len());
    let last = refused.last().unwrap();
    let body = last.expect(429);
    assert_eq!(body["detail"]["code"], "key_rate_exceeded");
    assert!(
        body["detail"]["message"]
            .as_str()
            .unwrap()
            .contains("500 requests within 10 seconds"),
        "{body}"
    );
    for (name, value) in [
        ("retry-after", "7"),
        ("ratelimit-limit", "500"),
        ("ratelimit-remaining", "0"),
        ("ratelimit-reset", "7"),
    ] {
        assert_eq!(last.header(name), Some(value), "{name}");
    }
    assert_eq!(ask(0, &other.api_key).await.0, 200, "another key");
    stack.clock().advance(SignedDuration::from_secs(7));
    assert_eq!(ask(0, &company.api_key).await.0, 200);
    assert_eq!(ask(1, &company.api_key).await.0, 200);
}

#[tokio::test]
async fn k3_an_ordinary_pace_costs_no_request_to_aws_and_a_burst_one_in_twenty_five() {
    let stack = TestStack::start().await;
    let company = stack.company_builder().without_certificate().without_ranges();
    let company = company.build().await;
    let router = instance(&stack, "50");
    let ask = || request(&router, Method::GET, "/issue", Some(&company.api_key), None);
    ask().await;
    stack.calls().reset();
    for _ in 0..20 {
        ask().await;
    }
    assert_eq!(stack.calls().requests_to("DynamoDB"), 0);
    for _ in 0..200 {
        ask().await;
    }
    // The first share of a window is two requests: the update fails because the window has no counter yet, and the
    // second creates it.
    assert_eq!(stack.calls().requests_to("DynamoDB"), 8 + 1);
    assert!(stack.calls().units().write <= 9.0, "{}", stack.calls().units().write);
}

#[tokio::test]
async fn k3_the_operator_sets_a_keys_own_rate_and_a_table_that_fails_refuses_nobody() {
    let stack = TestStack::start().await;
    let company = stack.company_builder().without_certificate().without_ranges();
    let company = company.build().await;
    let (id, scope) = (company.api_key_id, company.scope);
    let passing = async |router: &Router, requests: usize| {
        let mut passed = 0;
        for _ in 0..requests {
            let answer = request(router, Method::GET, "/issue", Some(&company.api_key), None).await;
            passed += usize::from(answer.status == 200);
        }
        passed
    };
    assert!(stack.table().limit_api_key(&scope.company, &id, Some(1)).await.unwrap());
    assert_eq!(passing(&instance(&stack, "50"), 15).await, 10);
    stack.clock().advance(SignedDuration::from_secs(10));
    // Without a default limit of the deployment, only the key's own limit applies.
    assert_eq!(passing(&instance(&stack, "0"), 15).await, 10);
    assert!(stack.table().limit_api_key(&scope.company, &id, None).await.unwrap());
    stack.clock().advance(SignedDuration::from_secs(10));
    assert_eq!(passing(&instance(&stack, "0"), 600).await, 600);
    assert!(stack.table().limit_api_key(&scope.company, &id, Some(1)).await.unwrap());
    stack.clock().advance(SignedDuration::from_secs(10));
    stack.calls().inject("UpdateItem", 1, Fault::NotSent);
    assert_eq!(passing(&instance(&stack, "50"), 1).await, 1);
    assert_eq!(stack.calls().faults_to_come(), 0);
}

#[tokio::test]
async fn the_use_of_a_key_is_noted_unless_the_handler_does_it() {
    let stack = TestStack::start().await;
    let company = stack
        .company_builder()
        .without_certificate()
        .without_ranges()
        .build()
        .await;
    let router = router(&stack);
    let noted = async || {
        let uses = stack
            .table()
            .key_uses(&company.scope, stack.clock().now())
            .await
            .unwrap();
        uses.last(&company.api_key_id)
    };
    for (path, at) in [("/issue", None), ("/whoami", Some(stack.clock().now()))] {
        let answer = request(&router, Method::GET, path, Some(&company.api_key), None).await;
        assert_eq!(answer.status, 200);
        assert_eq!(noted().await, at, "{path}");
    }
}
