//! `webhooks` over HTTP, on the embedded services, with a receiver on loopback.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod create;
mod deliveries;
mod events;
mod list;
mod manage;
mod redeliver;
mod test;

use std::collections::BTreeMap;

use axum::Router;
use ecf_runtime::env::Env;
use ecf_store::WebhookId;
use ecf_testkit::{Answer, TestCompany, TestStack, request};
use http::Method;
use serde_json::{Value, json};
use webhooks::App;

const WEBHOOKS: &str = "/api/v1/client/webhooks";
/// A public address; these tests deliver nothing there.
const PUBLIC: &str = "https://erp.example.com/webhooks/ecf";

/// The function with one company.
pub(crate) struct Api {
    pub(crate) stack: TestStack,
    pub(crate) router: Router,
    pub(crate) company: TestCompany,
}

impl Api {
    /// As deployed: only public addresses are called.
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    /// As in the local system, where receivers are on loopback.
    pub(crate) async fn reaching_loopback() -> Self {
        Self::with(&[("ALLOW_LOOPBACK_TARGETS", "true")]).await
    }

    async fn with(more: &[(&str, &str)]) -> Self {
        let stack = TestStack::start().await;
        let mut variables: BTreeMap<String, String> = stack.environment_of("webhooks").clone();
        variables.extend(
            more.iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let app = App::from_env(
            &Env::of(variables),
            &stack.clients_of("webhooks"),
            stack.clock().clone(),
        )
        .unwrap();
        let router = webhooks::router(app);
        let company = stack
            .company_builder()
            .without_ranges()
            .without_certificate()
            .build()
            .await;
        Self { stack, router, company }
    }

    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        request(&self.router, method, path, Some(&self.company.api_key), body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, None).await
    }

    pub(crate) async fn create(&self, body: &Value) -> Answer {
        self.call(Method::POST, WEBHOOKS, Some(body)).await
    }

    /// Subscribes to all events, and returns the response.
    pub(crate) async fn subscribe(&self, url: &str) -> Value {
        let answer = self.create(&json!({ "url": url, "events": ["*"] })).await;
        answer.expect(201)
    }
}

pub(crate) fn id_of(webhook: &Value) -> WebhookId {
    webhook["public_id"].as_str().unwrap().parse().unwrap()
}

/// The places and kinds of a 422's errors.
pub(crate) fn faults(body: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let errors = body["detail"].as_array().expect("a 422 lists its errors");
    errors
        .iter()
        .map(|error| {
            let loc: Vec<String> = error["loc"].as_array().unwrap().iter().map(text).collect();
            (loc.join("/"), text(&error["type"]))
        })
        .collect()
}

#[tokio::test]
async fn every_route_wants_a_key() {
    let api = Api::start().await;
    let webhook = api.subscribe(PUBLIC).await;
    let one = format!("{WEBHOOKS}/{}", id_of(&webhook));
    for (method, path) in [
        (Method::GET, WEBHOOKS.to_owned()),
        (Method::POST, WEBHOOKS.to_owned()),
        (Method::GET, one.clone()),
        (Method::PATCH, one.clone()),
        (Method::DELETE, one.clone()),
        (Method::POST, format!("{one}/rotate-secret")),
        (Method::POST, format!("{one}/test")),
        (Method::GET, format!("{one}/deliveries")),
        (Method::POST, format!("{one}/deliveries/1/redeliver")),
    ] {
        let answer = request(&api.router, method.clone(), &path, None, None).await;
        let told = faults(&answer.expect(422));
        assert_eq!(told, [("header/X-API-Key".to_owned(), "missing".to_owned())], "{path}");
        let answer = request(&api.router, method, &path, Some("ecf_test_wrong"), None).await;
        assert_eq!(answer.expect(401)["detail"]["code"], "invalid_api_key", "{path}");
    }
}

#[tokio::test]
async fn another_companys_webhook_is_not_found() {
    let api = Api::reaching_loopback().await;
    let receiver = ecf_testkit::Receiver::start().await;
    let webhook = api.subscribe(&receiver.url()).await;
    let other = api
        .stack
        .company_builder()
        .rnc("131880681")
        .without_ranges()
        .without_certificate();
    let other = other.build().await;
    let one = format!("{WEBHOOKS}/{}", id_of(&webhook));
    for (method, path) in [
        (Method::POST, format!("{one}/test")),
        (Method::GET, format!("{one}/deliveries")),
    ] {
        let answer = request(&api.router, method, &path, Some(&other.api_key), None).await;
        assert_eq!(answer.expect(404)["detail"]["code"], "not_found", "{path}");
    }
    let listed = request(&api.router, Method::GET, WEBHOOKS, Some(&other.api_key), None).await;
    assert_eq!(listed.expect(200), json!([]));
    assert_eq!(receiver.received().len(), 0);
}
