//! What must hold when everything has come to rest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::endpoint::Endpoint;
use super::erp::Answered;
use crate::support::{Caller, eventually};

const FISCAL: [&str; 3] = ["accepted", "conditionally_accepted", "rejected"];

/// Waits until each answered receipt is final or visibly failed, and gives the records.
pub(crate) async fn rest(caller: &Caller, answered: &Answered, patience: Duration) -> BTreeMap<String, Value> {
    let mut open: BTreeSet<&String> = answered.keys().collect();
    let mut records = BTreeMap::new();
    eventually("every receipt comes to rest", patience, async || {
        for key in open.clone() {
            let path = format!("/ecf/{}", answered[key]["public_id"].as_str().unwrap());
            let record = caller.get(&path).await.expect(200);
            let status = record["status"].as_str().unwrap();
            if FISCAL.contains(&status) || status == "failed" {
                open.remove(key);
                records.insert(key.clone(), record);
            }
        }
        if !open.is_empty() {
            let example = open.first().unwrap();
            tracing::info!(open = open.len(), example = %answered[*example]["public_id"], "waiting");
        }
        open.is_empty().then_some(())
    })
    .await;
    records
}

/// Each record is the one that was promised, and a number is on two only if all but the last of them were rejected.
pub(crate) fn promises_are_kept(answered: &Answered, records: &BTreeMap<String, Value>) {
    let mut in_use = BTreeMap::new();
    for (key, first) in answered {
        let record = &records[key];
        assert_eq!(record["idempotency_key"].as_str(), Some(key.as_str()));
        if !first["encf"].is_null() {
            assert_eq!(record["encf"], first["encf"], "{key} changed its number");
            assert_eq!(
                record["security_code"], first["security_code"],
                "{key} was signed again"
            );
        }
        if record["status"] == "failed" {
            assert!(
                record["error_code"].is_string(),
                "{key} failed without a reason: {record}"
            );
        }
        let number = record["encf"].as_str();
        let number = number.unwrap_or_else(|| panic!("{key} has no number: {record}"));
        if record["status"] != "rejected"
            && let Some(other) = in_use.insert(number.to_owned(), key)
        {
            panic!("{number} is on {other} and on {key}");
        }
    }
}

/// What the tax authority kept is what we say it said.
pub(crate) async fn the_authority_agrees(caller: &Caller, records: &BTreeMap<String, Value>) {
    let url = format!("{}/_control/documents?rnc={}", caller.simulator_url, caller.rnc);
    let documents = caller.send(Method::GET, &url, None, None).await.expect(200);
    let mut by_number: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for document in documents.as_array().unwrap() {
        let number = document["encf"].as_str().unwrap();
        by_number.entry(number).or_default().push(document);
    }
    let mut by_us: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for record in records.values() {
        by_us.entry(record["encf"].as_str().unwrap()).or_default().push(record);
    }
    for (number, records) in by_us {
        let documents = by_number.remove(number).unwrap_or_default();
        for document in &documents {
            assert_eq!(document["times"], 1, "{number} was received again: {documents:#?}");
        }
        if records.len() > 1 {
            let burned = documents
                .iter()
                .any(|one| one["codigo"] == 2 && one["secuencia_utilizada"] == true);
            assert!(!burned, "{number} was used twice: {records:#?} and {documents:#?}");
        }
        let there = |codigo: i64| documents.iter().filter(|one| one["codigo"] == codigo).count();
        let here = |status: &str| records.iter().filter(|one| one["status"] == status).count();
        assert!(there(1) + there(4) <= 1, "{number} was accepted twice: {documents:#?}");
        for (status, codigo) in [("accepted", 1), ("rejected", 2), ("conditionally_accepted", 4)] {
            assert_eq!(
                here(status),
                there(codigo),
                "{number} {status}: {records:#?} but {documents:#?}"
            );
        }
    }
    assert!(by_number.is_empty(), "numbers that nobody was told of: {by_number:#?}");
}

