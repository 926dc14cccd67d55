//! The invocation payloads in `events/audit-export`, through the gateway's adapter.

use std::{fs, path::Path};

use ecf_runtime::LambdaRequest;
use futures::StreamExt as _;
use serde_json::{Value, json};

use crate::{Api, Archive};

#[tokio::test]
async fn the_payload_in_the_folder_is_answered_in_a_stream() {
    let api = Api::start().await;
    api.receipt("E310000000001").await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events/audit-export");
    let mut event: Value = serde_json::from_str(&fs::read_to_string(folder.join("export.json")).unwrap()).unwrap();
    event["headers"]["X-API-Key"] = json!(api.company.api_key);
    event["multiValueHeaders"]["X-API-Key"] = json!([api.company.api_key]);
    let event: LambdaRequest = serde_json::from_value(event).unwrap();
    let answer = ecf_runtime::stream(api.router.clone(), event).await;
    let head = answer.metadata_prelude;
    assert_eq!(
        (
            head.status_code.as_u16(),
            head.headers["content-type"].to_str().unwrap()
        ),
        (200, "application/zip")
    );
    assert_eq!(
        head.headers["content-disposition"],
        "attachment; filename=\"evidencia-130000001-TesteCF-2026-11-01-2026-11-30.zip\""
    );
    let pieces: Vec<_> = answer.stream.map(Result::unwrap).collect().await;
    let archive = Archive::read(&pieces.concat());
    assert_eq!(archive.manifest["date_from"], "2026-11-01T04:00:00Z");
    assert_eq!(archive.manifest["receipts"], 1);
}
