//! `GET /api/v1/ecf/acecf`: the approvals of a company.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, ListView, Page, ValidQuery, ValidationError};

use crate::App;
use crate::view::ApprovalView;

/// The requested page of the list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListRequest {
    page: Page,
}

impl FromFields for ListRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            page: Page::read(fields)?,
        })
    }
}

/// Listar aprobaciones comerciales
///
/// Every approval and rejection of the key's environment, given and received, newest first. Those about receipts that are in no
/// list are here too: of the certification's workbook, and of receipts that the company issued elsewhere.
#[utoipa::path(
    get,
    path = "/api/v1/ecf/acecf",
    operation_id = "list_acecf",
    tag = "Aprobaciones",
    params(Page),
    responses(
        (status = 200, description = "The approvals, newest first", body = ListView<ApprovalView>),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad parameter, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(ListRequest { page }): ValidQuery<ListRequest>,
) -> Result<Json<ListView<ApprovalView>>, ApiError> {
    let (limit, offset) = (page.limit as usize, usize::try_from(page.offset).unwrap_or(usize::MAX));
    let (approvals, total) = app.exchange.table.approvals(&caller.scope, limit, offset).await?;
    let items = approvals.iter().map(ApprovalView::from).collect();
    Ok(Json(ListView::new(items, total as u64, page)))
}
