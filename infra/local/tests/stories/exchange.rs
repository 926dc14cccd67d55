//! Two companies on one system, each the other's buyer: a receipt, its acknowledgement, an approval, a rejection, and
//! an annulment of unused numbers.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ecf_testkit::Receiver;
use http::Method;
use serde_json::{Value, json};
use xmldsig::Limits;

use crate::payloads::payload;
use crate::support::{ApiClient, System, TIME_LIMIT, eventually};

pub(crate) const BAKERY: &str = "131880681";

/// A second company on the demo company's system, verified by its certificate.
pub(crate) async fn bakery(system: &System) -> ApiClient {
    open_bakery(&system.caller, &system.certificate(BAKERY)).await
}

/// Like [`bakery`], with the P12 of its sign-up.
pub(crate) async fn open_bakery(demo: &ApiClient, p12: &[u8]) -> ApiClient {
    let request = json!({
        "rnc": BAKERY, "name": "Panadería La Espiga SRL", "email": "pan@espiga.example",
        "p12_base64": BASE64_STANDARD.encode(p12), "pin": ecf_local::CERTIFICATE_PIN,
    });
    let url = format!("{}/api/v1/public/register", demo.base_url);
    let registered = demo.send(Method::POST, &url, None, Some(&request)).await.expect(201);
    demo.of_company(registered["api_key"]["key"].as_str().unwrap(), BAKERY)
}

/// Lists a company in the directory at its published URL.
pub(crate) async fn list(company: &ApiClient) {
    let base = format!("{}/{}/testecf", company.base_url, company.rnc);
    let entry = json!({ "nombre": "X", "urlRecepcion": base, "urlAceptacion": base, "urlOpcional": base });
    company
        .control(Method::PUT, &format!("directory/{}", company.rnc), &entry)
        .await;
}

pub(crate) fn sale(from: &ApiClient, to: &ApiClient, pesos: u32) -> Value {
    let mut payload = payload(&from.rnc, &from.today(), "31", pesos);
    payload["Encabezado"]["Comprador"] = json!({ "RNCComprador": to.rnc, "RazonSocialComprador": "CLIENTE" });
    payload
}

/// Issues a receipt and waits until its buyer has acknowledged it.
pub(crate) async fn delivered(from: &ApiClient, to: &ApiClient, key: &str, pesos: u32) -> Value {
    let issued = from.issue(key, "31", &sale(from, to, pesos)).await.expect(201);
    from.wait_for_state(&issued, "accepted").await;
    let path = format!("/ecf/{}", issued["public_id"].as_str().unwrap());
    eventually("the acknowledgement", TIME_LIMIT, async || {
        let now = from.get(&path).await.expect(200);
        let status = now["buyer_delivery"]["status"].as_str().unwrap_or("pending").to_owned();
        assert!(["pending", "received"].contains(&status.as_str()), "{now}");
        (status == "received").then_some(now)
    })
    .await
}

