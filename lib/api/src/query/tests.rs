use std::collections::BTreeSet;

use axum::{
    Router,
    body::{Body, to_bytes},
    response::IntoResponse,
    routing::get,
};
use ecf::ReceiptState;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;

#[derive(Debug)]
struct ListQuery {
    page: Page,
    external_id: Option<String>,
    acked: bool,
}

impl FromFields for ListQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let external_id = fields.text("external_id").length(1..=100).optional();
        let acked = fields.boolean("acked").or(false);
        let page = Page::read(fields);
        Some(Self {
            page: page?,
            external_id,
            acked,
        })
    }
}

async fn list(query: &str) -> (StatusCode, Value) {
    let router = Router::new().route(
        "/list",
        get(|ValidQuery(query): ValidQuery<ListQuery>| async move {
            axum::Json(json!([
                query.page.limit,
                query.page.offset,
                query.external_id,
                query.acked
            ]))
        }),
    );
    let request = Request::get(format!("/list{query}")).body(Body::empty()).unwrap();
    let response = router.oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap())
}

#[tokio::test]
async fn queries_that_are_right() {
    let table = [
        ("", json!([50, 0, null, false])),
        ("?", json!([50, 0, null, false])),
        ("?limit=100&offset=7&acked=true", json!([100, 7, null, true])),
        ("?external_id=A%26B+50%25", json!([50, 0, "A&B 50%", false])),
    ];
    for (query, expected) in table {
        assert_eq!(list(query).await, (StatusCode::OK, expected), "{query}");
    }
}

#[tokio::test]
async fn a1_a_parameter_that_is_empty_unknown_or_there_twice_is_refused() {
    let table = [
        ("?acked", "acked", "bool_parsing"),
        ("?acked=", "acked", "bool_parsing"),
        ("?limit=", "limit", "int_parsing"),
        ("?external_id=", "external_id", "string_too_short"),
        ("?limit=5&limit=6", "limit", "repeat_forbidden"),
        ("?limit=5&limit=5", "limit", "repeat_forbidden"),
        ("?unknown=1", "unknown", "extra_forbidden"),
        ("?Acked=true", "Acked", "extra_forbidden"),
        ("?acked[]=true", "acked[]", "extra_forbidden"),
        ("?=1", "", "extra_forbidden"),
    ];
    for (query, name, kind) in table {
        let (status, body) = list(query).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{query}");
        let errors = body["detail"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{query}: {body}");
        assert_eq!(
            (&errors[0]["loc"], &errors[0]["type"]),
            (&json!(["query", name]), &json!(kind)),
            "{query}"
        );
    }
    assert_eq!(
        list("?limit=").await.1["detail"][0],
        json!({
            "loc": ["query", "limit"],
            "msg": "limit: Input should be a valid integer, unable to parse string as an integer; the parameter is empty: give it a value or leave it out",
            "type": "int_parsing",
            "input": "",
            "ctx": { "code": "int_parsing" },
        })
    );
    assert_eq!(
        list("?acked[]=true").await.1["detail"][0]["msg"],
        "acked[]: Extra inputs are not permitted; did you mean acked?"
    );
}

#[tokio::test]
async fn a_repeated_parameter_is_refused_with_what_came() {
    assert_eq!(
        list("?limit=5&limit=6").await.1["detail"][0],
        json!({
            "loc": ["query", "limit"],
            "msg": "limit: Input was given 2 times; give it once",
            "type": "repeat_forbidden",
            "input": ["5", "6"],
            "ctx": { "code": "repeat_forbidden", "times": 2, "expected": "one value" },
        })
    );
}

struct States(BTreeSet<ReceiptState>);

impl FromFields for States {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self(fields.receipt_states("status").or(BTreeSet::new())))
    }
}

async fn states(query: &str) -> Result<Vec<&'static str>, Value> {
    let request = Request::get(format!("/list?{query}")).body(()).unwrap();
    let (mut parts, ()) = request.into_parts();
    match ValidQuery::<States>::from_request_parts(&mut parts, &()).await {
        Ok(ValidQuery(States(states))) => Ok(states.into_iter().map(ReceiptState::as_str).collect()),
        Err(error) => {
            let bytes = to_bytes(error.into_response().into_body(), usize::MAX).await.unwrap();
            Err(serde_json::from_slice::<Value>(&bytes).unwrap()["detail"].clone())
        }
    }
}

