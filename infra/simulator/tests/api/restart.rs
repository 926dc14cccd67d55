//! A restarted simulator has the state of its predecessor.

use http::Method;
use serde_json::json;

use crate::{
    documents::invoice,
    signer::sign,
    support::{Authority, DELAY, outcome},
};

const ENCF: &str = "E310000000001";

#[tokio::test]
async fn track_ids_verdicts_tokens_settings_and_faults_survive() {
    let folder = tempfile::tempdir().unwrap();
    let data = Some(folder.path().to_owned());
    let before = Authority::with_data(data.clone());
    let token = before.token("testecf").await;
    before.control(Method::PUT, "shapes", json!({ "observed": true })).await;
    before
        .order_fault(json!({ "service": "consultaestado", "fault": "status", "status": 503, "times": 2 }))
        .await;
    let path = "/testecf/consultaestado/api/consultas/estado";
    assert_eq!(before.get(path, Some(&token)).await.status, 503);
    let track_id = before.receive(&token, ENCF, &sign(&invoice(ENCF))).await;
    assert_eq!(before.result(&token, &track_id).await["codigo"], "3");
    // Nothing is closed or flushed: the first simulator simply gets no further request.

    let after = Authority::with_data(data);
    assert_eq!(after.result(&token, &track_id).await["codigo"], "3");
    assert_eq!(
        after.get(path, Some(&token)).await.status,
        503,
        "the second of two times"
    );
    assert_eq!(after.get(path, Some(&token)).await.status, 400, "no parameters");
    after.advance(DELAY);
    assert_eq!(after.result(&token, &track_id).await["codigo"], "1");
    let again = after.verdict(&token, ENCF, &invoice(ENCF)).await;
    assert_eq!(outcome(&again), json!(["2", true, [1209]]));
}
