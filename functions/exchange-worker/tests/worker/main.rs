//! `exchange-worker` on the embedded services, the simulated tax authority and another issuer on loopback: an accepted
//! receipt reaches its buyer despite delays, outages and errors.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod approvals;
mod confirmations;
mod deliveries;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ecf_runtime::{Clock, process_batch};
use ecf_simulator::{Options, Simulator};
use ecf_store::{
    ExchangeJob, Receipt, ReceiptJob,
    receipts::{BuyerDelivery, OutboxEntry},
};
use ecf_testkit::{Peer, Queue, TestCompany, TestStack};
use exchange_worker::{App, handle};
use serde_json::{Value, json};

/// Time limit; no call on loopback takes that long.
const TIME_LIMIT: Duration = Duration::from_secs(20);
pub(crate) const ENCF: &str = "E310000000001";
/// The buyer of the test kit's receipts.
pub(crate) const BUYER: &str = "131880681";

pub(crate) struct World {
    simulator: Simulator,
    http: reqwest::Client,
    pub(crate) stack: TestStack,
    pub(crate) company: TestCompany,
    pub(crate) peer: Peer,
    app: App,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    pub(crate) async fn with(more: &[(&str, &str)]) -> Self {
        let time: Arc<OnceLock<Clock>> = Arc::default();
        let clock = Arc::clone(&time);
        let options = Options {
            clock: Arc::new(move || clock.get().expect("nobody calls before").now()),
            ..Options::default()
        };
        let simulator = Simulator::start(options).await.unwrap();
        let base = simulator.base_url().to_owned();
        let mut parameters = vec![
            ("TaxauthEcfUrl", base.as_str()),
            ("TaxauthFcUrl", base.as_str()),
            ("TaxauthStatusUrl", base.as_str()),
            ("AllowLoopbackTargets", "true"),
        ];
        parameters.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
        parameters.extend(more);
        let stack = TestStack::with_parameters(&parameters).await;
        time.set(stack.clock().clone()).unwrap();
        Self {
            app: App::from_env(
                &stack.env("exchange-worker"),
                &stack.clients_of("exchange-worker"),
                stack.clock().clone(),
            )
            .unwrap(),
            company: stack.company_builder().verified().build().await,
            peer: Peer::start().await,
            http: reqwest::Client::builder().timeout(TIME_LIMIT).build().unwrap(),
            simulator,
            stack,
        }
    }

    /// Adds the buyer to the directory.
    pub(crate) async fn list(&self, urls: &Value) {
        let url = format!("{}/_control/directory/{BUYER}", self.simulator.base_url());
        let answer = self.http.put(url).json(urls).send().await.unwrap();
        assert!(answer.status().is_success());
    }

    /// Requests a fault of the simulated authority.
    pub(crate) async fn order(&self, fault: &Value) {
        let url = format!("{}/_control/faults", self.simulator.base_url());
        let answer = self.http.post(url).json(fault).send().await.unwrap();
        assert!(answer.status().is_success());
    }

    pub(crate) async fn list_peer(&self) {
        let url = self.peer.url();
        self.list(&json!({ "nombre": "OTRA SRL", "urlRecepcion": url, "urlAceptacion": url, "urlOpcional": url }))
            .await;
    }

    /// A receipt that the authority accepted and that is not delivered yet.
    pub(crate) async fn accepted(&self) -> Receipt {
        let receipt = self.stack.signed_receipt(&self.company, ENCF).await;
        self.accept(&receipt).await
    }

    pub(crate) async fn accept(&self, receipt: &Receipt) -> Receipt {
        self.stack.accept(receipt, vec![OutboxEntry::Exchange]).await
    }

    pub(crate) async fn receipt(&self, receipt: &Receipt) -> Receipt {
        let table = self.stack.table();
        let found = table.receipt(&self.company.scope, &receipt.public_id).await;
        found.unwrap().unwrap()
    }

    pub(crate) async fn delivery(&self, receipt: &Receipt) -> BuyerDelivery {
        self.receipt(receipt).await.buyer.delivery.unwrap()
    }

    /// Runs one job and the jobs that it enqueues without a delay.
    pub(crate) async fn run(&self, job: ExchangeJob) {
        self.stack.queues().send_exchange(&job, Duration::ZERO).await.unwrap();
        self.drain().await;
    }

    /// Runs the jobs in the queue.
    pub(crate) async fn drain(&self) -> usize {
        let app = &self.app;
        let worker = |event| async move {
            let resend = |job, after| app.resend(job, after);
            process_batch(event, |job, message| handle(app, job, message), resend).await
        };
        self.stack.drain(Queue::Exchange, worker).await
    }

    pub(crate) fn deliver(&self, receipt: &Receipt, attempt: u32) -> ExchangeJob {
        ExchangeJob::Deliver(ReceiptJob {
            scope: self.company.scope,
            receipt: receipt.public_id,
            attempt,
        })
    }
}
