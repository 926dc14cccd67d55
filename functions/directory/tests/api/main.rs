//! `directory` over HTTP, on the embedded services and the simulated tax authority.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use directory::App;
use ecf::Environment;
use ecf_runtime::Clock;
use ecf_simulator::{Options, Simulator};
use ecf_testkit::{Answer, TestStack, request};
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};

/// Time limit; no call on loopback takes that long.
const TIME_LIMIT: Duration = Duration::from_secs(20);
const PATH: &str = "/api/v1/taxauth/directory";
const BUYER: &str = "131880681";

struct World {
    simulator: Simulator,
    http: reqwest::Client,
    stack: TestStack,
    router: Router,
    key: String,
}

impl World {
    async fn start() -> Self {
        let time: Arc<OnceLock<Clock>> = Arc::default();
        let clock = Arc::clone(&time);
        let options = Options {
            clock: Arc::new(move || clock.get().expect("nobody calls before").now()),
            ..Options::default()
        };
        let simulator = Simulator::start(options).await.unwrap();
        let base = simulator.base_url().to_owned();
        let parameters = ["TaxauthEcfUrl", "TaxauthFcUrl", "TaxauthStatusUrl"].map(|name| (name, base.as_str()));
        let stack = TestStack::with_parameters(&parameters).await;
        time.set(stack.clock().clone()).unwrap();
        let app = App::from_env(
            &stack.env("directory"),
            &stack.clients_of("directory"),
            stack.clock().clone(),
        )
        .unwrap();
        let world = Self {
            key: stack.company().await.api_key,
            simulator,
            http: reqwest::Client::builder().timeout(TIME_LIMIT).build().unwrap(),
            router: directory::router(app),
            stack,
        };
        let entry = json!({
            "nombre": "COMPRADORA SRL", "urlRecepcion": "https://receptor.example/", "urlAceptacion": "https://receptor.example",
        });
        world.control(Method::PUT, &format!("directory/{BUYER}"), &entry).await;
        world
    }

    async fn get(&self, query: &str) -> Answer {
        let path = format!("{PATH}{query}");
        request(&self.router, Method::GET, &path, Some(&self.key), None).await
    }

    async fn control(&self, method: Method, what: &str, body: &Value) -> Value {
        let url = format!("{}/_control/{what}", self.simulator.base_url());
        let answer = self.http.request(method, url).json(body).send().await.unwrap();
        assert!(answer.status().is_success(), "{what}");
        answer.json().await.unwrap_or(Value::Null)
    }

    /// The number of requests to the directory.
    async fn questions(&self) -> u64 {
        let counters = self.control(Method::GET, "counters", &Value::Null).await;
        let counters = counters.as_array().unwrap().iter();
        let of_directory = counters.filter(|one| one["service"] == "consultadirectorio");
        of_directory.map(|one| one["times"].as_u64().unwrap()).sum()
    }
}

#[tokio::test]
async fn a_taxpayer_is_looked_up_once_in_hours_and_its_age_is_told() {
    let world = World::start().await;
    let mut expected = json!({
        "rnc": BUYER, "environment": "TesteCF", "listed": true, "nombre": "COMPRADORA SRL",
        "url_recepcion": "https://receptor.example", "url_aceptacion": "https://receptor.example", "url_opcional": null,
        "checked_at": "2026-11-27T16:00:00.000Z", "age_seconds": 0, "problem": null,
    });
    let query = format!("?rnc={BUYER}");
    assert_eq!(world.get(&query).await.expect(200), expected);
    world.stack.clock().advance(SignedDuration::from_mins(30));
    expected["age_seconds"] = json!(1800);
    let twin = format!("/api/v1/dgii/directory{query}");
    let twin = request(&world.router, Method::GET, &twin, Some(&world.key), None).await;
    assert_eq!(twin.expect(200), expected);
    assert_eq!(world.questions().await, 1);
    let refreshed = world.get(&format!("{query}&refresh=true")).await.expect(200);
    assert_eq!((&refreshed["age_seconds"], world.questions().await), (&json!(0), 2));
}

#[tokio::test]
async fn who_is_not_listed_is_an_answer_too() {
    let world = World::start().await;
    let answer = world.get("?rnc=101672919").await.expect(200);
    let expected = json!({
        "rnc": "101672919", "environment": "TesteCF", "listed": false, "nombre": null,
        "url_recepcion": null, "url_aceptacion": null, "url_opcional": null,
        "checked_at": "2026-11-27T16:00:00.000Z", "age_seconds": 0, "problem": null,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn an_authority_that_is_away_leaves_the_old_entry_or_a_503_with_the_reason() {
    let world = World::start().await;
    let query = format!("?rnc={BUYER}");
    world.get(&query).await.expect(200);
    let fault = json!({ "service": "consultadirectorio", "fault": "maintenance" });
    world.control(Method::POST, "faults", &fault).await;
    world.stack.clock().advance(SignedDuration::from_hours(7));
    let old = world.get(&query).await.expect(200);
    assert_eq!((&old["listed"], &old["age_seconds"]), (&json!(true), &json!(25_200)));
    assert!(old["problem"].as_str().unwrap().contains("consultadirectorio"), "{old}");
    let answer = world.get("?rnc=101672919").await;
    assert_eq!(answer.header("retry-after"), Some("30"));
    let detail = answer.expect(503);
    assert_eq!(detail["detail"]["code"], "taxauth_unavailable");
    world.control(Method::DELETE, "faults", &Value::Null).await;
    assert_eq!(world.get(&query).await.expect(200)["problem"], Value::Null);
}

#[tokio::test]
async fn certification_has_no_directory_and_says_so() {
    let world = World::start().await;
    let company = world
        .stack
        .company_builder()
        .environment(Environment::CerteCF)
        .build()
        .await;
    let path = format!("{PATH}?rnc={BUYER}");
    let answer = request(&world.router, Method::GET, &path, Some(&company.api_key), None).await;
    assert_eq!(answer.expect(409)["detail"]["code"], "directory_not_offered");
}

#[tokio::test]
async fn a_company_without_a_certificate_can_not_ask_but_sees_what_is_kept() {
    let world = World::start().await;
    let company = world.stack.company_builder().without_certificate().build().await;
    let path = format!("{PATH}?rnc={BUYER}");
    let answer = request(&world.router, Method::GET, &path, Some(&company.api_key), None).await;
    assert_eq!(answer.expect(409)["detail"]["code"], "certificate_missing");
    world.get(&format!("?rnc={BUYER}")).await.expect(200);
    let answer = request(&world.router, Method::GET, &path, Some(&company.api_key), None).await;
    assert_eq!(answer.expect(200)["listed"], true);
}

#[tokio::test]
async fn bad_questions_are_refused_field_by_field_and_ask_nobody() {
    let world = World::start().await;
    for (query, loc) in [
        ("", "rnc"),
        ("?rnc=12", "rnc"),
        ("?rnc=13188068A", "rnc"),
        ("?rnc=131880681&refresh=maybe", "refresh"),
    ] {
        let answer = world.get(query).await.expect(422);
        assert_eq!(answer["detail"][0]["loc"], json!(["query", loc]), "{query}");
    }
    let path = format!("{PATH}?rnc={BUYER}");
    request(&world.router, Method::GET, &path, None, None).await.expect(422);
    request(&world.router, Method::GET, &path, Some("ecf_test_wrong"), None)
        .await
        .expect(401);
    assert_eq!(world.questions().await, 0);
}
