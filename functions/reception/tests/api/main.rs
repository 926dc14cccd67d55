//! `reception` over HTTP, on the embedded services, as other issuers call it.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod approve;
mod authenticate;
mod events;
mod hostile;
mod receive;

use axum::Router;
use axum::body::Body;
use ecf::messages::Arecf;
use ecf_runtime::Clock;
use ecf_store::inbox::InboxItem;
use ecf_testkit::{Answer, TestCompany, TestStack, send};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request};
use reception::{App, router};
use xmldsig::Limits;

/// The function with one verified company.
pub(crate) struct Api {
    pub(crate) stack: TestStack,
    pub(crate) router: Router,
    pub(crate) company: TestCompany,
}

impl Api {
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    pub(crate) async fn with(parameters: &[(&str, &str)]) -> Self {
        let stack = TestStack::with_parameters(parameters).await;
        let env = stack.env("reception");
        let router = router(App::from_env(&env, &stack.clients_of("reception"), stack.clock().clone()).unwrap());
        let company = stack.company_builder().without_ranges().verified().build().await;
        // Each receipt enqueues an announcement for `webhook-worker`.
        stack.leave_messages();
        Self { stack, router, company }
    }

    pub(crate) fn clock(&self) -> &Clock {
        self.stack.clock()
    }

    /// The company's published address of a service.
    pub(crate) fn published(&self, service: &str) -> String {
        format!("/{}/testecf/fe/{service}", self.company.rnc)
    }

    /// Sends a document in the format of the standard.
    pub(crate) async fn post(&self, path: &str, xml: &[u8], token: Option<&str>) -> Answer {
        let mut request = Request::post(path).header(CONTENT_TYPE, "multipart/form-data; boundary=limit");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        send(&self.router, request.body(Body::from(form(xml))).unwrap()).await
    }

    /// Sends a receipt to the company's published address.
    pub(crate) async fn receive(&self, xml: &[u8]) -> Answer {
        self.post(&self.published("recepcion/api/ecf"), xml, None).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = Request::builder().method(Method::GET).uri(path);
        send(&self.router, request.body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn inbox(&self) -> Vec<InboxItem> {
        self.stack
            .table()
            .inbox(&self.company.scope, None, None, 100, 0)
            .await
            .unwrap()
            .0
    }

    /// The number of enqueued messages: announcements, and questions to the authority.
    pub(crate) fn news(&self) -> usize {
        self.stack.calls().count("SendMessage")
    }
}

/// A form with one file, as an issuer sends it.
pub(crate) fn form(xml: &[u8]) -> Vec<u8> {
    let head = "--limit\r\nContent-Disposition: form-data; name=\"xml\"; filename=\"101672919E310000000001.xml\"\r\n\
Content-Type: text/xml\r\n\r\n";
    [head.as_bytes(), xml, b"\r\n--limit--\r\n"].concat()
}

/// State and reason of a signed acknowledgement.
#[track_caller]
pub(crate) fn acknowledged(answer: &Answer) -> (String, Option<String>) {
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
    assert_eq!(answer.header("content-type"), Some("application/xml"));
    let verified = xmldsig::verify(&answer.bytes, &Limits::default()).expect("the acknowledgement is signed");
    let detail = Arecf::from_xml(&verified.document).unwrap().detalle_acusede_recibo;
    let reason = detail.codigo_motivo_no_recibido.map(|reason| reason.to_string());
    (detail.estado.unwrap().to_string(), reason)
}

pub(crate) fn received() -> (String, Option<String>) {
    ("0".to_owned(), None)
}

pub(crate) fn not_received(reason: &str) -> (String, Option<String>) {
    ("1".to_owned(), Some(reason.to_owned()))
}
