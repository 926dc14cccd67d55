//! `documents` over HTTP, on the embedded services.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod artifacts;
mod events;
mod files;
mod links;
mod list;
mod printed;
mod seeded;
mod show;

use axum::Router;
use documents::App;
use ecf::ReceiptState;
use ecf_store::{
    Receipt,
    receipts::{Recorded, Verdict},
};
use ecf_testkit::{Answer, TestCompany, TestStack, request};
use http::Method;

const DOCUMENTS: &str = "/api/v1/client/documents";

/// The function with one company.
pub(crate) struct Api {
    pub(crate) stack: TestStack,
    pub(crate) router: Router,
    pub(crate) company: TestCompany,
}

impl Api {
    pub(crate) async fn start() -> Self {
        Self::of(TestStack::start().await).await
    }

    /// A deployment that retains documents for this number of days.
    pub(crate) async fn retaining(days: &str) -> Self {
        Self::of(TestStack::with_parameters(&[("DocumentRetentionDays", days)]).await).await
    }

    async fn of(stack: TestStack) -> Self {
        let company = stack.company_builder().without_ranges().build().await;
        let app = App::from_env(
            &stack.env("documents"),
            &stack.clients_of("documents"),
            stack.clock().clone(),
        )
        .unwrap();
        let router = documents::router(app);
        Self { stack, router, company }
    }

    /// A signed receipt, counted as `issuing` counts it.
    pub(crate) async fn receipt(&self, encf: &str) -> Receipt {
        let receipt = self.stack.signed_receipt(&self.company, encf).await;
        let (table, scope) = (self.stack.table(), &self.company.scope);
        table
            .count_created(
                scope,
                receipt.day(),
                receipt.fiscal.ecf_type,
                &receipt.fiscal.monto_total,
                None,
            )
            .await
            .unwrap();
        receipt
    }

    /// The verdict on a receipt, counted as the worker counts it.
    pub(crate) async fn accept(&self, receipt: &Receipt) {
        self.judge(receipt, ReceiptState::Accepted).await;
    }

    /// A receipt with this verdict of the authority.
    pub(crate) async fn judge(&self, receipt: &Receipt, state: ReceiptState) {
        let (table, scope, now) = (self.stack.table(), &self.company.scope, self.stack.clock().now());
        let id = &receipt.public_id;
        table.record_submitted(scope, id, "track-1", now).await.unwrap();
        let verdict = Verdict {
            state,
            track_id: None,
            error_code: None,
            error_message: None,
            secuencia_utilizada: Some(true),
            taxauth_response: Some(RESPONSE.to_owned()),
            outbox: Vec::new(),
        };
        let recorded = table.record_verdict(scope, id, verdict, now).await.unwrap();
        assert!(matches!(recorded, Recorded::Now(_)));
        table
            .count_verdict(
                scope,
                receipt.day(),
                receipt.fiscal.ecf_type,
                state,
                &receipt.fiscal.monto_total,
            )
            .await
            .unwrap();
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, &self.company.api_key).await
    }

    pub(crate) async fn call(&self, method: Method, path: &str, key: &str) -> Answer {
        request(&self.router, method, path, Some(key), None).await
    }
}

/// The authority's answer in these tests.
pub(crate) const RESPONSE: &str = r#"{"codigo":1,"estado":"Aceptado","secuenciaUtilizada":true,"mensajes":[]}"#;

/// The path of a receipt's record.
pub(crate) fn path_of(receipt: &Receipt) -> String {
    format!("{DOCUMENTS}/{}", receipt.public_id)
}
