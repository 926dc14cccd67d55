//! Evidence of any size, exported to the bucket.

use std::fs;
use std::io::{Cursor, Read as _};
use std::process::Command;
use std::time::Instant;

use ecf_runtime::Clock;
use ecf_runtime::env::Env;
use ecf_store::{Clients, local_config};
use ecf_testkit::{Fault, noise};
use futures::{StreamExt as _, stream};
use jiff::SignedDuration;
use operator::App;
use serde_json::{Value, json};
use zip::ZipArchive;

use crate::{World, refusal};

impl World {
    async fn object(&self, name: &str) -> Vec<u8> {
        let client = &self.stack.clients().s3;
        let request = client.get_object().bucket(self.stack.provisioned().bucket_name());
        let answer = request.key(name).send().await.unwrap();
        answer.body.collect().await.unwrap().to_vec()
    }

    /// Signed consumer invoices with these numbers.
    async fn signed_many(&self, from: usize, to: usize) {
        let signed = stream::iter(from..=to).map(async |place| {
            self.signed(&format!("E32{place:010}")).await;
        });
        signed.buffered(8).collect::<Vec<()>>().await;
    }
}

#[tokio::test]
async fn an_export_is_in_the_bucket_and_made_once() {
    let world = World::start().await;
    world.signed("E310000000001").await;
    let first = world.run_here("export_evidence", json!({})).await;
    let export = &first["export"];
    assert_eq!(
        (&export["receipts"], &export["received"], &export["was_kept"]),
        (&json!(1), &json!(0), &json!(false))
    );
    let object = export["object"].as_str().unwrap();
    assert!(
        object.starts_with(&format!("exports/{}/testecf/", world.company.scope.company)),
        "{object}"
    );
    let bytes = world.object(object).await;
    assert_eq!(export["size_bytes"], bytes.len());
    let archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    assert_eq!(
        archive
            .file_names()
            .flatten()
            .filter(|name| name.ends_with("/130000001E310000000001.xml"))
            .count(),
        1
    );
    let second = world.run_here("export_evidence", json!({})).await;
    assert_eq!(
        (&second["export"]["object"], &second["export"]["was_kept"]),
        (&export["object"], &json!(true))
    );
}

#[tokio::test]
async fn an_export_with_remarks_says_so_and_is_made_again_once_they_are_mended() {
    let world = World::start().await;
    let receipt = world.signed("E310000000001").await;
    let part = format!("{}/signed-xml-", receipt.public_id);
    let key = world.stack.objects(&part).await.remove(0);
    let original = world.object(&key).await;
    world.stack.alter_objects(&part, b"<ECF></ECF>").await;
    let run = async || world.run_here("export_evidence", json!({})).await["export"].clone();
    for _ in 0..2 {
        let remarked = run().await;
        assert_eq!(
            (&remarked["has_remarks"], &remarked["was_kept"]),
            (&json!(true), &json!(false))
        );
        assert!(!world.object(remarked["object"].as_str().unwrap()).await.is_empty());
    }
    world.stack.alter_objects(&part, &original).await;
    for was_kept in [false, true] {
        let mended = run().await;
        assert_eq!(
            (&mended["has_remarks"], &mended["was_kept"]),
            (&json!(false), &json!(was_kept))
        );
    }
}

#[tokio::test]
async fn a2_a_span_and_a_company_are_checked_and_a_day_alone_is_the_whole_day() {
    let world = World::start().await;
    world.signed("E310000000001").await;
    world.stack.clock().advance(SignedDuration::from_hours(48));
    world.signed("E310000000002").await;
    let later = json!({ "date_from": "2026-11-28T00:00:00-04:00", "date_to": "2026-12-31T00:00:00-04:00" });
    assert_eq!(world.run_here("export_evidence", later).await["export"]["receipts"], 1);
    for (from, to, receipts) in [
        ("2026-11-29", "2026-11-29", 1),
        ("2026-11-27", "2026-11-27", 1),
        ("2026-11-28", "2026-11-28", 0),
    ] {
        let days = json!({ "date_from": from, "date_to": to });
        let export = world.run_here("export_evidence", days).await;
        assert_eq!(export["export"]["receipts"], receipts, "{from} {to}: {export}");
    }
    let backwards = json!({ "date_from": "2026-11-28T00:00:00Z", "date_to": "2026-11-27T00:00:00Z" });
    assert_eq!(
        refusal(&world.run_here("export_evidence", backwards).await),
        "bad_range"
    );
    let unknown = json!({ "company": "0".repeat(32), "environment": "ecf" });
    assert_eq!(refusal(&world.run("export_evidence", unknown).await), "not_found");
}

