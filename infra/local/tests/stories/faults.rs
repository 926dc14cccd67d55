//! The fault run. Its promise: nothing is lost, nothing happens twice, every list is complete. Receipts of all types
//! are issued, scheduled, corrected, withdrawn, exchanged and annulled while AWS calls fail, the tax authority and the
//! ERP's endpoint return errors, counters are damaged, and the process is killed again and again. Then the faults stop,
//! and every side is compared with the harness's own records, before any repair.
//!
//! The system runs in a time lapse, so that leases, retries and look-ups of minutes pass in seconds. `FAULTS_SEED`,
//! `FAULTS_RECEIPTS`, `FAULTS_KILLS`, `FAULTS_AWS_PERCENT`, `FAULTS_PATIENCE` (seconds) configure a run; a failure
//! prints its seed.

mod audit;
mod authority;
mod board;
mod books;
mod certification;
mod clerk;
mod counters;
mod desk;
mod endpoint;
mod erp;
mod failures;
mod killer;
mod lists;
mod log;
mod others;
mod partners;
mod proof;
mod rng;
mod time;
mod town;

use std::time::Duration;

use http::Method;
use jiff::SignedDuration;
use serde_json::json;

use self::board::{AUTHORITY_LONG, AWS, AWS_LONG, COUNTERS, ENDPOINT, Phase};
use self::town::Town;
use crate::program::log_file;

/// More than two hours of the system's time.
const TIME_LIMIT: Duration = Duration::from_secs(400);
/// After two nights the days of the run are closed, and lists skip over them by their counters alone.
const NIGHTS: SignedDuration = SignedDuration::from_hours(48);
/// Receipts and kills from which on a run must have met every kind of fault.
const LONG: (u32, u32) = (300, 30);

/// The parameters of a run.
#[derive(Debug, Clone, Copy)]
struct Weather {
    seed: u64,
    receipts: u32,
    kills: u32,
    aws_percent: u8,
    /// How long the system may take to finish all work.
    time_limit: Duration,
}

impl Weather {
    /// Applies the overrides in the environment variables.
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
            time_limit: Duration::from_secs(number("FAULTS_PATIENCE", self.time_limit.as_secs())),
        }
    }

    /// The faults that a run of this length must have met.
    fn must_strike(&self) -> Vec<String> {
        let mut kinds = vec![Phase::Verdict.kill()];
        kinds.extend(AWS.into_iter().chain([ENDPOINT[0]]).map(str::to_owned));
        if self.receipts >= LONG.0 && self.kills >= LONG.1 {
            kinds.extend(Phase::ALL.map(Phase::kill));
            kinds.extend(
                AWS_LONG
                    .into_iter()
                    .chain(ENDPOINT)
                    .chain(AUTHORITY_LONG)
                    .chain(COUNTERS)
                    .map(str::to_owned),
            );
        }
        kinds
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_minute_loses_nothing_and_doubles_nothing() {
    survive(Weather {
        seed: 1,
        receipts: 36,
        kills: 4,
        aws_percent: 5,
        time_limit: TIME_LIMIT,
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
            time_limit: TIME_LIMIT,
        }
        .or_of_environment(),
    )
    .await;
}

async fn survive(weather: Weather) {
    eprintln!("{weather:?}");
    let folder = tempfile::tempdir().unwrap();
    let mut town = Town::open(folder.path(), weather).await;
    let mut tally = town.bad_day(weather).await;
    let struck = authority::struck(&town.erp.desk.caller).await;
    for one in &struck {
        tally.add(format!("authority {}", one.fault), one.times);
    }
    for (kind, times) in town.endpoint.struck() {
        tally.add(kind, times);
    }

    // All work finishes. Then the receipts are compared with the requests and with the authority's records.
    let records = proof::rest(&town.erp, weather.time_limit).await;
    let certified = proof::rest(&town.certification, weather.time_limit).await;
    for (erp, records, environment) in [
        (&town.erp, &records, "testecf"),
        (&town.certification, &certified, "certecf"),
    ] {
        let sales = erp.books.sales();
        proof::promises_are_kept(&sales, records);
        let unexplained = failures::unexplained(&sales, records, &struck);
        assert!(unexplained.is_empty(), "{unexplained:#?}");
        proof::the_authority_agrees(&erp.desk.caller, environment, records).await;
    }
    proof::verdicts_were_told(&town.endpoint, &records, weather.time_limit).await;
    town.others(struck, weather.time_limit).agree(&records).await;
    town.webhooks_are_as_they_should(weather.time_limit).await;
    let log = std::fs::read_to_string(log_file(folder.path())).unwrap();
    log::verdicts_were_written_once(&log);
    let messages = log::each_time_brought_one_message(&log);
    tally.add_log(&log);

    town.sleep(NIGHTS).await;
    for (erp, records, environment) in [
        (&town.erp, &records, "TesteCF"),
        (&town.certification, &certified, "CerteCF"),
    ] {
        let sales = erp.books.sales();
        let rows = lists::rows(&sales, records);
        let problems = lists::disagree(&erp.desk, &rows, weather.time_limit).await;
        assert!(problems.is_empty(), "{environment}: {problems:#?}");
        let audit = town.check(environment, weather.time_limit).await;
        let known = u64::try_from(sales.len()).unwrap();
        assert_eq!(audit.receipts, known, "receipts that nobody was told of");
        eprintln!(
            "{environment}: {known} receipts {:?}, {} numbers given, {} of them listed as unused",
            lists::states(&rows),
            audit.numbers,
            audit.unused
        );
    }
    eprintln!(
        "{} kills, {messages} messages of housekeeping for receipts, and these faults:",
        town.kills()
    );
    tally.print();
    let kinds = weather.must_strike();
    let missing = tally.missing(kinds.iter().map(String::as_str));
    assert!(missing.is_empty(), "faults that never struck: {missing:?}");
    town.erp
        .desk
        .caller
        .control(Method::DELETE, "faults", &json!(null))
        .await;
    town.close().await;
}
