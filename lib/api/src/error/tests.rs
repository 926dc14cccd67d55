use axum::body::to_bytes;
use ecf::Violation;
use ecf_language::Bilingual;
use serde_json::{Value, json};

use super::*;

async fn body(response: Response) -> Value {
    serde_json::from_slice(&to_bytes(response.into_body(), usize::MAX).await.unwrap()).unwrap()
}

#[tokio::test]
async fn a_conflict_says_code_and_message() {
    let response =
        ApiError::conflict("encf_taken", Bilingual::same("E310000000001 is on another receipt")).into_response();
    assert_eq!(response.status(), StatusCode::CONFLICT);
    assert_eq!(
        body(response).await,
        json!({"detail": {"code": "encf_taken", "message": "E310000000001 is on another receipt"}})
    );
}

#[tokio::test]
async fn the_cause_of_our_own_fault_is_for_the_log_alone() {
    let error = ApiError::internal(std::io::Error::other("disk of 10.0.0.7 is full"));
    let response = error.into_response();
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let refusal = response.extensions().get::<Refusal>().unwrap();
    assert_eq!(refusal.cause().as_deref(), Some("disk of 10.0.0.7 is full"));
    let body = body(response).await;
    assert_eq!(
        body,
        json!({"detail": {"code": "internal_error", "message": internal_error().en}})
    );
}

#[tokio::test]
async fn a_retry_is_announced_in_whole_seconds_and_never_at_once() {
    for (after, header) in [
        (Duration::from_millis(1_200), "2"),
        (Duration::ZERO, "1"),
        (Duration::from_secs(30), "30"),
    ] {
        for error in [ApiError::unavailable(after), ApiError::too_many_requests(after)] {
            assert_eq!(error.into_response().headers()[header::RETRY_AFTER], header);
        }
    }
}

#[test]
fn a_store_that_may_answer_later_is_503_and_any_other_failure_500() {
    let again = StoreError::Contended {
        operation: "create receipt",
        attempts: 5,
    };
    assert_eq!(ApiError::from(again).status(), StatusCode::SERVICE_UNAVAILABLE);
    let corrupt = StoreError::Corrupt {
        key: "r#1".to_owned(),
        attribute: "st",
        why: "is missing".to_owned(),
    };
    assert_eq!(ApiError::from(corrupt).status(), StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test]
async fn a_violation_keeps_path_code_and_both_sums() {
    let path = ["DetallesItems", "Item", "3", "MontoItem"].map(str::to_owned).to_vec();
    let mut violation = Violation::rejected(
        path,
        "ITEM-07",
        "value_error",
        Bilingual::same("quantity times price is 100.00"),
    )
    .with_given("99.00")
    .with_expected("100.00");
    violation.difference = Some("1.00".to_owned());
    let response = ApiError::violations([&violation]).into_response();
    assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        body(response).await,
        json!({"detail": [{
            "loc": ["body", "payload", "DetallesItems", "Item", "3", "MontoItem"],
            "msg": "MontoItem, line 4: quantity times price is 100.00",
            "type": "value_error",
            "input": "99.00",
            "ctx": {"code": "ITEM-07", "given": "99.00", "expected": "100.00", "difference": "1.00"},
        }]})
    );
}

#[tokio::test]
async fn c5_a_notice_in_a_refusal_says_that_it_is_one() {
    let path = || vec!["Encabezado".to_owned()];
    let refused = Violation::rejected(
        path(),
        "ITEM-07",
        "value_error",
        Bilingual::same("beyond the tolerance"),
    );
    let notice = Violation::rejected(path(), "ITEM-07", "value_error", Bilingual::same("within it"))
        .with_grade(ecf::Grade::Notice);
    let body = body(ApiError::violations([&notice, &refused]).into_response()).await;
    let grades: Vec<_> = [0, 1]
        .map(|place: usize| body["detail"][place]["ctx"]["grade"].clone())
        .to_vec();
    assert_eq!(grades, [json!("notice"), json!(null)]);
}
