//! `POST /api/v1/ecf/cancellations`.

use ecf::ReceiptType;
use ecf_store::receipts::Withdrawal;
use ecf_testkit::Queue;
use http::Method;
use serde_json::{Value, json};

use crate::World;

fn body(key: &str, ranges: &[(&str, u64, u64)]) -> Value {
    let ranges: Vec<Value> = ranges
        .iter()
        .map(|(ecf_type, from, to)| {
            json!({ "ecf_type": ecf_type, "sequence_from": from, "sequence_to": to, "quantity": to - from + 1 })
        })
        .collect();
    json!({ "idempotency_key": key, "cancellations": ranges })
}

impl World {
    /// The number of locked numbers of type 31 between these.
    async fn locked(&self, from: u64, to: u64) -> usize {
        let table = self.stack.table();
        let locks = table.locks(&self.company.scope, ReceiptType::E31, from, to).await;
        locks.unwrap().len()
    }
}

#[tokio::test]
async fn numbers_of_several_types_are_annulled_with_one_message() {
    let world = World::start().await;
    let ranges = body("void", &[("31", 5_000_000, 5_000_149), ("44", 10, 46)]);
    let answer = world.post("cancellations", &ranges).await.expect(200);
    assert_eq!(
        (&answer["status"], &answer["quantity"]),
        (&json!("accepted"), &json!(187)),
        "{answer}"
    );
    assert_eq!(answer["dgii_response"]["codigo"], "1", "{answer}");
    assert_eq!(world.locked(5_000_000, 5_000_200).await, 150);
    assert_eq!(
        world
            .post("cancellations", &body("void", &[("31", 1, 1)]))
            .await
            .expect(200),
        answer
    );
    assert_eq!(world.locked(1, 10).await, 0);
    // The range continues after them.
    let table = world.stack.table();
    let ranges = table
        .ranges(&world.company.scope, Some(ReceiptType::E31))
        .await
        .unwrap();
    assert_eq!(ranges[1].next, 5_000_150);
}

