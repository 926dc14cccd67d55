//! `certificates` over HTTP, on the embedded services.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod crashes;
mod events;
mod inspect_p12;
mod list;
mod matrix;
mod owners;
mod refusals;
mod several;
mod sign_xml;
mod trust;
mod upload;
mod verify_xml;

use std::collections::BTreeMap;

use axum::Router;
use axum::body::Body;
use certificates::App;
use ecf_runtime::env::Env;
use ecf_testkit::{Answer, P12_PIN, TestCompany, TestStack, request, send};
use http::{Method, Request, header};
use serde_json::Value;

pub(crate) const CERTIFICATES: &str = "/api/v1/client/certificates";
pub(crate) const INSPECT: &str = "/api/v1/client/tools/inspect-p12";
pub(crate) const VERIFY: &str = "/api/v1/client/tools/verify-xml";
pub(crate) const SIGN: &str = "/api/v1/client/tools/sign-xml";

/// The function with one company that has no certificate yet.
pub(crate) struct Api {
    pub(crate) stack: TestStack,
    pub(crate) router: Router,
    pub(crate) company: TestCompany,
}

impl Api {
    /// The tests make their own certificates, so any issuer is trusted.
    pub(crate) async fn start() -> Self {
        Self::with(&[("CERTIFICATE_TRUST", "any")]).await
    }

    /// With variables that differ from the template's defaults.
    pub(crate) async fn with(more: &[(&str, &str)]) -> Self {
        let stack = TestStack::start().await;
        let mut variables: BTreeMap<String, String> = stack.environment_of("certificates").clone();
        variables.extend(
            more.iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let app = App::from_env(
            &Env::of(variables),
            &stack.clients_of("certificates"),
            stack.clock().clone(),
        )
        .unwrap();
        let router = certificates::router(app);
        let builder = stack.company_builder().without_ranges().without_certificate();
        let company = builder.build().await;
        Self { stack, router, company }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        request(&self.router, Method::GET, path, Some(&self.company.api_key), None).await
    }

    /// Posts a body of any type.
    pub(crate) async fn post(&self, path: &str, content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
        let request = Request::post(path)
            .header("X-API-Key", &self.company.api_key)
            .header(header::CONTENT_TYPE, content_type)
            .body(Body::from(body.into()))
            .unwrap();
        send(&self.router, request).await
    }

    /// Posts a form with a P12 and texts.
    pub(crate) async fn post_p12(&self, path: &str, p12: &[u8], texts: &[(&str, &str)]) -> Answer {
        let mut parts = vec![(P12_PART.to_owned(), p12)];
        parts.extend(texts.iter().map(|(name, text)| (text_part(name), text.as_bytes())));
        self.post(path, FORM, form(&parts)).await
    }

    pub(crate) async fn upload(&self, p12: &[u8], pin: &str) -> Answer {
        self.post_p12(CERTIFICATES, p12, &[("pin", pin)]).await
    }

    /// The list, newest first: id and whether it is active.
    pub(crate) async fn listed(&self) -> Vec<(String, bool)> {
        let list = self.get(CERTIFICATES).await.expect(200);
        let entry = |one: &Value| (id_of(one), one["is_active"].as_bool().unwrap());
        list.as_array().unwrap().iter().map(entry).collect()
    }
}

pub(crate) const FORM: &str = "multipart/form-data; boundary=limit";
/// The header of the published client, whose file name is the whole path.
const P12_PART: &str =
    "name=\"certificate\"; filename=\"/home/ana/certificados/firma.p12\"\r\nContent-Type: application/x-pkcs12";

pub(crate) fn text_part(name: &str) -> String {
    format!("name=\"{name}\"")
}

/// A form of parts, each with its header and its content.
pub(crate) fn form(parts: &[(String, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (head, content) in parts {
        body.extend_from_slice(b"--limit\r\nContent-Disposition: form-data; ");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--limit--\r\n");
    body
}

/// A P12 of this owner with [`P12_PIN`], valid between these days.
pub(crate) fn p12_of(owner: &str, from: &str, to: &str) -> Vec<u8> {
    let at = |day: &str| format!("{day}T00:00:00Z").parse().unwrap();
    test_certificates::pkcs12("FIRMANTE DE PRUEBA", owner, P12_PIN, at(from), at(to)).unwrap()
}

pub(crate) fn id_of(certificate: &Value) -> String {
    certificate["public_id"].as_str().unwrap().to_owned()
}

/// The only error of a 422: its place and its code, or its kind if it has no code.
pub(crate) fn fault(body: &Value) -> (String, String) {
    let [error] = body["detail"].as_array().unwrap().as_slice() else {
        panic!("one error was expected: {body}")
    };
    let steps: Vec<&str> = error["loc"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step.as_str().unwrap())
        .collect();
    let code = error["ctx"]["code"].as_str().or(error["type"].as_str()).unwrap();
    (steps.join("/"), code.to_owned())
}

pub(crate) fn is(place: &str, code: &str) -> (String, String) {
    (place.to_owned(), code.to_owned())
}

/// The codes of the response's warnings.
pub(crate) fn warnings(uploaded: &Value) -> Vec<&str> {
    let warnings = uploaded["warnings"].as_array().unwrap();
    warnings
        .iter()
        .map(|warning| warning["ctx"]["code"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn every_route_wants_a_key() {
    let api = Api::start().await;
    for (method, path) in [
        (Method::GET, CERTIFICATES),
        (Method::POST, CERTIFICATES),
        (Method::POST, INSPECT),
        (Method::POST, VERIFY),
        (Method::POST, SIGN),
    ] {
        let answer = request(&api.router, method.clone(), path, None, None).await;
        assert_eq!(fault(&answer.expect(422)), is("header/X-API-Key", "missing"), "{path}");
        let answer = request(&api.router, method, path, Some("ecf_test_wrong"), None).await;
        assert_eq!(answer.expect(401)["detail"]["code"], "invalid_api_key", "{path}");
    }
}
