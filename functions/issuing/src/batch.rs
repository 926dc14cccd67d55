//! `POST /api/v1/ecf/batch`: up to 25 receipts in one request, each with its own result and idempotency key.

mod chains;

use axum::Json;
use axum::extract::State;
use ecf::Node;
use ecf_api::{
    ApiError, Caller, CodedError, FieldError, Fields, FromFields, RecordingCaller, ValidJson, ValidQuery,
    ValidationError, read_body,
};
use futures::stream::{self, StreamExt as _};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use self::chains::{Item, chains};
use crate::App;
use crate::issue::issue_one;
use crate::request::{IssueQuery, IssueRequest};

/// Upper bound of the receipts in one request.
const LARGEST_BATCH: usize = 25;
/// Receipts that are processed concurrently. Signing uses one core; the rest of the time is spent waiting for AWS.
const AT_A_TIME: usize = 5;
/// Upper bound of the findings in one response; above it each receipt lists fewer. A response has 6 MB, a finding at
/// most 10 KB.
const MOST_FINDINGS: usize = 500;

/// The members of a response that list findings.
const FINDINGS: [&str; 2] = ["detail", "warnings"];

/// The receipts, each in the format of `POST /api/v1/ecf`.
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
/// Issues each receipt by itself: one that fails keeps no other from its number. 200 whatever the results. Receipts with the
/// same key or number, and a note with the receipt that it modifies, take effect in the order of the list. The parameters
/// apply to each receipt.
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
    security(("api_key" = ["issue"])),
)]
pub(crate) async fn batch(
    State(app): State<App>,
    RecordingCaller(caller): RecordingCaller,
    ValidQuery(query): ValidQuery<IssueQuery>,
    ValidJson(request): ValidJson<BatchRequest>,
) -> Result<Json<BatchView>, ApiError> {
    let items = request.items.into_iter().map(read_body::<IssueRequest>).collect();
    // Every chain runs to its end before a failure is reported, so that none is dropped midway.
    let results: Vec<_> = stream::iter(chains(items))
        .map(|chain| in_order(&app, &caller, &query, chain))
        .buffer_unordered(AT_A_TIME)
        .collect()
        .await;
    let mut items: Vec<(usize, BatchItemView)> = Vec::new();
    for chain in results {
        items.extend(chain?);
    }
    items.sort_unstable_by_key(|(place, _)| *place);
    let mut items: Vec<BatchItemView> = items.into_iter().map(|(_, item)| item).collect();
    share_findings(&mut items);
    Ok(Json(BatchView { items }))
}

/// Issues dependent receipts one after the other.
async fn in_order(
    app: &App,
    caller: &Caller,
    query: &IssueQuery,
    chain: Vec<Item>,
) -> Result<Vec<(usize, BatchItemView)>, ApiError> {
    let mut results = Vec::with_capacity(chain.len());
    for Item { place, request } in chain {
        let answer = match request {
            Ok(request) => issue_one(app, caller, query, request).await,
            Err(error) => Err(error),
        };
        let (status, body) = match answer {
            Ok(issued) => (
                issued.status(),
                serde_json::to_value(&issued).map_err(ApiError::internal)?,
            ),
            Err(error) => error.to_item(),
        };
        let status_code = status.as_u16();
        results.push((place, BatchItemView { status_code, body }));
    }
    Ok(results)
}

/// Shortens the lists of findings when there are too many for one response.
fn share_findings(items: &mut [BatchItemView]) {
    let count = |item: &BatchItemView| findings(&item.body).map_or(0, Vec::len);
    if items.iter().map(count).sum::<usize>() <= MOST_FINDINGS {
        return;
    }
    let most = MOST_FINDINGS / items.len();
    for item in items {
        for name in FINDINGS {
            if let Some(Value::Array(list)) = item.body.get_mut(name) {
                FieldError::shorten(list, most);
            }
        }
    }
}

fn findings(body: &Value) -> Option<&Vec<Value>> {
    FINDINGS.iter().find_map(|name| body.get(name)?.as_array())
}
