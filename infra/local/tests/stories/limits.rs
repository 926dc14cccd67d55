//! Invalid bodies and parameters, tested on every operation of the contract that has a body or a parameter.

use http::Method;
use serde_json::{Value, json};

use crate::payloads::payload;
use crate::support::{Answer, ApiClient, System};

/// The contract's definition of an operation.
struct Operation {
    method: Method,
    path: String,
    /// Content types of the body; empty if there is none.
    bodies: Vec<String>,
    parameters: Vec<String>,
    is_public: bool,
}

fn operations() -> Vec<Operation> {
    let contract: Value = serde_json::from_str(&ecf_openapi::document().unwrap()).unwrap();
    let mut operations = Vec::new();
    for (path, methods) in contract["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let bodies = operation["requestBody"]["content"].as_object();
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            operations.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: path.clone(),
                bodies: bodies.into_iter().flat_map(|types| types.keys().cloned()).collect(),
                parameters: parameters
                    .filter(|parameter| parameter["in"] == "query")
                    .map(|parameter| parameter["name"].as_str().unwrap().to_owned())
                    .collect(),
                is_public: operation["security"] == json!([{}]),
            });
        }
    }
    operations
}

/// Values of path parameters: an existing webhook and sequence, so that no request fails because they are missing.
struct Known {
    webhook: String,
    sequence: String,
}

impl Known {
    async fn of(caller: &ApiClient) -> Self {
        let hook = json!({ "url": "https://erp.example.com/", "events": ["ecf.*"] });
        let hook = caller.post("/client/webhooks", &hook).await.expect(201);
        let sequence = json!({ "ecf_type": "31", "range_start": 20_000_001, "range_end": 20_001_000 });
        let sequence = caller.post("/client/sequences", &sequence).await.expect(201);
        let id = |of: &Value| of["public_id"].as_str().unwrap().to_owned();
        Self {
            webhook: id(&hook),
            sequence: id(&sequence),
        }
    }

