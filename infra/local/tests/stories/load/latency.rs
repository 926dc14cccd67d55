//! The assumed latencies of calls, and a receiver of webhooks that has one of them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::{Json, Router};
use base64::Engine as _;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Each call to the tax authority. Assumed.
const AUTHORITY: Duration = Duration::from_millis(250);
/// Each webhook that an ERP answers. Assumed.
const ERP: Duration = Duration::from_millis(100);

/// All assumed latencies, in milliseconds.
pub(super) fn assumed() -> Value {
    let aws = ecf_embedded::Latency::ASSUMED;
    json!({
        "DynamoDB": aws.dynamodb.as_millis(), "S3 PUT": aws.s3_put.as_millis(), "S3 GET": aws.s3_get.as_millis(),
        "SQS": aws.sqs.as_millis(), "Secrets Manager": aws.secrets_manager.as_millis(),
        "tax authority": AUTHORITY.as_millis(), "ERP": ERP.as_millis(),
    })
}

/// The order to the simulated authority to answer each call later.
pub(super) fn of_authority() -> Value {
    json!({ "service": "*", "fault": "delay", "delay_ms": AUTHORITY.as_millis() })
}

pub(super) fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Receives the webhooks of all companies.
#[derive(Clone)]
pub(super) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    latency: Duration,
    received: Mutex<Received>,
}

#[derive(Default)]
struct Received {
    /// By receipt: when its first webhook came, and the verdict.
    delivered: HashMap<String, (Instant, String)>,
    repeated: usize,
    /// By RNC: the number and date of the last accepted type 31 that has no note.
    invoices: HashMap<String, (String, String)>,
}

impl Receiver {
    pub(super) async fn start(is_slow: bool) -> Self {
        let shared = Arc::new(Shared {
            latency: if is_slow { ERP } else { Duration::ZERO },
            received: Mutex::default(),
        });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(receive).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, shared }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/webhooks", self.address)
    }

    pub(super) fn count(&self) -> usize {
        self.shared.received.lock().unwrap().delivered.len()
    }

    pub(super) fn repeated(&self) -> usize {
        self.shared.received.lock().unwrap().repeated
    }

    pub(super) fn delivered(&self) -> HashMap<String, (Instant, String)> {
        self.shared.received.lock().unwrap().delivered.clone()
    }

    /// An accepted invoice that a note can modify, once.
    pub(super) fn invoice_of(&self, rnc: &str, is_wanted: bool) -> Option<(String, String)> {
        is_wanted.then(|| self.shared.received.lock().unwrap().invoices.remove(rnc))?
    }
}

async fn receive(State(shared): State<Arc<Shared>>, Json(event): Json<Value>) -> StatusCode {
    let came = Instant::now();
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    {
        let mut received = shared.received.lock().unwrap();
        let first = received.delivered.insert(text("public_id"), (came, text("status")));
        received.repeated += usize::from(first.is_some());
        if text("ecf_type") == "31" && text("status") == "accepted" {
            // `dd-MM-yyyy HH:mm:ss`: the date is that of the document.
            let date = text("sign_date").split(' ').next().unwrap_or_default().to_owned();
            received.invoices.insert(text("company_rnc"), (text("encf"), date));
        }
    }
    tokio::time::sleep(shared.latency).await;
    StatusCode::OK
}
