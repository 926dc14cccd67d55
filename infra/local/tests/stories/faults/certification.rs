//! Certification beside the daily work: receipts in CerteCF, and new attempts that abandon unsent receipts.

use http::Method;
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::board::Phase;
use super::books::Books;
use super::desk::Desk;
use super::erp::request;
use super::rng::Rng;
use crate::payloads::payload;
use crate::program::Program;

const TYPES: [&str; 4] = ["31", "32", "44", "45"];
/// Receipts between two attempts.
const OF_AN_ATTEMPT: u32 = 8;

/// Opens CerteCF for the company, with numbers of each type.
pub(crate) async fn enter(program: &Program, desk: &Desk) -> Desk {
    let profile = desk.get("/client/company").await;
    let issued = program.operator(&json!({
        "command": "issue_api_key", "company": profile["public_id"], "environment": "CerteCF",
    }));
    let key = issued["api_key"]["key"].as_str().unwrap();
    let certification = desk.of(desk.caller.of_company(key, &desk.caller.rnc));
    for ecf_type in TYPES {
        let range = json!({ "ecf_type": ecf_type, "range_start": 1, "range_end": 1_000_000, "numbering": "service" });
        let opened = certification
            .post(Phase::Certification, "/client/sequences", &range)
            .await;
        opened.expect(201);
    }
    certification
}

/// Issues receipts, and starts a new attempt after every eighth.
pub(crate) async fn work(desk: &Desk, books: &Books, seed: u64, stop: &CancellationToken) {
    let mut rng = Rng::new(seed, 700);
    for number in 0_u32.. {
        let ecf_type = TYPES[usize::try_from(number).unwrap() % TYPES.len()];
        let payload = payload(&desk.caller.rnc, &desk.today(), ecf_type, 1_000);
        let body = request(&format!("certification-{number}"), ecf_type, payload);
        let answer = desk.post(Phase::Certification, "/ecf", &body).await;
        assert!(answer.status < 300, "{} {} for {body}", answer.status, answer.body);
        books.enter(&body, &answer.body);
        if number % OF_AN_ATTEMPT == OF_AN_ATTEMPT - 1 {
            let body = json!({ "idempotency_key": format!("attempt-{number}") });
            let path = "/client/certification/attempts";
            let begun = desk.ask(Phase::Certification, Method::POST, path, Some(&body)).await;
            assert!(begun.status < 300, "{} {}", begun.status, begun.body);
        }
        if stop.is_cancelled() {
            return;
        }
        sleep(rng.millis(500, 2_000)).await;
    }
}
