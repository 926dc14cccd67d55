//! The state of the tax authority, with the simulated one.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use ecf::Environment;
use ecf_runtime::Clock;
use ecf_simulator::{Options, Simulator};
use ecf_store::{
    OperatorSecret,
    breaker::{Breaker, Cause, Host, OpenBreaker},
};
use ecf_testkit::{TestStack, request};
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};
use status::App;

/// Time limit; no call on loopback takes that long.
const TIME_LIMIT: Duration = Duration::from_secs(20);
const STATUS: &str = "/api/v1/taxauth/status";

struct World {
    simulator: Simulator,
    http: reqwest::Client,
    stack: TestStack,
    router: Router,
    key: String,
}

impl World {
    async fn start() -> Self {
        Self::with_key(Some("a key")).await
    }

    async fn with_key(status_key: Option<&str>) -> Self {
        let time: Arc<OnceLock<Clock>> = Arc::default();
        let clock = Arc::clone(&time);
        let options = Options {
            clock: Arc::new(move || clock.get().expect("nobody calls before").now()),
            ..Options::default()
        };
        let simulator = Simulator::start(options).await.unwrap();
        let stack = TestStack::with_parameters(&[("TaxauthStatusUrl", simulator.base_url())]).await;
        if let Some(key) = status_key {
            stack.store_secret(OperatorSecret::TaxauthStatusKey, key).await;
        }
        time.set(stack.clock().clone()).unwrap();
        let app = App::from_env(&stack.env("status"), &stack.clients_of("status"), stack.clock().clone()).unwrap();
        Self {
            key: stack.company().await.api_key,
            simulator,
            http: reqwest::Client::builder().timeout(TIME_LIMIT).build().unwrap(),
            router: status::router(app),
            stack,
        }
    }

    async fn get(&self, path: &str) -> Value {
        let path = format!("{STATUS}{path}");
        request(&self.router, Method::GET, &path, Some(&self.key), None)
            .await
            .expect(200)
    }

    async fn control(&self, method: Method, what: &str, body: &Value) -> Value {
        let url = format!("{}/_control/{what}", self.simulator.base_url());
        let answer = self.http.request(method, url).json(body).send().await.unwrap();
        assert!(answer.status().is_success(), "{what}");
        answer.json().await.unwrap_or(Value::Null)
    }

    /// The number of requests to the status service.
    async fn questions(&self) -> u64 {
        let counters = self.control(Method::GET, "counters", &Value::Null).await;
        let counters = counters.as_array().unwrap().iter();
        let of_status = counters.filter(|one| one["service"] == "estatusservicios");
        of_status.map(|one| one["times"].as_u64().unwrap()).sum()
    }
}

#[tokio::test]
async fn announced_maintenance_is_told_in_instants_with_its_age() {
    let world = World::start().await;
    let windows = json!([
        { "ambiente": "Produccion", "horaInicio": "10:00 PM", "horaFin": "11:30 PM", "dias": ["27-11-2026", "28-11-2026"] },
        { "ambiente": "PreCertificacion", "horaInicio": "11:00 AM", "horaFin": "1:00 PM", "dias": ["27-11-2026"] },
        { "ambiente": "Produccion", "horaInicio": "9:00 AM", "horaFin": "10:00 AM", "dias": ["26-11-2026"] },
    ]);
    world.control(Method::PUT, "maintenance", &windows).await;
    assert_eq!(world.get("/refresh").await["refreshed"], true);
    world.stack.clock().advance(SignedDuration::from_secs(61));
    let expected = json!({
        "windows": [
            { "environment": "TesteCF", "starts_at": "2026-11-27T15:00:00.000Z", "ends_at": "2026-11-27T17:00:00.000Z", "active": true },
            { "environment": "ecf", "starts_at": "2026-11-28T02:00:00.000Z", "ends_at": "2026-11-28T03:30:00.000Z", "active": false },
            { "environment": "ecf", "starts_at": "2026-11-29T02:00:00.000Z", "ends_at": "2026-11-29T03:30:00.000Z", "active": false },
        ],
        "recommend_contingency": true,
        "source": "status_service",
        "checked_at": "2026-11-27T16:00:00.000Z",
        "age_seconds": 61,
        "problem": null,
    });
    assert_eq!(world.get("/maintenance").await, expected);
    let impact = json!({
        "environment": "TesteCF", "impact": "held", "issuing": "available", "receipts": "held", "summaries": "held",
        "recommend_contingency": true, "reason": "maintenance", "held_until": "2026-11-27T17:00:00.000Z",
    });
    assert_eq!(world.get("/impact/TesteCF").await, impact);
    assert_eq!(world.get("/impact/ecf").await["impact"], "none");
    world.stack.clock().advance(SignedDuration::from_hours(1));
    let after = world.get("/maintenance").await;
    assert_eq!(
        (
            &after["recommend_contingency"],
            after["windows"].as_array().unwrap().len()
        ),
        (&json!(false), 2)
    );
}

