//! Assertions about receipts, after all work is finished.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::sleep;

use super::books::Sales;
use super::clerk::VERDICTS;
use super::endpoint::Endpoint;
use super::erp::Erp;
use crate::support::{ApiClient, eventually};

pub(crate) const FISCAL: [&str; 3] = ["accepted", "conditionally_accepted", "rejected"];
const ENDS: [&str; 6] = [
    "accepted",
    "conditionally_accepted",
    "rejected",
    "failed",
    "cancelled",
    "incapacity",
];
/// Rounds of polls after which one more receipt is issued for waiting notes.
const ROUNDS: u32 = 30;

/// Rounds of polls between two progress messages.
const PROGRESS: u32 = 120;
/// Concurrent requests.
const AT_A_TIME: usize = 4;
/// The pause before open receipts are polled again.
const PAUSE: Duration = Duration::from_millis(300);

/// The records by idempotency key.
pub(crate) type Records = BTreeMap<String, Value>;

/// Waits until each receipt is final, failed, or awaits the operator, and returns the records.
///
/// A note on a rejected receipt whose number was left free awaits the next receipt of that number: while such notes
/// exist, more receipts are issued.
pub(crate) async fn rest(erp: &Erp, time_limit: Duration) -> Records {
    let (mut records, mut round) = (Records::new(), 0_u32);
    eventually("every receipt comes to rest", time_limit, async || {
        let (sales, mut waits_for_a_number) = (erp.books.sales(), false);
        let open = sales.iter().filter(|(key, _)| !records.contains_key(*key));
        let open: Vec<_> = open.map(|(key, sale)| (key.clone(), Arc::clone(sale))).collect();
        let asked = stream::iter(open).map(async |(key, sale)| {
            let record = erp.desk.get(&format!("/ecf/{}", sale.public_id())).await;
            (key, sale, record)
        });
        let answered: Vec<_> = asked.buffer_unordered(AT_A_TIME).collect().await;
        for (key, sale, record) in answered {
            let of_operator = record["environment"] == "CerteCF" && record["error_code"] == "outcome_unknown";
            if ENDS.contains(&record["status"].as_str().unwrap()) || of_operator {
                records.insert(key, record);
            } else if sale.modifies.is_some() && record["status"] == "signed" {
                let failed = records.values().filter(|one| one["status"] == "failed");
                // The modified receipt awaits an operator, so the note would wait as well.
                if failed
                    .into_iter()
                    .any(|one| one["encf"].as_str() == sale.modifies.as_deref())
                {
                    erp.withdraw(&key, &format!("/ecf/{}", sale.public_id()), 0).await;
                } else {
                    waits_for_a_number = true;
                }
            }
        }
        let open = sales.len() - records.len();
        round += 1;
        if waits_for_a_number && round.is_multiple_of(ROUNDS) {
            erp.sell_plain(&format!("closing-{round}")).await;
            return None;
        }
        if open > 0 && round.is_multiple_of(PROGRESS) {
            let example = sales.keys().find(|key| !records.contains_key(*key));
            eprintln!("{open} receipts are open, such as {example:?}");
        }
        if open > 0 {
            sleep(PAUSE).await;
        }
        (open == 0).then_some(())
    })
    .await;
    records
}

