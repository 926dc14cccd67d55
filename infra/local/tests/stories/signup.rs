//! A company signs up with a certificate and issues with the key that it got.

use http::Method;
use serde_json::json;

use crate::payloads::payload;
use crate::support::System;

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
    // The same idempotency key of another company is another receipt, and neither sees the other's.
    let theirs = payload(&demo.rnc, &demo.today(), "31", 1_000);
    let theirs = demo.issue("first sale", "31", &theirs).await.expect(201);
    assert_ne!(theirs["public_id"], issued["public_id"]);
    let foreign = format!("/ecf/{}", issued["public_id"].as_str().unwrap());
    assert_eq!(demo.get(&foreign).await.status, 404);
    demo.wait_for_state(&theirs, "accepted").await;
    system.local.shutdown().await;
}
