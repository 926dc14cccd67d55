//! Assertions about the company and its partners, after all work is finished.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::authority::Struck;
use super::board::Phase;
use super::clerk::OTHERS;
use super::desk::Desk;
use super::endpoint::Endpoint;
use super::partners::{Entries, inbox};
use super::proof::Records;
use crate::support::eventually;

/// Faults that reject a message without the service's own error text.
const REFUSALS: [&str; 1] = ["empty"];

/// The message of an annulment that the authority rejected on a retry.
const LOST: &str = "the answer to an earlier attempt was lost";

/// The items of each number.
type Inbox = BTreeMap<String, Vec<Value>>;

/// Both companies, and the faults of the run.
pub(crate) struct Others<'o> {
    pub(crate) desk: &'o Desk,
    pub(crate) buyer: &'o Desk,
    pub(crate) endpoint: &'o Endpoint,
    pub(crate) entries: Entries,
    pub(crate) struck: Vec<Struck>,
    pub(crate) time_limit: Duration,
}

impl Others<'_> {
    pub(crate) async fn agree(&self, records: &Records) {
        self.buyers_have_what_was_sold(records).await;
        self.approvals_are_told().await;
        self.annulments_are_accepted().await;
        self.received_is_kept().await;
    }

    /// Each accepted receipt is in its buyer's inbox, once and byte for byte; the buyer's approval or rejection is
    /// here.
    async fn buyers_have_what_was_sold(&self, records: &Records) {
        for (key, given) in &self.entries.sold {
            eventually(&format!("{key} is at its buyer"), self.time_limit, async || {
                let record = self.desk.get(&path_of(&records[key])).await;
                let is_delivered = record["buyer_delivery"]["status"] == "received";
                let is_answered = given.is_none() || !record["buyer_answer"].is_null();
                (!is_accepted(&record) || is_delivered && is_answered).then_some(())
            })
            .await;
        }
        let inbox = inbox(self.buyer).await;
        for (key, given) in &self.entries.sold {
            let record = self.desk.get(&path_of(&records[key])).await;
            let items = items(&inbox, &record["encf"]);
            if !is_accepted(&record) {
                assert!(given.is_none(), "{key} is {} and was answered", record["status"]);
                continue;
            }
            assert_eq!(items.len(), 1, "{key} is in the buyer's inbox: {items:#?}");
            let theirs = format!("/client/inbox/{}/xml", items[0]["public_id"].as_str().unwrap());
            let ours = format!("{}/xml", path_of(&record));
            assert_eq!(
                self.buyer.caller.download(&theirs).await,
                self.desk.caller.download(&ours).await,
                "{key} has other bytes at its buyer"
            );
            let said = given
                .as_ref()
                .map(|(_, estado)| if estado == "1" { "approved" } else { "rejected" });
            assert_eq!(record["buyer_answer"]["status"].as_str(), said, "{key}: {record}");
            if given.is_some() {
                let id = record["public_id"].as_str().unwrap();
                self.is_told(id, "approval.received").await;
            }
        }
    }

    /// Every approval or rejection reached the issuer and the authority, unless a fault made the authority reject
    /// it.
    async fn approvals_are_told(&self) {
        for (id, _) in self.entries.sold.values().flatten() {
            let path = format!("/ecf/acecf/{id}");
            let approval = self.finished(self.buyer, &path).await;
            assert_eq!(approval["issuer"]["status"], "taken", "{approval}");
            let encf = approval["encf"].as_str().unwrap();
            let is_told = approval["taxauth"]["status"] == "taken" || self.refusals("aprobacioncomercial", encf) > 0;
            assert!(is_told, "{approval}");
        }
    }

    /// Every annulment was accepted, unless a fault ordered the authority to reject it. If its first response was lost,
    /// the result is unknown: its numbers stay locked.
    async fn annulments_are_accepted(&self) {
        let mut others = Vec::new();
        for id in &self.entries.annulled {
            let annulment = self.finished(self.desk, &format!("/ecf/cancellations/{id}")).await;
            if annulment["message"].as_str().unwrap().contains(LOST) {
                self.stays_locked(&annulment).await;
            } else if annulment["status"] != "accepted" {
                others.push(annulment);
            }
        }
        // An annulment names ranges, while a fault names no number of them.
        let ordered = self.refusals("anulacionrangos", "");
        assert!(others.len() <= ordered, "{ordered} were to be refused: {others:#?}");
    }

    /// The numbers of an annulment are not available to others.
    async fn stays_locked(&self, annulment: &Value) {
        let key = format!("again {}", annulment["public_id"].as_str().unwrap());
        let again = json!({ "idempotency_key": key, "cancellations": annulment["cancellations"] });
        let refused = self.desk.post(Phase::Annulment, "/ecf/cancellations", &again).await;
        assert_eq!(refused.expect(409)["detail"]["code"], "numbers_used", "{annulment}");
    }

    /// Each acknowledged receipt of an issuer is in the inbox, once, and its webhook was delivered.
    async fn received_is_kept(&self) {
        let inbox = inbox(self.desk).await;
        for encf in &self.entries.received {
            let items = items(&inbox, &json!(encf));
            assert_eq!(items.len(), 1, "{encf} in the inbox: {items:#?}");
            self.is_told(items[0]["public_id"].as_str().unwrap(), "inbox.received")
                .await;
        }
    }

    async fn is_told(&self, about: &str, event: &str) {
        eventually(&format!("{event} of {about} is told"), self.time_limit, async || {
            (self.endpoint.taken(OTHERS, about, event) > 0).then_some(())
        })
        .await;
    }

    /// Waits until a pending record is finished.
    async fn finished(&self, desk: &Desk, path: &str) -> Value {
        eventually(path, self.time_limit, async || {
            let now = desk.get(path).await;
            (now["status"] != "pending").then_some(now)
        })
        .await
    }

    /// The number of times that a fault rejected this number.
    fn refusals(&self, service: &str, encf: &str) -> usize {
        let is_refusal = |one: &&Struck| REFUSALS.contains(&one.fault.as_str());
        let of_number = |one: &&Struck| one.service == service && one.encf == encf;
        let refusals = self.struck.iter().filter(is_refusal).filter(of_number);
        usize::try_from(refusals.map(|one| one.times).sum::<u64>()).unwrap()
    }
}

fn is_accepted(record: &Value) -> bool {
    record["status"] == "accepted" || record["status"] == "conditionally_accepted"
}

fn path_of(record: &Value) -> String {
    format!("/ecf/{}", record["public_id"].as_str().unwrap())
}

fn items<'i>(inbox: &'i Inbox, encf: &Value) -> &'i [Value] {
    let items = encf.as_str().and_then(|encf| inbox.get(encf));
    items.map(Vec::as_slice).unwrap_or_default()
}
