//! The company and its partners: receipts to a buyer on the same system, receipts from another issuer, approvals and
//! rejections, and annulled numbers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ecf_runtime::Clock;
use ecf_testkit::unsigned_receipt;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use xmldsig::Identity;

use super::board::Phase;
use super::books::Books;
use super::desk::Desk;
use super::erp::request;
use super::rng::Rng;
use crate::exchange::answer;
use crate::payloads::payload;

/// How long an actor waits for the next step of one receipt before it continues with another.
const STEP: Duration = Duration::from_secs(20);
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// First annulled number, far from those in use.
const ANNULLED_FROM: u32 = 9_000_000;

/// Records of exchanges with partners; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Entries>>);

#[derive(Debug, Clone, Default)]
pub(crate) struct Entries {
    /// The keys of the receipts to the buyer, with the buyer's approval or rejection: its id and `estado`.
    pub(crate) sold: BTreeMap<String, Option<(String, String)>>,
    /// Numbers that another issuer sent and that were acknowledged.
    pub(crate) received: Vec<String>,
    /// Ids of annulments.
    pub(crate) annulled: Vec<String>,
}

impl Ledger {
    pub(crate) fn entries(&self) -> Entries {
        self.0.lock().unwrap().clone()
    }
}

/// Issues receipts to the buyer, follows each to the buyer's inbox, and lets the buyer answer.
pub(crate) async fn trade(
    desk: &Desk,
    buyer: &Desk,
    books: &Books,
    ledger: &Ledger,
    seed: u64,
    stop: &CancellationToken,
) {
    let mut rng = Rng::new(seed, 300);
    // Keys of the receipts that the buyer has not answered yet, by number.
    let mut open = BTreeMap::new();
    for number in 0_u32.. {
        let key = format!("trade-{number}");
        let mut sale = payload(&desk.caller.rnc, &desk.today(), "31", 2_000);
        sale["Encabezado"]["Comprador"] =
            json!({ "RNCComprador": buyer.caller.rnc, "RazonSocialComprador": "CLIENTE" });
        let body = request(&key, "31", sale);
        let sold = desk.post(Phase::Sale, "/ecf", &body).await;
        assert!(sold.status < 300, "{} {} for {body}", sold.status, sold.body);
        books.enter(&body, &sold.body);
        ledger.0.lock().unwrap().sold.insert(key.clone(), None);
        open.insert(sold.body["encf"].as_str().unwrap().to_owned(), key);
        watch_delivery(desk, buyer, &sold.body).await;
        // Includes receipts that arrived or were confirmed after the buyer had stopped waiting.
        for item in newest_of_inbox(buyer).await.into_iter().filter(is_confirmed) {
            let Some(key) = open.remove(item["encf"].as_str().unwrap()) else {
                continue;
            };
            let estado = *rng.pick(&["1", "1", "2"]);
            let body = answer(&item, &key, estado);
            let given = buyer
                .post(Phase::Approval, "/ecf/acecf/submit", &body)
                .await
                .expect(200);
            let id = given["public_id"].as_str().unwrap().to_owned();
            *ledger.0.lock().unwrap().sold.get_mut(&key).unwrap() = Some((id, estado.to_owned()));
        }
        if stop.is_cancelled() {
            return;
        }
        sleep(rng.millis(200, 1_000)).await;
    }
}

/// Waits up to [`STEP`] until a receipt is in the buyer's inbox and the authority has confirmed it.
async fn watch_delivery(desk: &Desk, buyer: &Desk, sold: &Value) {
    let path = format!("/ecf/{}", sold["public_id"].as_str().unwrap());
    let is_final = async || {
        let status = desk.get(&path).await["status"].clone();
        (status != "signed" && status != "submitted" && status != "contingency").then_some(status)
    };
    let Some(status) = desk.watch(STEP, is_final).await else {
        return;
    };
    if status != "accepted" && status != "conditionally_accepted" {
        return;
    }
    let _delivery = desk.board.begin(Phase::Delivery);
    let confirmed = async || of_inbox(buyer, &sold["encf"]).await.into_iter().find(is_confirmed);
    buyer.watch(STEP, confirmed).await;
}

/// Only receipts that the authority accepted can be answered. The buyer's system asks the authority by itself.
fn is_confirmed(item: &Value) -> bool {
    item["authority_state"] == "accepted" || item["authority_state"] == "conditionally_accepted"
}

