//! Begins runs and takes them on.

use ecf::Environment;
use ecf_store::{
    ReceiptId,
    receipts::{Recorded, Withdrawal},
};
use ecf_testkit::Queue;
use serde_json::{Value, json};

use crate::{RUNS, World, small};

fn path(run: &Value, rest: &str) -> String {
    format!("{RUNS}/{}{rest}", run["run_id"].as_str().unwrap())
}

#[tokio::test]
async fn a_run_begins_once_and_sends_one_row_at_a_time() {
    let world = World::start().await;
    let begun = world.begin("run-1", &small(), None).await.expect(201);
    assert_eq!((&begun["status"], &begun["progress"]), (&json!("running"), &json!(0)));
    // Two receipts, two notes, a summary; the upload is a person's.
    assert_eq!(
        (&begun["counts"]["rows"], &begun["counts"]["waiting"]),
        (&json!(5), &json!(5))
    );
    let rows = begun["rows"].as_array().unwrap().iter();
    let order: Vec<_> = rows
        .map(|row| (row["document"].as_str().unwrap(), row["encf"].as_str().unwrap()))
        .collect();
    assert_eq!(
        order,
        [
            ("ecf", "E310000000007"),
            ("ecf", "E320000000002"),
            ("ecf", "E330000000001"),
            ("ecf", "E340000000001"),
            ("rfce", "E320000000001"),
            ("upload", "E320000000001"),
        ]
    );
    let again = world.begin("run-1", &small(), None).await.expect(200);
    assert_eq!(again["run_id"], begun["run_id"]);
    let other = world.begin("run-2", &small(), None).await.expect(409);
    assert_eq!(other["detail"]["code"], "run_open");

    // The replay enqueued the same step: it is carried out once.
    assert_eq!(world.step().await.len(), 2);
    let issuing = world.stack.take_messages(Queue::Issuing).await;
    assert!(
        !issuing.is_empty() && issuing.iter().all(|job| job == &issuing[0]),
        "{issuing:?}"
    );
    let (scope, run_id) = (world.company.scope, begun["run_id"].as_str().unwrap());
    let key = format!("certification/{run_id}/ecf/E310000000007/0");
    let id = ReceiptId::of_receipt(&scope, &key);
    let receipt = world.stack.table().receipt(&scope, &id).await.unwrap().unwrap();
    assert_eq!(receipt.state.to_string(), "received");
    let now = world.get(&path(&begun, "")).await.expect(200);
    assert_eq!(now["rows"][0]["row_state"], "sent");
    assert_eq!(now["rows"][0]["public_id"], json!(id.to_string()));
    assert_eq!(now["counts"]["waiting"], 4, "nothing is sent while a verdict is open");

    // Numbers and attempt are prepared once.
    let table = world.stack.table();
    let ranges = table.ranges(&scope, None).await.unwrap();
    let mut ranges: Vec<_> = ranges
        .iter()
        .map(|range| (range.ecf_type.as_str(), range.start, range.end))
        .collect();
    ranges.sort();
    assert_eq!(ranges, [("31", 7, 7), ("32", 1, 2), ("33", 1, 1), ("34", 1, 1)]);
    assert_eq!(table.attempts(&scope).await.unwrap().len(), 1);

    // The next step waits for the verdict; a job of an earlier step is void.
    let steps = world.stack.take_messages(Queue::Certification).await;
    assert_eq!(steps.len(), 1, "{steps:?}");
    let earlier = steps[0].replace("\"step\":1", "\"step\":0");
    assert_ne!(earlier, steps[0]);
    world.work(&earlier).await;
    assert!(world.stack.take_messages(Queue::Issuing).await.is_empty());
    let refused = world.get(&path(&begun, "/files")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "no_files_yet");
}

