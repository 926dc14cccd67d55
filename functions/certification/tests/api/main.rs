//! `certification` over HTTP and its worker, on the embedded services.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod broken;
mod events;
mod runs;
#[path = "../../../../lib/workbook/tests/sheets/mod.rs"]
mod sheets;
mod simulation;

use axum::Router;
use axum::body::Body;
use certification::{App, Worker, handle};
use ecf::Environment;
use ecf_runtime::process_batch;
use ecf_testkit::{Answer, Queue, TestCompany, TestStack, request, send};
use http::{Method, Request};
use serde_json::Value;

pub(crate) const RUNS: &str = "/api/v1/client/certification/runs";

/// Both programs with one company in CerteCF, which has the RNC of the generated workbooks.
pub(crate) struct World {
    pub(crate) stack: TestStack,
    pub(crate) router: Router,
    pub(crate) worker: Worker,
    pub(crate) company: TestCompany,
}

impl World {
    pub(crate) async fn start() -> Self {
        let stack = TestStack::start().await;
        let clock = stack.clock().clone();
        let (app, of) = ("certification", "certification-worker");
        let app = App::from_env(&stack.env(app), &stack.clients_of(app), clock.clone()).unwrap();
        let worker = Worker::from_env(&stack.env(of), &stack.clients_of(of), clock).unwrap();
        let builder = stack.company_builder().rnc(sheets::ISSUER).without_ranges();
        let company = builder.environment(Environment::CerteCF).build().await;
        Self {
            router: certification::router(app),
            worker,
            company,
            stack,
        }
    }

    /// The same with new processes.
    pub(crate) async fn of(world: Self) -> Self {
        let clock = world.stack.clock().clone();
        let app = App::from_env(
            &world.stack.env("certification"),
            &world.stack.clients_of("certification"),
            clock,
        );
        Self {
            router: certification::router(app.unwrap()),
            ..world
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        request(&self.router, Method::GET, path, Some(&self.company.api_key), None).await
    }

    pub(crate) async fn simulate(&self, body: &Value) -> Answer {
        let key = Some(self.company.api_key.as_str());
        request(&self.router, Method::POST, RUNS, key, Some(body)).await
    }

    pub(crate) async fn post(&self, path: &str) -> Answer {
        request(&self.router, Method::POST, path, Some(&self.company.api_key), None).await
    }

    /// Sends the form that begins a run.
    pub(crate) async fn begin(&self, key: &str, workbook: &[u8], approvals: Option<&[u8]>) -> Answer {
        let mut body = Vec::new();
        let mut part = |head: &str, bytes: &[u8]| {
            body.extend(format!("--limit\r\nContent-Disposition: form-data; {head}\r\n\r\n").bytes());
            body.extend(bytes);
            body.extend(b"\r\n");
        };
        part("name=\"idempotency_key\"", key.as_bytes());
        part("name=\"workbook\"; filename=\"ecf.xlsx\"", workbook);
        if let Some(approvals) = approvals {
            part("name=\"approvals\"; filename=\"acecf.xlsx\"", approvals);
        }
        body.extend(b"--limit--\r\n");
        let request = Request::post(RUNS)
            .header("X-API-Key", &self.company.api_key)
            .header("Content-Type", "multipart/form-data; boundary=limit")
            .body(Body::from(body))
            .unwrap();
        send(&self.router, request).await
    }

    /// Runs the worker on the first message of its queue; the job that follows stays in the queue.
    pub(crate) async fn step(&self) -> Vec<String> {
        let bodies = self.stack.take_messages(Queue::Certification).await;
        for body in &bodies {
            self.work(body).await;
        }
        bodies
    }

    /// Runs the worker on one message.
    pub(crate) async fn work(&self, body: &str) {
        let event: Value = serde_json::json!({ "Records": [{
            "messageId": "1", "receiptHandle": "1", "body": body, "eventSource": "aws:sqs",
            "attributes": { "ApproximateReceiveCount": "1" }, "messageAttributes": {},
        }] });
        let resend = |job, after| self.worker.resend(job, after);
        let handler = |job, message| handle(&self.worker, job, message);
        let response = process_batch(serde_json::from_value(event).unwrap(), handler, resend).await;
        assert!(response.batch_item_failures.is_empty(), "{response:?}");
    }
}

/// The generated workbook of a small suite.
pub(crate) fn small() -> Vec<u8> {
    let (_, rows, summaries) = sheets::small();
    sheets::workbook(&rows, &summaries)
}
