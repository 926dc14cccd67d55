//! Misspelt input is rejected: query parameters of every operation of the contract, and the members of every JSON body.
//! No member is ignored, and no receipt is issued by a typing error.

use std::collections::{BTreeMap, BTreeSet};

use ecf_stack::Stack;
use http::Method;
use serde_json::{Map, Value, json};

use crate::payloads::payload;
use crate::routes::leads_to;
use crate::support::{Answer, ApiClient, System};

/// A well-formed id that does not exist.
const NOBODY: &str = "00000000000000000000000000000000";

/// Parameters that may be given more than once.
const LISTS: [&str; 1] = ["status"];

/// An operation of the contract.
struct Operation {
    method: Method,
    /// Its path in each spelling that the gateway routes to it, with ids that do not exist.
    paths: Vec<String>,
    parameters: Vec<Value>,
    /// The members of its JSON body.
    members: Vec<String>,
    is_public: bool,
}

fn contract() -> Value {
    serde_json::from_str(&ecf_openapi::document().unwrap()).unwrap()
}

fn operations(contract: &Value) -> Vec<Operation> {
    let stack = Stack::embedded(BTreeMap::new()).unwrap();
    let mut operations = Vec::new();
    for (path, methods) in contract["paths"].as_object().unwrap() {
        if !path.starts_with("/api/v1/") {
            continue;
        }
        let mut paths = vec![path.clone()];
        paths.extend(ecf_api::other_spelling(path));
        paths.retain(|path| stack.functions.iter().any(|function| leads_to(function, path)));
        let paths: Vec<String> = paths.iter().map(|path| with_ids(path)).collect();
        for (method, operation) in methods.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            operations.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                paths: paths.clone(),
                parameters: parameters.filter(|one| one["in"] == "query").cloned().collect(),
                members: members(
                    contract,
                    &operation["requestBody"]["content"]["application/json"]["schema"],
                ),
                is_public: operation["security"] == json!([{}]),
            });
        }
    }
    operations
}

fn with_ids(path: &str) -> String {
    path.replace("{environment}", "TesteCF")
        .replace("{artifact_type}", "ri")
        .replace("{rnc}", "130000001")
        .replace("{delivery_id}", "1")
        .split('/')
        .map(|segment| if segment.starts_with('{') { NOBODY } else { segment })
        .collect::<Vec<_>>()
        .join("/")
}

fn members(contract: &Value, schema: &Value) -> Vec<String> {
    let name = schema["$ref"].as_str().and_then(|place| place.rsplit('/').next());
    let properties = name.and_then(|name| contract["components"]["schemas"][name]["properties"].as_object());
    properties.into_iter().flat_map(Map::keys).cloned().collect()
}

/// A value that the parameter accepts.
async fn good(caller: &ApiClient, parameter: &Value) -> String {
    let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
    match name {
        "cursor" if schema["pattern"].is_string() => return parameter["example"].as_str().unwrap().to_owned(),
        "cursor" => {
            let feed = caller.get("/notices/changes").await.expect(200);
            return feed["next_cursor"].as_str().unwrap().to_owned();
        }
        "encf" => return "E310000000001".to_owned(),
        "status" => return "accepted".to_owned(),
        "rnc" | "company_rnc" | "rnc_comprador" | "rnc_emisor" => return caller.rnc.clone(),
        "public_id" => return "0".repeat(32),
        _ => {}
    }
    if let Some(word) = schema["enum"][0].as_str() {
        return word.to_owned();
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("boolean"), _) => "true",
        (Some("integer"), _) => "1",
        (_, Some("date-time" | "date")) => "2026-11-28",
        _ => "31",
    }
    .to_owned()
}