#[tokio::test]
async fn a_list_of_words_is_separated_by_commas_or_repeated() {
    for (query, expected) in [
        ("", vec![]),
        ("status=failed", vec!["failed"]),
        ("status=rejected,failed", vec!["failed", "rejected"]),
        ("status=rejected&status=failed", vec!["failed", "rejected"]),
        (
            "status=rejected,failed&status=failed,signed",
            vec!["signed", "failed", "rejected"],
        ),
    ] {
        assert_eq!(states(query).await, Ok(expected), "{query}");
    }
    let refused = async |query: &str| {
        let detail = states(query).await.unwrap_err();
        let faults = detail.as_array().unwrap().iter();
        let fault = |fault: &Value| (fault["loc"].clone(), fault["type"].clone(), fault["input"].clone());
        faults.map(fault).collect::<Vec<_>>()
    };
    let fault = |place: Value, input: &str| (place, json!("enum"), json!(input));
    for (query, expected) in [
        ("status=", vec![fault(json!(["query", "status"]), "")]),
        ("status=Failed", vec![fault(json!(["query", "status"]), "Failed")]),
        ("status=failed,", vec![fault(json!(["query", "status", "1"]), "")]),
        (
            "status=failed,x&status=y",
            vec![
                fault(json!(["query", "status", "1"]), "x"),
                fault(json!(["query", "status", "2"]), "y"),
            ],
        ),
    ] {
        assert_eq!(refused(query).await, expected, "{query}");
    }
}

struct Filter(Option<bool>);

impl FromFields for Filter {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self(if fields.is_cleared("acked") {
            None
        } else {
            Some(fields.boolean("acked").or(false))
        }))
    }
}

#[tokio::test]
async fn a3_a_filter_may_be_cleared_by_an_empty_value_when_its_reader_says_so() {
    let filter = async |query: &str| {
        let request = Request::get(format!("/list?{query}")).body(()).unwrap();
        let (mut parts, ()) = request.into_parts();
        let read = ValidQuery::<Filter>::from_request_parts(&mut parts, &()).await;
        read.map(|ValidQuery(Filter(acked))| acked).ok()
    };
    let table = [
        ("", Some(Some(false))),
        ("acked=true", Some(Some(true))),
        ("acked=false", Some(Some(false))),
        ("acked=", Some(None)),
        ("acked=perhaps", None),
        ("acked=&acked=true", None),
    ];
    for (query, expected) in table {
        assert_eq!(filter(query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn a2_a_span_includes_the_days_that_it_names() {
    let range = async |query: &str| {
        let request = Request::get(format!("/list?{query}")).body(()).unwrap();
        let (mut parts, ()) = request.into_parts();
        let read = ValidQuery::<DateRange>::from_request_parts(&mut parts, &()).await;
        read.map(|ValidQuery(range)| (range.date_from, range.date_to)).ok()
    };
    let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
    let (first, last) = (at("2026-11-28T04:00:00Z"), at("2026-11-29T03:59:59.999999999Z"));
    assert_eq!(
        range("date_from=2026-11-28&date_to=2026-11-28").await,
        Some((first, last))
    );
    assert_eq!(range("date_to=2026-11-28").await, Some((None, last)));
    assert_eq!(range("").await, Some((None, None)));
    assert_eq!(
        range("date_to=2026-11-28T00:00:00").await,
        Some((None, first)),
        "midnight is an instant"
    );
    assert_eq!(range("date_from=2026-11-29&date_to=2026-11-28").await, None);
    assert_eq!(range("date_from=").await, None);
}

#[tokio::test]
async fn every_bad_parameter_is_reported() {
    let (status, body) = list("?limit=0&offset=-1&acked=quizas").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let found: Vec<_> = body["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (&error["loc"], &error["type"]))
        .collect();
    assert_eq!(
        found,
        [
            (&json!(["query", "acked"]), &json!("bool_parsing")),
            (&json!(["query", "limit"]), &json!("greater_than_equal")),
            (&json!(["query", "offset"]), &json!("greater_than_equal")),
        ]
    );
    assert_eq!(list("?limit=101").await.1["detail"][0]["type"], "less_than_equal");
    assert_eq!(list("?limit=ten").await.1["detail"][0]["input"], "ten");
}