#[tokio::test]
async fn a_person_decides_only_what_the_state_allows() {
    let world = World::start().await;
    let begun = world.begin("run-1", &small(), None).await.expect(201);
    for command in ["/continue", "/confirm-uploads"] {
        let refused = world.post(&path(&begun, command)).await.expect(409);
        assert_eq!(refused["detail"]["code"], "run_state", "{command}");
    }
    let abandoned = world.post(&path(&begun, "/abandon")).await.expect(200);
    assert_eq!(abandoned["status"], "abandoned");
    assert!(abandoned["ended_at"].is_string());
    // The job of the run is void.
    world.step().await;
    assert!(world.stack.take_messages(Queue::Issuing).await.is_empty());
    let anew = world.begin("run-2", &small(), None).await.expect(201);
    let list = world.get(RUNS).await.expect(200);
    let statuses: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["status"].clone())
        .collect();
    assert_eq!((list["total"].clone(), statuses.len()), (json!(2), 2));
    assert!(statuses.contains(&json!("running")) && statuses.contains(&json!("abandoned")));
    assert_ne!(anew["run_id"], begun["run_id"]);
    world.stack.take_messages(Queue::Certification).await;
}

#[tokio::test]
async fn a_row_that_was_withdrawn_with_its_number_asks_for_a_new_run() {
    let world = World::start().await;
    let begun = world.begin("run-1", &small(), None).await.expect(201);
    let key = format!(
        "certification/{}/ecf/E310000000007/0",
        begun["run_id"].as_str().unwrap()
    );
    let receipt = world
        .stack
        .signed_successor(&world.company, "E310000000007", &key)
        .await;
    let (table, now) = (world.stack.table(), world.stack.clock().now());
    let withdrawn = table.withdraw(&receipt.scope, &receipt, Withdrawal::Cancel, now).await;
    assert!(matches!(withdrawn, Ok(Recorded::Now(_))), "{withdrawn:?}");
    world.step().await;
    let stopped = world.get(&path(&begun, "")).await.expect(200);
    assert_eq!(
        (&stopped["status"], &stopped["stop"]["cause"]),
        (&json!("stopped"), &json!("not_sent"))
    );
    let next = "begin a new run with the same workbooks, whose numbers may repeat, and do not annul the number";
    assert!(stopped["next"].as_str().unwrap().ends_with(next), "{stopped:#}");
    let refused = world.post(&path(&begun, "/continue")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "run_row_withdrawn", "{refused}");
    assert_eq!(refused["detail"]["message"], stopped["next"]);
    world.begin("run-2", &small(), None).await.expect(201);
    for queue in [Queue::Certification, Queue::Webhook] {
        world.stack.take_messages(queue).await;
    }
}

#[tokio::test]
async fn a_lost_job_is_found_on_the_due_index() {
    let world = World::start().await;
    let begun = world.begin("run-1", &small(), None).await.expect(201);
    world.stack.take_messages(Queue::Certification).await;
    let later = world.stack.clock().now() + jiff::SignedDuration::from_mins(3);
    let mut due = Vec::new();
    for shard in 0..ecf_store::due::SHARDS {
        due.extend(world.stack.table().due_now(shard, later, 10).await.unwrap().entries);
    }
    let records: Vec<_> = due.iter().map(|entry| format!("{:?}", entry.record)).collect();
    let run = format!("Run(RunId({}))", begun["run_id"].as_str().unwrap());
    assert!(records.contains(&run), "{records:?}");
}

#[tokio::test]
async fn nothing_runs_in_production_or_for_another_company() {
    let world = World::start().await;
    let owned = world.begin("owned", &small(), None).await.expect(201);
    let builder = world.stack.company_builder().rnc("131880681").without_ranges();
    let other = builder.environment(Environment::CerteCF).build().await;
    let world = World {
        company: other,
        ..world
    };
    let refused = world.begin("run-1", &small(), None).await.expect(422);
    assert_eq!(refused["detail"][0]["ctx"]["code"], "FILA-08", "{refused}");
    for rest in ["", "/files"] {
        world.get(&path(&owned, rest)).await.expect(404);
    }
    for command in ["/continue", "/confirm-uploads", "/abandon"] {
        world.post(&path(&owned, command)).await.expect(404);
    }
    world.stack.take_messages(Queue::Certification).await;
    let builder = world.stack.company_builder().rnc("131996035").without_ranges();
    let production = builder.environment(Environment::Ecf).build().await;
    let world = World {
        company: production,
        ..world
    };
    let refused = world.begin("run-1", &small(), None).await.expect(409);
    assert_eq!(refused["detail"]["code"], "not_in_production");
    let unknown = format!("{RUNS}/4h7s2v9x1c5m8r3w6tq0y2kabdefgjnp");
    for rest in ["", "/files"] {
        world.get(&format!("{unknown}{rest}")).await.expect(404);
    }
}
