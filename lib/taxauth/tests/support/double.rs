//! A test double of the authority that gives scripted answers and records the requests.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

/// A request as received.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Method, path and query, not decoded.
    pub(crate) request: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// An answer to give.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Play {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

type Answerer = dyn Fn(&Seen) -> Play + Send + Sync;

#[derive(Clone)]
struct Shared {
    seen: Arc<Mutex<Vec<Seen>>>,
    answer: Arc<Answerer>,
}

/// A server on loopback; it ends with the test's runtime.
pub(crate) struct Double {
    pub(crate) base: String,
    shared: Shared,
}

impl Double {
    /// Answers by a function of the request.
    pub(crate) async fn answering(answer: impl Fn(&Seen) -> Play + Send + Sync + 'static) -> Self {
        let shared = Shared {
            seen: Arc::default(),
            answer: Arc::new(answer),
        };
        let app = Router::new().fallback(play).with_state(shared.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { base, shared }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }
}

async fn play(State(shared): State<Shared>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let seen = Seen {
        request: format!("{} {}", parts.method, parts.uri),
        headers: parts.headers,
        body: body.to_vec(),
    };
    let play = (shared.answer)(&seen);
    shared.seen.lock().unwrap().push(seen);
    let mut response = (StatusCode::from_u16(play.status).unwrap(), Body::from(play.body)).into_response();
    for (name, value) in play.headers {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}
