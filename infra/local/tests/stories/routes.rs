//! Access control: every route of the template, called by unauthorised callers.

use std::collections::BTreeMap;

use ecf_stack::{Function, Stack};
use ecf_store::{
    NoticeId, Table,
    notices::{Audience, NoticeCategory, NoticeChange, NoticeContent, NoticeSeverity},
};
use ecf_testkit::Receiver;
use http::Method;
use serde_json::{Value, json};

use crate::payloads::payload;
use crate::sheets;
use crate::support::{ApiClient, System};

/// A well-formed key that does not exist.
const WRONG_KEY: &str = "ecf_test_ffffffffffffffffffffffffffffffffffffffffffffffff";

/// The route of the services for other issuers, whose paths the tax authority defines.
const EVERYTHING_ELSE: &str = "/{proxy+}";

/// An operation of the contract in one spelling, and the function that serves it.
struct Operation {
    method: Method,
    path: String,
    is_public: bool,
}

/// The contract's operations, in each of their spellings that a route of the template serves.
fn operations(stack: &Stack) -> Vec<Operation> {
    let contract: Value = serde_json::from_str(&ecf_openapi::document().unwrap()).unwrap();
    let mut operations = Vec::new();
    for (path, methods) in contract["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let spellings = [
                path.clone(),
                path.replace("/ecf", "/eCF"),
                path.replace("/taxauth", "/dgii"),
            ];
            let routed: Vec<_> = spellings
                .iter()
                .enumerate()
                .filter(|(place, spelling)| !spellings[..*place].contains(spelling))
                .filter(|(_, spelling)| stack.functions.iter().any(|function| leads_to(function, spelling)))
                .collect();
            assert!(!routed.is_empty(), "no route leads to {method} {path}");
            for (_, spelling) in routed {
                operations.push(Operation {
                    method: method.to_uppercase().parse().unwrap(),
                    path: spelling.clone(),
                    is_public: operation["security"] == json!([{}]),
                });
            }
        }
    }
    operations
}

pub(crate) fn leads_to(function: &Function, path: &str) -> bool {
    // The catch-all route for other issuers matches every path.
    let mut routes = function.routes.iter().filter(|route| route.path != EVERYTHING_ELSE);
    routes.any(|route| fits(&route.path, path))
}

/// Whether a route in the gateway's format matches a path.
pub(crate) fn fits(route: &str, path: &str) -> bool {
    let (mut route, mut path) = (route.split('/'), path.split('/'));
    loop {
        match (route.next(), path.next()) {
            (None, None) => return true,
            (Some(segment), Some(_)) if segment.ends_with("+}") => return true,
            (Some(segment), Some(given)) if segment == given || segment.starts_with('{') => {}
            _ => return false,
        }
    }
}

/// The console is a page for people and not part of the contract.
fn is_of_the_console(route: &str) -> bool {
    route == "/" || route == "/console" || route.starts_with("/console/")
}

