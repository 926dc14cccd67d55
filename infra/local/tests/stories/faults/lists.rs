//! Compares every list of the system, and its summary, with the harness's own records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::books::{Sale, Sales};
use super::desk::Desk;
use crate::support::ApiClient;

/// Upper bound of a page.
const PAGE: usize = 100;
/// The pause before the lists are read again.
const PAUSE: Duration = Duration::from_secs(5);
/// Lists read concurrently.
const WALKS: usize = 3;
const STATES: [&str; 12] = [
    "received",
    "deferred",
    "validated",
    "signed",
    "contingency",
    "submitted",
    "accepted",
    "conditionally_accepted",
    "rejected",
    "cancelled",
    "incapacity",
    "failed",
];
/// The states that the summary counts. `failed` is excluded, because an operator can retry such a receipt.
const ENDS: [&str; 5] = [
    "accepted",
    "conditionally_accepted",
    "rejected",
    "cancelled",
    "incapacity",
];
const TYPES: [&str; 10] = ["31", "32", "33", "34", "41", "43", "44", "45", "46", "47"];

/// A receipt as lists must show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) public_id: String,
    pub(crate) ecf_type: String,
    pub(crate) status: String,
    pub(crate) pesos: u64,
}

/// The expected rows, now that all work is finished.
pub(crate) fn rows(sales: &Sales, records: &BTreeMap<String, Value>) -> Vec<Row> {
    let row = |(key, sale): (&String, &Arc<Sale>)| Row {
        public_id: sale.public_id().to_owned(),
        ecf_type: sale.ecf_type.clone(),
        status: records[key]["status"].as_str().unwrap().to_owned(),
        pesos: sale.pesos,
    };
    sales.iter().map(row).collect()
}

/// The number of receipts in each state.
pub(crate) fn states(rows: &[Row]) -> BTreeMap<&str, usize> {
    let mut states = BTreeMap::new();
    for row in rows {
        *states.entry(row.status.as_str()).or_default() += 1;
    }
    states
}

/// Waits until lists and summary match, and returns the remaining differences. Housekeeping may still be running.
pub(crate) async fn disagree(desk: &Desk, rows: &[Row], time_limit: Duration) -> Vec<String> {
    let end = Instant::now() + time_limit;
    loop {
        let mut problems = lists_disagree(&desk.caller, rows).await;
        problems.extend(summary_disagrees(&desk.get("/client/summary").await, rows));
        let Some(example) = problems.first() else {
            return problems;
        };
        if Instant::now() > end {
            return problems;
        }
        eprintln!("{} things are not as the books say, such as: {example}", problems.len());
        sleep(PAUSE).await;
    }
}

/// Reads every list in full, and returns the differences.
async fn lists_disagree(caller: &ApiClient, rows: &[Row]) -> Vec<String> {
    let mut walks = vec![
        ("/client/documents?".to_owned(), None, None),
        ("/ecf?".to_owned(), None, None),
    ];
    for status in STATES {
        walks.push((format!("/client/documents?status={status}&"), Some(status), None));
        walks.push((format!("/ecf?status={status}&"), Some(status), None));
    }
    for ecf_type in TYPES {
        walks.push((format!("/client/documents?ecf_type={ecf_type}&"), None, Some(ecf_type)));
    }
    let walked = stream::iter(walks).map(async |(path, status, ecf_type)| {
        let expected: Vec<&Row> = rows
            .iter()
            .filter(|row| status.is_none_or(|status| row.status == status))
            .filter(|row| ecf_type.is_none_or(|ecf_type| row.ecf_type == ecf_type))
            .collect();
        let pages = walk(caller, &path, expected.len()).await;
        list_disagrees(&path, &pages, &expected)
    });
    let problems: Vec<Vec<String>> = walked.buffer_unordered(WALKS).collect().await;
    problems.concat()
}

/// Reads the pages of a list up to the first empty one, and at least up to the expected number.
async fn walk(caller: &ApiClient, path: &str, expected: usize) -> Vec<Value> {
    let mut pages = Vec::new();
    loop {
        let offset = pages.len() * PAGE;
        let page = caller
            .get(&format!("{path}limit={PAGE}&offset={offset}"))
            .await
            .expect(200);
        let is_last = page["items"].as_array().unwrap().is_empty() && offset >= expected;
        pages.push(page);
        if is_last {
            return pages;
        }
    }
}

/// Compares the pages of a list with the expected rows.
pub(crate) fn list_disagrees(path: &str, pages: &[Value], expected: &[&Row]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut open: BTreeMap<&str, &Row> = expected.iter().map(|row| (row.public_id.as_str(), *row)).collect();
    let mut seen = BTreeSet::new();
    let mut before: Option<&str> = None;
    for (number, page) in pages.iter().enumerate() {
        if page["total"] != json!(expected.len()) {
            let total = &page["total"];
            problems.push(format!(
                "{path} page {number}: total is {total}, the books have {}",
                expected.len()
            ));
        }
        for item in page["items"].as_array().unwrap() {
            let id = item["public_id"].as_str().unwrap();
            let created_at = item["created_at"].as_str().unwrap();
            if !seen.insert(id) {
                problems.push(format!("{path} page {number}: {id} is listed twice"));
                continue;
            }
            if before.is_some_and(|before| before < created_at) {
                problems.push(format!(
                    "{path} page {number}: {id} of {created_at} comes after an older one"
                ));
            }
            before = Some(created_at);
            match open.remove(id) {
                None => problems.push(format!("{path} page {number}: {id} is not in the books")),
                Some(row) if item["status"] != row.status.as_str() || item["ecf_type"] != row.ecf_type.as_str() => {
                    problems.push(format!("{path} page {number}: {item} but the books have {row:?}"));
                }
                Some(_) => {}
            }
        }
    }
    problems.extend(open.keys().map(|id| format!("{path}: {id} is on no page")));
    problems
}