    fn url(&self, caller: &ApiClient, operation: &Operation) -> String {
        let id = if operation.path.contains("/webhooks/") {
            &self.webhook
        } else if operation.path.contains("/sequences/") {
            &self.sequence
        } else {
            "0123456789abcdefghjkmnpqrstvwxyz"
        };
        let path = operation
            .path
            .replace("{environment}", "TesteCF")
            .replace("{artifact_type}", "signed-xml")
            .replace("{external_id}", "SO-1")
            .replace("{delivery_id}", "1");
        let path = path.replace("{public_id}", id);
        format!("{}{path}", caller.base_url)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_with_a_body_says_what_is_wrong_with_it() {
    let system = System::start().await;
    let caller = &system.caller;
    let known = Known::of(caller).await;
    let mut asked = 0;
    for operation in operations()
        .iter()
        .filter(|operation| operation.bodies == ["application/json"])
    {
        let what = format!("{} {}", operation.method, operation.path);
        let url = known.url(caller, operation);
        let send = async |content_type: &str, body: &[u8]| -> Answer {
            let key = (!operation.is_public).then_some(caller.key.as_str());
            let (method, body) = (operation.method.clone(), body.to_vec());
            caller.send_bytes(method, &url, key, content_type, body).await
        };
        let typed = send("text/plain", b"{}").await;
        assert_eq!(typed.status, 415, "{what}: {}", typed.body);
        assert!(
            typed.body["detail"]["message"].to_string().contains("application/json"),
            "{what}: {}",
            typed.body
        );

        let encoded = send("application/json", b"{\"name\": \"Pi\xf1a\"}").await;
        assert_eq!(encoded.status, 400, "{what}: {}", encoded.body);
        assert_eq!(encoded.body["detail"]["code"], "invalid_utf8", "{what}");
        assert!(
            encoded.body["detail"]["message"].to_string().contains("12"),
            "{what}: {}",
            encoded.body
        );

        for (body, loc, kind) in [
            (&b"[]"[..], json!(["body"]), "model_attributes_type"),
            (b"null", json!(["body"]), "model_attributes_type"),
            (b"{\"name\":", json!(["body", "7"]), "json_invalid"),
            (b"{\"a\": 1, \"a\": 2}", json!(["body", "9"]), "json_invalid"),
        ] {
            let refused = send("application/json; charset=utf-8", body).await;
            let first = &refused.body["detail"][0];
            assert_eq!(refused.status, 422, "{what}: {}", refused.body);
            assert_eq!(
                (&first["loc"], &first["type"]),
                (&loc, &json!(kind)),
                "{what}: {}",
                refused.body
            );
        }

        let large = send("application/json", &vec![b' '; 4 * 1024 * 1024 + 1]).await;
        assert_eq!(large.status, 413, "{what}: {}", large.body);
        asked += 1;
    }
    assert!(asked > 5, "only {asked} routes were asked");
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_has_its_limits_and_parameters_of_nobody_are_refused() {
    let system = System::start().await;
    let caller = &system.caller;
    let known = Known::of(caller).await;
    let mut paged = 0;
    for operation in operations().iter().filter(|operation| operation.method == Method::GET) {
        let url = known.url(caller, operation);
        let what = &operation.path;
        let plain = caller.send(Method::GET, &url, Some(&caller.key), None).await;
        let extended = format!("{url}?nobody=knows");
        let extended = caller.send(Method::GET, &extended, Some(&caller.key), None).await;
        // The page and the document are static files.
        let is_file = !what.starts_with("/api/v1/");
        let has_parameters = what == "/openapi/public-v1.json";
        let expected = if is_file && !has_parameters { plain.status } else { 422 };
        assert_eq!(extended.status, expected, "{what}: {}", extended.body);
        for (name, good, bad) in [
            (
                "limit",
                ["1", "100"],
                ["0", "101", "-1", "1.5", "ten", "18446744073709551616"],
            ),
            (
                "offset",
                ["0", "1000000"],
                ["-1", "--1", "1.5", "ten", "1e3", "18446744073709551616"],
            ),
        ] {
            if !operation.parameters.iter().any(|parameter| parameter == name) {
                continue;
            }
            for value in good {
                let url = format!("{url}?{name}={value}");
                let page = caller
                    .send(Method::GET, &url, Some(&caller.key), None)
                    .await
                    .expect(200);
                let told = page[name].as_u64().map(|told| told.to_string());
                assert!(told.is_none_or(|told| told == value), "{what} {name}={value}: {page}");
            }
            for value in bad {
                let url = format!("{url}?{name}={value}");
                let refused = caller.send(Method::GET, &url, Some(&caller.key), None).await;
                assert_eq!(refused.status, 422, "{what} {name}={value}: {}", refused.body);
                assert_eq!(
                    refused.body["detail"][0]["loc"],
                    json!(["query", name]),
                    "{what} {name}={value}"
                );
            }
            paged += 1;
        }
    }
    assert!(paged >= 2, "only {paged} limits were tried");
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_site_may_call_the_local_system() {
    let system = System::start().await;
    let caller = &system.caller;
    let url = format!("{}/api/v1/ecf", caller.base_url);
    let asked = caller.preflight(&url, "POST", "https://erp.example.com").await;
    assert_eq!(asked.headers["access-control-allow-origin"], "*");
    assert!(
        asked.headers["access-control-allow-headers"]
            .to_str()
            .unwrap()
            .contains("x-api-key")
    );
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_compressed_through_the_gateway_and_files_are_not() {
    let system = System::start().await;
    let caller = &system.caller;
    let invoice = payload(&caller.rnc, &caller.today(), "31", 1_000);
    let receipt = caller.issue("packed", "31", &invoice).await.expect(201);
    let id = receipt["public_id"].as_str().unwrap();
    caller.wait_for_state(&receipt, "accepted").await;
    for path in ["/openapi/public-v1.json", "/api/v1/ecf/states"] {
        let (encoding, bytes) = caller.packed(path).await;
        assert_eq!(encoding.as_deref(), Some("gzip"), "{path}");
        assert!(bytes.starts_with(&[0x1f, 0x8b]), "{path}");
    }
    for (file, beginning) in [("xml", "<ECF"), ("pdf", "%PDF-")] {
        let (encoding, bytes) = caller.packed(&format!("/api/v1/ecf/{id}/{file}")).await;
        assert_eq!(encoding, None, "{file}");
        assert!(bytes.starts_with(beginning.as_bytes()), "{file}");
        assert_eq!(bytes, caller.download(&format!("/ecf/{id}/{file}")).await, "{file}");
    }
    system.local.shutdown().await;
}
