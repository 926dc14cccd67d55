//! A company with a million receipts: the duration and the AWS calls of pages, filters, the summary, the operator's
//! check and the audit archive. `SEEDED_RECEIPTS` sets another number, spread over a year.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use axum::Router;
use ecf::{ReceiptState, ReceiptType};
use ecf_local::{Mounted, mount};
use ecf_store::{fiscal_day, receipts::NewReceipt};
use ecf_testkit::{TestCompany, TestStack, request, seeded_receipt};
use http::Method;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use serde_json::json;

const DAYS: u32 = 365;
/// Receipts written in one step.
const PART: u32 = 20_000;
const TIMES: usize = 10;

/// Nine in ten are accepted, one in a thousand is failed, one in a hundred is of type 44; three share one
/// `external_id`.
fn receipt(company: &TestCompany, now: Timestamp, place: u32, count: u32) -> NewReceipt {
    let ecf_type = match place {
        place if place % 100 == 7 => ReceiptType::E44,
        place if place.is_multiple_of(4) => ReceiptType::E31,
        _ => ReceiptType::E32,
    };
    let encf = format!("E{ecf_type}{place:010}");
    let state = match place {
        place if place % 1_000 == 3 => ReceiptState::Failed,
        place if place.is_multiple_of(10) => ReceiptState::Rejected,
        _ => ReceiptState::Accepted,
    };
    let span = SignedDuration::from_hours(24) * i32::try_from(DAYS).unwrap();
    let created_at = now - SignedDuration::from_millis(span.as_millis() as i64 / i64::from(count) * i64::from(place));
    let external_id = match place {
        place if place.is_multiple_of(3) => "POS".to_owned(),
        place => format!("SO-{place}"),
    };
    NewReceipt {
        external_id: Some(external_id),
        ..seeded_receipt(company, &encf, state, created_at)
    }
}

#[expect(clippy::disallowed_methods, reason = "a number for whoever runs it by hand")]
fn receipts() -> u32 {
    std::env::var("SEEDED_RECEIPTS").map_or(1_000_000, |count| count.parse().unwrap())
}

async fn seed(stack: &TestStack, company: &TestCompany, count: u32) {
    let (table, now) = (stack.table(), stack.clock().now());
    let mut place = 1;
    while place <= count {
        // Whole days, so that the counters of each day are written once.
        let mut part: Vec<_> = (place..=count.min(place + PART))
            .map(|place| receipt(company, now, place, count))
            .collect();
        if place + PART < count {
            let last = fiscal_day(part.last().unwrap().created_at);
            part.retain(|new| fiscal_day(new.created_at) > last);
        }
        place += u32::try_from(part.len()).unwrap();
        table.seed_receipts(&company.scope, &part).await.unwrap();
    }
    let today = fiscal_day(now);
    let first = today.saturating_sub(i64::from(DAYS).days());
    table
        .seed_closing(&company.scope, first, today.saturating_sub(1.day()))
        .await
        .unwrap();
}

fn http(stack: &TestStack, name: &str) -> Router {
    match mount(name, &stack.env(name), &stack.clients_of(name), stack.clock().clone()).unwrap() {
        Mounted::Http(router) => router,
        _ => panic!("{name} has routes"),
    }
}

