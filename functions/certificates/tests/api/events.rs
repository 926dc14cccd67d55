//! The invocation payloads in `events/certificates`, through the gateway's adapter: bodies arrive as base64.

use std::{fs, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use ecf_runtime::{LambdaRequest, answer};
use serde_json::{Value, json};

use crate::{Api, fault, is};

async fn invoke(api: &Api, name: &str, change: impl FnOnce(&mut Value)) -> (i64, Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../events/certificates")
        .join(name);
    let mut event: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    event["headers"]["X-API-Key"] = json!(api.company.api_key);
    event["multiValueHeaders"]["X-API-Key"] = json!([api.company.api_key]);
    change(&mut event);
    let event: LambdaRequest = serde_json::from_value(event).unwrap();
    let answer = serde_json::to_value(answer(api.router.clone(), event).await).unwrap();
    let body = answer["body"].as_str().unwrap();
    let body = serde_json::from_str(body).unwrap_or_else(|_| json!(body));
    (answer["statusCode"].as_i64().unwrap(), body)
}

fn as_it_is(_: &mut Value) {}

#[tokio::test]
async fn every_payload_in_the_folder_is_answered() {
    let api = Api::start().await;
    let (status, uploaded) = invoke(&api, "upload.json", as_it_is).await;
    assert_eq!((status, &uploaded["is_active"]), (201, &json!(true)), "{uploaded}");
    let (status, listed) = invoke(&api, "list.json", as_it_is).await;
    assert_eq!((status, &listed[0]["public_id"]), (200, &uploaded["public_id"]));
    let (status, inspected) = invoke(&api, "inspect-p12.json", as_it_is).await;
    assert_eq!(
        (status, &inspected["would_be_taken"]),
        (200, &json!(true)),
        "{inspected}"
    );
    let (status, report) = invoke(&api, "verify-xml.json", as_it_is).await;
    assert_eq!((status, &report["document"]["root"]), (200, &json!("SemillaModel")));
    let (status, _) = invoke(&api, "sign-xml.json", as_it_is).await;
    assert_eq!(status, 200);
}

/// A gateway that is not configured for binary bodies passes them on as text.
#[tokio::test]
async fn a_body_that_the_gateway_made_text_of_is_recognised() {
    let api = Api::start().await;
    let (status, refused) = invoke(&api, "upload.json", |event| {
        let body = BASE64_STANDARD.decode(event["body"].as_str().unwrap()).unwrap();
        event["body"] = json!(String::from_utf8_lossy(&body));
        event["isBase64Encoded"] = json!(false);
    })
    .await;
    assert_eq!(status, 422);
    assert_eq!(fault(&refused), is("body/certificate", "mangled_as_text"));
}