#[tokio::test]
async fn used_numbers_are_not_annulled_and_withdrawn_ones_are() {
    let world = World::start().await;
    let receipt = world.own_receipt("E310000000001").await;
    let withdrawn = world.stack.signed_receipt(&world.company, "E310000000002").await;
    let (table, now) = (world.stack.table(), world.stack.clock().now());
    let scope = &world.company.scope;
    let refused = world
        .post("cancellations", &body("a", &[("31", 1, 2)]))
        .await
        .expect(409);
    assert_eq!(refused["detail"]["code"], "numbers_used");
    assert!(
        refused["detail"]["message"]
            .as_str()
            .unwrap()
            .contains("E310000000001, E310000000002"),
        "{refused}"
    );
    table
        .withdraw(scope, &withdrawn, Withdrawal::Cancel, now)
        .await
        .unwrap();
    let answer = world
        .post("cancellations", &body("b", &[("31", 2, 3)]))
        .await
        .expect(200);
    assert_eq!(answer["status"], "accepted", "{answer}");
    // The withdrawn receipt is still found by its number.
    let found = table
        .receipt_by_encf(scope, &"E310000000002".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(found.unwrap().public_id, withdrawn.public_id);
    assert_eq!(table.receipt(scope, &receipt.public_id).await.unwrap(), Some(receipt));
}

#[tokio::test]
async fn what_the_authority_refuses_gives_the_numbers_back() {
    let world = World::start().await;
    let refusal = json!({
        "service": "anulacionrangos", "fault": "status", "status": 200, "times": 1,
        "body": r#"{"rnc":"130000001","codigo":"2","nombre":"X","mensajes":["Las secuencias han sido utilizadas."]}"#,
    });
    world.control(Method::POST, "faults", &refusal).await;
    let answer = world
        .post("cancellations", &body("void", &[("31", 10, 19)]))
        .await
        .expect(200);
    assert_eq!(answer["status"], "refused", "{answer}");
    assert!(
        answer["message"].as_str().unwrap().contains("han sido utilizadas"),
        "{answer}"
    );
    assert_eq!(world.locked(10, 19).await, 0);
    let again = world
        .post("cancellations", &body("again", &[("31", 10, 19)]))
        .await
        .expect(200);
    assert_eq!(again["status"], "accepted", "{again}");
}

#[tokio::test]
async fn an_authority_that_is_away_is_asked_again_and_the_numbers_stay_locked() {
    let world = World::start().await;
    let away = json!({ "service": "anulacionrangos", "fault": "status", "status": 503, "times": 1 });
    world.control(Method::POST, "faults", &away).await;
    let answer = world
        .post("cancellations", &body("void", &[("31", 10, 19)]))
        .await
        .expect(200);
    assert_eq!(answer["status"], "pending", "{answer}");
    assert_eq!(world.locked(10, 19).await, 10);
    let queued = world.stack.take_messages(Queue::Exchange).await;
    assert!(queued.len() == 1 && queued[0].contains("annulment"), "{queued:?}");
}

#[tokio::test]
async fn thousands_of_numbers_are_left_to_the_worker() {
    let world = World::start().await;
    let answer = world
        .post("cancellations", &body("many", &[("31", 1, 1_001)]))
        .await
        .expect(200);
    assert_eq!(
        (&answer["status"], &answer["attempts"]),
        (&json!("pending"), &json!(0)),
        "{answer}"
    );
    assert_eq!(world.locked(1, 1_001).await, 0);
    let queued = world.stack.take_messages(Queue::Exchange).await;
    assert!(queued.len() == 1 && queued[0].contains("\"attempt\":0"), "{queued:?}");
}

#[tokio::test]
async fn a11_every_fault_of_a_request_is_named_with_its_code_and_what_to_write() {
    let world = World::start().await;
    let entry = |entry: Value| json!({ "idempotency_key": "x", "cancellations": [entry] });
    for (name, code, msg, body) in [
        (
            "ecf_type",
            "missing",
            "Field required",
            entry(json!({ "sequence_from": 1, "sequence_to": 2 })),
        ),
        (
            "ecf_type",
            "value_error",
            "99",
            entry(json!({ "ecf_type": "99", "sequence_from": 1, "sequence_to": 2 })),
        ),
        (
            "sequence_from",
            "missing",
            "Field required",
            entry(json!({ "ecf_type": "31", "sequence_to": 2 })),
        ),
        (
            "sequence_from",
            "type_mismatch",
            "E320000000001 is of type 32, but ecf_type is 31: give a number of type 31, or ecf_type 32",
            entry(json!({ "ecf_type": "31", "sequence_from": "E320000000001", "sequence_to": 2 })),
        ),
        (
            "sequence_from",
            "value_error",
            "\"0\" is neither a sequence from 1 to 9999999999 nor an e-NCF such as E310000000101",
            entry(json!({ "ecf_type": "31", "sequence_from": 0, "sequence_to": 2 })),
        ),
        (
            "sequence_to",
            "range_reversed",
            "exchange sequence_from and sequence_to",
            entry(json!({ "ecf_type": "31", "sequence_from": 3, "sequence_to": 2 })),
        ),
        (
            "quantity",
            "quantity_mismatch",
            "are 2 numbers: write 2, or leave quantity out",
            entry(json!({ "ecf_type": "31", "sequence_from": 1, "sequence_to": 2, "quantity": 3 })),
        ),
        (
            "sequence_from",
            "outside_ranges",
            "register the range first",
            entry(json!({ "ecf_type": "31", "sequence_from": 10_000_000, "sequence_to": 10_000_001 })),
        ),
    ] {
        let refused = world.post("cancellations", &body).await.expect(422);
        assert_eq!(
            refused["detail"][0]["loc"],
            json!(["body", "cancellations", "0", name]),
            "{refused}"
        );
        let error = &refused["detail"][0];
        assert_eq!(error["ctx"]["code"], code, "{refused}");
        let given = &body["cancellations"][0][name];
        if code != "outside_ranges" {
            assert_eq!(&error["input"], given, "{refused}");
        }
        let told = error["msg"].as_str().unwrap();
        assert!(told.contains(msg) && !told.starts_with("Value error"), "{told}");
    }
    let misspelt = entry(json!({ "ecf_type": "31", "sequence_from": 1, "sequence_to": 2, "quantitys": 2 }));
    let refused = world.post("cancellations", &misspelt).await.expect(422);
    assert_eq!(
        (&refused["detail"][0]["loc"], &refused["detail"][0]["msg"]),
        (
            &json!(["body", "cancellations", "0", "quantitys"]),
            &json!("quantitys, entry 1: Extra inputs are not permitted; did you mean quantity?")
        )
    );
    for (code, body) in [
        ("ranges_overlap", body("x", &[("31", 1, 5), ("31", 5, 9)])),
        ("too_many_numbers", body("x", &[("31", 1, 10_001)])),
        ("too_short", body("x", &[])),
        ("too_long", body("x", &[("31", 1, 1); 11])),
    ] {
        let refused = world.post("cancellations", &body).await.expect(422);
        assert_eq!(
            refused["detail"][0]["loc"],
            json!(["body", "cancellations"]),
            "{refused}"
        );
        assert_eq!(refused["detail"][0]["ctx"]["code"], code, "{refused}");
    }
    assert_eq!(world.locked(1, 11_000).await, 0);
}
