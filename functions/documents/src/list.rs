//! `GET /api/v1/client/documents`.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use ecf::{Encf, Environment, ReceiptState, Rnc};
use ecf_api::{
    ApiError, Caller, CodedError, Cursor, DateRange, FieldError, Fields, FromFields, FullDocumentView, IssuedRange,
    ListView, Page, ValidQuery, ValidationError,
};
use ecf_language::say;
use ecf_store::{
    Receipt, Scope, StoreError, Table,
    receipts::{ContentFilter, MOST_SEARCHED, PageRequest, ReceiptFilter, ReceiptPage, Searched},
};
use utoipa::IntoParams;

use crate::App;

/// Upper bound of the caller's id and of the tax authority's id, in characters.
const LONGEST_ID: usize = 100;

/// Which receipts are wanted.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DocumentsQuery {
    /// Only receipts in one of these states, of those that `GET /api/v1/ecf/states` lists: separated by commas, as in
    /// `status=rejected,failed`, or given more than once.
    #[param(required = false, value_type = String)]
    status: BTreeSet<ReceiptState>,
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
    /// Only receipts of this buyer. With this filter, `issued_from` or `issued_to`, the others may leave 5,000 receipts at most.
    #[param(value_type = Option<String>, example = "131880681")]
    rnc_comprador: Option<Rnc>,
    #[param(ignore)]
    issued: IssuedRange,
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
            fields.receipt_states("status").or(BTreeSet::new()),
            fields.text("ecf_type").length(2..=2).optional(),
        );
        Some(Self {
            status,
            ecf_type,
            environment: fields.environment("environment").optional(),
            encf: fields.encf("encf").optional(),
            external_id: fields.text("external_id").length(1..=LONGEST_ID).optional(),
            track_id: fields.text("track_id").length(1..=LONGEST_ID).optional(),
            rnc_comprador: fields.parsed("rnc_comprador").optional(),
            issued: IssuedRange::read(fields)?,
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
            states: self.status.clone(),
            ecf_type,
            from: self.range.date_from,
            to: self.range.date_to,
        })
    }

    /// The filter by buyer and day of issue.
    fn content(&self) -> ContentFilter {
        ContentFilter {
            rnc_comprador: self.rnc_comprador.as_ref().map(ToString::to_string),
            issued_from: self.issued.issued_from,
            issued_to: self.issued.issued_to,
        }
    }

    /// A page of the receipt with the given number or track id; `None` when the query has neither.
    async fn named(
        &self,
        table: &Table,
        scope: &Scope,
        filter: &ReceiptFilter,
        page: &PageRequest,
    ) -> Result<Option<ReceiptPage>, StoreError> {
        let found = match (&self.encf, &self.track_id) {
            (Some(encf), _) => table.receipt_by_encf(scope, encf).await?,
            (None, Some(track_id)) => table.receipt_by_track_id(scope, track_id).await?,
            (None, None) => return Ok(None),
        };
        let content = self.content();
        let found = found.filter(|receipt| self.names(receipt) && filter.takes(receipt) && content.takes(receipt));
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

async fn find(app: &App, scope: &Scope, query: &DocumentsQuery) -> Result<ReceiptPage, ApiError> {
    let Some(filter) = query.filter(scope.environment) else {
        return Ok(ReceiptPage::default());
    };
    let page = PageRequest {
        limit: query.page.limit as usize,
        offset: query.page.offset,
        after: query.cursor.cursor.clone(),
    };
    let (table, now) = (&app.table, app.clock.now());
    if let Some(found) = query.named(table, scope, &filter, &page).await? {
        return Ok(found);
    }
    let (external_id, content) = (query.external_id.as_deref(), query.content());
    if !content.takes_all() {
        let searched = table.search_receipts(scope, external_id, &filter, &content, &page, now);
        return match searched.await? {
            Searched::Page(page) => Ok(page),
            Searched::TooMany(total) => Err(too_many(query, total)),
        };
    }
    Ok(match external_id {
        Some(external_id) => {
            table
                .receipts_by_external_id(scope, external_id, &filter, &page)
                .await?
        }
        None => table.list_receipts(scope, &filter, &page, now).await?,
    })
}

fn too_many(query: &DocumentsQuery, total: u64) -> ApiError {
    let name = match (&query.rnc_comprador, query.issued.issued_from) {
        (Some(_), _) => "rnc_comprador",
        (None, Some(_)) => "issued_from",
        (None, None) => "issued_to",
    };
    let msg = say!(
        "{total} receipts fit the other filters, and at most {MOST_SEARCHED} are searched by buyer or day of issue: \
         narrow date_from and date_to, or add ecf_type or status",
        "{total} comprobantes cumplen los demás filtros, y se buscan {MOST_SEARCHED} como máximo por comprador o día \
         de emisión: acote date_from y date_to, o agregue ecf_type o status"
    );
    let error = FieldError::new(["query", name], "value_error", msg)
        .with_code("too_many_to_search")
        .with_ctx("limit", MOST_SEARCHED)
        .with_ctx("total", total);
    ApiError::validation(vec![error])
}

/// Listar documentos
///
/// The company's receipts in the key's environment, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/client/documents",
    operation_id = "list_documents",
    tag = "Documentos",
    params(DocumentsQuery, IssuedRange, DateRange, Page, Cursor),
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