/// Each record matches its first response. A number may occur twice only if all records but the last are rejected.
pub(crate) fn promises_are_kept(sales: &Sales, records: &Records) {
    let mut in_use = BTreeMap::new();
    for (key, sale) in sales {
        let (record, first) = (&records[key], &sale.first);
        assert_eq!(record["idempotency_key"].as_str(), Some(key.as_str()));
        if !first["encf"].is_null() {
            assert_eq!(record["encf"], first["encf"], "{key} changed its number");
            assert_eq!(
                record["security_code"], first["security_code"],
                "{key} was signed again"
            );
        }
        let is_withdrawn = ["cancelled", "incapacity"].contains(&record["status"].as_str().unwrap());
        assert_eq!(
            sale.withdrawn.as_deref(),
            is_withdrawn.then(|| record["status"].as_str().unwrap()),
            "{key} was withdrawn and is not, or is and was not: {record}"
        );
        // `failures` checks receipts that failed before they were signed.
        if is_withdrawn || record["status"] == "failed" && record["encf"].is_null() {
            continue;
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

/// The authority's records match the states and the bytes that the service returns.
pub(crate) async fn the_authority_agrees(caller: &ApiClient, environment: &str, records: &Records) {
    let url = format!(
        "{}/_control/documents?rnc={}&ambiente={environment}",
        caller.simulator_url, caller.rnc
    );
    let documents = caller.send(Method::GET, &url, None, None).await.expect(200);
    let documents = documents
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["kind"] != "ACECF");
    let mut by_number: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for document in documents {
        let number = document["encf"].as_str().unwrap();
        by_number.entry(number).or_default().push(document);
    }
    let mut by_us: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for record in records.values().filter(|record| !record["encf"].is_null()) {
        by_us.entry(record["encf"].as_str().unwrap()).or_default().push(record);
    }
    let mut to_compare = Vec::new();
    for (number, records) in by_us {
        let documents = by_number.remove(number).unwrap_or_default();
        for document in &documents {
            assert_eq!(document["times"], 1, "{number} was received again: {documents:#?}");
        }
        assert!(
            is_used_once(&documents, &records),
            "{number} was used twice: {records:#?} and {documents:#?}"
        );
        let there = |codigo: i64| documents.iter().filter(|one| one["codigo"] == codigo).count();
        let here = |status: &str| records.iter().filter(|one| one["status"] == status).count();
        assert!(there(1) + there(4) <= 1, "{number} was accepted twice: {documents:#?}");
        // For an unknown outcome the operator asks the authority, so the states may differ.
        if records.iter().all(|record| record["error_code"] != "outcome_unknown") {
            for (status, codigo) in [("accepted", 1), ("rejected", 2), ("conditionally_accepted", 4)] {
                assert_eq!(
                    here(status),
                    there(codigo),
                    "{number} {status}: {records:#?} but {documents:#?}"
                );
            }
        }
        to_compare.push((number, records, documents));
    }
    assert!(by_number.is_empty(), "numbers that nobody was told of: {by_number:#?}");
    let compared = stream::iter(to_compare)
        .map(async |(number, records, documents)| bytes_agree(caller, number, &records, &documents).await);
    compared.buffer_unordered(AT_A_TIME).collect::<()>().await;
}

/// Whether at most one rejection used the number, and no later receipt got it. After a rejection that leaves the number
/// free, another receipt may have it.
fn is_used_once(documents: &[&Value], records: &[&Value]) -> bool {
    let last = records.iter().filter_map(|record| record["created_at"].as_str()).max();
    let earlier = records.iter().filter(|record| record["created_at"].as_str() < last);
    let earlier: Vec<&Value> = earlier.map(|record| &record["track_id"]).collect();
    let mut using = documents
        .iter()
        .filter(|one| one["codigo"] == 2 && one["secuenciaUtilizada"] == true);
    let Some(first) = using.next() else { return true };
    let tracks = first["trackIds"].as_array().unwrap();
    using.next().is_none() && !tracks.iter().any(|track| earlier.contains(&track))
}

/// Compares the bytes that the service returns with those that the authority received under a number.
async fn bytes_agree(caller: &ApiClient, number: &str, records: &[&Value], documents: &[&Value]) {
    let mut ours = BTreeSet::new();
    let kinds: BTreeSet<&str> = documents.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    for record in records {
        let id = record["public_id"].as_str().unwrap();
        for kind in &kinds {
            let file = if *kind == "RFCE" { "rfce" } else { "xml" };
            let found = caller.find(&format!("/ecf/{id}/{file}")).await;
            // A number that a rejected summary left free may be on a receipt that was sent in full.
            assert!(found.is_some() || kinds.len() > 1, "{id} has no {file}");
            ours.extend(found.map(|bytes| hex::encode(Sha256::digest(bytes))));
        }
    }
    let theirs: Vec<&str> = documents.iter().map(|one| one["sha256"].as_str().unwrap()).collect();
    let problems = strange_bytes(&ours, &theirs);
    assert!(
        problems.is_empty(),
        "{number} has other bytes there than here: {problems:?}"
    );
}

/// Documents at the authority that differ from all of ours.
fn strange_bytes<'t>(ours: &BTreeSet<String>, theirs: &[&'t str]) -> Vec<&'t str> {
    theirs.iter().filter(|hash| !ours.contains(**hash)).copied().collect()
}

/// Every verdict was delivered to the webhook, and no other event.
pub(crate) async fn verdicts_were_told(endpoint: &Endpoint, records: &Records, time_limit: Duration) {
    let of = |record: &Value, name: &str| record[name].as_str().unwrap().to_owned();
    eventually("every verdict is told", time_limit, async || {
        let untold = records
            .values()
            .filter(|record| FISCAL.contains(&of(record, "status").as_str()))
            .filter(|record| endpoint.taken(VERDICTS, &of(record, "public_id"), &of(record, "status")) == 0);
        (untold.count() == 0).then_some(())
    })
    .await;
    let changed = endpoint.changed();
    assert!(changed.is_empty(), "repeats with other bytes: {changed:?}");
    let forged = endpoint.forged();
    assert!(forged.is_empty(), "signed with no secret of the webhook: {forged:#?}");
    let mut events = endpoint.events(VERDICTS);
    for record in records.values() {
        let status = of(record, "status");
        let expected: Vec<String> = FISCAL
            .contains(&status.as_str())
            .then_some(status)
            .into_iter()
            .collect();
        let told = events.remove(&of(record, "public_id")).unwrap_or_default();
        assert_eq!(told, expected, "{record}");
    }
    events.retain(|_, names| names.iter().any(|name| name != "webhook.test"));
    assert!(
        events.is_empty(),
        "events of receipts that nobody was told of: {events:?}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r9_bytes_that_we_did_not_make_are_seen() {
        let ours = BTreeSet::from(["aa".to_owned(), "bb".to_owned()]);
        assert_eq!(strange_bytes(&ours, &["aa"]), [""; 0]);
        assert_eq!(strange_bytes(&ours, &["aa", "cc"]), ["cc"]);
    }

    #[test]
    fn r9_a_number_that_two_rejections_used_or_that_was_given_again_is_seen() {
        let record = |created_at: &str, track: &str| json!({ "created_at": created_at, "track_id": track });
        let rejected =
            |track: &str, used: bool| json!({ "codigo": 2, "secuenciaUtilizada": used, "trackIds": [track] });
        let records = [record("2026-12-04T06:18:34Z", "a"), record("2026-12-04T08:40:18Z", "b")];
        let cases = [
            ([false, false], true),
            ([false, true], true),
            ([true, false], false),
            ([true, true], false),
        ];
        for ([first, second], expected) in cases {
            let documents = [rejected("a", first), rejected("b", second)];
            let (documents, records): (Vec<_>, Vec<_>) = (documents.iter().collect(), records.iter().collect());
            assert_eq!(is_used_once(&documents, &records), expected, "{first} {second}");
        }
    }
}
