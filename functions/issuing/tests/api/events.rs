//! The invocation payloads in `events/issuing`, through the gateway's adapter.

use std::{fs, path::Path};

use ecf_runtime::{LambdaRequest, answer};
use serde_json::{Value, json};

use crate::Api;

/// An invocation payload, with the company's key in it.
fn event(api: &Api, name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events/issuing");
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let mut event: Value = serde_json::from_str(&text).unwrap();
    assert!(
        event["headers"]["X-API-Key"].is_string(),
        "{name} shows where the key goes"
    );
    event["headers"]["X-API-Key"] = json!(api.company.api_key);
    event["multiValueHeaders"]["X-API-Key"] = json!([api.company.api_key]);
    event
}

/// Status and body of the response to the gateway.
async fn invoke(api: &Api, event: Value) -> (i64, Value) {
    let event: LambdaRequest = serde_json::from_value(event).unwrap();
    let answer = serde_json::to_value(answer(api.router.clone(), event).await).unwrap();
    let body = answer["body"].as_str().unwrap();
    assert_eq!(answer["isBase64Encoded"], false, "JSON goes out as text");
    (
        answer["statusCode"].as_i64().unwrap(),
        serde_json::from_str(body).unwrap(),
    )
}

#[tokio::test]
async fn every_payload_in_the_folder_is_answered() {
    let api = Api::start().await;
    let (status, invoice) = invoke(&api, event(&api, "issue-31.json")).await;
    assert_eq!((status, &invoice["encf"]), (201, &json!("E310005000000")), "{invoice}");
    let (status, summary) = invoke(&api, event(&api, "issue-32-summary.json")).await;
    assert_eq!((status, &summary["encf"]), (201, &json!("E320005000000")), "{summary}");
    let (status, batch) = invoke(&api, event(&api, "batch.json")).await;
    assert_eq!(
        (status, &batch["items"][1]["status_code"]),
        (200, &json!(201)),
        "{batch}"
    );
    let (status, contract) = invoke(&api, event(&api, "states.json")).await;
    assert_eq!(status, 200);
    assert!(contract["states"].is_array());
    // The receipt in the payload is unknown here, so the path names an existing one.
    let mut read = event(&api, "get.json");
    read["path"] = json!(format!("/api/v1/ecf/{}", invoice["public_id"].as_str().unwrap()));
    let (status, found) = invoke(&api, read).await;
    assert_eq!((status, &found), (200, &invoice));
    let (status, list) = invoke(&api, event(&api, "list.json")).await;
    assert_eq!((status, &list["items"], &list["limit"]), (200, &json!([]), &json!(20)));
    let (status, _) = invoke(&api, event(&api, "status-public.json")).await;
    assert_eq!(status, 404);
    // The same for these: the first is cancelled, the second was signed and cannot be marked.
    let mut cancel = event(&api, "cancel.json");
    cancel["path"] = json!(format!("/api/v1/ecf/{}/cancel", invoice["public_id"].as_str().unwrap()));
    let (status, cancelled) = invoke(&api, cancel).await;
    assert_eq!((status, &cancelled["status"]), (200, &json!("cancelled")));
    let mut incapacity = event(&api, "mark-incapacity.json");
    incapacity["path"] = json!(format!(
        "/api/v1/ecf/{}/mark-incapacity",
        summary["public_id"].as_str().unwrap()
    ));
    assert_eq!(invoke(&api, incapacity).await.0, 409);
    api.jobs().await;

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events/issuing");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "batch.json",
            "cancel.json",
            "get.json",
            "issue-31.json",
            "issue-32-summary.json",
            "list.json",
            "mark-incapacity.json",
            "states.json",
            "status-public.json",
        ]
    );
}
