//! `POST /api/v1/ecf/batch`: up to 25 receipts in one request, each with its own result and idempotent by itself.

use axum::Json;
use axum::body::to_bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use ecf::Node;
use ecf_api::{
    ApiError, Caller, CodedError, Fields, FromFields, NotingCaller, ValidJson, ValidQuery, ValidationError, read_body,
};
use futures::stream::{self, StreamExt as _};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::App;
use crate::issue::issue_one;
use crate::request::{IssueQuery, IssueRequest};

/// As many receipts as one request takes.
const LARGEST_BATCH: usize = 25;
/// Receipts under way at a time: signing is one core's work, the rest is waiting for AWS.
const AT_A_TIME: usize = 5;
/// No answer to one receipt comes near this.
const LARGEST_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// The receipts, each as `POST /api/v1/ecf` takes it.
#[derive(Debug, ToSchema)]
pub(crate) struct BatchRequest {
    #[schema(value_type = Vec<IssueRequest>, min_items = 1, max_items = 25)]
    items: Vec<Node>,
}

impl FromFields for BatchRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let items = fields.list("items").items(1..=LARGEST_BATCH).required();
        Some(Self { items: items? })
    }
}

/// The results, in the order of the request.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchView {
    items: Vec<BatchItemView>,
}

/// What `POST /api/v1/ecf` would have answered to this receipt alone.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchItemView {
    status_code: u16,
    #[schema(value_type = Object)]
    body: Value,
}

/// Emitir hasta 25 comprobantes
///
/// Issues each receipt by itself: one that fails keeps no other from its number. 200 whatever the results. The parameters apply to each
/// receipt.
#[utoipa::path(
    post,
    path = "/api/v1/ecf/batch",
    tag = "Comprobantes",
    params(IssueQuery),
    request_body = BatchRequest,
    responses(
        (status = 200, description = "A result for each receipt, in order", body = BatchView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "The batch itself is wrong; nothing was issued", body = ValidationError),
    ),
    security(("api_key" = [])),
)]
pub(crate) async fn batch(
    State(app): State<App>,
    NotingCaller(caller): NotingCaller,
    ValidQuery(query): ValidQuery<IssueQuery>,
    ValidJson(request): ValidJson<BatchRequest>,
) -> Result<Json<BatchView>, ApiError> {
    // A key twice in one batch is one receipt twice: the second finds the first.
    let items = stream::iter(request.items)
        .map(|item| one(&app, &caller, &query, item))
        .buffered(AT_A_TIME)
        .collect::<Vec<_>>()
        .await;
    Ok(Json(BatchView {
        items: items.into_iter().collect::<Result<_, _>>()?,
    }))
}

async fn one(app: &App, caller: &Caller, query: &IssueQuery, item: Node) -> Result<BatchItemView, ApiError> {
    let answer = match read_body::<IssueRequest>(item) {
        Ok(request) => issue_one(app, caller, query, request)
            .await
            .unwrap_or_else(IntoResponse::into_response),
        Err(error) => error.into_response(),
    };
    view(answer).await
}

async fn view(answer: Response) -> Result<BatchItemView, ApiError> {
    let status_code = answer.status().as_u16();
    let bytes = to_bytes(answer.into_body(), LARGEST_ANSWER_BYTES)
        .await
        .map_err(ApiError::internal)?;
    let body = serde_json::from_slice(&bytes).map_err(ApiError::internal)?;
    Ok(BatchItemView { status_code, body })
}
