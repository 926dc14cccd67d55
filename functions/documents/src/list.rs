//! `GET /api/v1/client/documents`.

use axum::Json;
use axum::extract::State;
use ecf::{Encf, Environment, ReceiptState};
use ecf_api::{
    ApiError, Caller, CodedError, Cursor, DateRange, FieldError, Fields, FromFields, FullDocumentView, ListView, Page,
    ValidQuery, ValidationError, WalkedListView,
};
use ecf_store::{PageRequest, Receipt, ReceiptFilter, ReceiptPage, Scope, StoreError, Table};
use utoipa::IntoParams;

use crate::App;

/// The longest id of the caller's own, and of the tax authority's.
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
        let query = Self {
            status,
            ecf_type,
            environment: fields.environment("environment").optional(),
            encf: fields.parsed("encf").optional(),
            external_id: fields.text("external_id").length(1..=LONGEST_ID).optional(),
            track_id: fields.text("track_id").length(1..=LONGEST_ID).optional(),
            range: DateRange::read(fields)?,
            page: Page::read(fields)?,
            cursor: Cursor::read(fields)?,
        };
        if query.cursor.cursor.is_some() && query.is_named() {
            let msg = "Input should be left out together with encf, external_id and track_id: their lists have an offset only";
            fields
                .reject_with(FieldError::new(["query", "cursor"], "value_error", msg).with_code("cursor_not_allowed"));
        }
        Some(query)
    }
}

impl DocumentsQuery {
    /// Which days, state and type to look for in the key's environment; none when nothing there can fit.
    fn filter(&self, environment: Environment) -> Option<ReceiptFilter> {
        if self.environment.is_some_and(|asked| asked != environment) {
            return None;
        }
        let ecf_type = match &self.ecf_type {
            // Two characters that are no type are the type of no receipt.
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

    /// Whether it asks for one number or id.
    fn is_named(&self) -> bool {
        self.encf.is_some() || self.track_id.is_some() || self.external_id.is_some()
    }

    /// The receipt that a number or the authority's id leads to.
    async fn named(&self, table: &Table, scope: &Scope) -> Result<Option<Receipt>, StoreError> {
        if let Some(encf) = &self.encf {
            table.receipt_by_encf(scope, encf).await
        } else if let Some(track_id) = &self.track_id {
            table.receipt_by_track_id(scope, track_id).await
        } else {
            Ok(None)
        }
    }

    /// Whether a receipt has the number and the ids that are asked for.
    fn names(&self, receipt: &Receipt) -> bool {
        let is = |asked: &Option<String>, has: &Option<String>| asked.is_none() || asked == has;
        self.encf.is_none_or(|encf| Some(&encf) == receipt.encf())
            && is(&self.external_id, &receipt.external_id)
            && is(&self.track_id, &receipt.track_id)
    }
}

async fn find(app: &App, scope: &Scope, query: &DocumentsQuery) -> Result<ReceiptPage, StoreError> {
    let Some(filter) = query.filter(scope.environment) else {
        return Ok(ReceiptPage::default());
    };
    let Page { limit, offset } = query.page;
    let (limit, skip) = (limit as usize, usize::try_from(offset).unwrap_or(usize::MAX));
    match &query.external_id {
        Some(external_id) if query.encf.is_none() && query.track_id.is_none() => {
            let part = (limit, skip);
            let found = app.table.receipts_by_external_id(scope, external_id, &filter, part);
            let (receipts, total) = found.await?;
            Ok(ReceiptPage {
                receipts,
                total,
                next: None,
            })
        }
        _ if query.is_named() => {
            let found = query.named(&app.table, scope).await?;
            let found = found.filter(|receipt| query.names(receipt) && filter.takes(receipt));
            let total = u64::from(found.is_some());
            let receipts = found.into_iter().skip(skip).take(limit).collect();
            Ok(ReceiptPage {
                receipts,
                total,
                next: None,
            })
        }
        _ => {
            let after = query.cursor.cursor.clone();
            let page = PageRequest { limit, offset, after };
            app.table.list_receipts(scope, &filter, &page, app.clock.now()).await
        }
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
        (status = 200, description = "One page, newest first, and how many fit in all", body = WalkedListView<FullDocumentView>),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad parameter, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(query): ValidQuery<DocumentsQuery>,
) -> Result<Json<WalkedListView<FullDocumentView>>, ApiError> {
    let found = find(&app, &caller.scope, &query).await?;
    let view = |receipt| FullDocumentView::of(receipt, &app.stamp_hosts, app.retention_years);
    let items = found.receipts.iter().map(view).collect();
    Ok(Json(WalkedListView {
        list: ListView::new(items, found.total, query.page),
        next: found.next.map(|next| next.to_string()),
    }))
}
