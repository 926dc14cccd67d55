//! The payloads in `events/`, each passed to its function like an invocation by Lambda.

use std::fs;
use std::path::Path;

use ecf_local::{Mounted, mount};
use ecf_runtime::LambdaRequest;
use ecf_stack::Stack;
use ecf_testkit::TestStack;
use serde_json::{Value, json};

use crate::support::System;

const EVENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../events");

/// The status of each request. The ids in the payloads do not exist, so reading them finds nothing.
const ANSWERS: &[(&str, i64)] = &[
    ("approvals/cancel.json", 200),
    ("approvals/inbound.json", 422),
    ("approvals/list.json", 200),
    ("approvals/outbound.json", 422),
    ("approvals/show-cancellation.json", 404),
    ("approvals/show.json", 404),
    ("approvals/submit.json", 409),
    ("audit-export/export.json", 200),
    ("certificates/inspect-p12.json", 200),
    ("certificates/list.json", 200),
    ("certificates/sign-xml.json", 200),
    ("certificates/upload.json", 201),
    ("certificates/verify-xml.json", 200),
    ("certification/abandon.json", 404),
    ("certification/begin.json", 422),
    ("certification/confirm-uploads.json", 404),
    ("certification/continue.json", 404),
    ("certification/files.json", 404),
    ("certification/list.json", 200),
    ("certification/show.json", 404),
    ("certification/simulate-from-receipts.json", 422),
    ("certification/simulate.json", 422),
    ("company/attempts.json", 409),
    ("company/begin-attempt.json", 409),
    ("company/change-design.json", 200),
    ("company/change-sequence.json", 200),
    ("company/create-api-key.json", 201),
    ("company/delete-logo.json", 200),
    ("company/list-api-keys.json", 200),
    ("company/logo.json", 404),
    ("company/open-sequence.json", 201),
    ("company/put-logo.json", 200),
    ("company/revoke-api-key.json", 404),
    ("company/sequences.json", 200),
    ("company/show-design.json", 200),
    ("company/show.json", 200),
    ("company/summary.json", 200),
    ("company/update.json", 200),
    ("directory/look-up.json", 503),
    ("documents/artifacts.json", 404),
    ("documents/download.json", 404),
    ("documents/list.json", 200),
    ("documents/pdf.json", 404),
    ("documents/rfce.json", 404),
    ("documents/show.json", 404),
    ("documents/xml.json", 404),
    ("inbox/ack.json", 404),
    ("inbox/arecf.json", 404),
    ("inbox/list.json", 200),
    ("inbox/pdf.json", 404),
    ("inbox/xml.json", 404),
    ("issuing/batch.json", 200),
    ("issuing/cancel.json", 404),
    ("issuing/get.json", 404),
    ("issuing/issue-31.json", 201),
    ("issuing/issue-32-summary.json", 201),
    ("issuing/list.json", 200),
    ("issuing/mark-incapacity.json", 404),
    ("issuing/states.json", 200),
    ("issuing/status-public.json", 404),
    ("pages/console.json", 200),
    ("pages/openapi.json", 200),
    ("pages/reference.json", 200),
    ("reception/acecf.json", 404),
    ("reception/ecf.json", 404),
    ("reception/seed.json", 200),
    ("signup/register.json", 201),
    ("status/catalogue.json", 200),
    ("status/health.json", 200),
    ("status/maintenance.json", 200),
    ("status/notice-changes.json", 200),
    ("status/notice.json", 404),
    ("status/rnc.json", 503),
    ("webhooks/create.json", 201),
    ("webhooks/delete.json", 404),
    ("webhooks/deliveries.json", 404),
    ("webhooks/list.json", 200),
    ("webhooks/redeliver.json", 404),
    ("webhooks/rotate-secret.json", 404),
    ("webhooks/show.json", 404),
    ("webhooks/update.json", 404),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_event_is_taken_by_its_function() {
    // An unused port: calls to the tax authority report that it is unavailable.
    let nobody = ["TaxauthEcfUrl", "TaxauthFcUrl"].map(|name| (name, "http://127.0.0.1:9"));
    let stack = TestStack::with_parameters(&nobody).await;
    let company = stack.company().await;
    let template = Stack::embedded(std::collections::BTreeMap::new()).unwrap();
    let mut requests = Vec::new();
    for function in &template.functions {
        let name = &function.name;
        let mounted = mount(name, &stack.env(name), &stack.clients_of(name), stack.clock().clone()).unwrap();
        for (file, event) in events_of(name) {
            match &mounted {
                Mounted::Http(router) => {
                    let event: LambdaRequest = serde_json::from_value(with_key(event, &company.api_key)).unwrap();
                    let answer = ecf_runtime::answer(router.clone(), event).await;
                    requests.push((file, answer.status_code));
                }
                Mounted::Queue(worker) => {
                    let answer = worker(serde_json::from_value(event).unwrap()).await;
                    // One message of a partial batch is not a job of ours.
                    let failing = usize::from(file.ends_with("partial.json"));
                    assert_eq!(answer.batch_item_failures.len(), failing, "{file}: {answer:?}");
                }
                Mounted::Invoked(command) => {
                    let answer = command(event).await;
                    let code = answer["error"]["code"].as_str();
                    // The ids do not exist here.
                    assert!(matches!(code, None | Some("not_found")), "{file}: {answer}");
                }
                Mounted::Timed(run) => {
                    assert_eq!(event["detail-type"], "Scheduled Event", "{file}");
                    run().await.unwrap();
                }
            }
        }
    }
    stack.leave_messages();
    requests.sort();
    let requests: Vec<_> = requests.iter().map(|(file, status)| (file.as_str(), *status)).collect();
    assert_eq!(requests, ANSWERS);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_in_the_payloads_opens_the_demo_company_of_the_local_system() {
    let system = System::start().await;
    let (_, event) = events_of("issuing").pop().unwrap();
    let key = event["headers"]["X-API-Key"].as_str().unwrap();
    let states = format!("{}/api/v1/ecf/states", system.caller.base_url);
    assert_eq!(
        system
            .caller
            .send(http::Method::GET, &states, Some(key), None)
            .await
            .status,
        200
    );
    system.local.shutdown().await;
}

fn events_of(function: &str) -> Vec<(String, Value)> {
    let folder = Path::new(EVENTS).join(function);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("events/{function}: {error}"));
    files
        .map(|file| {
            let path = file.unwrap().path();
            let event = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            (format!("{function}/{}", path.file_name().unwrap().display()), event)
        })
        .collect()
}

/// The payload with this company's API key; a payload without a key stays without one.
fn with_key(mut event: Value, key: &str) -> Value {
    if event["headers"]["X-API-Key"].is_string() {
        event["headers"]["X-API-Key"] = json!(key);
        event["multiValueHeaders"]["X-API-Key"] = json!([key]);
    }
    event
}
