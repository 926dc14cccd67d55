//! Nothing lost, nothing twice: receipts of all types are issued while AWS calls fail, the tax authority and the ERP's endpoint
//! misbehave, and the process is killed again and again. Then everything is left in peace, and what must hold is asked of every
//! side.
//!
//! The system lives in a time lapse, so that leases, retries and look-ups of minutes pass in seconds. `FAULTS_SEED`,
//! `FAULTS_RECEIPTS`, `FAULTS_KILLS`, `FAULTS_AWS_PERCENT`, `FAULTS_PATIENCE` (seconds) choose another run; a failure prints its seed.

mod audit;
mod authority;
mod dice;
mod endpoint;
mod erp;
mod killer;
mod proof;

use std::time::Duration;

use futures::future::join_all;
use http::Method;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::authority::{Authority, bad_days};
use self::dice::Dice;
use self::endpoint::Endpoint;
use self::killer::{Victim, rage};
use crate::payloads::payload;
use crate::program::log_file;

/// How many times faster than real time the system lives.
const SPEED: u32 = 20;
/// More than two hours of the system's time.
const PATIENCE: Duration = Duration::from_secs(400);

/// How bad it gets.
#[derive(Debug, Clone, Copy)]
struct Weather {
    seed: u64,
    receipts: u32,
    kills: u32,
    aws_percent: u8,
    /// How long everything may take to come to rest.
    patience: Duration,
}

impl Weather {
    /// What the environment says instead.
    #[expect(clippy::disallowed_methods, reason = "a run by hand chooses its own weather")]
    fn or_of_environment(self) -> Self {
        let number = |name: &str, otherwise: u64| {
            std::env::var(name).map_or(otherwise, |text| {
                text.parse().unwrap_or_else(|_| panic!("{name}={text}"))
            })
        };
        Self {
            seed: number("FAULTS_SEED", self.seed),
            receipts: number("FAULTS_RECEIPTS", self.receipts.into()).try_into().unwrap(),
            kills: number("FAULTS_KILLS", self.kills.into()).try_into().unwrap(),
            aws_percent: number("FAULTS_AWS_PERCENT", self.aws_percent.into())
                .try_into()
                .unwrap(),
            patience: Duration::from_secs(number("FAULTS_PATIENCE", self.patience.as_secs())),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_minute_loses_nothing_and_doubles_nothing() {
    survive(Weather {
        seed: 1,
        receipts: 36,
        kills: 4,
        aws_percent: 5,
        patience: PATIENCE,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes; CI runs it in a step of its own"]
async fn a_bad_day_loses_nothing_and_doubles_nothing() {
    survive(
        Weather {
            seed: 20_261_128,
            receipts: 300,
            kills: 30,
            aws_percent: 5,
            patience: PATIENCE,
        }
        .or_of_environment(),
    )
    .await;
}

async fn survive(weather: Weather) {
    eprintln!("{weather:?}");
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::start().await;
    let endpoint = Endpoint::start(Dice::new(weather.seed, 1)).await;
    let faults = format!("{}:{}", weather.aws_percent, weather.seed);
    let (speed, url) = (SPEED.to_string(), authority.url().to_owned());
    let arguments = ["--simulator", &url, "--speed", &speed].map(str::to_owned).to_vec();
    let mut victim = Victim::start(folder.path(), arguments).await;
    let clock = authority.follow(folder.path());
    let begun = clock.now();
    let caller = victim.program().caller();

    // A quiet morning: the subscription, and receipts for the notes of the day to refer to.
    let subscription = json!({ "url": endpoint.url(), "events": ["ecf.*"] });
    caller.post("/client/webhooks", &subscription).await.expect(201);
    let today = ecf::Fecha::at(clock.now()).to_string();
    let originals = join_all((0..4).map(async |number| {
        let payload = payload(&caller.rnc, &today, "31", 1_000_000);
        let issued = caller
            .issue(&format!("original-{number}"), "31", &payload)
            .await
            .expect(201);
        caller.wait_for_state(&issued, "accepted").await["encf"]
            .as_str()
            .unwrap()
            .to_owned()
    }))
    .await;

    victim.disturb(&faults).await;
    let peace = CancellationToken::new();
    let trouble = tokio::spawn(bad_days(caller.clone(), Dice::new(weather.seed, 2), peace.clone()));
    let (answered, ()) = tokio::join!(
        erp::sell(&caller, &clock, weather.receipts, &originals, weather.seed),
        rage(&mut victim, &caller, weather.kills, Dice::new(weather.seed, 3)),
    );
    peace.cancel();
    trouble.await.unwrap();
    endpoint.recover();
    victim.calm().await;

    assert!(answered.len() >= usize::try_from(weather.receipts).unwrap());
    let records = proof::rest(&caller, &answered, weather.patience).await;
    proof::promises_are_kept(&answered, &records);
    let mut all = records.clone();
    for number in 0..originals.len() {
        let again = caller
            .issue(&format!("original-{number}"), "31", &json!({}))
            .await
            .expect(200);
        all.insert(format!("original-{number}"), again);
    }
    proof::the_authority_agrees(&caller, &all).await;
    proof::verdicts_were_told(&endpoint, &records, weather.patience).await;
    proof::verdicts_were_written_once(&log_file(folder.path()));
    proof::nothing_was_queued_in_a_row(&log_file(folder.path()));
    let audit = audit::agrees(victim.program(), &clock, begun, weather.patience).await;
    assert_eq!(
        audit.receipts,
        u64::try_from(all.len()).unwrap(),
        "receipts that nobody was told of"
    );
    let mut states = std::collections::BTreeMap::new();
    for record in records.values() {
        let status = record["status"].as_str().unwrap();
        *states.entry(status).or_insert(0) += 1;
        if status == "failed" {
            eprintln!("failed: {} {}", record["error_code"], record["error_message"]);
        }
    }
    eprintln!("{} receipts, {} kills: {states:?}", answered.len(), victim.kills);
    eprintln!(
        "{} numbers given, {} of them listed as unused; counters of {} days were mended",
        audit.numbers, audit.unused, audit.repaired
    );
    caller.control(Method::DELETE, "faults", &json!(null)).await;
    authority.shutdown().await;
}
