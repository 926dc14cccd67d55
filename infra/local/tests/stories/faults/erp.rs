//! An ERP whose tills issue receipts, in single requests and in batches, correct them with notes, schedule and withdraw
//! them. Each request is retried with the same key until it is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ecf::Fecha;
use futures::future::join_all;
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::board::Phase;
use super::books::Books;
use super::desk::Desk;
use super::rng::Rng;
use crate::payloads::{note, payload};
use crate::support::Answer;

/// Tills that work concurrently.
const TILLS: u32 = 6;
const TYPES: [&str; 12] = ["31", "32", "32", "33", "34", "41", "43", "44", "45", "46", "47", "32"];
/// First number of the range that the demo company numbers itself.
const TYPED_NUMBERS_FROM: u32 = 1_000;
/// How long the scheduling actor waits for a due receipt to be issued.
const DUE: Duration = Duration::from_secs(10);

/// A receipt that notes refer to: its number and its day.
#[derive(Debug, Clone)]
pub(crate) struct Original {
    pub(crate) encf: String,
    pub(crate) day: String,
}

/// The tills, and the receipts that they refer to.
#[derive(Clone)]
pub(crate) struct Erp {
    pub(crate) desk: Desk,
    pub(crate) books: Books,
    pub(crate) originals: Vec<Original>,
    pub(crate) seed: u64,
}

impl Erp {
    /// Issues `receipts` receipts of all types, some in batches, some by two concurrent requests.
    pub(crate) async fn sell(&self, receipts: u32) {
        let next = Arc::new(AtomicU32::new(0));
        let tills = (0..TILLS).map(|till| {
            let (next, mut rng) = (Arc::clone(&next), Rng::new(self.seed, 100 + u64::from(till)));
            async move {
                loop {
                    // One round in five is a batch.
                    let amount = if rng.below(5) == 0 { 3 } else { 1 };
                    let first = next.fetch_add(amount, Ordering::Relaxed);
                    if first >= receipts {
                        return;
                    }
                    let bodies: Vec<Value> = (first..first + amount).map(|number| self.body(number)).collect();
                    match bodies.as_slice() {
                        [body] => self.sell_one(body, &mut rng).await,
                        several => self.sell_batch(several).await,
                    }
                    if first.is_multiple_of(9) {
                        self.collide(first).await;
                    }
                    sleep(rng.millis(0, 400)).await;
                }
            }
        });
        join_all(tills).await;
    }

    async fn sell_one(&self, body: &Value, rng: &mut Rng) {
        // One request in ten is sent twice, as when a user presses twice.
        let presses = if rng.below(10) == 0 { 2 } else { 1 };
        let phase = if body["payload"]["InformacionReferencia"].is_null() {
            Phase::Sale
        } else {
            Phase::Note
        };
        let pressed = join_all((0..presses).map(|_| self.desk.post(phase, "/ecf", body))).await;
        for answer in pressed {
            assert!(answer.status < 300, "{} {} for {body}", answer.status, answer.body);
            self.books.enter(body, &answer.body);
        }
        if body["ecf_type"] == "31" && rng.below(3) == 0 {
            self.correct(body, rng).await;
        }
    }

    /// Issues a note on a receipt whose verdict is not known yet. A rejection is only valid if the receipt was
    /// rejected.
    async fn correct(&self, sale: &Value, rng: &mut Rng) {
        let key = sale["idempotency_key"].as_str().unwrap();
        let sold = self.books.sale(key);
        let (Some(encf), ecf_type) = (sold.first["encf"].as_str(), *rng.pick(&["33", "34"])) else {
            return;
        };
        let day = sale["payload"]["Encabezado"]["Emisor"]["FechaEmision"]
            .as_str()
            .unwrap();
        let original = Original {
            encf: encf.to_owned(),
            day: day.to_owned(),
        };
        let body = request(&format!("{key}-note"), ecf_type, self.note(ecf_type, &original));
        let answer = self.desk.post(Phase::Note, "/ecf", &body).await;
        if answer.status < 300 {
            self.books.enter(&body, &answer.body);
            return;
        }
        let now = self.desk.get(&format!("/ecf/{}", sold.public_id())).await;
        let is_explained = answer.status == 422 && now["status"] == "rejected";
        assert!(is_explained, "{} {} for {body} on {now}", answer.status, answer.body);
    }

    /// Sends a batch until each of its receipts was answered.
    async fn sell_batch(&self, bodies: &[Value]) {
        let batch = json!({ "items": bodies });
        loop {
            let answer = self.desk.post(Phase::Batch, "/ecf/batch", &batch).await.expect(200);
            let results = answer["items"].as_array().unwrap();
            let mut is_done = true;
            for (body, result) in bodies.iter().zip(results) {
                match result["status_code"].as_u64().unwrap() {
                    200..300 => self.books.enter(body, &result["body"]),
                    429 | 500..600 => is_done = false,
                    _ => panic!("{result} for {body}"),
                }
            }
            if is_done {
                return;
            }
        }
    }

