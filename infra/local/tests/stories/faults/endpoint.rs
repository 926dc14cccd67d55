//! An ERP's webhook endpoint that often fails, and knows the secrets of all its webhooks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use http::{HeaderMap, StatusCode, Uri};
use serde_json::Value;
use tokio::net::TcpListener;

use super::rng::Rng;
use crate::support::signature;

/// The webhook's path, the subject of the event, and the event's name.
type Name = (String, String, String);

/// The deliveries of one event: the body of the first, and the number of accepted ones.
#[derive(Debug)]
struct DeliveredEvent {
    body: Bytes,
    /// Whether a repeated delivery had another body.
    has_changed: bool,
    /// Deliveries that were answered with 200.
    taken: u32,
}

/// The endpoint; clones share its state.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    url: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    told: Mutex<BTreeMap<Name, DeliveredEvent>>,
    secrets: Mutex<Secrets>,
    struck: Mutex<BTreeMap<&'static str, u64>>,
    rng: Mutex<Rng>,
    ill: AtomicBool,
}

/// Current and earlier secrets of each webhook, by path, and deliveries that match none of them.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    known: BTreeMap<String, Vec<String>>,
    /// The index of the secret that signed the last delivery, by path.
    last: BTreeMap<String, usize>,
    forged: Vec<String>,
}

impl Secrets {
    pub(crate) fn know(&mut self, path: &str, secret: &str) {
        self.known.entry(path.to_owned()).or_default().push(secret.to_owned());
    }

    /// Verifies a delivery's signature with the secrets of its webhook.
    pub(crate) fn verify(&mut self, path: &str, body: &[u8], given: &str) {
        let known = self.known.get(path).map(Vec::as_slice).unwrap_or_default();
        match known.iter().position(|secret| signature(secret, body) == given) {
            Some(place) => drop(self.last.insert(path.to_owned(), place)),
            None => self.forged.push(format!("{path} {given} of {} bytes", body.len())),
        }
    }

    /// Deliveries that no secret of their webhook has signed.
    pub(crate) fn forged(&self) -> &[String] {
        &self.forged
    }

    /// Whether the newest secret signed the last delivery.
    fn is_newest(&self, path: &str) -> bool {
        let newest = self.known.get(path).map(|secrets| secrets.len() - 1);
        newest.is_some() && self.last.get(path).copied() == newest
    }
}

impl Endpoint {
    pub(crate) async fn start(rng: Rng) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            told: Mutex::default(),
            secrets: Mutex::default(),
            struck: Mutex::default(),
            rng: Mutex::new(rng),
            ill: AtomicBool::new(true),
        });
        let router = Router::new().fallback(receive).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    /// The URL of a webhook; `path` begins with a slash.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Adds a secret that may sign a webhook's deliveries. Call it before the system gets the secret.
    pub(crate) fn know(&self, path: &str, secret: &str) {
        self.shared.secrets.lock().unwrap().know(path, secret);
    }

    /// Accepts every delivery from now on.
    pub(crate) fn recover(&self) {
        self.shared.ill.store(false, Ordering::Relaxed);
    }

    /// Deliveries that no secret of their webhook has signed.
    pub(crate) fn forged(&self) -> Vec<String> {
        self.shared.secrets.lock().unwrap().forged().to_vec()
    }

    /// Whether the last delivery of a webhook was signed with its newest secret.
    pub(crate) fn uses_newest_secret(&self, path: &str) -> bool {
        self.shared.secrets.lock().unwrap().is_newest(path)
    }

    /// The number of injected faults by kind.
    pub(crate) fn struck(&self) -> BTreeMap<&'static str, u64> {
        self.shared.struck.lock().unwrap().clone()
    }

    /// How many times the webhook of a path accepted an event.
    pub(crate) fn taken(&self, path: &str, about: &str, event: &str) -> u32 {
        let told = self.shared.told.lock().unwrap();
        told.get(&(path.to_owned(), about.to_owned(), event.to_owned()))
            .map_or(0, |told| told.taken)
    }

    /// Events whose repeated delivery had another body than the first.
    pub(crate) fn changed(&self) -> Vec<Name> {
        let told = self.shared.told.lock().unwrap();
        let changed = told.iter().filter(|(_, told)| told.has_changed);
        changed.map(|(name, _)| name.clone()).collect()
    }

    /// The events that the webhook of a path received, by their subject.
    pub(crate) fn events(&self, path: &str) -> BTreeMap<String, Vec<String>> {
        let mut events: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (at, about, event) in self.shared.told.lock().unwrap().keys() {
            if at == path {
                events.entry(about.clone()).or_default().push(event.clone());
            }
        }
        events
    }
}

async fn receive(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap, body: Bytes) -> StatusCode {
    let (ill, kind, pause) = {
        let mut rng = shared.rng.lock().unwrap();
        let ill = shared.ill.load(Ordering::Relaxed);
        (ill, rng.below(10), rng.millis(50, 1_500))
    };
    let (answer, misbehavior) = match kind {
        0 | 1 if ill => (StatusCode::INTERNAL_SERVER_ERROR, Some("endpoint 500")),
        2 if ill => (StatusCode::TOO_MANY_REQUESTS, Some("endpoint 429")),
        3 if ill => (StatusCode::FOUND, Some("endpoint 302")),
        4 if ill => (StatusCode::OK, Some("endpoint late")),
        _ => (StatusCode::OK, None),
    };
    if let Some(misbehavior) = misbehavior {
        *shared.struck.lock().unwrap().entry(misbehavior).or_default() += 1;
    }
    let path = uri.path().to_owned();
    let signature = headers.get("X-ECF-Signature").and_then(|value| value.to_str().ok());
    let signature = signature.unwrap_or_default();
    shared.secrets.lock().unwrap().verify(&path, &body, signature);
    let event: Value = serde_json::from_slice(&body).unwrap();
    let about = ["inbox_id", "receipt_id", "public_id"]
        .iter()
        .find_map(|name| event[*name].as_str());
    let name = event["event"].as_str().unwrap().to_owned();
    {
        let mut told = shared.told.lock().unwrap();
        let name = (path, about.unwrap_or_default().to_owned(), name);
        let told = told.entry(name.clone()).or_insert_with(|| DeliveredEvent {
            body: body.clone(),
            has_changed: false,
            taken: 0,
        });
        // Every test event is a new one.
        told.has_changed |= told.body != body && name.2 != "webhook.test";
        told.taken += u32::from(answer == StatusCode::OK);
    }
    if misbehavior == Some("endpoint late") {
        // Accepted, but answered late: the sender may have timed out by then.
        tokio::time::sleep(pause + Duration::from_millis(200)).await;
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r9_a_signature_of_no_secret_of_the_webhook_is_seen() {
        let mut secrets = Secrets::default();
        secrets.know("/a", "the first secret");
        secrets.know("/b", "another webhook's");
        secrets.verify("/a", b"{}", &signature("the first secret", b"{}"));
        assert_eq!((secrets.forged().len(), secrets.is_newest("/a")), (0, true));
        secrets.know("/a", "the second secret");
        assert!(!secrets.is_newest("/a"));
        secrets.verify("/a", b"{}", &signature("the second secret", b"{}"));
        assert!(secrets.is_newest("/a"));
        secrets.verify("/a", b"{}", &signature("another webhook's", b"{}"));
        secrets.verify("/a", b"{ }", &signature("the second secret", b"{}"));
        assert_eq!(secrets.forged().len(), 2, "{:?}", secrets.forged());
    }
}
