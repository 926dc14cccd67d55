//! The consistency check: it reports each difference, and nothing else.

use aws_sdk_dynamodb::types::AttributeValue;
use ecf_store::{Receipt, receipts::Withdrawal};
use serde_json::{Value, json};

use crate::{World, refusal};

impl World {
    /// Runs every part from the first to the last; returns the findings of each.
    async fn check(&self, arguments: Value) -> Vec<Value> {
        let mut arguments = arguments;
        let mut parts = Vec::new();
        for _ in 0..50 {
            let answer = self.run_here("check", arguments.clone()).await;
            assert!(answer.get("error").is_none(), "{answer}");
            parts.push(answer["found"].clone());
            if answer["next"].is_null() {
                return parts;
            }
            arguments["at"] = answer["next"].clone();
        }
        panic!("the check does not end");
    }

    async fn problems(&self) -> Vec<String> {
        let parts = self.check(json!({})).await;
        let problems = parts.iter().flat_map(|part| part["problems"].as_array().unwrap());
        problems
            .map(|problem| problem["problem"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Takes the service's next number, and signs a receipt with it.
    async fn issued(&self) -> Receipt {
        let now = self.stack.clock().now();
        let taken = self
            .table()
            .take_next_number(&self.company.scope, "31".parse().unwrap(), ecf::Fecha::at(now), now)
            .await;
        let ecf_store::numbers::NextNumber::Taken { encf, .. } = taken.unwrap() else {
            panic!("the range is full")
        };
        let receipt = self.signed(&encf.to_string()).await;
        let counted = self
            .table()
            .count_created(
                &receipt.scope,
                receipt.day(),
                receipt.fiscal.ecf_type,
                &receipt.fiscal.monto_total,
                None,
            )
            .await;
        counted.unwrap();
        receipt
    }

    /// Counts a number of a range that the caller numbers, as `issuing` does.
    async fn count_number(&self, receipt: &Receipt) {
        let (table, now) = (self.table(), self.stack.clock().now());
        let ranges = table
            .ranges(&receipt.scope, Some(receipt.fiscal.ecf_type))
            .await
            .unwrap();
        let counted = table.count_callers_number(&receipt.scope, &ranges[0], receipt, now);
        counted.await.unwrap();
    }

    async fn delete(&self, pk: String, sk: &str) {
        let request = self.stack.clients().dynamodb.delete_item();
        request
            .table_name(self.stack.provisioned().table_name())
            .key("pk", AttributeValue::S(pk))
            .key("sk", AttributeValue::S(sk.to_owned()))
            .send()
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn what_agrees_is_counted_part_by_part_and_nothing_is_told() {
    let world = World::start().await;
    for _ in 0..5 {
        world.issued().await;
    }
    let parts = world.check(json!({ "limit": 2 })).await;
    let sum = |name: &str| parts.iter().map(|part| part[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("numbers"), sum("receipts")), (5, 5), "{parts:?}");
    assert_eq!(world.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn numbers_that_wait_for_room_on_the_list_are_unused_too() {
    let world = World::start().await;
    let (table, clock) = (world.table(), world.stack.clock());
    let taken_at = clock.now();
    for _ in 0..103 {
        let taken = table.take_next_number(
            &world.company.scope,
            "31".parse().unwrap(),
            ecf::Fecha::at(taken_at),
            taken_at,
        );
        taken.await.unwrap();
    }
    assert_eq!(world.problems().await.len(), 103);
    // The work of housekeeping.
    clock.advance(jiff::SignedDuration::from_hours(1));
    let mut freed = 0;
    for shard in 0..ecf_store::numbers::RANGE_SHARDS {
        for due in table.due_numbers(shard, clock.now(), 10).await.unwrap() {
            if let ecf_store::numbers::DueNumbers::Range(entry) = due {
                let range = table.range(&entry.scope, entry.id).await.unwrap().unwrap();
                let dead_after = jiff::SignedDuration::from_mins(3);
                let reviewed = table.free_dead_numbers(&entry, range, dead_after, clock.now()).await;
                freed += reviewed.unwrap().freed;
            }
        }
    }
    assert_eq!(freed, 100);
    assert_eq!(world.problems().await, Vec::<String>::new());
    let parts = world.check(json!({})).await;
    let unused = |part: &Value| part["unused"].as_array().unwrap().len();
    assert_eq!(parts.iter().map(unused).sum::<usize>(), 103);
}

#[tokio::test]
async fn each_thing_that_does_not_agree_is_told() {
    let world = World::start().await;
    let [a, b, c] = [world.issued().await, world.issued().await, world.issued().await];
    let scope = format!("{}#testecf", world.company.scope.company);

    // A number that no receipt uses.
    let now = world.stack.clock().now();
    let today = ecf::Fecha::at(now);
    let ecf_type = "31".parse().unwrap();
    world
        .table()
        .take_next_number(&a.scope, ecf_type, today, now)
        .await
        .unwrap();
    assert_eq!(world.problems().await, ["number_unaccounted"]);

    // A receipt without its lock, one that is not on the due index, one whose document is lost.
    let sequence = a.encf().unwrap().sequence();
    world
        .delete(format!("n#{scope}#31#{:02}", sequence % 16), &format!("{sequence:010}"))
        .await;
    let request = world.stack.clients().dynamodb.update_item();
    request
        .table_name(world.stack.provisioned().table_name())
        .key("pk", AttributeValue::S(format!("r#{scope}#{}", b.public_id)))
        .key("sk", AttributeValue::S("r".to_owned()))
        .update_expression("REMOVE dp, ds")
        .send()
        .await
        .unwrap();
    world.stack.lose_objects(&c.public_id.to_string()).await;
    let mut problems = world.problems().await;
    problems.sort_unstable();
    assert_eq!(
        problems,
        [
            "document_missing",
            "lock_missing",
            "not_due",
            "number_unaccounted",
            "number_unaccounted"
        ]
    );
}

#[tokio::test]
async fn what_notes_take_from_a_receipt_is_held_against_the_notes() {
    let world = World::start().await;
    let invoice = world.issued().await;
    let note = world
        .stack
        .signed_note(&world.company, "E340000000001", &invoice, 3, "800.00")
        .await;
    world.count_number(&note).await;
    let counted = world
        .table()
        .count_created(
            &note.scope,
            note.day(),
            note.fiscal.ecf_type,
            &note.fiscal.monto_total,
            None,
        )
        .await;
    counted.unwrap();
    assert_eq!(world.problems().await, Vec::<String>::new());

    let sequence = invoice.encf().unwrap().sequence();
    let pk = format!("n#{}#testecf#31#{:02}", world.company.scope.company, sequence % 16);
    let lock = async |update: &str, value: Option<AttributeValue>| {
        let request = world.stack.clients().dynamodb.update_item();
        let request = request
            .table_name(world.stack.provisioned().table_name())
            .key("pk", AttributeValue::S(pk.clone()))
            .key("sk", AttributeValue::S(format!("{sequence:010}")))
            .update_expression(update);
        let request = match value {
            Some(value) => request.expression_attribute_values(":value", value),
            None => request,
        };
        request.send().await.unwrap();
    };
    lock("SET bd = :value", Some(AttributeValue::N("-12000".to_owned()))).await;
    assert_eq!(world.problems().await, ["balance_drifted"]);
    lock("SET bd = :value", Some(AttributeValue::N("-800".to_owned()))).await;
    lock("REMOVE pc", None).await;
    let mut problems = world.problems().await;
    problems.sort_unstable();
    assert_eq!(problems, ["balance_drifted", "note_not_counted"]);
    let stranger = AttributeValue::Ss(vec![note.public_id.to_string(), invoice.public_id.to_string()]);
    lock("SET pc = :value", Some(stranger)).await;
    assert_eq!(world.problems().await, ["note_counted_in_vain"]);
}

#[tokio::test]
async fn counters_that_drifted_are_told_and_set_right_only_on_request() {
    let world = World::start().await;
    let receipt = world.issued().await;
    let table = world.table();
    let (scope, day) = (receipt.scope, receipt.day());
    table
        .count_created(&scope, day, receipt.fiscal.ecf_type, "0.50", None)
        .await
        .unwrap();
    table
        .count_verdict(
            &scope,
            day,
            receipt.fiscal.ecf_type,
            ecf::ReceiptState::Accepted,
            "0.50",
        )
        .await
        .unwrap();
    let parts = world.check(json!({})).await;
    let problem = &parts[1]["problems"][0];
    assert_eq!(
        (&problem["problem"], &problem["detail"]),
        (
            &json!("counters_drifted"),
            &json!(
                "the counters say 31: 2, 31$: 11800.50, 31:accepted: 1, 31:accepted$: 0.50, the receipts are 31: 1, 31$: 11800.00"
            )
        )
    );
    let repaired = world.check(json!({ "repair_counters": true })).await;
    assert_eq!(repaired[1]["counters_repaired"], json!([day]));
    assert_eq!(world.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn r2_the_sum_of_a_month_that_drifted_is_told_and_set_right_only_on_request() {
    let world = World::start().await;
    let receipt = world.issued().await;
    let table = world.table();
    let (scope, first) = (receipt.scope, receipt.day().first_of_month());
    let last = first.last_of_month();
    table.seed_closing(&scope, first, last).await.unwrap();
    let days = json!({ "from": last, "to": last });
    let count = table.count_created(&scope, first, receipt.fiscal.ecf_type, "0.50", None);
    count.await.unwrap();
    let parts = world.check(days.clone()).await;
    let problem = &parts[parts.len() - 1]["problems"][0];
    let expected = "the month says 31: 1, 31$: 11800.00, its days are 31: 2, 31$: 11800.50";
    assert_eq!(
        (&problem["problem"], &problem["detail"]),
        (&json!("month_drifted"), &json!(expected))
    );
    world
        .check(json!({ "from": first, "to": last, "repair_counters": true }))
        .await;
    let parts = world.check(days.clone()).await;
    assert_eq!(parts[parts.len() - 1]["problems"], json!([]));
    // A month that was summed up from a wrong day is corrected together with that day.
    let count = table.count_created(&scope, first, receipt.fiscal.ecf_type, "0.50", None);
    count.await.unwrap();
    table.sum_up_month(&scope, first).await.unwrap();
    world
        .check(json!({ "from": first, "to": last, "repair_counters": true }))
        .await;
    let months = table.month_counts(&scope, first, first).await.unwrap();
    assert_eq!(months[0].to_string(), "31: 1, 31$: 11800.00");
    let parts = world.check(days).await;
    assert_eq!(parts[parts.len() - 1]["problems"], json!([]));
}

#[tokio::test]
async fn a_number_that_was_signed_and_withdrawn_is_listed_to_be_annulled() {
    let world = World::start().await;
    let receipt = world.issued().await;
    let (table, now) = (world.table(), world.stack.clock().now());
    let scope = receipt.scope;
    table.withdraw(&scope, &receipt, Withdrawal::Cancel, now).await.unwrap();
    table
        .count_verdict(
            &scope,
            receipt.day(),
            receipt.fiscal.ecf_type,
            ecf::ReceiptState::Cancelled,
            &receipt.fiscal.monto_total,
        )
        .await
        .unwrap();
    let parts = world.check(json!({})).await;
    assert_eq!(parts[1]["to_annul"], json!([receipt.encf().unwrap()]));
    assert_eq!(parts[1]["problems"], json!([]));
}

#[tokio::test]
async fn a_check_that_makes_no_sense_is_refused() {
    let world = World::start().await;
    let backwards = json!({ "from": "2026-11-28", "to": "2026-11-27" });
    assert_eq!(refusal(&world.run_here("check", backwards).await), "bad_part");
    assert_eq!(
        refusal(&world.run_here("check", json!({ "limit": 0 })).await),
        "bad_part"
    );
}

#[tokio::test]
async fn a4_a_count_of_used_numbers_that_drifted_is_told_and_corrected_when_asked() {
    let world = World::start().await;
    let counted = world.signed("E310000000004").await;
    world.count_number(&counted).await;
    let drifted = async || {
        let problems = world.problems().await;
        problems.contains(&"used_numbers_drifted".to_owned())
    };
    assert!(!drifted().await);
    world.signed("E310000000009").await;
    assert!(drifted().await);
    let parts = world.check(json!({ "repair_counters": true })).await;
    let repaired: Vec<_> = parts
        .iter()
        .flat_map(|part| part["ranges_repaired"].as_array().unwrap())
        .collect();
    assert_eq!(repaired, ["31-1"]);
    assert!(!drifted().await);
    let range = world.table().range(&world.company.scope, "31-1".parse().unwrap()).await;
    let range = range.unwrap().unwrap();
    assert_eq!((range.used, range.next), (2, 10));
}

#[tokio::test]
async fn d1_what_an_abandoned_attempt_left_agrees() {
    let stack = ecf_testkit::TestStack::start().await;
    let company = stack
        .company_builder()
        .environment(ecf::Environment::CerteCF)
        .build()
        .await;
    let world = World::of(stack, company);
    let invoice = world.signed("E310000000004").await;
    world.count_number(&invoice).await;
    let note = world
        .stack
        .signed_note(&world.company, "E340000000001", &invoice, 3, "800.00")
        .await;
    world.count_number(&note).await;
    world.stack.clock().advance(jiff::SignedDuration::from_secs(1));
    let (table, now) = (world.table(), world.stack.clock().now());
    table.begin_attempt(&world.company.scope, "reset", now).await.unwrap();
    let again = world
        .stack
        .signed_successor(&world.company, "E310000000004", "again")
        .await;
    assert_eq!(again.predecessor, Some(invoice.public_id));
    world.count_number(&again).await;
    let parts = world.check(json!({ "repair_counters": true })).await;
    let problems: Vec<_> = parts
        .iter()
        .flat_map(|part| part["problems"].as_array().unwrap())
        .collect();
    assert_eq!(problems, Vec::<&Value>::new());
}
