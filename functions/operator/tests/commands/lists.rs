//! What lists show of receipts from before it was stored.

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::ReceiptState;
use ecf_store::{Receipt, receipts::Particulars};
use ecf_testkit::seeded_receipt;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{World, refusal};

impl World {
    /// Makes the record like one from before particulars were stored.
    async fn make_old(&self, receipt: &Receipt) {
        let scope = receipt.scope;
        let environment = scope.environment.path_segment();
        let partition = format!("r#{}#{environment}#{}", scope.company, receipt.public_id);
        let request = self.stack.clients().dynamodb.update_item();
        let request = request
            .table_name(self.stack.provisioned().table_name())
            .key("pk", AttributeValue::S(partition))
            .key("sk", AttributeValue::S("r".to_owned()))
            .update_expression("REMOVE rz, ti")
            .condition_expression("attribute_exists(ti)");
        request.send().await.unwrap();
        assert_eq!(self.record(receipt).await.fiscal.particulars, None);
    }
}

#[tokio::test]
async fn p3_an_operator_fills_in_what_lists_show_of_old_receipts() {
    let world = World::start().await;
    let old = world.signed("E310000000001").await;
    let consumer = world.signed("E320000000001").await;
    world.stack.clock().advance(SignedDuration::from_hours(3 * 24));
    let later = world.signed("E310000000002").await;
    let new = world.signed("E310000000003").await;
    for receipt in [&old, &consumer, &later] {
        world.make_old(receipt).await;
    }

    // The first day, then it is stopped, repeated, and goes on.
    let days = json!({ "from": "2026-11-20", "limit": 1 });
    let first = world.run_here("fill_in_lists", days.clone()).await;
    let next = json!({ "day": "2026-11-28", "after": null });
    let expected = json!({ "filled_in": 2, "had_them": 0, "unsigned": 0, "unreadable": [], "next": next });
    assert_eq!(first, expected);
    let again = world.run_here("fill_in_lists", days).await;
    assert_eq!((&again["filled_in"], &again["had_them"]), (&json!(0), &json!(2)));
    let rest = world
        .run_here("fill_in_lists", json!({ "at": next, "from": "2026-11-20" }))
        .await;
    let expected = json!({ "filled_in": 1, "had_them": 1, "unsigned": 0, "unreadable": [], "next": null });
    assert_eq!(rest, expected);

    for receipt in [&old, &later, &new, &consumer] {
        let record = world.record(receipt).await;
        assert_eq!(record.fiscal.particulars, receipt.fiscal.particulars);
        assert_ne!(record.fiscal.particulars, None);
    }
    let particulars = world.record(&old).await.fiscal.particulars;
    let expected = Particulars {
        razon_social_comprador: Some("Constructora del Cibao SRL".to_owned()),
        total_itbis: Some("1800.00".to_owned()),
    };
    assert_eq!(particulars, Some(expected));
}

#[tokio::test]
async fn p3_a_receipt_whose_document_is_gone_is_named_and_does_not_stop_the_others() {
    let world = World::start().await;
    let gone = world.signed("E310000000001").await;
    let now = world.stack.clock().now();
    let mut unsigned = seeded_receipt(&world.company, "E310000000002", ReceiptState::Received, now);
    unsigned.signed = None;
    let unsigned = world
        .table()
        .create_receipt(&world.company.scope, unsigned)
        .await
        .unwrap();
    let ecf_store::receipts::Created::New(unsigned) = unsigned else {
        panic!("{unsigned:?}")
    };
    world.make_old(&gone).await;
    world.make_old(&unsigned).await;
    world.stack.lose_objects("").await;
    let answer = world.run_here("fill_in_lists", json!({})).await;
    let unreadable = json!([gone.public_id.to_string()]);
    let expected = json!({ "filled_in": 0, "had_them": 0, "unsigned": 1, "unreadable": unreadable, "next": null });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn p3_a_part_has_its_limits() {
    let world = World::start().await;
    let run = async |arguments: Value| world.run_here("fill_in_lists", arguments).await;
    for wrong in [
        json!({ "limit": 0 }),
        json!({ "limit": 5_001 }),
        json!({ "from": "2026-11-28", "to": "2026-11-27" }),
    ] {
        assert_eq!(refusal(&run(wrong).await), "bad_part");
    }
    let nobody = json!({ "company": "0123456789abcdefghjkmnpqrstvwxyz", "environment": "ecf" });
    assert_eq!(refusal(&world.run("fill_in_lists", nobody).await), "not_found");
    // A year of empty days is one command.
    let answer = run(json!({ "from": "2024-11-27" })).await;
    assert_eq!(answer["next"], json!({ "day": "2025-11-28", "after": null }));
}
