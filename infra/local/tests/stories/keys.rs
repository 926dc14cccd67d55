//! Permissions of API keys, tested on every operation of the contract; and the cache and browser headers of every
//! response.

use ecf::Environment;
use ecf_api::ApiKeySecret;
use ecf_store::{
    ApiKeyId, Table,
    api_keys::{ApiKeyCreated, KeyScope, NewApiKey},
};
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, System};

const NOBODY: &str = "00000000000000000000000000000000";

/// An operation of the contract.
struct Operation {
    method: Method,
    path: String,
    /// The scope that it requires; empty for public operations.
    needs: Vec<String>,
    takes_body: bool,
}

fn operations() -> Vec<Operation> {
    let contract: Value = serde_json::from_str(&ecf_openapi::document().unwrap()).unwrap();
    let mut operations = Vec::new();
    for (path, methods) in contract["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let needs = operation["security"][0]["api_key"].as_array().into_iter().flatten();
            let path = path
                .replace("{environment}", "TesteCF")
                .replace("{artifact_type}", "ri")
                .replace("{rnc}", "130000001")
                .replace("{delivery_id}", "1")
                .replace("{file}", "start.js");
            let segments = path
                .split('/')
                .map(|segment| if segment.starts_with('{') { NOBODY } else { segment });
            operations.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: segments.collect::<Vec<_>>().join("/"),
                needs: needs.map(|need| need.as_str().unwrap().to_owned()).collect(),
                takes_body: operation["requestBody"].is_object(),
            });
        }
    }
    operations
}

async fn ask(system: &System, operation: &Operation, key: Option<&str>) -> Answer {
    let url = format!("{}{}", system.caller.base_url, operation.path);
    // An invalid body, so that no request changes data.
    let body = operation.takes_body.then(|| json!({ "nothing": true }));
    system
        .caller
        .send(operation.method.clone(), &url, key, body.as_ref())
        .await
}

fn refusal(answer: &Answer) -> Option<&str> {
    (answer.status == 403).then(|| answer.body["detail"]["code"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn k1_every_operation_is_held_to_the_scope_and_environment_that_it_declares() {
    let system = System::start().await;
    let caller = &system.caller;
    let make = async |scope: &str| {
        let made = caller
            .post("/client/api-keys", &json!({ "scope": scope }))
            .await
            .expect(201);
        made["key"].as_str().unwrap().to_owned()
    };
    let (read, issue) = (make("read").await, make("issue").await);
    let operations = operations();
    for operation in operations.iter().filter(|operation| !operation.needs.is_empty()) {
        let what = format!("{} {}", operation.method, operation.path);
        let scope = operation.needs[0].as_str();
        for (key, allowed) in [(&read, scope == "read"), (&issue, scope != "full")] {
            let answer = ask(&system, operation, Some(key)).await;
            let expected = (!allowed).then_some("scope_insufficient");
            assert_eq!(refusal(&answer), expected, "{what}: {}", answer.body);
        }
        let answer = ask(&system, operation, Some(&caller.key)).await;
        assert_eq!(refusal(&answer), None, "{what}: {}", answer.body);
    }
    // From the first production key on, a TesteCF key cannot change settings that production uses.
    let local = &system.local;
    let table = Table::new(local.clients().dynamodb.clone(), local.provisioned().table_name());
    let secret = ApiKeySecret::generate(Environment::Ecf, [9; 24]);
    let production = NewApiKey {
        company: local.demo().company,
        environment: Environment::Ecf,
        rnc: caller.rnc.parse().unwrap(),
        id: ApiKeyId::from_random([9; 20]),
        hash: secret.hash(),
        prefix: secret.prefix().to_owned(),
        name: None,
        created_at: local.clock().now(),
        expires_at: None,
        scope: KeyScope::Full,
        created_by: None,
    };
    assert_eq!(table.create_api_key(production).await.unwrap(), ApiKeyCreated::New);
    let mut company_wide = 0;
    for operation in operations.iter().filter(|operation| !operation.needs.is_empty()) {
        let what = format!("{} {}", operation.method, operation.path);
        let is_company_wide = operation.needs.iter().any(|need| need == "highest_environment");
        let answer = ask(&system, operation, Some(&caller.key)).await;
        let expected = is_company_wide.then_some("highest_environment_required");
        assert_eq!(refusal(&answer), expected, "{what}: {}", answer.body);
        let answer = ask(&system, operation, Some(secret.text())).await;
        assert_eq!(refusal(&answer), None, "{what}: {}", answer.body);
        company_wide += usize::from(is_company_wide);
    }
    assert_eq!(company_wide, 6);
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn k5_every_answer_keeps_caches_away_and_says_what_it_is() {
    let system = System::start().await;
    let mut asked = 0;
    for operation in operations() {
        for key in [None, Some("ecf_test_wrong"), Some(system.caller.key.as_str())] {
            let answer = ask(&system, &operation, key).await;
            let what = format!(
                "{} {} with {key:?}: {}",
                operation.method, operation.path, answer.status
            );
            let header = |name: &str| answer.headers.get(name).map(|value| value.to_str().unwrap());
            assert_eq!(header("x-content-type-options"), Some("nosniff"), "{what}");
            let is_for_everybody =
                !operation.path.starts_with("/api/v1/") || operation.path.starts_with("/api/v1/taxauth/catalogues");
            let is_public = is_for_everybody && answer.status < 400;
            match header("cache-control") {
                Some("no-store") => {}
                Some("private, no-cache") => assert!(header("etag").is_some(), "{what}"),
                Some(other) => assert!(is_public && other.starts_with("public"), "{what}: {other}"),
                None => panic!("{what}: no Cache-Control"),
            }
            asked += 1;
        }
    }
    assert!(asked > 200, "{asked}");
    system.local.shutdown().await;
}
