//! `GET /api/v1/client/documents`.

use axum::Json;
use axum::extract::State;
use ecf::{Encf, Environment, ReceiptState};
use ecf_api::{
    ApiError, Caller, CodedError, Cursor, DateRange, Fields, FromFields, FullDocumentView, ListView, Page, ValidQuery,
    ValidationError,
};
use ecf_store::{
    Receipt, Scope, StoreError, Table,
    receipts::{PageRequest, ReceiptFilter, ReceiptPage},
};
use utoipa::IntoParams;

use crate::App;

/// Upper bound of the caller's id and of the tax authority's id, in characters.
const LONGEST_ID: usize = 100;

/// Which receipts are wanted.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DocumentsQuery {
    /// One of the states that `GET /api/v1/ecf/states` lists.
    #[param(value_type = Option<String>)]
    status: Option<ReceiptState>,
    /// Two digits, such as 31.
    #[param(min_length = 2, max_length = 2)]
    ecf_type: Option<String>,
    /// The key's environment; another one lists nothing.
    #[param(value_type = Option<String>)]
    environment: Option<Environment>,
    /// The receipt that has this number, or had it last.
    #[param(value_type = Option<String>)]
    encf: Option<Encf>,
    /// The caller's own id.
    #[param(min_length = 1, max_length = 100)]
    external_id: Option<String>,
    /// The tax authority's id.
    #[param(min_length = 1, max_length = 100)]
    track_id: Option<String>,
    #[param(ignore)]
    range: DateRange,
    #[param(ignore)]
    page: Page,
    #[param(ignore)]
    cursor: Cursor,
}

impl FromFields for DocumentsQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let (status, ecf_type) = (
            fields.receipt_state("status").optional(),
            fields.text("ecf_type").length(2..=2).optional(),
        );
        Some(Self {
            status,
            ecf_type,
            environment: fields.environment("environment").optional(),
            encf: fields.parsed("encf").optional(),
            external_id: fields.text("external_id").length(1..=LONGEST_ID).optional(),
            track_id: fields.text("track_id").length(1..=LONGEST_ID).optional(),
            range: DateRange::read(fields)?,
            page: Page::read(fields)?,
            cursor: Cursor::read(fields)?,
        })
    }
}

impl DocumentsQuery {
    /// The filter by days, state and type within the key's environment; `None` when no receipt can match.
    fn filter(&self, environment: Environment) -> Option<ReceiptFilter> {
        if self.environment.is_some_and(|asked| asked != environment) {
            return None;
        }
        let ecf_type = match &self.ecf_type {
            // An unknown type matches no receipt.
            Some(given) => Some(given.parse().ok()?),
            None => None,
        };
        Some(ReceiptFilter {
            state: self.status,
            ecf_type,
            from: self.range.date_from,
            to: self.range.date_to,
        })
    }

    /// A page of the receipts with the given number or id; `None` when the query has neither.
    async fn named(
        &self,
        table: &Table,
        scope: &Scope,
        filter: &ReceiptFilter,
        page: &PageRequest,
    ) -> Result<Option<ReceiptPage>, StoreError> {
        let found = match (&self.encf, &self.track_id, &self.external_id) {
            (Some(encf), _, _) => table.receipt_by_encf(scope, encf).await?,
            (None, Some(track_id), _) => table.receipt_by_track_id(scope, track_id).await?,
            (None, None, Some(external_id)) => {
                let found = table.receipts_by_external_id(scope, external_id, filter, page);
                return found.await.map(Some);
            }
            (None, None, None) => return Ok(None),
        };
        let found = found.filter(|receipt| self.names(receipt) && filter.takes(receipt));
        Ok(Some(ReceiptPage::of_all(found.into_iter().collect(), page)))
    }

    /// Whether the receipt has the given number and ids.
    fn names(&self, receipt: &Receipt) -> bool {
        let is = |asked: &Option<String>, has: &Option<String>| asked.is_none() || asked == has;
        self.encf.is_none_or(|encf| Some(&encf) == receipt.encf())
            && is(&self.external_id, &receipt.external_id)
            && is(&self.track_id, &receipt.sending.track_id)
    }
}

async fn find(app: &App, scope: &Scope, query: &DocumentsQuery) -> Result<ReceiptPage, StoreError> {
    let Some(filter) = query.filter(scope.environment) else {
        return Ok(ReceiptPage::default());
    };
    let page = PageRequest {
        limit: query.page.limit as usize,
        offset: query.page.offset,
        after: query.cursor.cursor.clone(),
    };
    match query.named(&app.table, scope, &filter, &page).await? {
        Some(found) => Ok(found),
        None => app.table.list_receipts(scope, &filter, &page, app.clock.now()).await,
    }
}

/// Listar documentos
///
/// The company's receipts in the key's environment, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/client/documents",
    operation_id = "list_documents",
    tag = "Documentos",
    params(DocumentsQuery, DateRange, Page, Cursor),
    responses(
        (status = 200, description = "One page, newest first, and how many fit in all", body = ListView<FullDocumentView>),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad parameter, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(query): ValidQuery<DocumentsQuery>,
) -> Result<Json<ListView<FullDocumentView>>, ApiError> {
    let found = find(&app, &caller.scope, &query).await?;
    let view = |receipt| FullDocumentView::of(receipt, &app.stamp_hosts, app.retention_years);
    let items = found.receipts.iter().map(view).collect();
    Ok(Json(ListView::new(items, found.total, query.page).before(found.next)))
}
