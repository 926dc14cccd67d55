//! The invocation payloads in `events/documents`, through the gateway's adapter.

use std::{fs, path::Path};

use ecf_runtime::{LambdaRequest, answer};
use serde_json::{Value, json};

use crate::{Api, path_of};

/// The response to the gateway, for another path than the payload's.
async fn invoke(api: &Api, name: &str, path: Option<String>) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events/documents");
    let mut event: Value = serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap();
    event["headers"]["X-API-Key"] = json!(api.company.api_key);
    event["multiValueHeaders"]["X-API-Key"] = json!([api.company.api_key]);
    if let Some(path) = path {
        event["path"] = json!(path);
    }
    let event: LambdaRequest = serde_json::from_value(event).unwrap();
    serde_json::to_value(answer(api.router.clone(), event).await).unwrap()
}

#[tokio::test]
async fn every_payload_in_the_folder_is_answered() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    api.accept(&receipt).await;
    let path = path_of(&receipt);
    let body = |answer: Value| -> Value { serde_json::from_str(answer["body"].as_str().unwrap()).unwrap() };
    let list = body(invoke(&api, "list.json", None).await);
    assert_eq!((&list["total"], &list["limit"]), (&json!(1), &json!(20)), "{list}");
    // The ids in the payloads are unknown here, so the path names an existing receipt.
    let mut show = body(invoke(&api, "show.json", Some(path.clone())).await);
    for name in ["history", "payload"] {
        assert!(show.as_object_mut().unwrap().remove(name).is_some());
    }
    assert_eq!(show, list["items"][0]);
    let artifacts = body(invoke(&api, "artifacts.json", Some(format!("{path}/artifacts"))).await);
    assert_eq!(artifacts, show["artifacts"]);
    let file = invoke(&api, "download.json", Some(format!("{path}/artifacts/signed-xml"))).await;
    assert_eq!(
        (&file["statusCode"], &file["multiValueHeaders"]["content-type"]),
        (&json!(200), &json!(["application/xml"]))
    );
    let summary = api.receipt("E320000000001").await;
    for (file, content_type) in [
        ("xml", "application/xml"),
        ("rfce", "application/xml"),
        ("pdf", "application/pdf"),
    ] {
        let path = format!("/api/v1/ecf/{}/{file}", summary.public_id);
        let answer = invoke(&api, &format!("{file}.json"), Some(path)).await;
        assert_eq!(
            (&answer["statusCode"], &answer["multiValueHeaders"]["content-type"]),
            (&json!(200), &json!([content_type])),
            "{file}"
        );
    }
}
