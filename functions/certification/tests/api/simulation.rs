//! Simulations: receipts from the company's own data.

use ecf::{Environment, ReceiptType};
use ecf_store::{
    ReceiptId, Scope,
    numbers::{NewRange, Numbering},
};
use ecf_testkit::{Queue, TestCompany};
use serde_json::{Value, json};

use crate::{RUNS, World};

fn data(key: &str) -> Value {
    json!({
        "kind": "simulation", "idempotency_key": key, "address": "Calle Uno 1, Santo Domingo",
        "buyer": { "rnc": "101672919", "name": "CLIENTE DE PRUEBA SRL" }, "foreign_buyer": "CLIENT INC",
        "items": [{ "name": "Asesoría", "price": "1500.00" }, { "name": "Silla", "price": 8999.5, "is_service": false }],
    })
}

async fn open_ranges(world: &World) {
    let now = world.stack.clock().now();
    for ecf_type in ReceiptType::ALL {
        let new = NewRange {
            ecf_type,
            start: 1,
            end: 20,
            valid_until: Some("31-12-2028".parse().unwrap()),
            numbering: Some(Numbering::Service),
            created_at: now,
        };
        world.stack.table().open_range(&world.company.scope, new).await.unwrap();
    }
}

#[tokio::test]
async fn a_simulation_has_every_required_type_and_takes_its_numbers_from_the_ranges() {
    let world = World::start().await;
    let short = world.simulate(&data("sim-1")).await.expect(409);
    assert_eq!(short["detail"]["code"], "not_enough_numbers", "{short}");
    assert!(
        short["detail"]["message"].as_str().unwrap().contains("32 (0 < 6)"),
        "{short}"
    );
    open_ranges(&world).await;
    let begun = world.simulate(&data("sim-1")).await.expect(201);
    assert_eq!(
        (&begun["kind"], &begun["counts"]["rows"]),
        (&json!("simulation"), &json!(25))
    );
    let first = &begun["rows"][0];
    assert_eq!(
        (&first["ecf_type"], &first["encf"]),
        (&json!("31"), &json!(null)),
        "{first}"
    );
    assert_eq!(
        world.simulate(&data("sim-1")).await.expect(200)["run_id"],
        begun["run_id"]
    );

    world.step().await;
    assert!(!world.stack.take_messages(Queue::Issuing).await.is_empty());
    let (scope, run) = (world.company.scope, begun["run_id"].as_str().unwrap());
    let id = ReceiptId::of_receipt(&scope, &format!("certification/{run}/ecf/1/0"));
    let receipt = world.stack.table().receipt(&scope, &id).await.unwrap().unwrap();
    assert_eq!(
        (receipt.state.to_string().as_str(), receipt.fiscal.ecf_type),
        ("received", ReceiptType::E31)
    );
    // A simulation belongs to the attempt that is under way.
    assert!(world.stack.table().attempts(&scope).await.unwrap().is_empty());
    world.stack.take_messages(Queue::Certification).await;
    let refused = world.get(&format!("{RUNS}/{run}/files")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "no_files_yet");
    // A process that has not read the data reads them from the bucket.
    let other = World::of(world).await;
    let shown = other.get(&format!("{RUNS}/{run}")).await.expect(200);
    assert_eq!(
        (&shown["kind"], &shown["rows"][0]["row_state"]),
        (&json!("simulation"), &json!("sent"))
    );
}

#[tokio::test]
async fn what_a_simulation_is_not_given_is_that_of_accepted_receipts() {
    let world = World::start().await;
    open_ranges(&world).await;
    let mut wanted = json!({
        "kind": "simulation", "idempotency_key": "sim-1", "address": "Calle Uno 1, Santo Domingo",
        "from_receipts": true, "items": null,
    });
    // A receipt without a verdict and the row of a run do not count.
    let (stack, company) = (&world.stack, &world.company);
    stack.signed_receipt(company, "E310000000101").await;
    let row = stack
        .signed_successor(company, "E310000000102", "certification/run/ecf/1/0")
        .await;
    stack.accept(&row, vec![]).await;
    let refused = world.simulate(&wanted).await.expect(422);
    let missing = |refused: &Value| {
        let errors = refused["detail"].as_array().unwrap().iter();
        errors.map(|error| error["loc"][1].clone()).collect::<Vec<_>>()
    };
    assert_eq!(missing(&refused), ["buyer", "foreign_buyer", "items"], "{refused:#}");
    assert!(
        refused["detail"][0]["msg"].as_str().unwrap().contains("type 31"),
        "{refused:#}"
    );

    let tests = TestCompany {
        scope: Scope {
            environment: Environment::TesteCF,
            ..company.scope
        },
        ..company.clone()
    };
    let in_tests = stack.signed_receipt(&tests, "E310000000001").await;
    stack.accept(&in_tests, vec![]).await;
    let refused = world.simulate(&wanted).await.expect(422);
    assert_eq!(
        missing(&refused),
        ["foreign_buyer"],
        "TesteCF has the rest: {refused:#}"
    );

    let own = stack.signed_receipt(company, "E310000000103").await;
    stack.accept(&own, vec![]).await;
    let refused = world.simulate(&wanted).await.expect(422);
    assert_eq!(missing(&refused), ["foreign_buyer"], "{refused:#}");
    wanted["foreign_buyer"] = json!("CLIENT INC");
    let begun = world.simulate(&wanted).await.expect(201);
    world.step().await;
    world.stack.take_messages(Queue::Issuing).await;
    world.stack.take_messages(Queue::Certification).await;
    let key = format!("certification/{}/ecf/1/0", begun["run_id"].as_str().unwrap());
    let scope = world.company.scope;
    let first = world
        .stack
        .table()
        .receipt(&scope, &ReceiptId::of_receipt(&scope, &key))
        .await;
    let first = first.unwrap().unwrap();
    assert_eq!(first.fiscal.rnc_comprador, own.fiscal.rnc_comprador);
    assert_eq!(
        first.fiscal.particulars.unwrap().razon_social_comprador.unwrap(),
        "Constructora del Cibao SRL"
    );
    // Two of what the receipt sold at RD$10,000.00, and ITBIS.
    assert_eq!(first.fiscal.monto_total, "23600.00");
}

#[tokio::test]
async fn data_of_which_no_simulation_can_be_made_are_refused_by_field() {
    let world = World::start().await;
    let mut wrong = data("sim-1");
    wrong["items"][1] = json!({ "name": "Silla", "price": "1.234", "color": "red" });
    wrong["buyer"] = json!(null);
    let refused = world.simulate(&wrong).await.expect(422);
    let mut places: Vec<_> = refused["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["loc"].to_string())
        .collect();
    places.sort();
    assert_eq!(
        places,
        [
            r#"["body","buyer"]"#,
            r#"["body","items","1","color"]"#,
            r#"["body","items","1","price"]"#,
        ]
    );
    let mut dear = data("sim-1");
    dear["items"] = json!([{ "name": "Camión", "price": "2500000.00" }]);
    let refused = world.simulate(&dear).await.expect(422);
    assert_eq!(refused["detail"][0]["loc"], json!(["body", "items"]), "{refused}");
    assert!(world.stack.take_messages(Queue::Certification).await.is_empty());
}
