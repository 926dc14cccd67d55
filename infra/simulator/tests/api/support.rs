//! A simulator in the test's process, with a clock that the test moves, and its client.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Body};
use ecf_simulator::{Options, Simulator};
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::{documents::RNC, signer::sign};

/// 15 January 2027, 08:00 in Santo Domingo.
const START: &str = "2027-01-15T12:00:00Z";
pub(crate) const DELAY: Duration = Duration::from_millis(600);
pub(crate) const SEED: &str = "/testecf/autenticacion/api/autenticacion/semilla";
pub(crate) const VALIDATE: &str = "/testecf/autenticacion/api/autenticacion/validarsemilla";
pub(crate) const RECEPTION: &str = "/testecf/recepcion/api/facturaselectronicas";
pub(crate) const SUMMARIES: &str = "/testecf/recepcionfc/api/recepcion/ecf";
pub(crate) const RESULT: &str = "/testecf/consultaresultado/api/consultas/estado";

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content_type: String,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }
}

/// A simulator and its clock.
pub(crate) struct Authority {
    router: Router,
    now: Arc<AtomicI64>,
    accept: &'static str,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::with_data(None)
    }

    /// A simulator whose client sends this `Accept` header.
    pub(crate) fn answering(accept: &'static str) -> Self {
        Self { accept, ..Self::new() }
    }

    /// A simulator that stores its state in a folder.
    pub(crate) fn with_data(data: Option<PathBuf>) -> Self {
        let start: jiff::Timestamp = START.parse().unwrap();
        let now = Arc::new(AtomicI64::new(start.as_millisecond()));
        let shared = Arc::clone(&now);
        let clock = Arc::new(move || jiff::Timestamp::from_millisecond(shared.load(Ordering::SeqCst)).unwrap());
        let router = Simulator::router(&Options {
            port: 0,
            data,
            verdict_delay: DELAY,
            clock,
        })
        .unwrap();
        Self {
            router,
            now,
            accept: "application/json",
        }
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.now
            .fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        self.try_send(request).await.unwrap()
    }

    /// The response, or the error that ended the connection.
    async fn try_send(&self, request: Request<Body>) -> Result<Answer, axum::Error> {
        let response: Response<Body> = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let content_type = parts.headers.get(header::CONTENT_TYPE);
        Ok(Answer {
            status: parts.status,
            content_type: content_type
                .map(|value| value.to_str().unwrap().to_owned())
                .unwrap_or_default(),
            text: String::from_utf8_lossy(&body.collect().await?.to_bytes()).into_owned(),
        })
    }

    pub(crate) async fn get(&self, path: &str, token: Option<&str>) -> Answer {
        let mut request = Request::get(path).header(header::ACCEPT, self.accept);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        self.send(request.body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn upload(&self, path: &str, token: Option<&str>, file_name: &str, xml: &str) -> Answer {
        self.send(self.upload_request(path, token, file_name, xml)).await
    }

    pub(crate) async fn try_upload(
        &self,
        path: &str,
        token: &str,
        file_name: &str,
        xml: &str,
    ) -> Result<Answer, axum::Error> {
        self.try_send(self.upload_request(path, Some(token), file_name, xml))
            .await
    }

    fn upload_request(&self, path: &str, token: Option<&str>, file_name: &str, xml: &str) -> Request<Body> {
        let body = format!(
            "--limit\r\nContent-Disposition: form-data; name=\"xml\"; filename=\"{file_name}\"\r\n\
             Content-Type: text/xml\r\n\r\n{xml}\r\n--limit--\r\n"
        );
        let mut request = Request::post(path)
            .header(header::ACCEPT, self.accept)
            .header(header::CONTENT_TYPE, "multipart/form-data; boundary=limit")
            .header(header::CONTENT_LENGTH, body.len());
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("bearer {token}"));
        }
        request.body(Body::from(body)).unwrap()
    }

    /// Calls the control service.
    pub(crate) async fn control(&self, method: Method, path: &str, body: Value) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!("/_control/{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_string()));
        let answer = self.send(request.unwrap()).await;
        assert!(answer.status.is_success(), "{answer:?}");
        answer
    }

    pub(crate) async fn order_fault(&self, fault: Value) {
        self.control(Method::POST, "faults", fault).await;
    }

    /// Requests a seed, signs it, exchanges it for a token.
    pub(crate) async fn token(&self, environment: &str) -> String {
        let seed = self.get(&SEED.replace("testecf", environment), None).await.text;
        let signed = sign(&on_one_line(&seed));
        let path = VALIDATE.replace("testecf", environment);
        let answer = self.upload(&path, None, "semilla.xml", &signed).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        answer.json()["token"].as_str().unwrap().to_owned()
    }

    /// Sends a signed document under the required file name; returns the track id.
    pub(crate) async fn receive(&self, token: &str, encf: &str, signed: &str) -> String {
        let answer = self.upload(RECEPTION, Some(token), &file_name(encf), signed).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        answer.json()["trackId"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn result(&self, token: &str, track_id: &str) -> Value {
        let answer = self.get(&format!("{RESULT}?trackid={track_id}"), Some(token)).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        answer.json()
    }

    /// Signs and sends a document, and waits until its verdict is visible.
    pub(crate) async fn verdict(&self, token: &str, encf: &str, unsigned: &str) -> Value {
        let track_id = self.receive(token, encf, &sign(unsigned)).await;
        self.advance(DELAY);
        self.result(token, &track_id).await
    }
}

/// Removes the whitespace between tags, as a signer must.
pub(crate) fn on_one_line(xml: &str) -> String {
    xml.lines().map(str::trim).collect()
}

pub(crate) fn file_name(encf: &str) -> String {
    format!("{RNC}{encf}.xml")
}

/// Summary of a verdict: code, whether the number is burned, the codes of the messages.
pub(crate) fn outcome(verdict: &Value) -> Value {
    let codes: Vec<_> = verdict["mensajes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["codigo"].clone())
        .collect();
    json!([verdict["codigo"], verdict["secuenciaUtilizada"], codes])
}
