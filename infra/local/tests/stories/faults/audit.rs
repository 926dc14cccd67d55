//! Runs the operator's consistency check over all data of the company.

use std::time::Duration;

use ecf_store::fiscal_day;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::{Instant, interval};

use super::time::Time;
use crate::program::Program;

/// Receipts or numbers in one part of the check.
const PER_PART: u32 = 1_000;

/// The company, environment and days to check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub(crate) company: &'s str,
    pub(crate) environment: &'static str,
    pub(crate) since: Timestamp,
}

/// The findings of all parts.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    pub(crate) problems: Vec<Value>,
    pub(crate) numbers: u64,
    pub(crate) receipts: u64,
    /// Numbers that are listed as unused.
    pub(crate) unused: usize,
}

/// Repeats the check until it finds no problem: a number whose request died is listed as unused by a housekeeping run
/// some minutes of the system's time later.
pub(crate) async fn agrees(program: &Program, time: &Time, scope: Scope<'_>, time_limit: Duration) -> Audit {
    let end = Instant::now() + time_limit;
    let mut ticks = interval(Duration::from_secs(1));
    loop {
        ticks.tick().await;
        let audit = check(program, time, scope);
        if audit.problems.is_empty() {
            return audit;
        }
        assert!(
            Instant::now() < end,
            "the consistency check found {:#?}",
            audit.problems
        );
    }
}

fn check(program: &Program, time: &Time, scope: Scope<'_>) -> Audit {
    let mut command = json!({
        "command": "check", "company": scope.company, "environment": scope.environment, "limit": PER_PART,
        "from": fiscal_day(scope.since).to_string(), "to": fiscal_day(time.now()).to_string(),
        "repair_counters": false,
    });
    let mut audit = Audit::default();
    loop {
        let answer = program.operator(&command);
        let found = &answer["found"];
        let problems = found["problems"].as_array().unwrap().iter();
        // Failed receipts are stuck because no operator looked after them for two nights; `failures` checks their
        // reasons.
        audit
            .problems
            .extend(problems.filter(|found| found["problem"] != "stuck").cloned());
        audit.numbers += found["numbers"].as_u64().unwrap();
        audit.receipts += found["receipts"].as_u64().unwrap();
        audit.unused += found["unused"].as_array().unwrap().len();
        if answer["next"].is_null() {
            return audit;
        }
        command["at"] = answer["next"].clone();
    }
}