/// Every verdict was told, and nothing else.
pub(crate) async fn verdicts_were_told(endpoint: &Endpoint, records: &BTreeMap<String, Value>, patience: Duration) {
    let of = |record: &Value, name: &str| record[name].as_str().unwrap().to_owned();
    eventually("every verdict is told", patience, async || {
        let untold = records
            .values()
            .filter(|record| FISCAL.contains(&of(record, "status").as_str()))
            .filter(|record| endpoint.taken(&of(record, "public_id"), &of(record, "status")) == 0);
        (untold.count() == 0).then_some(())
    })
    .await;
    let changed = endpoint.changed();
    assert!(changed.is_empty(), "repeats with other bytes: {changed:?}");
    for record in records.values() {
        let (id, status) = (of(record, "public_id"), of(record, "status"));
        let expected: Vec<String> = FISCAL
            .contains(&status.as_str())
            .then_some(status)
            .into_iter()
            .collect();
        assert_eq!(endpoint.events(&id), expected, "{record}");
    }
}

/// A verdict is one write: whoever makes it says so, and nobody else does.
pub(crate) fn verdicts_were_written_once(log: &Path) {
    let text = std::fs::read_to_string(log).unwrap();
    let mut written = BTreeSet::new();
    for line in text.lines().filter(|line| line.contains(" verdict receipt.id=")) {
        assert!(written.insert(receipt_of(line)), "a second verdict: {line}");
    }
    assert!(!written.is_empty(), "no verdict in the log");
}

/// Housekeeping claims what it queues: one time of a receipt brings one message, and the next time that it sets is ten minutes
/// away at least. Whoever holds the receipt meanwhile may set an earlier one.
pub(crate) fn nothing_was_queued_in_a_row(log: &Path) {
    each_time_brought_one_message(&std::fs::read_to_string(log).unwrap());
}

fn each_time_brought_one_message(log: &str) {
    let mut claimed = BTreeSet::new();
    for line in log
        .lines()
        .filter(|line| line.contains("an overdue receipt was queued"))
    {
        let (due, next) = (instant_of(line, "due"), instant_of(line, "next"));
        assert!(claimed.insert((receipt_of(line), due)), "was queued twice: {line}");
        let pause = next.duration_since(due);
        assert!(
            pause >= SignedDuration::from_mins(10),
            "is queued again after {pause:?}: {line}"
        );
    }
}

/// The receipt that a line of the log is about.
fn receipt_of(line: &str) -> &str {
    field_of(line, "receipt.id")
}

fn instant_of(line: &str, name: &str) -> Timestamp {
    field_of(line, name).parse().unwrap()
}

fn field_of<'a>(line: &'a str, name: &str) -> &'a str {
    let rest = line.split(&format!(" {name}=")).nth(1).unwrap();
    rest.split_whitespace().next().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, due: &str, next: &str) -> String {
        format!(
            "2026-11-28T12:00:00Z INFO housekeeping: an overdue receipt was queued receipt.id={id} state=signed \
             due=2026-11-28T{due}Z next=2026-11-28T{next}Z\n"
        )
    }

    #[test]
    fn another_receipt_or_another_time_is_another_message() {
        let log = [
            line("a", "12:00:00", "12:10:00"),
            line("b", "12:00:00", "12:11:00"),
            line("a", "12:04:00", "12:15:00"),
        ];
        each_time_brought_one_message(&log.concat());
    }

    #[test]
    #[should_panic(expected = "was queued twice")]
    fn a_time_that_is_claimed_twice_is_seen() {
        each_time_brought_one_message(&line("a", "12:00:00", "12:10:00").repeat(2));
    }

    #[test]
    #[should_panic(expected = "is queued again after")]
    fn a_pause_that_is_too_short_is_seen() {
        each_time_brought_one_message(&line("a", "12:00:00", "12:09:59"));
    }
}
