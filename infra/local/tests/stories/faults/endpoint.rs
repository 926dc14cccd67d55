//! An ERP's webhook endpoint that is often ill.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use http::StatusCode;
use serde_json::Value;
use tokio::net::TcpListener;

use super::dice::Dice;

/// What came for one event: the bytes of the first delivery, and how often the same bytes came.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) body: Bytes,
    /// Whether a repeat had other bytes.
    pub(crate) has_changed: bool,
    /// Deliveries that were answered with 200.
    pub(crate) taken: u32,
}

/// The endpoint; clones see the same.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    url: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    told: Mutex<BTreeMap<(String, String), Told>>,
    dice: Mutex<Dice>,
    ill: AtomicBool,
}

impl Endpoint {
    pub(crate) async fn start(dice: Dice) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/webhooks/ecf", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            told: Mutex::default(),
            dice: Mutex::new(dice),
            ill: AtomicBool::new(true),
        });
        let router = Router::new().fallback(receive).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// From now on every delivery is taken.
    pub(crate) fn recover(&self) {
        self.shared.ill.store(false, Ordering::Relaxed);
    }

    /// How often the event of a receipt was taken.
    pub(crate) fn taken(&self, public_id: &str, event: &str) -> u32 {
        let told = self.shared.told.lock().unwrap();
        told.get(&(public_id.to_owned(), event.to_owned()))
            .map_or(0, |told| told.taken)
    }

    /// Events of which a repeat had other bytes than the first delivery.
    pub(crate) fn changed(&self) -> Vec<(String, String)> {
        let told = self.shared.told.lock().unwrap();
        let changed = told.iter().filter(|(_, told)| told.has_changed);
        changed.map(|(name, _)| name.clone()).collect()
    }

    /// The events that came of a receipt.
    pub(crate) fn events(&self, public_id: &str) -> Vec<String> {
        let told = self.shared.told.lock().unwrap();
        told.keys()
            .filter(|(id, _)| id == public_id)
            .map(|(_, event)| event.clone())
            .collect()
    }
}

async fn receive(State(shared): State<Arc<Shared>>, body: Bytes) -> StatusCode {
    let (ill, kind, pause) = {
        let mut dice = shared.dice.lock().unwrap();
        let ill = shared.ill.load(Ordering::Relaxed);
        (ill, dice.below(10), dice.millis(50, 1_500))
    };
    let answer = match kind {
        0 | 1 if ill => StatusCode::INTERNAL_SERVER_ERROR,
        2 if ill => StatusCode::TOO_MANY_REQUESTS,
        3 if ill => StatusCode::FOUND,
        _ => StatusCode::OK,
    };
    let event: Value = serde_json::from_slice(&body).unwrap();
    let text = |name: &str| event[name].as_str().unwrap().to_owned();
    let name = (text("public_id"), text("event"));
    {
        let mut told = shared.told.lock().unwrap();
        let told = told.entry(name.clone()).or_insert_with(|| Told {
            body: body.clone(),
            has_changed: false,
            taken: 0,
        });
        told.has_changed |= told.body != body;
        told.taken += u32::from(answer == StatusCode::OK);
    }
    if ill && kind == 4 {
        // Taken, and answered late: the sender may have given up by then.
        tokio::time::sleep(pause + Duration::from_millis(200)).await;
    }
    answer
}
