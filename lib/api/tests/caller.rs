//! Who calls, against a real table: a router that does nothing but greet its caller.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use axum::{Router, extract::FromRef, routing::get};
use ecf_api::{Caller, Keys, NotingCaller, finish};
use ecf_testkit::{TestStack, request};
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

async fn issue(NotingCaller(caller): NotingCaller) -> String {
    caller.rnc.to_string()
}

fn router(stack: &TestStack) -> Router {
    let keys = Keys::new(stack.table(), stack.clock().clone());
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
            "loc": ["header", "X-API-Key"], "msg": "Field required", "type": "missing", "input": null, "ctx": { "code": "missing" },
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
