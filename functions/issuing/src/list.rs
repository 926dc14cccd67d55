//! `GET /api/v1/ecf`.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use ecf::ReceiptState;
use ecf_api::{
    ApiError, Caller, CodedError, Cursor, DocumentView, Fields, FromFields, ListView, Page, ValidQuery, ValidationError,
};
use ecf_store::receipts::{PageRequest, ReceiptFilter};
use utoipa::IntoParams;

use crate::App;

/// Which receipts are wanted.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only receipts in one of these states, of those that `GET /api/v1/ecf/states` lists: separated by commas, as in
    /// `status=rejected,failed`, or given more than once.
    #[param(required = false, value_type = String)]
    status: BTreeSet<ReceiptState>,
    #[param(ignore)]
    page: Page,
    #[param(ignore)]
    cursor: Cursor,
}

impl FromFields for ListQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            status: fields.receipt_states("status").or(BTreeSet::new()),
            page: Page::read(fields)?,
            cursor: Cursor::read(fields)?,
        })
    }
}

/// Listar comprobantes
///
/// The company's receipts in the key's environment, newest first. `GET /api/v1/client/documents` has more filters and fields.
#[utoipa::path(
    get,
    path = "/api/v1/ecf",
    operation_id = "list_receipts",
    tag = "Comprobantes",
    params(ListQuery, Page, Cursor),
    responses(
        (status = 200, description = "One page, newest first, and how many fit in all", body = ListView<DocumentView>),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad parameter, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(query): ValidQuery<ListQuery>,
) -> Result<Json<ListView<DocumentView>>, ApiError> {
    let filter = ReceiptFilter {
        states: query.status,
        ..ReceiptFilter::default()
    };
    let page = PageRequest {
        limit: query.page.limit as usize,
        offset: query.page.offset,
        after: query.cursor.cursor,
    };
    let now = app.clock.now();
    let found = app.table.list_receipts(&caller.scope, &filter, &page, now).await?;
    let items = found.receipts.iter().map(|receipt| app.view(receipt)).collect();
    Ok(Json(ListView::new(items, found.total, query.page).before(found.next)))
}
