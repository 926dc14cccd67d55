//! The operator's consistency check over everything that the company has.

use std::time::Duration;

use ecf_runtime::Clock;
use ecf_store::fiscal_day;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::{Instant, interval};

use crate::program::Program;

/// Receipts or numbers of one part of the check.
const PER_PART: u32 = 1_000;

/// What the check found in all its parts.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    pub(crate) problems: Vec<Value>,
    pub(crate) numbers: u64,
    pub(crate) receipts: u64,
    /// Numbers that are listed as unused.
    pub(crate) unused: usize,
    /// Days whose counters were wrong.
    pub(crate) repaired: usize,
}

/// Checks until nothing disagrees: a number whose request died is listed as unused by the housekeeping run that comes some
/// minutes of the system's time later, and counters that a kill has made wrong are mended by the first check.
pub(crate) async fn agrees(program: &Program, clock: &Clock, since: Timestamp, patience: Duration) -> Audit {
    let end = Instant::now() + patience;
    let mut ticks = interval(Duration::from_secs(1));
    let mut repaired = 0;
    loop {
        ticks.tick().await;
        let audit = check(program, clock, since).await;
        repaired += audit.repaired;
        if audit.problems.is_empty() && audit.repaired == 0 {
            return Audit { repaired, ..audit };
        }
        assert!(
            Instant::now() < end,
            "the consistency check found {:#?}",
            audit.problems
        );
    }
}

async fn check(program: &Program, clock: &Clock, since: Timestamp) -> Audit {
    let profile = program.caller().get("/client/company").await.expect(200);
    let mut command = json!({
        "command": "check", "company": profile["public_id"], "environment": "TesteCF", "limit": PER_PART,
        "from": fiscal_day(since).to_string(), "to": fiscal_day(clock.now()).to_string(), "repair_counters": true,
    });
    let mut audit = Audit::default();
    loop {
        let answer = program.operator(&command);
        let found = &answer["found"];
        audit
            .problems
            .extend(found["problems"].as_array().unwrap().iter().cloned());
        audit.numbers += found["numbers"].as_u64().unwrap();
        audit.receipts += found["receipts"].as_u64().unwrap();
        audit.unused += found["unused"].as_array().unwrap().len();
        audit.repaired += found["counters_repaired"].as_array().unwrap().len();
        if answer["next"].is_null() {
            return audit;
        }
        command["at"] = answer["next"].clone();
    }
}
