//! The invocation payloads in `events/certification` and `events/certification-worker`.

use std::{fs, path::Path};

use ecf_runtime::{LambdaRequest, answer};
use serde_json::{Value, json};

use crate::{World, small};

fn event(name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../events/{name}.json"));
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[tokio::test]
async fn every_payload_in_the_folder_is_answered() {
    let world = World::start().await;
    // The payload has another key, so its workbook is read.
    let begun = world.begin("before", &small(), None).await.expect(201);
    let id = begun["run_id"].as_str().unwrap();
    for (name, status) in [
        ("begin", 422),
        ("simulate", 422),
        ("simulate-from-receipts", 422),
        ("list", 200),
        ("show", 200),
        ("continue", 409),
        ("confirm-uploads", 409),
        ("files", 409),
        ("abandon", 200),
    ] {
        let mut event = event(&format!("certification/{name}"));
        event["headers"]["X-API-Key"] = json!(world.company.api_key);
        event["multiValueHeaders"]["X-API-Key"] = json!([world.company.api_key]);
        let path = event["path"]
            .as_str()
            .unwrap()
            .replace("4h7s2v9x1c5m8r3w6tq0y2kabdefgjnp", id);
        event["path"] = json!(path);
        let event: LambdaRequest = serde_json::from_value(event).unwrap();
        assert_eq!(answer(world.router.clone(), event).await.status_code, status, "{name}");
    }
    let job = event("certification-worker/run")["Records"][0]["body"]
        .as_str()
        .unwrap()
        .to_owned();
    world.work(&job).await;
    world.step().await;
}
