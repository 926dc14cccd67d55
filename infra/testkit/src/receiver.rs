//! A webhook endpoint on loopback that records its requests.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Bytes, extract::State};
use http::{HeaderMap, Method, StatusCode, Uri};
use serde_json::Value;
use tokio::sync::Notify;

use crate::{
    check_event,
    loopback::{Loopback, lock},
};

const TIME_LIMIT: Duration = Duration::from_secs(10);

/// One received request.
#[derive(Debug, Clone)]
pub struct Received {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as received: signatures cover these bytes.
    pub body: Bytes,
}

impl Received {
    /// A header's text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a webhook's body is JSON")
    }
}

/// The endpoint; dropping the value closes its server.
#[derive(Debug)]
pub struct Receiver {
    server: Loopback,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    received: Mutex<Vec<Received>>,
    /// Responses to the next requests; when empty, 200.
    answers: Mutex<VecDeque<StatusCode>>,
    /// Whether requests are accepted but never answered.
    hangs: AtomicBool,
    arrived: Notify,
}

impl Receiver {
    /// Listens on a free port.
    pub async fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let router = Router::new().fallback(receive).with_state(Arc::clone(&shared));
        let server = Loopback::serve(router).await;
        Self { server, shared }
    }

    /// Its URL, for a subscription.
    pub fn url(&self) -> String {
        format!("http://{}/webhooks/ecf", self.server.address)
    }

    /// Answers the next requests with these statuses, one each, and later requests with 200.
    pub fn answer_next(&self, statuses: &[u16]) {
        let statuses = statuses
            .iter()
            .map(|status| StatusCode::from_u16(*status).expect("the test gave a status"));
        lock(&self.shared.answers).extend(statuses);
    }

    /// Whether requests from now on are accepted but never answered.
    pub fn hang(&self, hangs: bool) {
        self.shared.hangs.store(hangs, Ordering::Relaxed);
    }

    /// Answers with 200 from now on.
    pub fn forget_answers(&self) {
        lock(&self.shared.answers).clear();
    }

    /// All requests so far; their events are validated against the contract.
    pub fn received(&self) -> Vec<Received> {
        let received = lock(&self.shared.received).clone();
        for one in &received {
            if let Some(event) = one.header("X-ECF-Event") {
                check_event(event, &one.body).unwrap_or_else(|problem| panic!("{problem}"));
            }
        }
        received
    }

    /// Waits until `count` requests have arrived, and returns them.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        let wait = async {
            loop {
                let arrived = self.shared.arrived.notified();
                let received = self.received();
                if received.len() >= count {
                    return received;
                }
                arrived.await;
            }
        };
        let waited = tokio::time::timeout(TIME_LIMIT, wait).await;
        waited.unwrap_or_else(|_| panic!("{} of {count} requests came", self.received().len()))
    }
}

async fn receive(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let path = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    lock(&shared.received).push(Received {
        method,
        path,
        headers,
        body,
    });
    shared.arrived.notify_waiters();
    if shared.hangs.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
    lock(&shared.answers).pop_front().unwrap_or(StatusCode::OK)
}