/// Compares the month of `GET /client/summary` with the rows, all of which are from that month.
pub(crate) fn summary_disagrees(summary: &Value, rows: &[Row]) -> Vec<String> {
    let month = &summary["receipts"]["month"];
    let mut problems = Vec::new();
    let mut compare = |what: String, told: &Value, expected: Value| {
        // A zero may be left out.
        if told != &expected && !(told.is_null() && (expected == json!(0) || expected == json!("0.00"))) {
            problems.push(format!("the month's {what} is {told}, the books have {expected}"));
        }
    };
    let pesos = |rows: &[&Row]| json!(format!("{}.00", rows.iter().map(|row| row.pesos).sum::<u64>()));
    compare("created".to_owned(), &month["created"], json!(rows.len()));
    for status in ENDS {
        let ended = rows.iter().filter(|row| row.status == status).count();
        compare(status.to_owned(), &month["states"][status], json!(ended));
    }
    for ecf_type in TYPES {
        let of_type: Vec<&Row> = rows.iter().filter(|row| row.ecf_type == ecf_type).collect();
        let told = &month["types"][ecf_type];
        compare(format!("created of {ecf_type}"), &told["created"], json!(of_type.len()));
        compare(format!("amount of {ecf_type}"), &told["amount"], pesos(&of_type));
        for status in ENDS {
            let ended: Vec<&Row> = of_type.iter().filter(|row| row.status == status).copied().collect();
            compare(
                format!("{status} of {ecf_type}"),
                &told["states"][status],
                json!(ended.len()),
            );
            compare(
                format!("{status} amount of {ecf_type}"),
                &told["amounts"][status],
                pesos(&ended),
            );
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, status: &str) -> Row {
        Row {
            public_id: id.to_owned(),
            ecf_type: "31".to_owned(),
            status: status.to_owned(),
            pesos: 1_000,
        }
    }

    fn page(total: usize, items: &[(&str, &str)]) -> Value {
        let item = |(id, status): &(&str, &str)| json!({ "public_id": id, "status": status, "ecf_type": "31", "created_at": "2026-12-04T04:00:00Z" });
        json!({ "total": total, "items": items.iter().map(item).collect::<Vec<_>>() })
    }

    fn found(pages: &[Value]) -> String {
        let rows = [row("a", "accepted"), row("b", "rejected")];
        list_disagrees("/ecf", pages, &rows.iter().collect::<Vec<_>>()).join("\n")
    }

    #[test]
    fn a_list_that_has_what_the_books_have_is_right() {
        let (all, none) = (page(2, &[("a", "accepted"), ("b", "rejected")]), page(2, &[]));
        assert_eq!(found(&[all, none]), "");
    }

    #[test]
    fn r9_a_receipt_that_is_on_no_page_is_seen() {
        assert!(found(&[page(2, &[("a", "accepted")]), page(2, &[])]).contains("b is on no page"));
    }

    #[test]
    fn r9_a_receipt_that_is_on_two_pages_or_in_no_book_is_seen() {
        let twice = found(&[
            page(2, &[("a", "accepted"), ("b", "rejected")]),
            page(2, &[("a", "accepted")]),
        ]);
        assert!(twice.contains("a is listed twice"), "{twice}");
        let strange = found(&[page(2, &[("a", "accepted"), ("b", "rejected"), ("c", "accepted")])]);
        assert!(strange.contains("c is not in the books"), "{strange}");
    }

    #[test]
    fn r9_a_total_or_a_state_that_is_not_the_books_is_seen() {
        let total = found(&[page(2, &[("a", "accepted"), ("b", "rejected")]), page(3, &[])]);
        assert!(total.contains("page 1: total is 3"), "{total}");
        let state = found(&[page(2, &[("a", "accepted"), ("b", "accepted")])]);
        assert!(state.contains("but the books have"), "{state}");
    }

    #[test]
    fn r9_a_doubled_count_or_amount_of_the_summary_is_seen() {
        let of_type = json!({ "created": 2, "amount": "2000.00", "states": { "accepted": 1, "rejected": 1 },
            "amounts": { "accepted": "1000.00", "rejected": "1000.00" } });
        let month = json!({ "created": 2, "states": { "accepted": 1, "rejected": 1 }, "types": { "31": of_type } });
        let mut summary = json!({ "receipts": { "month": month } });
        let rows = [row("a", "accepted"), row("b", "rejected")];
        assert_eq!(summary_disagrees(&summary, &rows), [""; 0]);
        summary["receipts"]["month"]["types"]["31"]["amount"] = json!("4000.00");
        summary["receipts"]["month"]["states"]["accepted"] = json!(2);
        let problems = summary_disagrees(&summary, &rows).join("\n");
        assert!(
            problems.contains("accepted is 2") && problems.contains("4000.00"),
            "{problems}"
        );
    }
}