/// The items of a number among the newest of the inbox.
async fn of_inbox(desk: &Desk, encf: &Value) -> Vec<Value> {
    let newest = newest_of_inbox(desk).await.into_iter();
    newest.filter(|item| item["encf"] == *encf).collect()
}

async fn newest_of_inbox(desk: &Desk) -> Vec<Value> {
    let page = desk.get("/client/inbox?acked=&limit=100").await;
    page["items"].as_array().unwrap().clone()
}

/// The whole inbox, by number.
pub(crate) async fn inbox(desk: &Desk) -> BTreeMap<String, Vec<Value>> {
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for offset in (0..).step_by(100) {
        let page = desk
            .get(&format!("/client/inbox?acked=&limit=100&offset={offset}"))
            .await;
        let items = page["items"].as_array().unwrap();
        for item in items {
            let encf = item["encf"].as_str().unwrap().to_owned();
            found.entry(encf).or_default().push(item.clone());
        }
        if items.is_empty() {
            return found;
        }
    }
    found
}

/// Another issuer sends receipts to the company, each until it is acknowledged, and the company takes some over.
pub(crate) async fn receive(desk: &Desk, p12: &[u8], ledger: &Ledger, seed: u64, stop: &CancellationToken) {
    let identity = Identity::from_pkcs12(p12, ecf_local::CERTIFICATE_PIN, Clock::system().now()).unwrap();
    let http = reqwest::Client::builder().timeout(TIME_LIMIT).build().unwrap();
    let mut rng = Rng::new(seed, 400);
    for number in 1_u32.. {
        let encf = format!("E31{number:010}");
        let xml = unsigned_receipt(&desk.caller.rnc, &encf, desk.clock.now());
        let xml = xmldsig::sign(xml.as_bytes(), &identity).unwrap().xml;
        send(desk, &http, xml).await;
        ledger.0.lock().unwrap().received.push(encf.clone());
        if rng.below(2) == 0
            && let Some(item) = of_inbox(desk, &json!(encf)).await.pop()
        {
            let path = format!("/client/inbox/{}/ack", item["public_id"].as_str().unwrap());
            desk.post(Phase::Reception, &path, &json!({})).await.expect(200);
        }
        if stop.is_cancelled() {
            return;
        }
        sleep(rng.millis(300, 1_500)).await;
    }
}

/// Sends a receipt until it is acknowledged. A duplicate is only valid if an earlier acknowledgement was lost.
async fn send(desk: &Desk, http: &reqwest::Client, xml: Vec<u8>) {
    let caller = &desk.caller;
    let url = format!("{}/{}/testecf/fe/Recepcion/api/ecf", caller.base_url, caller.rnc);
    let (end, mut is_first, mut last) = (Instant::now() + TIME_LIMIT, true, String::new());
    while Instant::now() < end {
        let _under_way = desk.board.begin(Phase::Reception);
        let request = http.post(&url).header("Content-Type", "text/xml").body(xml.clone());
        match request.send().await {
            Ok(answer) if answer.status() == 200 => {
                let Ok(text) = answer.text().await else { continue };
                let is_there = !is_first && text.contains("<CodigoMotivoNoRecibido>3<");
                assert!(text.contains("<Estado>0</Estado>") || is_there, "{text}");
                return;
            }
            Ok(answer) => {
                let status = answer.status();
                last = format!("{status} {}", answer.text().await.unwrap_or_default());
                assert!(status.is_server_error() || status == 429, "{last}");
            }
            Err(error) => last = error.to_string(),
        }
        is_first = false;
        sleep(Duration::from_millis(150)).await;
    }
    panic!("no acknowledgement within {TIME_LIMIT:?}, last: {last}");
}

/// Annuls one small range after the other.
pub(crate) async fn annul(desk: &Desk, ledger: &Ledger, seed: u64, stop: &CancellationToken) {
    let mut rng = Rng::new(seed, 500);
    for number in 0_u32.. {
        let from = ANNULLED_FROM + 3 * number;
        let range = json!({ "ecf_type": "31", "sequence_from": from, "sequence_to": from + 2, "quantity": 3 });
        let body = json!({ "idempotency_key": format!("void-{number}"), "cancellations": [range] });
        let annulled = desk
            .post(Phase::Annulment, "/ecf/cancellations", &body)
            .await
            .expect(200);
        let id = annulled["public_id"].as_str().unwrap().to_owned();
        ledger.0.lock().unwrap().annulled.push(id);
        if stop.is_cancelled() {
            return;
        }
        sleep(rng.millis(500, 2_500)).await;
    }
}
