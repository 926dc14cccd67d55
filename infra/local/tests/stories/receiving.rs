//! Another issuer sends receipts to the demo company.

use ecf_testkit::Receiver;
use serde_json::json;
use xmldsig::Limits;

use crate::support::{System, TIME_LIMIT, eventually, signature};

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_that_arrives_is_acknowledged_told_read_and_taken_over() {
    let system = System::start().await;
    let (caller, receiver) = (&system.caller, Receiver::start().await);
    let hook = json!({ "url": receiver.url(), "events": ["inbox.received"] });
    let secret = caller.post("/client/webhooks", &hook).await.expect(201)["secret"].clone();

    let arecf = caller.be_sent("E310000000007").await;
    assert!(xmldsig::verify(&arecf, &Limits::default()).is_ok());
    assert!(String::from_utf8_lossy(&arecf).contains("<Estado>0</Estado>"));
    let again = caller.be_sent("E310000000007").await;
    assert!(String::from_utf8_lossy(&again).contains("<CodigoMotivoNoRecibido>3<"));

    let told = eventually("the news of it", TIME_LIMIT, async || receiver.received().pop()).await;
    let secret = secret.as_str().unwrap();
    assert_eq!(
        told.header("X-ECF-Signature"),
        Some(signature(secret, &told.body).as_str())
    );
    let news = told.json();
    assert_eq!(
        (&news["event"], &news["encf"]),
        (&json!("inbox.received"), &json!("E310000000007"))
    );

    let inbox = caller.get("/client/inbox?acked=false").await.expect(200);
    assert_eq!(inbox["total"], 1, "{inbox}");
    let id = inbox["items"][0]["public_id"].as_str().unwrap();
    assert_eq!(news["inbox_id"], id);
    let xml = caller.download(&format!("/client/inbox/{id}/xml")).await;
    assert!(xmldsig::verify(&xml, &Limits::default()).is_ok());
    assert_eq!(caller.download(&format!("/client/inbox/{id}/arecf")).await, arecf);
    caller
        .post(&format!("/client/inbox/{id}/ack"), &json!({}))
        .await
        .expect(200);
    assert_eq!(caller.get("/client/inbox?acked=false").await.expect(200)["total"], 0);
    assert_eq!(caller.get("/client/inbox").await.expect(200)["total"], 0);
    let both = caller.get("/client/inbox?acked=").await.expect(200);
    assert_eq!(both["items"][0]["acked"], true);
    system.local.shutdown().await;
    assert_eq!(receiver.received().len(), 1);
}