#[test]
fn every_route_of_the_template_is_in_the_contract() {
    let stack = Stack::embedded(BTreeMap::new()).unwrap();
    let operations = operations(&stack);
    for function in &stack.functions {
        for route in function.routes.iter().filter(|route| !is_of_the_console(&route.path)) {
            let asked = operations.iter().any(|operation| fits(&route.path, &operation.path));
            assert!(
                asked,
                "{} {} of {} leads to nothing that is published",
                route.method, route.path, function.name
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_in_without_a_key_with_a_wrong_one_or_with_another_companys() {
    let system = System::start().await;
    let owner = &system.caller;
    let receiver = Receiver::start().await;
    let hook = json!({ "url": receiver.url(), "events": ["ecf.*"] });
    let hook = owner.post("/client/webhooks", &hook).await.expect(201);
    let sale = payload(&owner.rnc, &owner.today(), "31", 1_000);
    let receipt = owner.issue("owned", "31", &sale).await.expect(201);
    owner.wait_for_state(&receipt, "accepted").await;
    // Every company has the sequences of its sign-up under the same ids; only the owner has this one.
    let sequence = json!({ "ecf_type": "31", "range_start": 20_000_001, "range_end": 20_001_000 });
    let sequence = owner.post("/client/sequences", &sequence).await.expect(201);
    let key = owner.post("/client/api-keys", &json!({})).await.expect(201);
    let notice = owners_notice(&system).await;
    owner.be_sent("E310000000001").await;
    let inbox = owner.get("/client/inbox").await.expect(200);
    let approval = owners_approval(owner, &inbox["items"][0]).await;
    let void = json!({ "idempotency_key": "void", "cancellations": [{ "ecf_type": "44", "sequence_from": 7, "sequence_to": 7 }] });
    let void = owner.post("/ecf/cancellations", &void).await.expect(200);
    let (_, rows, summaries) = sheets::small();
    let workbook = sheets::workbook(&rows, &summaries);
    let form = [
        ("\"idempotency_key\"", b"run".as_slice()),
        ("\"workbook\"; filename=\"ecf.xlsx\"", workbook.as_slice()),
    ];
    let run = owner
        .send_form("/api/v1/client/certification/runs", &form)
        .await
        .expect(201);
    let owned = [
        &receipt["public_id"],
        &receipt["encf"],
        &hook["public_id"],
        &sequence["public_id"],
        &key["public_id"],
        &notice,
        &inbox["items"][0]["public_id"],
        &approval["public_id"],
        &void["public_id"],
        &run["run_id"],
    ]
    .map(|id| id.as_str().unwrap());
    let test = format!("/client/webhooks/{}/test", owned[2]);
    let delivery = owner.post(&test, &json!({})).await.expect(200)["delivery_id"].to_string();
    let stranger = stranger(owner).await;

    let stack = Stack::embedded(BTreeMap::new()).unwrap();
    let mut guarded = operations(&stack);
    guarded.retain(|operation| !operation.is_public);
    // Deletions come last, because later requests need the data.
    guarded.sort_by_key(|operation| operation.method == Method::DELETE);
    let mut asked = 0;
    for Operation { method, path, .. } in guarded {
        let id = if path.contains("/webhooks/") {
            owned[2]
        } else if path.contains("/sequences/") {
            owned[3]
        } else if path.contains("/api-keys/") {
            owned[4]
        } else if path.contains("/notices/") {
            owned[5]
        } else if path.contains("/inbox/") {
            owned[6]
        } else if path.contains("/acecf/") {
            owned[7]
        } else if path.contains("/cancellations/") {
            owned[8]
        } else if path.contains("/runs/") {
            owned[9]
        } else {
            owned[0]
        };
        let path = path
            .replace("{delivery_id}", &delivery)
            .replace("{environment}", "TesteCF")
            .replace("{artifact_type}", "signed-xml")
            .replace("{run_id}", "{public_id}")
            .replace("{external_id}", "owned");
        let url = format!("{}{}", owner.base_url, path.replace("{public_id}", id));
        assert!(!url.contains('{'), "{url}: this test does not know what stands there");
        let what = format!("{method} {path}");

        let none = owner.send(method.clone(), &url, None, None).await;
        assert_eq!(none.status, 422, "{what}: {}", none.body);
        assert_eq!(none.body["detail"][0]["loc"], json!(["header", "X-API-Key"]), "{what}");

        let wrong = owner.send(method.clone(), &url, Some(WRONG_KEY), None).await;
        assert_eq!(wrong.status, 401, "{what}: {}", wrong.body);

        let foreign = owner
            .send(method.clone(), &url, Some(&stranger.key), Some(&json!({})))
            .await;
        if path.contains("{public_id}") {
            assert_eq!(foreign.status, 404, "{what}: {}", foreign.body);
        }
        let shown = foreign.body.to_string();
        assert!(
            !owned[..].iter().any(|id| shown.contains(id)),
            "{what} shows what is another's: {shown}"
        );

        // The owner is admitted: the responses above do not come from an unserved path.
        let own = owner
            .send(method.clone(), &url, Some(&owner.key), Some(&json!({})))
            .await;
        // A receipt without a summary or a company without a logo also answers 404, but the receipt or company exists.
        let is_there = own.status != 404
            || ["artifact_not_applicable", "no_logo"]
                .contains(&own.body["detail"]["code"].as_str().unwrap_or_default());
        assert!(
            is_there && ![401, 403, 405].contains(&own.status),
            "{what}: {} {}",
            own.status,
            own.body
        );
        asked += 1;
    }
    assert!(asked > 0);
    system.local.shutdown().await;
}

/// The owner's approval of a received receipt.
async fn owners_approval(owner: &ApiClient, item: &Value) -> Value {
    let url = format!("{}/api/v1/client/company", owner.base_url);
    let settings = json!({ "settings": { "approve_accepted_only": false } });
    let changed = owner.send(Method::PATCH, &url, Some(&owner.key), Some(&settings)).await;
    changed.expect(200);
    let answer = json!({
        "idempotency_key": "answer", "encf": item["encf"], "rnc_emisor": item["rnc_emisor"], "rnc_comprador": owner.rnc,
        "fecha_emision": item["fecha_emision"], "monto_total": item["monto_total"], "estado": "1",
    });
    owner.post("/ecf/acecf/submit", &answer).await.expect(200)
}

/// A notice for the owner only.
pub(crate) async fn owners_notice(system: &System) -> Value {
    let local = &system.local;
    let table = Table::new(local.clients().dynamodb.clone(), local.provisioned().table_name());
    let content = NoticeContent {
        category: NoticeCategory::Announcement,
        severity: NoticeSeverity::Info,
        title: "Aviso".to_owned(),
        body: "Texto".to_owned(),
        source: None,
        environments: Vec::new(),
        starts_at: None,
        expires_at: None,
    };
    let (id, now) = (NoticeId::from_random(ecf_runtime::random()), local.clock().now());
    let audience = Audience::Companies([local.demo().company].into());
    table.draft_notice(id, content, audience, now).await.unwrap();
    table.change_notice(&id, &NoticeChange::Publish, now).await.unwrap();
    json!(id)
}

/// Another company on the same system.
async fn stranger(of: &ApiClient) -> ApiClient {
    let request = json!({ "rnc": "131880681", "name": "Vecino SRL", "email": "vecino@example.com" });
    let url = format!("{}/api/v1/public/register", of.base_url);
    let registered = of.send(Method::POST, &url, None, Some(&request)).await.expect(201);
    of.of_company(registered["api_key"]["key"].as_str().unwrap(), "131880681")
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_of_nobody_and_bodies_of_any_size_are_answered_in_one_shape() {
    let system = System::start().await;
    let caller = &system.caller;
    for path in ["/api/v1/nothing", "/api/v1/ecf2", "/api/v2/ecf"] {
        let answer = caller
            .send(Method::GET, &format!("{}{path}", caller.base_url), None, None)
            .await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
        assert_eq!(answer.body["detail"]["code"], "not_found", "{path}");
    }
    // The lower limit is the function's, the higher one the gateway's.
    for (megabytes, by) in [(5, "function"), (11, "gateway")] {
        let body = json!({ "idempotency_key": "x".repeat(megabytes * 1024 * 1024) });
        let answer = caller.post("/ecf", &body).await;
        assert_eq!(answer.status, 413, "{by}: {}", answer.body);
        assert!(!answer.body["detail"].is_null(), "{by}: {}", answer.body);
    }
    let states = format!("{}/api/v1/ecf/states", caller.base_url);
    let head = caller.send(Method::HEAD, &states, Some(&caller.key), None).await;
    assert_eq!((head.status, head.body), (200, Value::Null));
    let options = caller.send(Method::OPTIONS, &states, None, None).await;
    assert_eq!(options.status, 204);
    assert!(options.headers["allow"].to_str().unwrap().contains("GET"));
    system.local.shutdown().await;
}