/// Sends a query with a valid API key. The body of `POST /api/v1/ecf` is valid and has its own idempotency key.
async fn ask(caller: &ApiClient, operation: &Operation, path: &str, query: &str) -> Answer {
    let url = format!("{}{path}?{query}", caller.base_url);
    let key = (!operation.is_public).then_some(caller.key.as_str());
    let receipt = payload(&caller.rnc, &caller.today(), "31", 1_000);
    let receipt = json!({ "idempotency_key": format!("{:x}", named(query)), "ecf_type": "31", "payload": receipt });
    let body = match path.rsplit('/').next().unwrap_or_default() {
        "ecf" | "eCF" => receipt,
        "batch" => json!({ "items": [receipt] }),
        _ => json!({}),
    };
    let has_body = !matches!(operation.method, Method::GET | Method::DELETE);
    caller
        .send(operation.method.clone(), &url, key, has_body.then_some(&body))
        .await
}

/// A short hash that distinguishes queries.
fn named(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The error types that a response reports for a parameter.
fn at(answer: &Answer, name: &str) -> Vec<String> {
    let errors = answer.body["detail"].as_array().into_iter().flatten();
    let there = errors.filter(|error| error["loc"] == json!(["query", name]));
    there.map(|error| error["type"].as_str().unwrap().to_owned()).collect()
}

fn encoded(name: &str) -> String {
    name.replace('[', "%5B").replace(']', "%5D").replace(' ', "%20")
}

fn misspelt(name: &str) -> Vec<String> {
    let mut letters: Vec<char> = name.chars().collect();
    let middle = letters.len() / 2;
    letters[middle] = if letters[middle] == 'x' { 'y' } else { 'x' };
    vec![
        letters.into_iter().collect(),
        name.to_uppercase(),
        format!("{name}[]"),
        format!("{name} "),
        name.replace('_', "-") + if name.contains('_') { "" } else { "-" },
        name[1..].to_owned(),
    ]
}

/// The number of receipts, in any state.
async fn issued(caller: &ApiClient) -> Value {
    let receipts = caller.get("/ecf?limit=1").await.expect(200)["total"].clone();
    let ranges = caller.get("/client/sequences").await.expect(200);
    let used = ranges["items"].as_array().unwrap().iter().map(|range| &range["used"]);
    json!({ "receipts": receipts, "used": used.collect::<Vec<_>>() })
}

#[tokio::test(flavor = "multi_thread")]
async fn a1_no_name_in_a_query_is_passed_over_and_none_issues_by_mistake() {
    let system = System::start().await;
    let caller = &system.caller;
    let contract = contract();
    let operations = operations(&contract);
    let names = operations.iter().flat_map(|operation| &operation.parameters);
    let names: BTreeSet<&str> = names.map(|parameter| parameter["name"].as_str().unwrap()).collect();
    let before = issued(caller).await;
    let mut asked = 0;
    for operation in &operations {
        let own: Vec<&str> = operation
            .parameters
            .iter()
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        for path in &operation.paths {
            let what = format!("{} {path}", operation.method);
            let foreign = names.iter().filter(|name| !own.contains(*name));
            let mut unknown: Vec<String> = foreign.map(|name| (*name).to_owned()).collect();
            unknown.push("dry_run".to_owned());
            unknown.extend(own.iter().flat_map(|name| misspelt(name)));
            for name in unknown {
                let answer = ask(caller, operation, path, &format!("{}=true", encoded(&name))).await;
                assert_eq!(answer.status, 422, "{what}?{name}: {}", answer.body);
                assert_eq!(
                    at(&answer, &name),
                    ["extra_forbidden"],
                    "{what}?{name}: {}",
                    answer.body
                );
                asked += 1;
            }
        }
        let path = &operation.paths[0];
        for parameter in &operation.parameters {
            let name = parameter["name"].as_str().unwrap();
            let what = format!("{} {path}?{name}", operation.method);
            let value = good(caller, parameter).await;
            let twice = ask(caller, operation, path, &format!("{name}={value}&{name}={value}")).await;
            if LISTS.contains(&name) {
                assert_eq!(twice.status, 200, "{what} twice: {}", twice.body);
            } else {
                assert_eq!(twice.status, 422, "{what} twice: {}", twice.body);
                assert_eq!(at(&twice, name), ["repeat_forbidden"], "{what} twice: {}", twice.body);
            }
            if parameter["allowEmptyValue"] == true {
                continue;
            }
            for empty in [name.to_owned(), format!("{name}=")] {
                let answer = ask(caller, operation, path, &empty).await;
                assert_eq!(answer.status, 422, "{what}, empty: {}", answer.body);
                let kinds = at(&answer, name);
                assert_eq!(kinds.len(), 1, "{what}, empty: {}", answer.body);
                if parameter["schema"]["type"] == "boolean" {
                    assert_eq!(kinds, ["bool_parsing"], "{what}, empty");
                }
            }
            asked += 3;
        }
    }
    assert!(asked > 1_000, "{asked} queries");
    assert_eq!(issued(caller).await, before);
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a1_each_parameter_of_the_contract_is_read() {
    let system = System::start().await;
    let caller = &system.caller;
    for operation in operations(&contract()) {
        for parameter in &operation.parameters {
            let name = parameter["name"].as_str().unwrap();
            let value = good(caller, parameter).await;
            // Errors about other parameters do not matter here.
            let answer = ask(caller, &operation, &operation.paths[0], &format!("{name}={value}")).await;
            let what = format!("{} {}?{name}={value}", operation.method, operation.paths[0]);
            assert_eq!(at(&answer, name), [] as [&str; 0], "{what}: {}", answer.body);
            assert!(answer.status < 500, "{what}: {}", answer.body);
        }
    }
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a1_no_member_of_a_body_is_passed_over() {
    let system = System::start().await;
    let caller = &system.caller;
    let mut asked = 0;
    for operation in operations(&contract()) {
        for member in operation.members.iter().flat_map(|member| misspelt(member)) {
            let url = format!("{}{}", caller.base_url, operation.paths[0]);
            let key = (!operation.is_public).then_some(caller.key.as_str());
            let body = json!({ &member: null });
            let answer = caller.send(operation.method.clone(), &url, key, Some(&body)).await;
            // A missing id is reported before the body is validated.
            if answer.status == 404 {
                continue;
            }
            let errors = answer.body["detail"].as_array().cloned().unwrap_or_default();
            let found = errors
                .iter()
                .any(|error| error["loc"] == json!(["body", member]) && error["type"] == "extra_forbidden");
            assert!(found, "{} {url} {body}: {}", operation.method, answer.body);
            asked += 1;
        }
    }
    assert!(asked > 200, "{asked} bodies");
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b1_the_defaults_of_the_contract_are_those_of_the_service() {
    let system = System::start().await;
    let caller = &system.caller;
    // Two ranges, one switched off, and two items, one acknowledged.
    let range = json!({ "ecf_type": "31", "range_start": 20_000_001, "range_end": 20_001_000 });
    let range = caller.post("/client/sequences", &range).await.expect(201);
    let url = format!(
        "{}/api/v1/client/sequences/{}",
        caller.base_url,
        range["public_id"].as_str().unwrap()
    );
    let off = json!({ "is_active": false });
    caller
        .send(Method::PATCH, &url, Some(&caller.key), Some(&off))
        .await
        .expect(200);
    for encf in ["E310000000001", "E310000000002"] {
        caller.be_sent(encf).await;
    }
    let inbox = caller.get("/client/inbox").await.expect(200);
    let item = inbox["items"][0]["public_id"].as_str().unwrap();
    caller
        .post(&format!("/client/inbox/{item}/ack"), &json!({}))
        .await
        .expect(200);
    let mut lists = 0;
    for operation in operations(&contract()) {
        for parameter in &operation.parameters {
            let is_optional = parameter["required"] != true;
            let kind = parameter["schema"]["type"].as_str().unwrap();
            let place = format!("{} {} {}", operation.method, operation.paths[0], parameter["name"]);
            // An optional number or boolean always has a default, which the contract must state.
            let has_default = !parameter["schema"]["default"].is_null();
            assert!(
                has_default || !is_optional || kind == "string",
                "{place} has no default"
            );
            // An empty text is rejected, and the contract must say so.
            let forms = ["enum", "pattern", "format", "minLength"];
            let has_form = forms.iter().any(|form| !parameter["schema"][form].is_null());
            assert!(has_form || kind != "string", "{place} may be empty");
        }
        let defaults: Vec<String> = operation
            .parameters
            .iter()
            .filter(|parameter| !parameter["schema"]["default"].is_null())
            .map(|parameter| {
                let value = parameter["schema"]["default"].to_string();
                format!("{}={}", parameter["name"].as_str().unwrap(), value.trim_matches('"'))
            })
            .collect();
        if operation.method != Method::GET || defaults.is_empty() {
            continue;
        }
        let path = operation.paths[0].strip_prefix("/api/v1").unwrap();
        let (silent, spoken) = (
            caller.get(path).await,
            caller.get(&format!("{path}?{}", defaults.join("&"))).await,
        );
        assert_eq!(silent.status, spoken.status, "{path}");
        assert_eq!(silent.body["items"], spoken.body["items"], "{path}");
        lists += usize::from(silent.body["items"].is_array());
    }
    assert!(lists >= 3, "{lists} lists");
    let ranges = caller
        .get("/client/sequences?active_only=false&ecf_type=31")
        .await
        .expect(200);
    let active = caller.get("/client/sequences?ecf_type=31").await.expect(200);
    assert_eq!(
        ranges["total"].as_u64(),
        active["total"].as_u64().map(|active| active + 1)
    );
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b1_and_b2_the_document_names_both_spellings_and_the_address_at_which_it_is_served() {
    let system = System::start().await;
    let caller = &system.caller;
    let url = format!("{}/openapi/public-v1.json", caller.base_url);
    let served = caller.send(Method::GET, &url, None, None).await.expect(200);
    assert_eq!(served["servers"], json!([{ "url": caller.base_url }]));
    let health = format!("{}/api/v1/health", served["servers"][0]["url"].as_str().unwrap());
    caller.send(Method::GET, &health, None, None).await.expect(200);
    let stack = Stack::embedded(BTreeMap::new()).unwrap();
    let mut twins = 0;
    for (path, methods) in served["paths"].as_object().unwrap() {
        let others = [path.replace("/ecf", "/eCF"), path.replace("/taxauth", "/dgii")];
        let mut routed = others
            .iter()
            .filter(|other| *other != path && stack.functions.iter().any(|function| leads_to(function, other)));
        let expected = routed.next().map(|other| format!("Also served at `{other}`."));
        for (method, operation) in methods.as_object().unwrap() {
            let told = operation["description"].as_str().unwrap().lines().last().unwrap();
            match &expected {
                Some(expected) => assert_eq!(told, expected, "{method} {path}"),
                None => assert!(!told.starts_with("Also served"), "{method} {path}: {told}"),
            }
            twins += usize::from(expected.is_some());
        }
    }
    assert!(twins > 20, "{twins} operations with a twin");
    for spelling in ["/api/v1/eCF/…", "/api/v1/dgii/…"] {
        assert!(served["info"]["description"].as_str().unwrap().contains(spelling));
    }
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a8_a_preflight_allows_every_method_of_the_contract_at_its_path() {
    let system = System::start().await;
    let caller = &system.caller;
    for operation in operations(&contract()) {
        for path in &operation.paths {
            let url = format!("{}{path}", caller.base_url);
            let asked = caller
                .preflight(&url, operation.method.as_str(), "https://erp.example.com")
                .await;
            let allowed = asked.headers["access-control-allow-methods"].to_str().unwrap();
            assert!(
                allowed.split(',').any(|method| method == operation.method.as_str()),
                "{} {path}: {allowed}",
                operation.method
            );
        }
    }
    let logo = format!("{}/api/v1/client/company/design/logo", caller.base_url);
    let asked = caller.preflight(&logo, "PUT", "https://erp.example.com").await;
    assert_eq!(asked.headers["access-control-allow-methods"], "GET,HEAD,PUT,DELETE");
    system.local.shutdown().await;
}
