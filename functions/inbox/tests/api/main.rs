//! `inbox` over HTTP, on the embedded services.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod ack;
mod events;
mod files;
mod list;

use axum::Router;
use ecf_store::inbox::{AuthorityState, InboxItem};
use ecf_testkit::{Answer, TestCompany, TestStack, foreign_receipt, request};
use ecf_webhooks::News::InboxConfirmed;
use http::Method;
use inbox::App;
use jiff::SignedDuration;
use serde_json::Value;

pub(crate) const INBOX: &str = "/api/v1/client/inbox";
/// Stands for an acknowledgement; its bytes are served unchanged.
pub(crate) const ARECF: &[u8] = b"<ARECF/>";

/// The function with one company.
pub(crate) struct Api {
    pub(crate) stack: TestStack,
    pub(crate) router: Router,
    pub(crate) company: TestCompany,
}

impl Api {
    pub(crate) async fn start() -> Self {
        let stack = TestStack::start().await;
        let env = stack.env("inbox");
        let router = inbox::router(App::from_env(&env, &stack.clients_of("inbox"), stack.clock().clone()).unwrap());
        let builder = stack.company_builder().without_ranges().without_certificate();
        let company = builder.build().await;
        Self { stack, router, company }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        request(&self.router, Method::GET, path, Some(&self.company.api_key), None).await
    }

    pub(crate) async fn post(&self, path: &str) -> Answer {
        request(&self.router, Method::POST, path, Some(&self.company.api_key), None).await
    }

    /// A receipt as `reception` stores it, one second after the previous one.
    pub(crate) async fn receive(&self, encf: &str) -> InboxItem {
        self.stack.clock().advance(SignedDuration::from_secs(1));
        let xml = foreign_receipt(self.company.rnc.as_str(), encf, self.stack.clock().now());
        let received = self
            .stack
            .received(&self.company, encf, Some("Suplidora del Este SRL"), &xml, ARECF);
        received.await
    }

    /// Records the authority's answer about a received receipt, as `exchange-worker` does.
    pub(crate) async fn confirm(&self, item: &InboxItem, state: AuthorityState) {
        let (scope, now) = (&self.company.scope, self.stack.clock().now());
        let news = InboxConfirmed { item, state };
        let news = news.announcement(scope, self.company.rnc.as_str(), now);
        let table = self.stack.table();
        let recorded = table.record_confirmation(scope, &item.id, state, now, &news);
        recorded.await.unwrap();
    }

    /// The numbers in a list, and the total.
    pub(crate) async fn listed(&self, query: &str) -> (Vec<String>, u64) {
        let list = self.get(&format!("{INBOX}{query}")).await.expect(200);
        let numbers = list["items"].as_array().unwrap().iter();
        let numbers = numbers
            .map(|item: &Value| item["encf"].as_str().unwrap().to_owned())
            .collect();
        (numbers, list["total"].as_u64().unwrap())
    }
}

#[tokio::test]
async fn every_route_wants_a_key_and_what_is_anothers_is_unknown() {
    let api = Api::start().await;
    let item = api.receive("E310000000001").await;
    let builder = api.stack.company_builder().rnc("131880681").without_ranges();
    let other = builder.without_certificate().build().await;
    for (method, path) in [
        (Method::GET, INBOX.to_owned()),
        (Method::POST, format!("{INBOX}/{}/ack", item.id)),
        (Method::GET, format!("{INBOX}/{}/xml", item.id)),
        (Method::GET, format!("{INBOX}/{}/arecf", item.id)),
        (Method::GET, format!("{INBOX}/{}/pdf", item.id)),
    ] {
        let call = |key| request(&api.router, method.clone(), &path, key, None);
        assert_eq!(call(None).await.status, 422, "{path}");
        assert_eq!(call(Some("ecf_test_wrong")).await.status, 401, "{path}");
        let answer = call(Some(other.api_key.as_str())).await;
        if path == INBOX {
            assert_eq!(answer.expect(200)["total"], 0);
        } else {
            assert_eq!(answer.status, 404, "{path}");
        }
    }
    assert_eq!(api.listed("?acked=false").await.1, 1);
}
