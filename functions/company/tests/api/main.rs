//! `company` over HTTP, on the embedded services.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod api_keys;
mod certification;
mod design;
mod events;
mod sequences;
mod show;
mod summary;
mod update;

use axum::Router;
use company::App;
use ecf_testkit::{Answer, TestCompany, TestStack, request};
use http::Method;
use serde_json::Value;

const COMPANY: &str = "/api/v1/client/company";

/// The function with one company.
pub(crate) struct Api {
    pub(crate) stack: TestStack,
    pub(crate) router: Router,
    pub(crate) company: TestCompany,
}

impl Api {
    /// A company without certificate and numbers.
    pub(crate) async fn start() -> Self {
        let stack = TestStack::start().await;
        let company = stack.company_builder().without_ranges().without_certificate();
        let company = company.build().await;
        Self::of(stack, company)
    }

    pub(crate) fn of(stack: TestStack, company: TestCompany) -> Self {
        let app = App::from_env(
            &stack.env("company"),
            &stack.clients_of("company"),
            stack.clock().clone(),
        )
        .unwrap();
        let router = company::router(app);
        Self { stack, router, company }
    }

    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        request(&self.router, method, path, Some(&self.company.api_key), body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, None).await
    }
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
