//! Open operations and fault counts: the killer waits for an operation of a chosen kind, and the run counts faults by
//! their kind.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A kind of operation that a kill can hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Sale,
    Batch,
    Note,
    Schedule,
    /// A scheduled receipt is issued.
    Due,
    Withdrawal,
    /// The authority has just answered a poll for a verdict.
    Verdict,
    /// An accepted receipt is delivered to its buyer.
    Delivery,
    /// A receipt of another issuer arrives.
    Reception,
    /// The company approves or rejects a receipt of its inbox.
    Approval,
    Annulment,
    /// A webhook is created, changed, deleted, or redelivers.
    Webhook,
    Certification,
}

impl Phase {
    pub(crate) const ALL: [Phase; 13] = [
        Phase::Sale,
        Phase::Verdict,
        Phase::Batch,
        Phase::Due,
        Phase::Delivery,
        Phase::Reception,
        Phase::Annulment,
        Phase::Note,
        Phase::Schedule,
        Phase::Approval,
        Phase::Webhook,
        Phase::Withdrawal,
        Phase::Certification,
    ];

    /// The name under which a kill in this phase is counted.
    pub(crate) fn kill(self) -> String {
        format!("kill {self:?}").to_lowercase()
    }
}

/// The board; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Board(Arc<Mutex<BTreeMap<Phase, u32>>>);

impl Board {
    /// Marks an operation as open until the guard is dropped.
    pub(crate) fn begin(&self, phase: Phase) -> UnderWay<'_> {
        *self.0.lock().unwrap().entry(phase).or_default() += 1;
        UnderWay { board: self, phase }
    }

    pub(crate) fn under_way(&self) -> Vec<Phase> {
        let operations = self.0.lock().unwrap();
        let some = operations.iter().filter(|(_, operations)| **operations > 0);
        some.map(|(phase, _)| *phase).collect()
    }
}

pub(crate) struct UnderWay<'b> {
    board: &'b Board,
    phase: Phase,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        *self.board.0.lock().unwrap().entry(self.phase).or_default() -= 1;
    }
}

/// The number of faults by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally(BTreeMap<String, u64>);

impl Tally {
    pub(crate) fn add(&mut self, kind: impl Into<String>, times: u64) {
        *self.0.entry(kind.into()).or_default() += times;
    }

    /// Counts the AWS faults in the program's log.
    pub(crate) fn add_log(&mut self, log: &str) {
        for line in log.lines().filter(|line| line.contains("an ordered fault struck")) {
            let field = |name: &str| line.split(&format!(" {name}=")).nth(1)?.split_whitespace().next();
            if let (Some(fault), Some(service)) = (field("fault"), field("service")) {
                let unquoted = |text: &str| text.trim_matches('"').to_owned();
                self.add(format!("aws {}", unquoted(fault)), 1);
                self.add(format!("aws {} {}", unquoted(service), unquoted(fault)), 1);
            }
        }
    }

    pub(crate) fn times(&self, kind: &str) -> u64 {
        self.0.get(kind).copied().unwrap_or_default()
    }

    /// The kinds that never occurred.
    pub(crate) fn missing<'k>(&self, kinds: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
        kinds.into_iter().filter(|kind| self.times(kind) == 0).collect()
    }

    /// Prints one kind per line.
    pub(crate) fn print(&self) {
        for (kind, times) in &self.0 {
            eprintln!("  {times:>7} {kind}");
        }
    }
}

/// AWS faults that every run must meet, and further ones for long runs.
pub(crate) const AWS: [&str; 2] = ["aws not_sent", "aws answer_lost"];
pub(crate) const AWS_LONG: [&str; 14] = [
    "aws late_before",
    "aws late_after",
    "aws throttled",
    "aws conflict",
    "aws failed",
    "aws failed_after",
    "aws DynamoDB throttled",
    "aws DynamoDB conflict",
    "aws DynamoDB failed",
    "aws SQS throttled",
    "aws SQS failed",
    "aws S3 throttled",
    "aws SQS answer_lost",
    "aws S3 answer_lost",
];

/// Faults of the authority that a long run must meet.
pub(crate) const AUTHORITY_LONG: [&str; 13] = [
    "authority lose_answer",
    "authority status 503",
    "authority status 500",
    "authority status 401",
    "authority html",
    "authority garbage",
    "authority empty",
    "authority timeout",
    "authority delay",
    "authority problem_details 502",
    "authority reject",
    "authority conditional",
    "authority slow verdict",
];

/// Faults of the endpoint: every run must meet the first, a long run all.
pub(crate) const ENDPOINT: [&str; 4] = ["endpoint 500", "endpoint 429", "endpoint 302", "endpoint late"];

/// Damage to counters that a long run must contain.
pub(crate) const COUNTERS: [&str; 3] = ["count lost", "count doubled", "count removed"];

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "2026-12-04T03:50:00Z INFO ecf_embedded::faults: an ordered fault struck fault=\"throttled\" \
                        service=\"DynamoDB\" operation=PutItem";

    #[test]
    fn r9_a_fault_that_never_struck_is_named() {
        let mut tally = Tally::default();
        tally.add("endpoint 500", 3);
        tally.add("endpoint 429", 0);
        tally.add_log(&format!("{LINE}\nanother line\n"));
        let wanted = [
            "endpoint 500",
            "endpoint 429",
            "aws throttled",
            "aws DynamoDB throttled",
            "aws failed",
        ];
        assert_eq!(tally.missing(wanted), ["endpoint 429", "aws failed"]);
    }

    #[test]
    fn operations_are_under_way_until_they_end() {
        let board = Board::default();
        let sale = board.begin(Phase::Sale);
        let other = board.begin(Phase::Sale);
        drop(sale);
        assert_eq!(board.under_way(), [Phase::Sale]);
        drop(other);
        assert!(board.under_way().is_empty());
    }
}
