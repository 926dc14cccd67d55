//! Another issuer on loopback: issues tokens, receives receipts and approvals, and returns errors on request.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, StatusCode, Uri, header};

use crate::{
    Received,
    loopback::{Loopback, lock},
    sign_foreign,
};

/// The token that it issues.
const TOKEN: &str = "ficha";

/// Another issuer; dropping the value closes its server.
#[derive(Debug)]
pub struct Peer {
    server: Loopback,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    received: Mutex<Vec<Received>>,
    /// Responses to the next documents; when empty, the standard response.
    answers: Mutex<VecDeque<PeerAnswer>>,
    demands_token: std::sync::atomic::AtomicBool,
}

/// A response to a document.
#[derive(Debug, Clone)]
pub enum PeerAnswer {
    /// This status with an empty body.
    Status(u16),
    /// 200 with these bytes.
    Bytes(Vec<u8>),
    /// A signed ARECF with this `CodigoMotivoNoRecibido`.
    NotReceived(u8),
}

impl Peer {
    /// Listens on a free port.
    pub async fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let router = Router::new().fallback(serve).with_state(Arc::clone(&shared));
        let server = Loopback::serve(router).await;
        Self { server, shared }
    }

    /// The base URL of its services, for a directory.
    pub fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// Requires a token for documents from now on.
    pub fn demand_token(&self) {
        let order = std::sync::atomic::Ordering::Relaxed;
        self.shared.demands_token.store(true, order);
    }

    /// Sets the response to the next document.
    pub fn answer_next(&self, answer: PeerAnswer) {
        lock(&self.shared.answers).push_back(answer);
    }

    /// All requests so far.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.shared.received).clone()
    }

    /// The documents that a service received, by the end of its path. If a token is required, only those with a token.
    pub fn documents(&self, service: &str) -> Vec<Received> {
        let mut received = self.received();
        let order = std::sync::atomic::Ordering::Relaxed;
        let needs_token = self.shared.demands_token.load(order);
        received.retain(|one| one.path.contains(service) && (!needs_token || one.header("authorization").is_some()));
        received
    }
}

async fn serve(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path().to_owned();
    let authorized = headers
        .get(header::AUTHORIZATION)
        .map(|value| value.as_bytes().to_vec());
    lock(&shared.received).push(Received {
        method,
        path: path.clone(),
        headers,
        body: body.clone(),
    });
    match path.as_str() {
        "/fe/autenticacion/api/semilla" => {
            xml("<SemillaModel><valor>grano</valor><fecha>2026-11-27T12:00:00-04:00</fecha></SemillaModel>".into())
        }
        "/fe/autenticacion/api/validacioncertificado" if contains(&body, "<SignatureValue>") => axum::Json(
            serde_json::json!({ "token": TOKEN, "expira": "2026-12-31T12:00:00Z", "expedido": "2026-11-27T12:00:00Z" }),
        )
        .into_response(),
        "/fe/recepcion/api/ecf" | "/fe/aprobacioncomercial/api/ecf" => {
            let demands_token = shared.demands_token.load(std::sync::atomic::Ordering::Relaxed);
            if demands_token && authorized.as_deref() != Some(format!("Bearer {TOKEN}").as_bytes()) {
                return StatusCode::UNAUTHORIZED.into_response();
            }
            let answer = lock(&shared.answers).pop_front();
            match answer {
                Some(PeerAnswer::Status(status)) => StatusCode::from_u16(status)
                    .expect("the test gave a status")
                    .into_response(),
                Some(PeerAnswer::Bytes(bytes)) => xml(bytes),
                Some(PeerAnswer::NotReceived(reason)) => xml(arecf(&body, Some(reason))),
                None if path.contains("recepcion") => xml(arecf(&body, None)),
                None => StatusCode::OK.into_response(),
            }
        }
        _ => StatusCode::BAD_REQUEST.into_response(),
    }
}

/// The signed acknowledgement of the receipt in a form.
fn arecf(form: &[u8], reason: Option<u8>) -> Vec<u8> {
    let text = String::from_utf8_lossy(form);
    let value = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>")).unwrap_or_default();
        rest.split('<').next().unwrap_or_default().to_owned()
    };
    let (estado, motive) = match reason {
        Some(reason) => (1, format!("<CodigoMotivoNoRecibido>{reason}</CodigoMotivoNoRecibido>")),
        None => (0, String::new()),
    };
    sign_foreign(&format!(
        "<ARECF><DetalleAcusedeRecibo><Version>1.0</Version><RNCEmisor>{}</RNCEmisor><RNCComprador>{}</RNCComprador>\
<eNCF>{}</eNCF><Estado>{estado}</Estado>{motive}<FechaHoraAcuseRecibo>27-11-2026 12:00:00</FechaHoraAcuseRecibo>\
</DetalleAcusedeRecibo></ARECF>",
        value("RNCEmisor"),
        value("RNCComprador"),
        value("eNCF")
    ))
}

fn xml(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/xml")], bytes).into_response()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