#[tokio::test]
async fn an_export_that_the_bucket_does_not_take_leaves_nothing_behind() {
    let world = World::start().await;
    let large = noise(6 << 20);
    let received = world
        .stack
        .received(&world.company, "E310000000007", None, &large, b"<ARECF/>");
    received.await;
    world.stack.calls().inject("UploadPart", 1, Fault::NotSent);
    let refused = world.run_here("export_evidence", json!({})).await;
    assert_eq!(refusal(&refused), "try_again");
    assert_eq!(world.stack.calls().count("AbortMultipartUpload"), 1);
    assert_eq!(
        world.run_here("export_evidence", json!({})).await["export"]["was_kept"],
        false
    );
}

/// The variables of the export's process.
const ENDPOINT: &str = "EVIDENCE_ENDPOINT";
const NOW: &str = "EVIDENCE_NOW";
const COMMAND: &str = "EVIDENCE_COMMAND";
const MEASURED: &str = "measured: ";

/// Runs an export in a separate process and returns its answer and its peak memory in MB. The services and the code
/// that makes the receipts run in this process.
fn measured(world: &World) -> (Value, f64) {
    let command = json!({
        "command": "export_evidence",
        "company": world.company.scope.company,
        "environment": world.company.scope.environment,
    });
    let own = std::env::current_exe().unwrap();
    let mut process = Command::new(own);
    process.args([
        "--ignored",
        "--exact",
        "--nocapture",
        "evidence::an_export_in_a_process_of_its_own",
    ]);
    process.envs(world.stack.environment_of("operator"));
    process.env(ENDPOINT, world.stack.config().endpoint_url().unwrap());
    process.env(NOW, world.stack.clock().now().to_string());
    process.env(COMMAND, command.to_string());
    let output = process.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.split_once(MEASURED));
    let (_, line) = line.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    let line: Value = serde_json::from_str(line).unwrap();
    (line["answer"]["export"].clone(), line["peak_mb"].as_f64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "the process that waits reads it")]
#[ignore = "the other half of an_archive_of_sixty_thousand_documents_takes_at_most_128_mb, which starts it"]
async fn an_export_in_a_process_of_its_own() {
    let env = Env::process();
    let clients = Clients::new(&local_config(&env.required(ENDPOINT).unwrap()));
    let clock = Clock::manual(env.required_as(NOW).unwrap());
    let app = App::from_env(&env, &clients, clock).unwrap();
    let command = serde_json::from_str(&env.required(COMMAND).unwrap()).unwrap();
    let answer = operator::handle(&app, command).await;
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let peak: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    println!("{MEASURED}{}", json!({ "answer": answer, "peak_mb": peak / 1024.0 }));
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "what it measures is for people to read")]
#[ignore = "issues 20,000 receipts and prints; run it with --nocapture"]
async fn an_archive_of_sixty_thousand_documents_takes_at_most_128_mb() {
    let world = World::start().await;
    let mut signed = 0;
    for count in [100, 1_000, 20_000] {
        world.signed_many(signed + 1, count).await;
        signed = count;
        let began = Instant::now();
        let (export, peak) = tokio::task::block_in_place(|| measured(&world));
        println!(
            "{count} receipts: {} KB in {:?}, {peak:.1} MB at most",
            export["size_bytes"].as_u64().unwrap() / 1024,
            began.elapsed()
        );
        assert_eq!(export["receipts"], count);
        assert!(peak <= 128.0, "{peak:.1} MB for {count} receipts");
        if count == 20_000 {
            let bytes = world.object(export["object"].as_str().unwrap()).await;
            let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
            // XML, summary and print of each.
            let issued = archive
                .file_names()
                .flatten()
                .filter(|name| name.starts_with("issued/"));
            assert_eq!(issued.count(), 60_000);
            let mut index = String::new();
            archive
                .by_name("index.csv")
                .unwrap()
                .read_to_string(&mut index)
                .unwrap();
            assert_eq!(index.lines().count(), 20_001);
        }
    }
}
