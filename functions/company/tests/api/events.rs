//! The invocation payloads in `events/company`, through the gateway's adapter.

use std::{fs, path::Path};

use ecf_runtime::{LambdaRequest, answer};
use serde_json::{Value, json};

use crate::Api;

/// Status and body of the response to the gateway.
async fn invoke(api: &Api, name: &str) -> (i64, Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../events/company")
        .join(name);
    let mut event: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    event["headers"]["X-API-Key"] = json!(api.company.api_key);
    event["multiValueHeaders"]["X-API-Key"] = json!([api.company.api_key]);
    let event: LambdaRequest = serde_json::from_value(event).unwrap();
    let answer = serde_json::to_value(answer(api.router.clone(), event).await).unwrap();
    let body = answer["body"].as_str().unwrap_or_default();
    let body = serde_json::from_str(body).unwrap_or_default();
    (answer["statusCode"].as_i64().unwrap(), body)
}

#[tokio::test]
async fn every_payload_in_the_folder_is_answered() {
    let api = Api::start().await;
    let (status, shown) = invoke(&api, "show.json").await;
    assert_eq!((status, &shown["rnc"]), (200, &json!(ecf_testkit::RNC)), "{shown}");
    let (status, opened) = invoke(&api, "open-sequence.json").await;
    assert_eq!((status, &opened["public_id"]), (201, &json!("31-20000001")), "{opened}");
    let (status, listed) = invoke(&api, "sequences.json").await;
    assert_eq!((status, &listed["items"]), (200, &json!([opened])));
    let (status, changed) = invoke(&api, "change-sequence.json").await;
    assert_eq!(
        (status, &changed["detail"]["code"]),
        (404, &json!("not_found")),
        "{changed}"
    );
    let (status, changed) = invoke(&api, "update.json").await;
    assert_eq!(
        (status, &changed["settings"]["hold_notes_hours"]),
        (200, &json!(24)),
        "{changed}"
    );
    let (status, made) = invoke(&api, "create-api-key.json").await;
    assert_eq!((status, &made["name"]), (201, &json!("caja 1")), "{made}");
    let (status, listed) = invoke(&api, "list-api-keys.json").await;
    assert_eq!((status, listed.as_array().map(Vec::len)), (200, Some(2)), "{listed}");
    let (status, summary) = invoke(&api, "summary.json").await;
    assert_eq!((status, &summary["environment"]), (200, &json!("TesteCF")), "{summary}");
    let (status, design) = invoke(&api, "change-design.json").await;
    assert_eq!((status, &design["color"]), (200, &json!("#1f3a5f")), "{design}");
    assert_eq!(invoke(&api, "logo.json").await.0, 404);
    let (status, design) = invoke(&api, "put-logo.json").await;
    assert_eq!(
        (status, &design["logo"]["content_type"]),
        (200, &json!("image/png")),
        "{design}"
    );
    assert_eq!(invoke(&api, "logo.json").await.0, 200);
    assert_eq!(invoke(&api, "show-design.json").await, (200, design));
    let (status, design) = invoke(&api, "delete-logo.json").await;
    assert_eq!((status, &design["logo"]), (200, &json!(null)), "{design}");
    // The id in the payload is unknown.
    assert_eq!(invoke(&api, "revoke-api-key.json").await.0, 404);
    // The key of the payload belongs to TesteCF.
    for name in ["begin-attempt.json", "attempts.json"] {
        let (status, refused) = invoke(&api, name).await;
        assert_eq!(
            (status, &refused["detail"]["code"]),
            (409, &json!("certification_only")),
            "{refused}"
        );
    }
}