#[tokio::test]
async fn a_refresh_asks_once_in_half_a_minute_whoever_wants_it() {
    let world = World::start().await;
    for (wait, refreshed) in [(0, true), (0, false), (29, false), (1, true)] {
        world.stack.clock().advance(SignedDuration::from_secs(wait));
        assert_eq!(world.get("/refresh").await["refreshed"], refreshed, "{wait}");
    }
    let questions = world.questions().await;
    assert_eq!(questions, 2 * 5, "services, windows and three environments");
    for path in [
        "",
        "/services",
        "/maintenance",
        "/impact",
        "/impact/ecf",
        "/environment/ecf",
    ] {
        world.get(path).await;
    }
    assert_eq!(
        world.questions().await,
        questions,
        "everything else is answered from the cache"
    );
}

#[tokio::test]
async fn a_service_that_is_reported_down_holds_what_it_would_take_and_comes_back() {
    let world = World::start().await;
    let fault = json!({ "service": "recepcionfc", "ambiente": "testecf", "fault": "maintenance" });
    world.control(Method::POST, "faults", &fault).await;
    world.get("/refresh").await;
    let environment = world.get("/environment/TesteCF").await;
    assert_eq!(
        (&environment["operational"], &environment["available"]),
        (&json!(false), &json!(true))
    );
    let fc = json!({
        "host": "fc", "state": "away", "since": "2026-11-27T16:00:00.000Z", "cause": "status_service",
        "next_probe_at": "2026-11-27T16:00:50.000Z",
    });
    assert_eq!(environment["hosts"][1], fc);
    let listed = world.get("/services").await;
    let service =
        json!({ "environment": "TesteCF", "servicio": "Recepción FC", "estatus": "No Disponible", "available": false });
    assert!(listed["services"].as_array().unwrap().contains(&service), "{listed}");
    let impact = world.get("/impact").await;
    assert_eq!(impact["items"][0]["impact"], "partial");
    assert_eq!(
        (&impact["items"][0]["receipts"], &impact["items"][0]["summaries"]),
        (&json!("sent"), &json!("held"))
    );
    world.control(Method::DELETE, "faults", &Value::Null).await;
    world.stack.clock().advance(SignedDuration::from_secs(30));
    world.get("/refresh").await;
    assert_eq!(world.get("").await["operational"], true);
}

#[tokio::test]
async fn a_status_service_that_fails_leaves_what_is_known_and_says_so() {
    let world = World::start().await;
    world.get("/refresh").await;
    let fault = json!({ "service": "estatusservicios", "fault": "html" });
    world.control(Method::POST, "faults", &fault).await;
    world.stack.clock().advance(SignedDuration::from_mins(2));
    let refreshed = world.get("/refresh").await;
    assert_eq!(
        (&refreshed["operational"], &refreshed["age_seconds"]),
        (&json!(true), &json!(120))
    );
    assert_eq!(refreshed["problem"], "the status service answers with status 500");
    assert_eq!(world.get("/services").await["services"].as_array().unwrap().len(), 18);
}

