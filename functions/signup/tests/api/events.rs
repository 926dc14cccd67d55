//! The invocation payload in `events/signup`, through the gateway's adapter.

use std::{fs, path::Path};

use ecf_runtime::{LambdaRequest, answer};
use serde_json::Value;

use crate::{Api, key_of};

#[tokio::test]
async fn the_payload_in_the_folder_signs_up() {
    let api = Api::start().await;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events/signup/register.json");
    let event: LambdaRequest = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let answer = serde_json::to_value(answer(api.router.clone(), event).await).unwrap();
    assert_eq!(answer["statusCode"], 201, "{answer}");
    let registered: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
    assert!(api.opened_by(key_of(&registered)).await.is_some());
}
