use axum::{
    Router,
    body::{Body, to_bytes},
    routing::get,
};
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
        ("?limit=5&limit=6", json!([6, 0, null, false])),
        ("?limit=&acked=", json!([50, 0, null, false])),
        ("?unknown=1&external_id=A%26B+50%25", json!([50, 0, "A&B 50%", false])),
    ];
    for (query, expected) in table {
        assert_eq!(list(query).await, (StatusCode::OK, expected), "{query}");
    }
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