    /// Two tills state the same number for different sales: one gets it, the other a conflict. Both can get it only in
    /// turn, after a rejection left it free; `proof` checks that.
    async fn collide(&self, number: u32) {
        let sale = |till: &str, amount: u32| {
            let mut payload = payload(&self.desk.caller.rnc, &self.desk.today(), "44", amount);
            payload["Encabezado"]["IdDoc"]["eNCF"] = json!(format!("E44{:010}", TYPED_NUMBERS_FROM + number));
            request(&format!("typed-{number}-{till}"), "44", payload)
        };
        let (one, other) = (sale("a", 500), sale("b", 700));
        let (first, second) = tokio::join!(
            self.desk.post(Phase::Sale, "/ecf", &one),
            self.desk.post(Phase::Sale, "/ecf", &other)
        );
        let is_sold = |answer: &Answer| answer.status < 300;
        assert!(
            is_sold(&first) || is_sold(&second),
            "number {number} was refused to both"
        );
        for (body, answer) in [(&one, first), (&other, second)] {
            match answer.status {
                409 => {}
                status if status < 300 => self.books.enter(body, &answer.body),
                _ => panic!("{} {} for {body}", answer.status, answer.body),
            }
        }
    }

    fn body(&self, number: u32) -> Value {
        let place = usize::try_from(number).unwrap();
        let ecf_type = TYPES[place % TYPES.len()];
        let (rnc, today) = (&self.desk.caller.rnc, self.desk.today());
        let payload = match ecf_type {
            "33" | "34" => self.note(ecf_type, &self.originals[place % self.originals.len()]),
            "32" if number.is_multiple_of(2) => payload(rnc, &today, "32", 300_000),
            _ => payload(rnc, &today, ecf_type, 1_000),
        };
        let mut body = request(&format!("sale-{number}"), ecf_type, payload);
        if number.is_multiple_of(3) {
            body["external_id"] = json!(format!("erp-{number}"));
        }
        body
    }

    fn note(&self, ecf_type: &str, original: &Original) -> Value {
        let mut note = note(&self.desk.caller.rnc, &self.desk.today(), ecf_type, 10, &original.encf);
        note["InformacionReferencia"]["FechaNCFModificado"] = json!(original.day);
        note
    }

    /// Issues one more plain receipt.
    pub(crate) async fn sell_plain(&self, key: &str) {
        let payload = payload(&self.desk.caller.rnc, &self.desk.today(), "31", 1_000);
        let body = request(key, "31", payload);
        let answer = self.desk.post(Phase::Sale, "/ecf", &body).await;
        assert!(answer.status < 300, "{} {}", answer.status, answer.body);
        self.books.enter(&body, &answer.body);
    }

    /// Schedules one receipt after the other for some minutes later, and withdraws every third.
    pub(crate) async fn schedule(&self, stop: &CancellationToken) {
        let mut rng = Rng::new(self.seed, 200);
        for number in 0_u32.. {
            let at = self.desk.clock.now() + SignedDuration::from_secs(120 + i64::try_from(rng.below(120)).unwrap());
            let payload = payload(&self.desk.caller.rnc, &Fecha::at(at).to_string(), "32", 1_500);
            let key = format!("scheduled-{number}");
            let mut body = request(&key, "32", payload);
            body["scheduled_for"] = json!(at);
            let answer = self.desk.post(Phase::Schedule, "/ecf", &body).await;
            assert!(answer.status < 300, "{} {} for {body}", answer.status, answer.body);
            self.books.enter(&body, &answer.body);
            let path = format!("/ecf/{}", answer.body["public_id"].as_str().unwrap());
            if number.is_multiple_of(3) {
                self.withdraw(&key, &path, number).await;
            } else {
                let wait = at.duration_since(self.desk.clock.now()) / i32::try_from(super::time::SPEED).unwrap();
                sleep(Duration::try_from(wait).unwrap_or_default()).await;
                let _due = self.desk.board.begin(Phase::Due);
                let is_issued = async || (!self.desk.get(&path).await["encf"].is_null()).then_some(());
                self.desk.watch(DUE, is_issued).await;
            }
            if stop.is_cancelled() {
                return;
            }
            sleep(rng.millis(200, 900)).await;
        }
    }

    pub(crate) async fn withdraw(&self, key: &str, path: &str, number: u32) {
        let (verb, state) = match number.is_multiple_of(2) {
            true => ("cancel", "cancelled"),
            false => ("mark-incapacity", "incapacity"),
        };
        let path = format!("{path}/{verb}");
        let answer = self.desk.ask(Phase::Withdrawal, Method::POST, &path, None).await;
        match answer.status {
            200 => {
                assert_eq!(answer.body["status"], state, "{}", answer.body);
                self.books.withdraw(key, state);
            }
            // The receipt became due in the meantime.
            409 => {}
            _ => panic!("{} {} for {path}", answer.status, answer.body),
        }
    }
}

pub(crate) fn request(key: &str, ecf_type: &str, payload: Value) -> Value {
    json!({ "idempotency_key": key, "ecf_type": ecf_type, "payload": payload })
}
