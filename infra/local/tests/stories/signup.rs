//! A company signs up with a certificate and issues with its new key.

use ecf_local::RunOptions;
use ecf_testkit::Receiver;
use http::Method;
use serde_json::json;

use crate::payloads::payload;
use crate::support::{System, TIME_LIMIT, eventually, signature};

#[tokio::test(flavor = "multi_thread")]
async fn a_company_signs_up_with_the_printed_certificate_and_issues() {
    let system = System::start().await;
    let demo = &system.caller;
    let request = json!({
        "rnc": "131880681", "name": "Panadería La Espiga SRL", "email": "pan@espiga.example",
        "p12_base64": demo.ready["test_p12"], "pin": demo.ready["test_p12_pin"],
    });
    let url = format!("{}/api/v1/public/register", demo.base_url);
    let registered = demo.send(Method::POST, &url, None, Some(&request)).await.expect(201);
    assert_eq!(registered["api_key"]["only_shown_once"], true);
    assert!(registered["certificate"]["subject_cn"].is_string(), "{registered}");
    let bakery = demo.of_company(registered["api_key"]["key"].as_str().unwrap(), "131880681");

    let sale = payload(&bakery.rnc, &bakery.today(), "31", 1_000);
    let issued = bakery.issue("first sale", "31", &sale).await.expect(201);
    bakery.wait_for_state(&issued, "accepted").await;
    // Another company's receipt with the same idempotency key is a different receipt, and neither company sees the
    // other's.
    let theirs = payload(&demo.rnc, &demo.today(), "31", 1_000);
    let theirs = demo.issue("first sale", "31", &theirs).await.expect(201);
    assert_ne!(theirs["public_id"], issued["public_id"]);
    let foreign = format!("/ecf/{}", issued["public_id"].as_str().unwrap());
    assert_eq!(demo.get(&foreign).await.status, 404);
    demo.wait_for_state(&theirs, "accepted").await;
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b8_the_portal_is_notified_of_a_company_that_signs_up_and_can_check_the_signature() {
    let portal = Receiver::start().await;
    let system = System::with(RunOptions {
        portal: Some(portal.url()),
        ..RunOptions::default()
    })
    .await;
    let demo = &system.caller;
    let request = json!({
        "rnc": "131880681", "name": "Panadería La Espiga SRL", "email": "pan@espiga.example",
        "p12_base64": demo.ready["test_p12"], "pin": demo.ready["test_p12_pin"],
    });
    let url = format!("{}/api/v1/public/register", demo.base_url);
    let registered = demo.send(Method::POST, &url, None, Some(&request)).await.expect(201);

    let notified = eventually("the notification", TIME_LIMIT, async || portal.received().pop()).await;
    let company = notified.json();
    assert_eq!(company["event"], "company.registered");
    assert_eq!(company["public_id"], registered["company"]["public_id"]);
    assert_eq!(
        (&company["rnc"], &company["name"], &company["email"]),
        (&request["rnc"], &request["name"], &request["email"])
    );
    let secret = demo.ready["portal_secret"].as_str().unwrap();
    let expected = signature(secret, &notified.body);
    assert_eq!(notified.header("X-ECF-Signature"), Some(expected.as_str()));
    let text = String::from_utf8_lossy(&notified.body);
    let key = registered["api_key"]["key"].as_str().unwrap();
    assert!(
        !text.contains(key) && !text.contains(demo.ready["test_p12_pin"].as_str().unwrap()),
        "{text}"
    );
    system.local.shutdown().await;
    // One company, one notification; the demo company did not sign up.
    assert_eq!(portal.received().len(), 1);
}
