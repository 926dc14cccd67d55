//! The invocation payloads in `events/reception`, through the gateway's adapter.

use std::{fs, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use ecf_runtime::{LambdaRequest, answer};

use crate::Api;

/// Status and body: XML leaves the gateway byte for byte.
async fn invoke(api: &Api, name: &str) -> (i64, String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../events/reception")
        .join(name);
    let event: LambdaRequest = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let answer = serde_json::to_value(answer(api.router.clone(), event).await).unwrap();
    let body = answer["body"].as_str().unwrap();
    let body = match answer["isBase64Encoded"].as_bool() {
        Some(true) => String::from_utf8(BASE64_STANDARD.decode(body).unwrap()).unwrap(),
        _ => body.to_owned(),
    };
    (answer["statusCode"].as_i64().unwrap(), body)
}

#[tokio::test]
async fn every_payload_in_the_folder_is_answered() {
    let api = Api::start().await;
    let (status, seed) = invoke(&api, "seed.json").await;
    assert_eq!(status, 200);
    assert!(seed.starts_with("<SemillaModel><valor>"), "{seed}");
    // The document consists of a heading only.
    let (status, arecf) = invoke(&api, "ecf.json").await;
    assert_eq!(status, 200, "{arecf}");
    assert!(
        arecf.contains("<Estado>1</Estado><CodigoMotivoNoRecibido>1<"),
        "{arecf}"
    );
    // The approval is not signed.
    let (status, refused) = invoke(&api, "acecf.json").await;
    assert_eq!(status, 400, "{refused}");
    assert!(refused.contains("\"signature\""), "{refused}");
}
