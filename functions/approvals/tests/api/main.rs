//! `approvals` over HTTP, on the embedded services, the simulated tax authority and another issuer on loopback.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod cancel;
mod pass_on;
mod submit;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use approvals::{App, router};
use axum::Router;
use base64::{Engine, prelude::BASE64_STANDARD};
use ecf::Environment;
use ecf_runtime::Clock;
use ecf_simulator::{Options, Simulator};
use ecf_store::{Receipt, inbox::InboxItem};
use ecf_testkit::{
    Answer, FOREIGN_RNC, P12_PIN, Peer, TestCompany, TestStack, foreign_receipt, request, sign_foreign, test_p12,
};
use http::Method;
use serde_json::{Value, json};
use xmldsig::Identity;

/// Time limit; no call on loopback takes that long.
const TIME_LIMIT: Duration = Duration::from_secs(20);
pub(crate) const ENCF: &str = "E310000000001";
/// The buyer of the test kit's receipts.
pub(crate) const BUYER: &str = "131880681";

pub(crate) struct World {
    simulator: Simulator,
    http: reqwest::Client,
    pub(crate) stack: TestStack,
    pub(crate) company: TestCompany,
    pub(crate) peer: Peer,
    router: Router,
}

impl World {
    /// A company, the authority, and an issuer that is in its directory.
    pub(crate) async fn start() -> Self {
        Self::in_environment(Environment::TesteCF).await
    }

    pub(crate) async fn in_environment(environment: Environment) -> Self {
        let time: Arc<OnceLock<Clock>> = Arc::default();
        let clock = Arc::clone(&time);
        let options = Options {
            clock: Arc::new(move || clock.get().expect("nobody calls before").now()),
            verdict_delay: Duration::ZERO,
            ..Options::default()
        };
        let simulator = Simulator::start(options).await.unwrap();
        let base = simulator.base_url().to_owned();
        let parameters = [
            ("TaxauthEcfUrl", base.as_str()),
            ("TaxauthFcUrl", base.as_str()),
            ("TaxauthStatusUrl", base.as_str()),
            ("AllowLoopbackTargets", "true"),
        ];
        let stack = TestStack::with_parameters(&parameters).await;
        time.set(stack.clock().clone()).unwrap();
        let app = App::from_env(
            &stack.env("approvals"),
            &stack.clients_of("approvals"),
            stack.clock().clone(),
        )
        .unwrap();
        // Announcements of receipts, and future attempts.
        stack.leave_messages();
        let world = Self {
            company: stack
                .company_builder()
                .environment(environment)
                .verified()
                .build()
                .await,
            peer: Peer::start().await,
            http: reqwest::Client::builder().timeout(TIME_LIMIT).build().unwrap(),
            router: router(app),
            simulator,
            stack,
        };
        world.list(FOREIGN_RNC).await;
        world
    }

    /// Adds a taxpayer to the directory, at the peer's address.
    pub(crate) async fn list(&self, rnc: &str) {
        let url = self.peer.url();
        let entry = json!({ "nombre": "OTRA SRL", "urlRecepcion": url, "urlAceptacion": url, "urlOpcional": url });
        self.control(Method::PUT, &format!("directory/{rnc}"), &entry).await;
    }

    pub(crate) async fn control(&self, method: Method, what: &str, body: &Value) -> Value {
        let url = format!("{}/_control/{what}", self.simulator.base_url());
        let answer = self.http.request(method, url).json(body).send().await.unwrap();
        assert!(answer.status().is_success(), "{what}: {}", answer.status());
        answer.json().await.unwrap_or(Value::Null)
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        let path = format!("/api/v1/ecf/{path}");
        request(
            &self.router,
            Method::POST,
            &path,
            Some(&self.company.api_key),
            Some(body),
        )
        .await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let path = format!("/api/v1/ecf/{path}");
        request(&self.router, Method::GET, &path, Some(&self.company.api_key), None).await
    }

    /// Gives a document to the authority.
    pub(crate) async fn hand_over(&self, name: &str, xml: &[u8]) {
        let tokens = self.simulator.base_url();
        let seed = format!("{tokens}/testecf/autenticacion/api/autenticacion/semilla");
        let seed = self.http.get(seed).send().await.unwrap().bytes().await.unwrap();
        let identity = Identity::from_pkcs12(test_p12(), P12_PIN, self.stack.clock().now()).unwrap();
        let signed = xmldsig::sign_foreign(&seed, &identity, &xmldsig::Limits::default()).unwrap();
        let token = self.upload(
            "autenticacion/api/autenticacion/validarsemilla",
            "semilla.xml",
            signed.xml,
            None,
        );
        let token: Value = token.await;
        let token = token["token"].as_str().unwrap();
        let sent = self.upload("recepcion/api/facturaselectronicas", name, xml.to_vec(), Some(token));
        assert!(sent.await["trackId"].is_string());
    }

    async fn upload(&self, service: &str, name: &str, xml: Vec<u8>, token: Option<&str>) -> Value {
        let part = reqwest::multipart::Part::bytes(xml).file_name(name.to_owned());
        let form = reqwest::multipart::Form::new().part("xml", part.mime_str("text/xml").unwrap());
        let url = format!("{}/testecf/{service}", self.simulator.base_url());
        let mut request = self.http.post(url).multipart(form);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        request.send().await.unwrap().json().await.unwrap()
    }

    /// A receipt of another issuer in the inbox; the authority has accepted it if `accepted`.
    pub(crate) async fn receive(&self, encf: &str, accepted: bool) -> InboxItem {
        let now = self.stack.clock().now();
        let xml = foreign_receipt(self.company.rnc.as_str(), encf, now);
        if accepted {
            self.hand_over(&format!("{FOREIGN_RNC}{encf}.xml"), &xml).await;
        }
        self.stack.received(&self.company, encf, None, &xml, b"<ARECF/>").await
    }

    /// A receipt of the company that the authority accepted.
    pub(crate) async fn own_receipt(&self, encf: &str) -> Receipt {
        let receipt = self.stack.signed_receipt(&self.company, encf).await;
        self.stack.accept(&receipt, Vec::new()).await
    }
}

/// An answer to a receipt of the test kit, signed and in base64.
pub(crate) fn acecf(rnc_emisor: &str, rnc_comprador: &str, encf: &str, monto: &str, estado: &str) -> String {
    BASE64_STANDARD.encode(sign_foreign(&format!(
        "<ACECF><DetalleAprobacionComercial><Version>1.0</Version><RNCEmisor>{rnc_emisor}</RNCEmisor><eNCF>{encf}</eNCF>\
<FechaEmision>27-11-2026</FechaEmision><MontoTotal>{monto}</MontoTotal><RNCComprador>{rnc_comprador}</RNCComprador>\
<Estado>{estado}</Estado><FechaHoraAprobacionComercial>27-11-2026 11:00:00</FechaHoraAprobacionComercial>\
</DetalleAprobacionComercial></ACECF>"
    )))
}