#[tokio::test]
async fn c14_a_status_service_that_refuses_makes_the_authority_unknown_and_never_down() {
    for status in [401, 404] {
        let world = World::start().await;
        let down = json!({ "service": "recepcion", "ambiente": "testecf", "fault": "maintenance" });
        world.control(Method::POST, "faults", &down).await;
        world.get("/refresh").await;
        assert_eq!(world.get("/impact/TesteCF").await["reason"], "reported");
        // The service fails while its last status is that reception is not available.
        let gone = json!({ "service": "estatusservicios", "fault": "status", "status": status });
        world.control(Method::POST, "faults", &gone).await;
        world.stack.clock().advance(SignedDuration::from_secs(30));
        let refreshed = world.get("/refresh").await;
        assert_eq!(refreshed["operational"], true, "{refreshed}");
        let problem = format!(
            "the status service refuses with status {status}: how the authority is stays unknown, and nothing is held for it"
        );
        assert_eq!(refreshed["problem"], problem);
        let environment = world.get("/environment/TesteCF").await;
        assert_eq!(environment["available"], Value::Null);
        assert_eq!(
            (&environment["services"], &environment["hosts"][0]["state"]),
            (&json!([]), &json!("up"))
        );
        assert_eq!(world.get("/impact/TesteCF").await["impact"], "none");
    }
}

#[tokio::test]
async fn r8_without_a_key_for_it_the_status_service_is_not_asked_and_our_own_calls_tell() {
    let world = World::with_key(None).await;
    let status = world.get("/refresh").await;
    assert_eq!(
        (&status["refreshed"], &status["source"]),
        (&json!(false), &json!("none"))
    );
    assert_eq!(world.questions().await, 0);
    let now = world.stack.clock().now();
    let open = OpenBreaker {
        since: now,
        cause: Cause::Failures,
        probe_at: now + SignedDuration::from_mins(10),
        probing_until: None,
    };
    let next = Breaker {
        open: Some(open),
        ..Breaker::default()
    };
    let table = world.stack.table();
    table
        .replace_breaker(Environment::TesteCF, Host::Ecf, &Breaker::default(), next)
        .await
        .unwrap();
    let impact = world.get("/impact/TesteCF").await;
    assert_eq!(
        (&impact["impact"], &impact["reason"]),
        (&json!("held"), &json!("unreachable"))
    );
    // The host of summaries is available; the one that issues tokens is not.
    assert_eq!(
        (&impact["receipts"], &impact["summaries"]),
        (&json!("held"), &json!("held"))
    );
    assert_eq!(world.get("/maintenance").await["recommend_contingency"], true);
    assert_eq!(world.get("").await["operational"], false);
}

#[tokio::test]
async fn both_spellings_are_served_and_need_a_key() {
    let world = World::start().await;
    let key = Some(world.key.as_str());
    for path in [
        "",
        "/services",
        "/maintenance",
        "/impact",
        "/impact/TesteCF",
        "/environment/CerteCF",
    ] {
        let [ours, twin] = ["taxauth", "dgii"].map(|name| format!("/api/v1/{name}/status{path}"));
        let ours = request(&world.router, Method::GET, &ours, key, None).await.expect(200);
        assert_eq!(
            request(&world.router, Method::GET, &twin, key, None).await.expect(200),
            ours
        );
        let path = format!("{STATUS}{path}");
        request(&world.router, Method::GET, &path, None, None).await.expect(422);
        request(&world.router, Method::GET, &path, Some("ecf_test_wrong"), None)
            .await
            .expect(401);
    }
}

#[tokio::test]
async fn an_environment_that_does_not_exist_is_named() {
    let world = World::start().await;
    for path in ["/impact/prod", "/environment/testecf"] {
        let path = format!("{STATUS}{path}");
        let answer = request(&world.router, Method::GET, &path, Some(&world.key), None)
            .await
            .expect(422);
        let error = &answer["detail"][0];
        assert_eq!(error["loc"], json!(["path", "environment"]));
        assert_eq!(error["ctx"]["expected"], "TesteCF, CerteCF, ecf", "{error}");
    }
}
