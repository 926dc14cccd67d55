//! `signup` over HTTP, on the embedded services.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod certificates;
mod crashes;
mod events;
mod invitations;
mod register;
mod repeats;
mod trust;
mod visitors;

use std::collections::BTreeMap;

use axum::{Router, routing::get};
use base64::{Engine, prelude::BASE64_STANDARD};
use ecf_api::{Caller, Keys};
use ecf_runtime::env::Env;
use ecf_store::{CompanyId, Scope};
use ecf_testkit::{Answer, P12_PIN, TestStack, request, test_p12};
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use signup::App;

/// The owner of [`test_p12`].
pub(crate) const OWNER: &str = "00100000001";

/// The function, before the first sign-up.
pub(crate) struct Api {
    pub(crate) stack: TestStack,
    pub(crate) router: Router,
}

impl Api {
    /// The tests make their own certificates, so any issuer is trusted.
    pub(crate) async fn start() -> Self {
        Self::with(&[("CERTIFICATE_TRUST", "any")]).await
    }

    /// With variables that differ from the template's defaults.
    pub(crate) async fn with(more: &[(&str, &str)]) -> Self {
        let stack = TestStack::start().await;
        let mut variables: BTreeMap<String, String> = stack.environment_of("signup").clone();
        variables.extend(
            more.iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let app = App::from_env(&Env::of(variables), &stack.clients_of("signup"), stack.clock().clone()).unwrap();
        let router = signup::router(app);
        Self { stack, router }
    }

    /// Creates an invitation for this number of companies, valid for a day.
    pub(crate) async fn invite(&self, code: &str, uses: u32) {
        let expires_at = self.stack.clock().now() + SignedDuration::from_hours(24);
        let hash = Sha256::digest(code).into();
        let made = self.stack.table().create_invitation(&hash, uses, expires_at).await;
        assert!(made.unwrap());
    }

    pub(crate) async fn register(&self, body: &Value) -> Answer {
        request(&self.router, Method::POST, "/api/v1/public/register", None, Some(body)).await
    }

    /// Company and environment of a key, looked up as every function does.
    pub(crate) async fn opened_by(&self, key: &str) -> Option<Scope> {
        let keys = Keys::from_env(
            &self.stack.env("issuing"),
            self.stack.table(),
            self.stack.clock().clone(),
        )
        .unwrap();
        let who = async |caller: Caller| axum::Json(json!([caller.company().to_string(), caller.environment()]));
        let router = Router::new().route("/", get(who)).with_state(keys);
        let answer = request(&router, Method::GET, "/", Some(key), None).await;
        if answer.status == 401 {
            return None;
        }
        let body = answer.expect(200);
        Some(Scope {
            company: body[0].as_str().unwrap().parse().unwrap(),
            environment: body[1].as_str().unwrap().parse().unwrap(),
        })
    }
}

/// A company without certificate.
pub(crate) fn company(rnc: &str) -> Value {
    json!({ "rnc": rnc, "name": "Ferretería de Prueba SRL", "email": "facturas@ferreteria.example" })
}

/// A company with the certificate of [`OWNER`].
pub(crate) fn company_with_certificate(rnc: &str) -> Value {
    let mut body = company(rnc);
    body["p12_base64"] = json!(BASE64_STANDARD.encode(test_p12()));
    body["pin"] = json!(P12_PIN);
    body
}

pub(crate) fn id_of(registered: &Value) -> CompanyId {
    registered["company"]["public_id"].as_str().unwrap().parse().unwrap()
}

pub(crate) fn key_of(registered: &Value) -> &str {
    registered["api_key"]["key"].as_str().unwrap()
}

/// The only error of a 422: its place and kind.
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
    (steps.join("/"), error["type"].as_str().unwrap().to_owned())
}