/// Prints a row of the table: the median and the slowest time, and the AWS calls.
#[expect(clippy::print_stdout, reason = "what it measures is for people to read")]
fn print(stack: &TestStack, what: &str, times: &mut [Duration], total: &serde_json::Value) {
    times.sort_unstable();
    let calls = stack.calls();
    let units = calls.units();
    let counts: BTreeMap<_, _> = calls.counts();
    let each = |count: usize| count / times.len();
    let counts: Vec<_> = counts
        .iter()
        .map(|(name, count)| format!("{} {}", name.trim_start_matches("DynamoDB "), each(*count)))
        .collect();
    println!(
        "| {what} | {total} | {:.0?} | {:.0?} | {} | {:.0} |",
        times[times.len() / 2],
        times[times.len() - 1],
        counts.join(", "),
        units.read / times.len() as f64,
    );
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "what it measures is for people to read")]
#[ignore = "seeds a million receipts and prints; its numbers are in docs/performance.md"]
async fn r7_what_a_million_receipts_cost() {
    let stack = TestStack::start().await;
    let company = stack.company_builder().without_ranges().build().await;
    // An archive cannot begin before the company does.
    stack
        .clock()
        .advance(SignedDuration::from_hours(24) * (i32::try_from(DAYS).unwrap() + 1));
    let count = receipts();
    let began = Instant::now();
    seed(&stack, &company, count).await;
    println!("{count} receipts over {DAYS} days, seeded in {:.0?}", began.elapsed());
    println!("| asked | total | median | slowest | calls | read units |\n|---|---|---|---|---|---|");
    let documents = http(&stack, "documents");
    let deep = count / 2 + 17;
    let key = Some(company.api_key.as_str());
    let mut next = String::new();
    let pages = [
        "limit=50".to_owned(),
        "limit=100".to_owned(),
        format!("offset={deep}"),
        "CURSOR".to_owned(),
        "status=accepted".to_owned(),
        format!("status=accepted&offset={deep}"),
        "status=rejected".to_owned(),
        "status=failed".to_owned(),
        "status=signed".to_owned(),
        "ecf_type=44".to_owned(),
        format!("ecf_type=32&status=accepted&offset={}", deep / 2),
        "date_from=2027-03-05&date_to=2027-09-20".to_owned(),
        "date_from=2027-03-05T10:00:00&date_to=2027-09-20T11:00:00&status=rejected".to_owned(),
        "external_id=POS".to_owned(),
        "external_id=SO-1000".to_owned(),
        "encf=E320000001001".to_owned(),
    ];
    for query in pages {
        let query = if query == "CURSOR" {
            format!("cursor={next}")
        } else {
            query
        };
        let path = format!("/api/v1/client/documents?{query}");
        let mut page = request(&documents, Method::GET, &path, key, None).await.expect(200);
        stack.calls().reset();
        let mut times = Vec::new();
        for _ in 0..TIMES {
            let began = Instant::now();
            page = request(&documents, Method::GET, &path, key, None).await.expect(200);
            times.push(began.elapsed());
        }
        print(&stack, &format!("`{query}`"), &mut times, &page["total"]);
        if query.starts_with("offset") {
            next = page["next_cursor"].as_str().unwrap().to_owned();
        }
    }
    let company_function = http(&stack, "company");
    stack.calls().reset();
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let began = Instant::now();
        request(&company_function, Method::GET, "/api/v1/client/summary", key, None)
            .await
            .expect(200);
        times.push(began.elapsed());
    }
    print(&stack, "summary", &mut times, &json!(null));
    check(&stack, &company).await;
    audit(&stack, &company).await;
    recount(&stack, &company).await;
    stack.leave_messages();
}

/// The first part of the operator's check of one day.
async fn check(stack: &TestStack, company: &TestCompany) {
    let name = "operator";
    let Mounted::Invoked(operator) =
        mount(name, &stack.env(name), &stack.clients_of(name), stack.clock().clone()).unwrap()
    else {
        panic!("an operator is invoked")
    };
    let day = fiscal_day(stack.clock().now()).saturating_sub(40.days());
    let command = json!({ "command": "check", "company": company.scope.company.to_string(),
        "environment": company.scope.environment.as_str(), "from": day, "to": day,
        "at": { "day": { "day": day, "after": null } } });
    stack.calls().reset();
    let began = Instant::now();
    let answer = operator(command).await;
    let mut times = [began.elapsed()];
    let receipts = answer["found"]["receipts"].clone();
    assert!(receipts.as_u64() > Some(0), "{answer}");
    print(stack, "check, a part of a day", &mut times, &receipts);
}

/// The audit archive: of the whole year, which is rejected as too large, and of one day, whose documents are missing.
async fn audit(stack: &TestStack, company: &TestCompany) {
    let function = http(stack, "audit-export");
    let (key, today) = (Some(company.api_key.as_str()), fiscal_day(stack.clock().now()));
    let orders = [
        ("audit of the year, refused", i64::from(DAYS), 0, 422),
        ("audit of a day", 40, 40, 200),
    ];
    for (what, from, to, status) in orders {
        let [from, to] = [from, to].map(|ago| today.saturating_sub(ago.days()));
        let path = format!("/api/v1/client/audit-export?date_from={from}&date_to={to}");
        stack.calls().reset();
        let began = Instant::now();
        let answer = request(&function, Method::GET, &path, key, None).await;
        let mut times = [began.elapsed()];
        assert_eq!(answer.status, status);
        print(stack, what, &mut times, &json!(null));
    }
}

/// The cost of closing a day.
async fn recount(stack: &TestStack, company: &TestCompany) {
    let (table, scope) = (stack.table(), &company.scope);
    let day = fiscal_day(stack.clock().now()).saturating_sub(40.days());
    let closing = table.closing(scope).await.unwrap();
    stack.calls().reset();
    let began = Instant::now();
    assert_eq!(table.recount_day(scope, day, &closing).await.unwrap(), None);
    print(stack, "comparing a day", &mut [began.elapsed()], &json!(null));
}
