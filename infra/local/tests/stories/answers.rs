//! Snapshots of response bodies: every operation of the contract is called at least once, and its response is compared
//! with the snapshot of its name. Values that differ between runs are replaced by placeholders such as `[instant]`.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ecf_runtime::Clock;
use ecf_testkit::Receiver;
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};
use xmldsig::Identity;

use crate::exchange::{BAKERY, answer, delivered, list, open_bakery};
use crate::payloads::payload;
use crate::routes::{fits, owners_notice};
use crate::sheets;
use crate::support::{Answer, ApiClient, System, TIME_LIMIT, eventually};

/// Values that differ between runs.
const FILTERS: [(&str, &str); 18] = [
    (r"http://127\.0\.0\.1:\d+", "http://[host]"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "[instant]"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "[local instant]"),
    (r"\d\d-\d\d-\d{4} \d\d:\d\d:\d\d", "[fecha y hora]"),
    (r"\d\d%2D\d\d%2D\d{4}%20[0-9A%]+", "[fecha y hora]"),
    (r"\d{1,2}/\d{1,2}/\d{4} [\d:]+ [AP]M", "[fecha y hora]"),
    (r"\d\d-\d\d-\d{4}", "[fecha]"),
    (r"\d\d%2D\d\d%2D\d{4}", "[fecha]"),
    (r"\d{4}-\d\d-\d\d", "[day]"),
    (
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "[uuid]",
    ),
    (r"(ecf_test|whsec)_[0-9a-f]+", "${1}_[secret]"),
    (r#""request_id": "[0-9a-f]{32}""#, r#""request_id": "[request]""#),
    (r"\b[0-9a-z]{32}\b", "[id]"),
    (r#""([a-z_]*security_code)": "[^"]{6}""#, r#""$1": "[code]""#),
    (r"codigoseguridad=[^&\x22]+", "codigoseguridad=[code]"),
    (
        r#""(serial_number|sha1|sha256|next_cursor|signature_value)": "[^"]+""#,
        r#""$1": "[text]""#,
    ),
    (
        r#""(id|delivery_id|size_bytes|duration_ms|response_time_ms|latency_ms|age_seconds|days_until_expiry|age_days)": \d+"#,
        r#""$1": "[number]""#,
    ),
    (
        r"<(FechaHoraFirma|DigestValue|SignatureValue|X509Certificate)>[^<]*<",
        "<$1>[…]<",
    ),
];

/// A picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

struct Walk<'a> {
    caller: &'a ApiClient,
    /// Operations of the contract: method, path, name.
    operations: BTreeSet<(String, String, String)>,
    /// Those that were not called yet.
    unasked: BTreeSet<(String, String, String)>,
}

impl<'a> Walk<'a> {
    fn new(caller: &'a ApiClient) -> Self {
        let contract: Value = serde_json::from_str(&ecf_openapi::document().unwrap()).unwrap();
        let mut operations = BTreeSet::new();
        for (path, methods) in contract["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let name = operation["operationId"].as_str().unwrap().to_owned();
                if !path.starts_with("/api/v1/") {
                    // The contract and its page are files, compared byte for byte elsewhere.
                    continue;
                }
                operations.insert((method.to_uppercase(), path.clone(), name));
            }
        }
        Self {
            caller,
            unasked: operations.clone(),
            operations,
        }
    }

    async fn get(&mut self, name: &str, path: &str, status: u16) -> Value {
        self.ask(name, Method::GET, path, None, status).await
    }

    async fn post(&mut self, name: &str, path: &str, body: Value, status: u16) -> Value {
        self.ask(name, Method::POST, path, Some(body), status).await
    }

    async fn ask(&mut self, name: &str, method: Method, path: &str, body: Option<Value>, status: u16) -> Value {
        self.ask_as(self.caller, name, method, path, body, status).await
    }

    async fn ask_as(
        &mut self,
        caller: &ApiClient,
        name: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
        status: u16,
    ) -> Value {
        let url = format!("{}{path}", caller.base_url);
        let answer = caller
            .send(method.clone(), &url, Some(&caller.key), body.as_ref())
            .await;
        self.pin(name, method.as_str(), path, answer, status)
    }

    /// Compares a response with its snapshot, which names the operation and the status: the contract shows it as their example.
    fn pin(&mut self, name: &str, method: &str, path: &str, answer: Answer, status: u16) -> Value {
        let path = path.split('?').next().unwrap();
        // A literal path must not match a path template with an identifier.
        let exact = self.operations.iter().any(|(_, template, _)| template == path);
        let is_asked = |(of, template, _): &(String, String, String)| {
            of == method && if exact { template == path } else { fits(template, path) }
        };
        let asked = self.operations.iter().find(|operation| is_asked(operation));
        let info = asked.map(|(_, _, operation)| json!({ "operation": operation, "status": status }));
        self.unasked.retain(|operation| !is_asked(operation));
        let mut body = answer.expect(status);
        if let Value::Array(keys) = &mut body {
            // Keys created in the same millisecond have no defined order.
            keys.sort_by_key(|key| (key["is_current"].to_string(), key["name"].to_string()));
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_filters(FILTERS.to_vec());
        settings.set_prepend_module_to_snapshot(false);
        if let Some(info) = &info {
            settings.set_info(info);
        }
        settings.bind(|| insta::assert_json_snapshot!(name, body));
        body
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_is_as_it_was() {
    let system = System::start().await;
    let caller = &system.caller;
    let receiver = Receiver::start().await;
    let mut walk = Walk::new(caller);
    let text = |value: &Value| value.as_str().unwrap().to_owned();

    walk.get("health", "/api/v1/health", 200).await;
    let newcomer = json!({ "rnc": "131880681", "name": "Vecino SRL", "email": "vecino@example.com" });
    walk.post("register", "/api/v1/public/register", newcomer, 201).await;
    walk.post("register-refused", "/api/v1/public/register", json!({ "rnc": 1 }), 422)
        .await;

    company(&mut walk).await;
    certificates(&mut walk).await;

    let hook = json!({ "url": receiver.url(), "events": ["*"] });
    let hook = walk.post("webhook-created", "/api/v1/client/webhooks", hook, 201).await;
    let hook = format!("/api/v1/client/webhooks/{}", text(&hook["public_id"]));
    let receipt = receipts(&mut walk).await;
    receiver.wait_for(1).await;
    webhooks(&mut walk, &hook).await;
    authority(&mut walk).await;

    let notice = owners_notice(&system).await;
    walk.get("notices", "/api/v1/notices/changes", 200).await;
    walk.get("notice", &format!("/api/v1/notices/{}", text(&notice)), 200)
        .await;
    inbox(&mut walk).await;
    exchange(&mut walk).await;
    walk.get("unknown", &format!("/api/v1/ecf/{}", "0".repeat(32)), 404)
        .await;
    walk.get("nothing-there", "/api/v1/nothing", 404).await;
    walk.post("method-not-allowed", &format!("/api/v1/ecf/{receipt}"), json!({}), 405)
        .await;
    walk.get("summary", "/api/v1/client/summary", 200).await;
    withdrawn(&mut walk).await;
    certification(&mut walk, &system).await;
    approvals(&mut walk, &system).await;

    let unasked: Vec<_> = walk.unasked.iter().collect();
    assert!(unasked.is_empty(), "no answer of these is pinned: {unasked:?}");
    system.local.shutdown().await;
}

async fn company(walk: &mut Walk<'_>) {
    walk.get("company", "/api/v1/client/company", 200).await;
    let change = Some(json!({ "phone": "809-555-0100" }));
    walk.ask("company-changed", Method::PATCH, "/api/v1/client/company", change, 200)
        .await;
    let key = walk
        .post(
            "api-key-created",
            "/api/v1/client/api-keys",
            json!({ "name": "caja 1" }),
            201,
        )
        .await;
    walk.get("api-keys", "/api/v1/client/api-keys", 200).await;
    let key = format!("/api/v1/client/api-keys/{}", key["public_id"].as_str().unwrap());
    walk.ask("api-key-revoked", Method::DELETE, &key, None, 204).await;
    let new = json!({ "name": "oficina", "scope": "full" });
    let parent = walk.caller.post("/client/api-keys", &new).await.expect(201);
    let child = walk
        .caller
        .of_company(parent["key"].as_str().unwrap(), &walk.caller.rnc);
    child
        .post("/client/api-keys", &json!({ "name": "caja 2" }))
        .await
        .expect(201);
    let parent = format!("/api/v1/client/api-keys/{}", parent["public_id"].as_str().unwrap());
    let all = format!("{parent}?descendants=true");
    walk.ask("api-key-revoked-with-descendants", Method::DELETE, &all, None, 200)
        .await;
    let range = json!({ "ecf_type": "31", "range_start": 20_000_001, "range_end": 20_001_000 });
    let range = walk
        .post("sequence-created", "/api/v1/client/sequences", range, 201)
        .await;
    let range = format!("/api/v1/client/sequences/{}", range["public_id"].as_str().unwrap());
    let change = Some(json!({ "is_active": false }));
    walk.ask("sequence-changed", Method::PATCH, &range, change, 200).await;
    walk.get("sequences", "/api/v1/client/sequences?ecf_type=31", 200).await;
    design(walk).await;
}

async fn design(walk: &mut Walk<'_>) {
    let path = "/api/v1/client/company/design";
    let colours = json!({ "color": "#1F3A5F", "footer": "Gracias por su compra" });
    walk.ask("design-changed", Method::PATCH, path, Some(colours), 200)
        .await;
    walk.get("design", path, 200).await;
    let logo = format!("{path}/logo");
    walk.ask("logo-refused", Method::PUT, &logo, Some(json!({})), 415).await;
    walk.get("logo-none", &logo, 404).await;
    let url = format!("{}{logo}", walk.caller.base_url);
    let picture = BASE64_STANDARD.decode(PNG).unwrap();
    let key = Some(walk.caller.key.as_str());
    let stored = walk
        .caller
        .send_bytes(Method::PUT, &url, key, "image/png", picture)
        .await;
    walk.pin("logo-stored", "PUT", &logo, stored, 200);
    walk.ask("logo-deleted", Method::DELETE, &logo, None, 200).await;
}

/// A receipt of tomorrow, withdrawn either way.
async fn withdrawn(walk: &mut Walk<'_>) {
    let caller = walk.caller;
    let tomorrow = (Clock::system().now() + SignedDuration::from_hours(24)).to_string();
    for (name, verb) in [("cancelled", "cancel"), ("incapacity", "mark-incapacity")] {
        let sale = payload(&caller.rnc, &caller.today(), "32", 1_000);
        let body = json!({ "idempotency_key": name, "ecf_type": "32", "scheduled_for": tomorrow, "payload": sale });
        let receipt = caller.post("/ecf", &body).await.expect(201);
        let path = format!("/api/v1/ecf/{}/{verb}", receipt["public_id"].as_str().unwrap());
        walk.post(name, &path, json!({}), 200).await;
    }
}

async fn operate(system: &System, command: &Value) -> Value {
    let done = ecf_local::operator(&command.to_string(), system.folder()).await;
    let done: Value = serde_json::from_str(&done.unwrap()).unwrap();
    assert_eq!(done["error"], Value::Null, "{done}");
    done
}

/// An attempt of the certification, with a key of CerteCF.
async fn certification(walk: &mut Walk<'_>, system: &System) {
    let profile = walk.caller.get("/client/company").await.expect(200);
    let command = json!({ "command": "issue_api_key", "company": profile["public_id"], "environment": "CerteCF" });
    let issued = operate(system, &command).await;
    let key = issued["api_key"]["key"].as_str().unwrap();
    let caller = walk.caller.of_company(key, &walk.caller.rnc);
    let path = "/api/v1/client/certification/attempts";
    let body = Some(json!({ "idempotency_key": "attempt-1" }));
    walk.ask_as(&caller, "attempt-begun", Method::POST, path, body, 201)
        .await;
    walk.ask_as(&caller, "attempts", Method::GET, path, None, 200).await;
    two_runs(walk, system, &profile["public_id"], &caller).await;
}

/// Two runs of a small workbook: one that stops, goes on and ends, one that is abandoned.
async fn two_runs(walk: &mut Walk<'_>, system: &System, company: &Value, caller: &ApiClient) {
    let runs = "/api/v1/client/certification/runs";
    let (_, rows, summaries) = sheets::small();
    let workbook = sheets::workbook(&rows, &summaries);
    let simulation = json!({
        "kind": "simulation", "idempotency_key": "simulation-1", "foreign_buyer": "CLIENT INC",
        "buyer": { "rnc": "101672919", "name": "CLIENTE DE PRUEBA SRL" },
        "items": [{ "name": "Asesoría", "price": "1500.00" }],
    });
    walk.ask_as(
        caller,
        "simulation-without-numbers",
        Method::POST,
        runs,
        Some(simulation),
        409,
    )
    .await;
    // The tax authority refuses the first row: nothing was received, so that the row may be sent again.
    let refuses =
        json!({ "service": "recepcion", "ambiente": "certecf", "fault": "status", "status": 400, "times": 1 });
    caller.control(Method::POST, "faults", &refuses).await;
    let form = [
        ("\"idempotency_key\"", b"run-1".as_slice()),
        ("\"workbook\"; filename=\"ecf.xlsx\"", workbook.as_slice()),
    ];
    let mut begun = caller.send_form(runs, &form).await;
    as_at_its_beginning(&mut begun.body);
    let begun = walk.pin("run-begun", "POST", runs, begun, 201);
    let path = format!("{runs}/{}", begun["run_id"].as_str().unwrap());
    let url = format!("{}{path}", caller.base_url);
    let command = async |what: &str| {
        let url = format!("{url}/{what}");
        caller
            .send(Method::POST, &url, Some(&caller.key), Some(&json!({})))
            .await
    };
    let reached = async |path: &str, status: &str| {
        let shown = path.strip_prefix("/api/v1").unwrap();
        eventually(&format!("the run is {status}"), TIME_LIMIT, async || {
            let run = caller.get(shown).await.expect(200);
            assert!(run["status"] == "running" || run["status"] == status, "{run:#}");
            (run["status"] == status).then_some(())
        })
        .await;
    };
    reached(&path, "stopped").await;
    let go_on = format!("{path}/continue");
    let refused = command("continue").await;
    walk.pin("run-row-numbered", "POST", &go_on, refused, 409);
    let stopped = caller.get(path.strip_prefix("/api/v1").unwrap()).await.expect(200);
    assert!(
        stopped["next"].as_str().unwrap().contains("retry_failed"),
        "{stopped:#}"
    );
    operate(
        system,
        &json!({
            "command": "retry_failed", "company": company, "environment": "CerteCF",
            "receipt": stopped["rows"][0]["public_id"],
        }),
    )
    .await;
    let mut continued = command("continue").await;
    as_at_its_beginning(&mut continued.body);
    walk.pin("run-continued", "POST", &go_on, continued, 200);
    reached(&path, "finished").await;
    walk.ask_as(caller, "run", Method::GET, &path, None, 200).await;
    walk.ask_as(caller, "runs-listed", Method::GET, runs, None, 200).await;

    let form = [("\"idempotency_key\"", b"run-2".as_slice()), form[1]];
    let begun = caller.send_form(runs, &form).await.expect(201);
    let path = format!("{runs}/{}/abandon", begun["run_id"].as_str().unwrap());
    let url = format!("{}{path}", caller.base_url);
    let mut abandoned = caller
        .send(Method::POST, &url, Some(&caller.key), Some(&json!({})))
        .await;
    as_at_its_beginning(&mut abandoned.body);
    walk.pin("run-abandoned", "POST", &path, abandoned, 200);
}

/// The rows of a run that is under way change by the second: they are shown as before the first.
fn as_at_its_beginning(run: &mut Value) {
    let rows = run["rows"].as_array_mut().unwrap();
    let count = rows.iter().filter(|row| row["document"] != "upload").count();
    for row in rows {
        row["row_state"] = json!("waiting");
        row["explanations"] = json!([]);
        for name in ["public_id", "status", "track_id", "error_code", "error_message"] {
            row[name] = Value::Null;
        }
    }
    run["progress"] = json!(0);
    for (name, value) in run["counts"].as_object_mut().unwrap() {
        *value = json!(if ["rows", "waiting"].contains(&name.as_str()) {
            count
        } else {
            0
        });
    }
}

/// Approvals between two companies, through the service and signed elsewhere.
async fn approvals(walk: &mut Walk<'_>, system: &System) {
    let demo = walk.caller;
    let p12 = system.certificate(BAKERY);
    let bakery = open_bakery(demo, &p12).await;
    list(demo).await;
    list(&bakery).await;
    delivered(demo, &bakery, "approved", 1_000).await;
    let inbox = bakery.get("/client/inbox?limit=1").await.expect(200);
    let body = Some(answer(&inbox["items"][0], "approved", "1"));
    let path = "/api/v1/ecf/acecf/submit";
    let approved = walk
        .ask_as(&bakery, "acecf-submitted", Method::POST, path, body, 200)
        .await;
    let path = format!("/api/v1/ecf/acecf/{}", approved["public_id"].as_str().unwrap());
    walk.ask_as(&bakery, "acecf", Method::GET, &path, None, 200).await;

    let identity = Identity::from_pkcs12(&p12, ecf_local::CERTIFICATE_PIN, Clock::system().now()).unwrap();
    for (way, pesos) in [("inbound", 2_000), ("outbound", 3_000)] {
        delivered(demo, &bakery, way, pesos).await;
        let inbox = bakery.get("/client/inbox?limit=1").await.expect(200);
        let item = &inbox["items"][0];
        let text = |name: &str| item[name].as_str().unwrap();
        let day = text("fecha_emision");
        let xml = format!(
            "<ACECF><DetalleAprobacionComercial><Version>1.0</Version><RNCEmisor>{}</RNCEmisor><eNCF>{}</eNCF>\
<FechaEmision>{day}</FechaEmision><MontoTotal>{}</MontoTotal><RNCComprador>{BAKERY}</RNCComprador><Estado>1</Estado>\
<FechaHoraAprobacionComercial>{day} 23:00:00</FechaHoraAprobacionComercial></DetalleAprobacionComercial></ACECF>",
            demo.rnc,
            text("encf"),
            text("monto_total"),
        );
        let signed = xmldsig::sign(xml.as_bytes(), &identity).unwrap().xml;
        let body = json!({
            "idempotency_key": way, "sender_rnc": BAKERY, "receiver_rnc": demo.rnc, "ecf_type": "31",
            "encf": item["encf"], "signed_xml": BASE64_STANDARD.encode(signed),
        });
        let caller = if way == "inbound" { demo } else { &bakery };
        let path = format!("/api/v1/ecf/acecf/{way}");
        let name = format!("acecf-{way}-taken");
        walk.ask_as(caller, &name, Method::POST, &path, Some(body), 200).await;
    }
}

/// Approvals and annulments.
async fn exchange(walk: &mut Walk<'_>) {
    let caller = walk.caller;
    let inbox = caller.get("/client/inbox?acked=").await.expect(200);
    let item = &inbox["items"][0];
    let mut answer = json!({
        "idempotency_key": "answer", "encf": item["encf"], "rnc_emisor": item["rnc_emisor"], "rnc_comprador": caller.rnc,
        "fecha_emision": item["fecha_emision"], "monto_total": item["monto_total"], "estado": "1",
    });
    let submit = "/api/v1/ecf/acecf/submit";
    walk.post("acecf-not-accepted", submit, answer.clone(), 409).await;
    answer["estado"] = json!("3");
    walk.post("acecf-refused", submit, answer, 422).await;
    walk.post("acecf-inbound-refused", "/api/v1/ecf/acecf/inbound", json!({}), 422)
        .await;
    walk.post("acecf-outbound-refused", "/api/v1/ecf/acecf/outbound", json!({}), 422)
        .await;
    walk.get("acecf-list", "/api/v1/ecf/acecf", 200).await;
    let attempts = "/api/v1/client/certification/attempts";
    walk.get("attempts-refused", attempts, 409).await;
    walk.post("attempt-refused", attempts, json!({ "idempotency_key": "reset" }), 409)
        .await;
    runs(walk).await;
    walk.get("acecf-unknown", &format!("/api/v1/ecf/acecf/{}", "0".repeat(32)), 404)
        .await;
    let range = json!({ "ecf_type": "44", "sequence_from": 101, "sequence_to": 110, "quantity": 10 });
    let body = json!({ "idempotency_key": "void", "cancellations": [range] });
    let cancelled = walk
        .post("numbers-cancelled", "/api/v1/ecf/cancellations", body, 200)
        .await;
    let path = format!("/api/v1/ecf/cancellations/{}", cancelled["public_id"].as_str().unwrap());
    walk.get("cancellation", &path, 200).await;
    walk.get("audit-export", "/api/v1/client/audit-export", 200).await;
}

/// Certification runs: what each route answers without one; whole runs are in `runs.rs`.
async fn runs(walk: &mut Walk<'_>) {
    let path = "/api/v1/client/certification/runs";
    walk.get("runs", path, 200).await;
    let (content_type, form) = ("multipart/form-data; boundary=x8x8x8", |part: &str| {
        format!("--x8x8x8\r\nContent-Disposition: form-data; name={part}\r\n").into_bytes()
    });
    let body = [
        form("\"workbook\"; filename=\"suite.csv\"\r\n\r\nCasoPrueba,ENCF\n"),
        form("\"idempotency_key\"\r\n\r\nrun-1"),
        b"--x8x8x8--\r\n".to_vec(),
    ];
    let answer = send_bytes(walk.caller, path, content_type, body.concat()).await;
    walk.pin("run-refused", "POST", path, answer, 422);
    let unknown = format!("{path}/{}", "0".repeat(32));
    walk.get("run-unknown", &unknown, 404).await;
    walk.get("run-files-unknown", &format!("{unknown}/files"), 404).await;
    for command in ["continue", "confirm-uploads", "abandon"] {
        let (name, path) = (format!("run-{command}-unknown"), format!("{unknown}/{command}"));
        walk.post(&name, &path, json!({}), 404).await;
    }
}

async fn certificates(walk: &mut Walk<'_>) {
    let p12 = BASE64_STANDARD
        .decode(walk.caller.ready["test_p12"].as_str().unwrap())
        .unwrap();
    let form = [
        ("\"certificate\"; filename=\"a.p12\"", p12.as_slice()),
        ("\"pin\"", b"demo".as_slice()),
    ];
    for (name, path, status) in [
        ("certificate-uploaded", "/api/v1/client/certificates", 201),
        ("p12-inspected", "/api/v1/client/tools/inspect-p12", 200),
    ] {
        let answer = walk.caller.send_form(path, &form).await;
        walk.pin(name, "POST", path, answer, status);
    }
    walk.get("certificates", "/api/v1/client/certificates", 200).await;
    let path = "/api/v1/client/tools/sign-xml";
    let form = b"<SolicitudAutorizacion><Rnc>1</Rnc></SolicitudAutorizacion>".to_vec();
    let answer = send_bytes(walk.caller, path, "application/xml", form).await;
    walk.pin("xml-signed", "POST", path, answer, 200);
}

/// A receipt from the dry run to its files.
async fn receipts(walk: &mut Walk<'_>) -> String {
    let caller = walk.caller;
    walk.get("states", "/api/v1/ecf/states", 200).await;
    let sale = payload(&caller.rnc, &caller.today(), "32", 1_000);
    let body = json!({ "idempotency_key": "pinned", "ecf_type": "32", "external_id": "F-1", "payload": sale });
    walk.post("receipt-rehearsed", "/api/v1/ecf?validate_only=true", body.clone(), 200)
        .await;
    let receipt = walk.post("receipt-created", "/api/v1/ecf", body.clone(), 201).await;
    caller.wait_for_state(&receipt, "accepted").await;
    let shown = format!("/ecf/{}", receipt["public_id"].as_str().unwrap());
    eventually("the webhook's stage", TIME_LIMIT, async || {
        let now = caller.get(&shown).await.expect(200);
        (now["stages"] != json!([])).then_some(())
    })
    .await;
    walk.post("receipt-replayed", "/api/v1/ecf", body.clone(), 200).await;
    let mut wrong = body;
    wrong["idempotency_key"] = json!("wrong");
    wrong["payload"]["Encabezado"]["Totales"]["MontoTotal"] = json!(1);
    walk.post("receipt-refused", "/api/v1/ecf", wrong.clone(), 422).await;
    walk.post("batch", "/api/v1/ecf/batch", json!({ "items": [wrong] }), 200)
        .await;
    let id = receipt["public_id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/ecf/{id}");
    walk.get("receipt", &path, 200).await;
    walk.get("receipts", "/api/v1/ecf", 200).await;
    let public = format!("/api/v1/ecf/status-public/F-1?company_rnc={}", caller.rnc);
    walk.get("receipt-by-external-id", &public, 200).await;
    walk.post("cancel-refused", &format!("{path}/cancel"), json!({}), 409)
        .await;
    walk.post("incapacity-refused", &format!("{path}/mark-incapacity"), json!({}), 409)
        .await;
    // These responses are files, not JSON; their own tests compare them byte for byte.
    walk.get("xml", &format!("{path}/xml"), 200).await;
    walk.get("rfce", &format!("{path}/rfce"), 200).await;
    walk.get("pdf", &format!("{path}/pdf?format=roll58"), 200).await;
    walk.get("pdf-refused", &format!("{path}/pdf?format=A4"), 422).await;
    let document = format!("/api/v1/client/documents/{id}");
    walk.get("documents", "/api/v1/client/documents?limit=1", 200).await;
    walk.get("document", &document, 200).await;
    walk.get("artifacts", &format!("{document}/artifacts"), 200).await;
    walk.get(
        "authoritys-answer",
        &format!("{document}/artifacts/taxauth-response"),
        200,
    )
    .await;
    walk.get("artifact-unknown", &format!("{document}/artifacts/photo"), 422)
        .await;
    let signed = caller.download(&format!("/ecf/{id}/xml")).await;
    let tool = "/api/v1/client/tools/verify-xml";
    let answer = send_bytes(caller, tool, "application/xml", signed).await;
    walk.pin("xml-verified", "POST", tool, answer, 200);
    id
}

async fn webhooks(walk: &mut Walk<'_>, hook: &str) {
    walk.post("webhook-tested", &format!("{hook}/test"), json!({}), 200)
        .await;
    walk.get("webhook", hook, 200).await;
    walk.get("webhooks", "/api/v1/client/webhooks", 200).await;
    let deliveries = walk.get("deliveries", &format!("{hook}/deliveries"), 200).await;
    let delivery = &deliveries["items"][1]["id"];
    let again = format!("{hook}/deliveries/{delivery}/redeliver");
    walk.post("redelivered", &again, json!({}), 202).await;
    walk.post("secret-rotated", &format!("{hook}/rotate-secret"), json!({}), 200)
        .await;
    let change = Some(json!({ "is_active": false }));
    walk.ask("webhook-changed", Method::PATCH, hook, change, 200).await;
    walk.ask("webhook-deleted", Method::DELETE, hook, None, 204).await;
}

async fn authority(walk: &mut Walk<'_>) {
    let rnc = walk.caller.rnc.clone();
    walk.get("directory", &format!("/api/v1/taxauth/directory?rnc={rnc}"), 200)
        .await;
    walk.get("catalogues", "/api/v1/taxauth/catalogues", 200).await;
    walk.get("catalogue", "/api/v1/taxauth/catalogues/formas-pago", 200)
        .await;
    walk.get("catalogue-unknown", "/api/v1/taxauth/catalogues/currencies", 404)
        .await;
    walk.get("taxpayer", &format!("/api/v1/taxauth/rnc/{rnc}"), 200).await;
    walk.get("taxpayer-unknown", "/api/v1/taxauth/rnc/101010101", 404).await;
    walk.get("authority-refreshed", "/api/v1/taxauth/status/refresh", 200)
        .await;
    for (name, path) in [
        ("authority", ""),
        ("authority-environment", "/environment/TesteCF"),
        ("authority-impact", "/impact"),
        ("authority-impact-environment", "/impact/TesteCF"),
        ("authority-maintenance", "/maintenance"),
        ("authority-services", "/services"),
    ] {
        walk.get(name, &format!("/api/v1/taxauth/status{path}"), 200).await;
    }
}

async fn inbox(walk: &mut Walk<'_>) {
    walk.caller.be_sent("E310000000001").await;
    let inbox = walk.get("inbox", "/api/v1/client/inbox", 200).await;
    let item = format!(
        "/api/v1/client/inbox/{}",
        inbox["items"][0]["public_id"].as_str().unwrap()
    );
    walk.post("inbox-acknowledged", &format!("{item}/ack"), json!({}), 200)
        .await;
    for file in ["xml", "arecf", "pdf"] {
        walk.get(&format!("inbox-{file}"), &format!("{item}/{file}"), 200).await;
    }
}

async fn send_bytes(caller: &ApiClient, path: &str, content_type: &str, body: Vec<u8>) -> Answer {
    let url = format!("{}{path}", caller.base_url);
    caller
        .send_bytes(Method::POST, &url, Some(&caller.key), content_type, body)
        .await
}
