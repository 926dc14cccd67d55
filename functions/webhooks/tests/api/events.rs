//! The invocation payloads in `events/webhooks`, through the gateway's adapter.

use std::{fs, path::Path};

use ecf_runtime::{LambdaRequest, answer};
use serde_json::{Value, json};

use crate::{Api, WEBHOOKS};

/// Status and body of the response to the gateway.
async fn invoke(api: &Api, name: &str, path: Option<String>) -> (i64, Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../events/webhooks")
        .join(name);
    let mut event: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    event["headers"]["X-API-Key"] = json!(api.company.api_key);
    event["multiValueHeaders"]["X-API-Key"] = json!([api.company.api_key]);
    if let Some(path) = path {
        event["path"] = json!(path);
    }
    let event: LambdaRequest = serde_json::from_value(event).unwrap();
    let answer = serde_json::to_value(answer(api.router.clone(), event).await).unwrap();
    let body = serde_json::from_str(answer["body"].as_str().unwrap_or_default()).unwrap_or_default();
    (answer["statusCode"].as_i64().unwrap(), body)
}

#[tokio::test]
async fn every_payload_in_the_folder_is_answered() {
    // The host is reserved for examples and does not resolve; creating does not resolve it.
    let api = Api::start().await;
    let (status, created) = invoke(&api, "create.json", None).await;
    assert_eq!(status, 201, "{created}");
    let (status, listed) = invoke(&api, "list.json", None).await;
    assert_eq!((status, &listed[0]["public_id"]), (200, &created["public_id"]));
    let one = format!("{WEBHOOKS}/{}", created["public_id"].as_str().unwrap());
    let (status, page) = invoke(&api, "deliveries.json", Some(format!("{one}/deliveries"))).await;
    assert_eq!(status, 200);
    assert_eq!(page, json!({ "items": [], "total": 0, "limit": 20, "offset": 0 }));
    for (name, path, expected) in [
        ("show.json", one.clone(), 200),
        ("update.json", one.clone(), 200),
        ("rotate-secret.json", format!("{one}/rotate-secret"), 200),
        ("redeliver.json", format!("{one}/deliveries/4096/redeliver"), 404),
        ("delete.json", one, 204),
    ] {
        let (status, body) = invoke(&api, name, Some(path)).await;
        assert_eq!(status, expected, "{name}: {body}");
    }
    api.stack.leave_messages();
}
