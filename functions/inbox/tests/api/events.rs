//! The invocation payloads in `events/inbox`, through the gateway's adapter.

use std::{fs, path::Path};

use ecf_runtime::{LambdaRequest, answer};
use serde_json::{Value, json};

use crate::{Api, INBOX};

async fn invoke(api: &Api, name: &str, id: &str) -> i64 {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../events/inbox")
        .join(format!("{name}.json"));
    let mut event: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    event["headers"]["X-API-Key"] = json!(api.company.api_key);
    event["multiValueHeaders"]["X-API-Key"] = json!([api.company.api_key]);
    if name != "list" {
        event["path"] = json!(format!("{INBOX}/{id}/{name}"));
    }
    let event: LambdaRequest = serde_json::from_value(event).unwrap();
    answer(api.router.clone(), event).await.status_code
}

#[tokio::test]
async fn every_payload_in_the_folder_is_answered() {
    let api = Api::start().await;
    let id = api.receive("E310000000001").await.id.to_string();
    for name in ["list", "ack", "xml", "arecf", "pdf"] {
        assert_eq!(invoke(&api, name, &id).await, 200, "{name}");
    }
}
