//! `issuing` over HTTP, on the embedded services: responses, and the stored state after a failure midway.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod access;
mod artifacts;
mod attempts;
mod batch;
mod certificates;
mod counted;
mod crashes;
mod events;
mod issue;
mod kept_notes;
mod later;
mod list;
mod notes;
mod numbers;
mod payloads;
mod races;
mod read;
mod refusals;
mod rules;
mod spanish;
mod states;
mod withdraw;

use axum::Router;
use ecf::Environment;
use ecf_store::{Receipt, ReceiptId, SubmissionJob, numbers::Range};
use ecf_testkit::{Answer, Queue, TestCompany, TestStack, request};
use http::Method;
use issuing::App;
use serde_json::Value;

/// The function with one company that may issue.
pub(crate) struct Api {
    pub(crate) stack: TestStack,
    pub(crate) router: Router,
    pub(crate) app: App,
    /// The program `issuing-worker`, which runs the jobs.
    pub(crate) worker: App,
    pub(crate) company: TestCompany,
}

impl Api {
    /// A company with a certificate and both ranges of each type.
    pub(crate) async fn start() -> Self {
        let stack = TestStack::start().await;
        let company = stack.company().await;
        Self::of(stack, company)
    }

    /// A company without ranges.
    pub(crate) async fn without_ranges() -> Self {
        let stack = TestStack::start().await;
        let company = stack.company_builder().without_ranges().build().await;
        Self::of(stack, company)
    }

    pub(crate) fn of(stack: TestStack, company: TestCompany) -> Self {
        let started = |function: &str| {
            let app = App::from_env(&stack.env(function), &stack.clients_of(function), stack.clock().clone());
            app.unwrap()
        };
        let (app, worker) = (started("issuing"), started("issuing-worker"));
        let router = issuing::router(app.clone());
        Self {
            stack,
            router,
            app,
            worker,
            company,
        }
    }

    pub(crate) async fn issue(&self, body: &Value) -> Answer {
        self.post("/api/v1/ecf", body).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        request(
            &self.router,
            Method::POST,
            path,
            Some(&self.company.api_key),
            Some(body),
        )
        .await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        request(&self.router, Method::GET, path, Some(&self.company.api_key), None).await
    }

    /// Takes the jobs out of the submission queue of TesteCF.
    pub(crate) async fn jobs(&self) -> Vec<SubmissionJob> {
        self.jobs_of(Environment::TesteCF).await
    }

    pub(crate) async fn jobs_of(&self, environment: Environment) -> Vec<SubmissionJob> {
        let bodies = self.stack.take_messages(Queue::submission(environment)).await;
        bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
    }

    /// The record behind a response.
    pub(crate) async fn record(&self, body: &Value) -> Receipt {
        let found = self.stack.table().receipt(&self.company.scope, &id_of(body)).await;
        found.unwrap().expect("the receipt is kept")
    }

    /// The company's ranges of a type, lowest numbers first.
    pub(crate) async fn ranges(&self, ecf_type: &str) -> Vec<Range> {
        let ecf_type = ecf_type.parse().unwrap();
        let ranges = self.stack.table().ranges(&self.company.scope, Some(ecf_type)).await;
        ranges.unwrap()
    }

    /// The count of numbers of a type that the service has taken from the company's second range.
    pub(crate) async fn numbers_taken(&self, ecf_type: &str) -> u64 {
        let ranges = self.ranges(ecf_type).await;
        let range = ranges.last().expect("the company has ranges");
        range.next - range.start
    }
}

pub(crate) fn id_of(body: &Value) -> ReceiptId {
    body["public_id"].as_str().unwrap().parse().unwrap()
}

/// The places and kinds of a 422's errors.
pub(crate) fn faults(body: &Value) -> Vec<(String, String)> {
    let errors = body["detail"].as_array().expect("a 422 lists its errors");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    errors
        .iter()
        .map(|error| {
            let loc: Vec<String> = error["loc"].as_array().unwrap().iter().map(text).collect();
            (loc.join("/"), text(&error["type"]))
        })
        .collect()
}
