//! The receiving side of the certification, steps 8 to 11: the authority sends valid and invalid receipts and
//! approvals, in its own dialect, and judges the responses.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ecf_runtime::Clock;
use http::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use xmldsig::{Identity, Limits};

use crate::payloads::payload;
use crate::support::{ApiClient, System, TIME_LIMIT, eventually};

/// The taxpayer that the authority plays.
const AUTHORITYS_OWN: &str = "131880738";

/// The authority's issuer-receiver simulator, with a token.
struct EmisorReceptor<'s> {
    caller: &'s ApiClient,
    http: reqwest::Client,
    token: String,
}

impl<'s> EmisorReceptor<'s> {
    async fn of(caller: &'s ApiClient) -> Self {
        let http = reqwest::Client::builder().timeout(TIME_LIMIT).build().unwrap();
        let base = format!("{}/testecf/emisorreceptor/fe/autenticacion/api", caller.simulator_url);
        let seed = http
            .get(format!("{base}/semilla"))
            .send()
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        let p12 = BASE64_STANDARD
            .decode(caller.ready["test_p12"].as_str().unwrap())
            .unwrap();
        let pin = caller.ready["test_p12_pin"].as_str().unwrap();
        let identity = Identity::from_pkcs12(&p12, pin, Clock::system().now()).unwrap();
        let signed = xmldsig::sign_foreign(&seed, &identity, &Limits::default()).unwrap();
        let part = Part::bytes(signed.xml)
            .file_name("semilla.xml")
            .mime_str("text/xml")
            .unwrap();
        let form = Form::new().part("xml", part);
        let answer = http
            .post(format!("{base}/validacioncertificado"))
            .multipart(form)
            .send()
            .await
            .unwrap();
        let answer: Value = answer.json().await.unwrap();
        let token = answer["token"].as_str().unwrap().to_owned();
        Self { caller, http, token }
    }

    async fn order(&self, what: &str, order: &Value) -> String {
        let url = format!(
            "{}/testecf/emisorreceptor/api/emision/{what}",
            self.caller.simulator_url
        );
        let answer = self
            .http
            .post(url)
            .bearer_auth(&self.token)
            .json(order)
            .send()
            .await
            .unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert_eq!(status, 200, "{text}");
        text
    }

    /// Has a receipt sent to the company; returns its number and the verdict on the acknowledgement.
    async fn send(&self, tipo: &str, defecto: Option<&str>, base: &str, authentication: &str) -> (String, Value) {
        let mut order = json!({
            "rnc": self.caller.rnc, "tipoEncf": tipo, "urlRecepcion": base, "urlAutenticacion": authentication,
        });
        if let Some(defecto) = defecto {
            order["defecto"] = json!(defecto);
        }
        let sent = self.order("emisioncomprobantes", &order).await;
        assert!(
            sent.starts_with("<ECF>") && sent.contains("<Version>1</Version>"),
            "{sent}"
        );
        let encf = sent
            .split("<eNCF>")
            .nth(1)
            .unwrap()
            .split('<')
            .next()
            .unwrap()
            .to_owned();
        let url = format!(
            "{}/testecf/emisorreceptor/api/emision/consultaacuserecibo?Rnc={}&Encf={encf}",
            self.caller.simulator_url, self.caller.rnc
        );
        let judged = self.http.get(url).bearer_auth(&self.token).send().await.unwrap();
        (encf, judged.json().await.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn receipts_and_approvals_in_the_authoritys_own_dialect_are_answered_as_it_wants() {
    let system = System::start().await;
    let demo = &system.caller;
    let authority = EmisorReceptor::of(demo).await;
    let base = format!("{}/{}/TesteCF", demo.base_url, demo.rnc);

    // Steps 8 and 9: receipts, with and without authentication, and each defect with its reason.
    let mut good = Vec::new();
    for (tipo, authentication) in [("31", base.as_str()), ("33", ""), ("34", base.as_str()), ("44", "")] {
        let (encf, judged) = authority.send(tipo, None, &base, authentication).await;
        assert_eq!(judged["estado"], "Aceptado", "{tipo}: {judged}");
        good.push(encf);
    }
    for defecto in ["duplicado", "estructura", "tipo", "firma", "sin_firma", "comprador"] {
        let (_, judged) = authority.send("31", Some(defecto), &base, "").await;
        assert_eq!(judged["estado"], "Aceptado", "{defecto}: {judged}");
    }
    let inbox = demo.get("/client/inbox").await.expect(200);
    let mut kept: Vec<_> = inbox["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["encf"].clone())
        .collect();
    kept.reverse();
    assert_eq!(json!(kept), json!(good));

    // Steps 10 and 11: approvals of accepted receipts.
    for (key, estado, status) in [("a", "1", "approved"), ("b", "2", "rejected")] {
        let mut sale = payload(&demo.rnc, &demo.today(), "31", 35_400);
        sale["Encabezado"]["Comprador"] = json!({ "RNCComprador": AUTHORITYS_OWN, "RazonSocialComprador": "DGII" });
        let issued = demo.issue(key, "31", &sale).await.expect(201);
        demo.wait_for_state(&issued, "accepted").await;
        let order = json!({
            "urlAprobacionComercial": base, "urlAutenticacion": base, "rnc": demo.rnc, "encf": issued["encf"],
            "estadoAprobacion": estado,
        });
        let sent = authority.order("envioaprobacioncomercial", &order).await;
        assert!(sent.contains("<MontoTotal>35400</MontoTotal>"), "{sent}");
        let path = format!("/ecf/{}", issued["public_id"].as_str().unwrap());
        let receipt = demo.get(&path).await.expect(200);
        assert_eq!(receipt["buyer_answer"]["status"], status, "{receipt}");
    }
    let url = format!("{}/_control/exchanged", demo.simulator_url);
    let exchanged = demo.send(Method::GET, &url, None, None).await.expect(200);
    let answers: Vec<_> = exchanged
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["tipo"] == "ACECF")
        .collect();
    assert!(
        answers.len() == 2 && answers.iter().all(|one| one["estado"] == "200"),
        "{answers:?}"
    );
    system.local.shutdown().await;
}

/// The authority's directory in pre-certification contains its own taxpayer.
#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_reaches_the_taxpayer_that_the_authority_plays() {
    let system = System::start().await;
    let demo = &system.caller;
    let base = format!("{}/testecf/emisorreceptor", demo.simulator_url);
    let entry = json!({ "nombre": "DGII", "urlRecepcion": base, "urlAceptacion": base, "urlOpcional": base });
    demo.control(Method::PUT, &format!("directory/{AUTHORITYS_OWN}"), &entry)
        .await;
    let mut sale = payload(&demo.rnc, &demo.today(), "31", 1_000);
    sale["Encabezado"]["Comprador"] = json!({ "RNCComprador": AUTHORITYS_OWN, "RazonSocialComprador": "DGII" });
    let issued = demo.issue("sale", "31", &sale).await.expect(201);
    demo.wait_for_state(&issued, "accepted").await;
    let path = format!("/ecf/{}", issued["public_id"].as_str().unwrap());
    eventually("the acknowledgement", TIME_LIMIT, async || {
        let now = demo.get(&path).await.expect(200);
        (now["buyer_delivery"]["status"] == "received").then_some(())
    })
    .await;
    system.local.shutdown().await;
}
