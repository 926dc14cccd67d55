//! A stranger sends invoices in an issuer's name, before and after the genuine ones. The buyer's ERP can distinguish
//! them.

use ecf_testkit::sign_foreign;
use serde_json::{Value, json};

use crate::exchange::{answer, bakery, delivered, list};
use crate::support::{ApiClient, System, TIME_LIMIT, eventually};

/// The same document with this number and another item, signed with a certificate that anybody can make.
fn twin(genuine: &[u8], encf: &str, its_number: &str) -> Vec<u8> {
    let text = String::from_utf8(genuine.to_vec()).unwrap();
    let (document, signature) = text.split_once("<Signature ").unwrap();
    let after = signature.split_once("</Signature>").unwrap().1;
    let start = document.find("<ECF").unwrap();
    let document = format!("{}{after}", &document[start..]).replace(its_number, encf);
    let name = |text: &str| Some((text.find("<NombreItem>")? + 12, text.find("</NombreItem>")?));
    let (from, to) = name(&document).unwrap();
    let planted = format!("{}Otra cosa{}", &document[..from], &document[to..]);
    sign_foreign(planted.trim_end())
}

async fn inbox(company: &ApiClient) -> Vec<Value> {
    let inbox = company.get("/client/inbox?acked=").await.expect(200);
    inbox["items"].as_array().unwrap().clone()
}

/// The items of a number: those signed with a trusted certificate, and the others.
async fn items_of(company: &ApiClient, encf: &str) -> (Vec<Value>, Vec<Value>) {
    let items = inbox(company).await;
    let items = items.into_iter().filter(|item| item["encf"] == encf);
    items.partition(|item| item["signer_trusted"] == true)
}

/// Waits until the authority has confirmed the genuine item of a number; returns it with the planted one.
async fn confirmed(company: &ApiClient, encf: &str) -> (Value, Option<Value>) {
    eventually("the confirmation", TIME_LIMIT, async || {
        let (genuine, planted) = items_of(company, encf).await;
        let [genuine] = genuine.as_slice() else {
            panic!("{genuine:?}")
        };
        (genuine["authority_state"] == "accepted").then(|| (genuine.clone(), planted.first().cloned()))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn s1_a_planted_invoice_is_never_payable_and_the_genuine_one_never_refused() {
    let system = System::start().await;
    let demo = &system.caller;
    let bakery = bakery(&system).await;
    list(demo).await;
    list(&bakery).await;
    let number = |issued: &Value| issued["encf"].as_str().unwrap().to_owned();

    // Without a stranger.
    let first = delivered(demo, &bakery, "first", 1_000).await;
    let (item, planted) = confirmed(&bakery, &number(&first)).await;
    assert_eq!(
        (&item["signer_speaks_for"], &item["superseded_by"]),
        (&json!("issuer"), &Value::Null)
    );
    assert!(item["authority_checked_at"].is_string() && planted.is_none(), "{item}");
    bakery
        .post("/ecf/acecf/submit", &answer(&item, "first", "1"))
        .await
        .expect(200);

    // Before the genuine invoice: the stranger guesses the next number.
    let next = format!("E31{:010}", number(&first)[3..].parse::<u64>().unwrap() + 1);
    let path = format!("/ecf/{}/xml", first["public_id"].as_str().unwrap());
    let xml = demo.download(&path).await;
    let acknowledged = bakery.be_sent_xml(twin(&xml, &next, &number(&first))).await;
    assert!(acknowledged.contains("<Estado>0</Estado>"), "{acknowledged}");
    let second = delivered(demo, &bakery, "second", 1_000).await;
    assert_eq!(number(&second), next);
    let (item, planted) = confirmed(&bakery, &next).await;
    let planted = planted.unwrap();
    assert_eq!(planted["superseded_by"], item["public_id"], "{planted}");
    assert_ne!(planted["authority_state"], "accepted");
    let approved = bakery
        .post("/ecf/acecf/submit", &answer(&item, "second", "1"))
        .await
        .expect(200);
    assert_eq!(approved["status"], "completed", "{approved}");

    // After the genuine invoice: its number is taken.
    let third = delivered(demo, &bakery, "third", 1_000).await;
    let xml = demo
        .download(&format!("/ecf/{}/xml", third["public_id"].as_str().unwrap()))
        .await;
    let refused = bakery.be_sent_xml(twin(&xml, &number(&third), &number(&third))).await;
    assert!(refused.contains("<CodigoMotivoNoRecibido>3<"), "{refused}");
    let (item, planted) = confirmed(&bakery, &number(&third)).await;
    assert_eq!((planted, &item["superseded_by"]), (None, &Value::Null));

    // The items that may be booked.
    let list = bakery
        .get("/client/inbox?acked=&authority_state=accepted")
        .await
        .expect(200);
    assert_eq!(list["total"], 3, "{list}");
    assert!(
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["signer_trusted"] == true)
    );
}