/// The buyer's approval or rejection of a receipt in its inbox.
pub(crate) fn answer(item: &Value, key: &str, estado: &str) -> Value {
    let mut body = json!({
        "idempotency_key": key, "encf": item["encf"], "rnc_emisor": item["rnc_emisor"],
        "rnc_comprador": item["rnc_comprador"], "fecha_emision": item["fecha_emision"], "monto_total": item["monto_total"],
        "estado": estado,
    });
    if estado == "2" {
        body["detalle_motivo_rechazo"] = json!("Falta la mitad");
    }
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn two_companies_send_each_other_receipts_and_say_what_they_think_of_them() {
    let system = System::start().await;
    let demo = &system.caller;
    let bakery = bakery(&system).await;
    list(demo).await;
    list(&bakery).await;
    let receiver = Receiver::start().await;
    let hook = json!({ "url": receiver.url(), "events": ["approval.received"] });
    demo.post("/client/webhooks", &hook).await.expect(201);

    // A issues to B: B's inbox shows the receipt, and A stores B's acknowledgement.
    let first = delivered(demo, &bakery, "first", 1_000).await;
    let inbox = bakery.get("/client/inbox").await.expect(200);
    assert_eq!(
        (&inbox["total"], &inbox["items"][0]["encf"]),
        (&json!(1), &first["encf"])
    );
    let item = inbox["items"][0].clone();
    assert_eq!((&item["rnc_emisor"], &item["answer"]), (&json!(demo.rnc), &Value::Null));
    let id = first["public_id"].as_str().unwrap();
    let arecf = demo.download(&format!("/client/documents/{id}/artifacts/arecf")).await;
    assert!(xmldsig::verify(&arecf, &Limits::default()).is_ok());
    let inbox_id = item["public_id"].as_str().unwrap();
    assert_eq!(bakery.download(&format!("/client/inbox/{inbox_id}/arecf")).await, arecf);
    assert_eq!(
        bakery.download(&format!("/client/inbox/{inbox_id}/xml")).await,
        demo.download(&format!("/ecf/{id}/xml")).await
    );

    // B approves: A's receipt shows it, and the authority has it. A replay with the same key returns the same response.
    let body = answer(&item, "yes", "1");
    let approved = bakery.post("/ecf/acecf/submit", &body).await.expect(200);
    assert_eq!(approved["status"], "completed", "{approved}");
    assert_eq!(approved["dgii_response"]["codigo"], "1", "{approved}");
    assert_eq!(bakery.post("/eCF/acecf/submit", &body).await.expect(200), approved);
    let shown = format!("/ecf/acecf/{}", approved["public_id"].as_str().unwrap());
    assert_eq!(bakery.get(&shown).await.expect(200), approved);
    assert_eq!(demo.get(&shown).await.status, 404);
    let kept = demo.get(&format!("/ecf/{id}")).await.expect(200);
    assert_eq!(kept["buyer_answer"]["status"], "approved", "{kept}");
    let at = &kept["buyer_answer"]["received_at"];
    let approved = json!({ "name": "buyer_approved", "event": "approval.received", "at": at });
    assert_eq!(kept["stages"], json!([approved]));
    assert_eq!((&kept["status"], &kept["encf"]), (&first["status"], &first["encf"]));
    let known = demo.documents(&first).await;
    let kinds: Vec<_> = known
        .iter()
        .map(|one| (one["kind"].clone(), one["codigo"].clone()))
        .collect();
    assert!(kinds.contains(&(json!("ACECF"), json!(1))), "{known:?}");
    // An approval or rejection is final.
    let refused = bakery
        .post("/ecf/acecf/submit", &answer(&item, "no", "2"))
        .await
        .expect(409);
    assert_eq!(refused["detail"]["code"], "answered_already");
    let inbox = bakery.get("/client/inbox").await.expect(200);
    assert_eq!(inbox["items"][0]["answer"], "approved");

    // B rejects another receipt: A sees the reason and gets the webhook.
    let second = delivered(demo, &bakery, "second", 2_000).await;
    let inbox = bakery.get("/client/inbox?limit=1").await.expect(200);
    let rejected = answer(&inbox["items"][0], "rejected", "2");
    let rejected = bakery.post("/ecf/acecf/submit", &rejected).await.expect(200);
    assert_eq!(rejected["status"], "completed", "{rejected}");
    let path = format!("/ecf/{}", second["public_id"].as_str().unwrap());
    let kept = demo.get(&path).await.expect(200);
    assert_eq!(
        (&kept["buyer_answer"]["status"], &kept["buyer_answer"]["reason"]),
        (&json!("rejected"), &json!("Falta la mitad"))
    );
    let told = receiver.wait_for(2).await;
    let news = told[1].json();
    assert_eq!(
        (&news["event"], &news["buyer_status"], &news["reason"]),
        (
            &json!("approval.received"),
            &json!("rejected"),
            &json!("Falta la mitad")
        )
    );

    // The other direction.
    let back = delivered(&bakery, demo, "back", 500).await;
    let inbox = demo.get("/client/inbox").await.expect(200);
    assert_eq!(
        (&inbox["total"], &inbox["items"][0]["encf"]),
        (&json!(1), &back["encf"])
    );
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn annulled_numbers_go_to_no_receipt_and_the_authority_knows_them() {
    let system = System::start().await;
    let demo = &system.caller;
    let issue = async |key: &str| {
        let body = payload(&demo.rnc, &demo.today(), "31", 1_000);
        demo.issue(key, "31", &body).await.expect(201)
    };
    let before = issue("before").await;
    let sequence: u64 = before["encf"].as_str().unwrap()[3..].parse().unwrap();
    let (from, to) = (sequence + 1, sequence + 5);
    let body = json!({
        "idempotency_key": "void", "cancellations": [{ "ecf_type": "31", "sequence_from": from, "sequence_to": to, "quantity": 5 }],
    });
    let annulled = demo.post("/ecf/cancellations", &body).await.expect(200);
    assert_eq!(
        (&annulled["status"], &annulled["quantity"]),
        (&json!("accepted"), &json!(5)),
        "{annulled}"
    );
    assert_eq!(demo.post("/eCF/cancellations", &body).await.expect(200), annulled);
    let shown = format!("/ecf/cancellations/{}", annulled["public_id"].as_str().unwrap());
    assert_eq!(demo.get(&shown).await.expect(200), annulled);

    // The next receipt skips the annulled numbers, and stating one of them is rejected.
    let after = issue("after").await;
    assert_eq!(after["encf"].as_str().unwrap()[3..].parse::<u64>().unwrap(), to + 1);
    // A used or annulled number cannot be annulled.
    for (key, number) in [("used", sequence), ("twice", from)] {
        let body = json!({ "idempotency_key": key, "cancellations": [{ "ecf_type": "31", "sequence_from": number, "sequence_to": number, "quantity": 1 }] });
        let refused = demo.post("/ecf/cancellations", &body).await.expect(409);
        assert_eq!(refused["detail"]["code"], "numbers_used", "{refused}");
    }
    system.local.shutdown().await;
}
