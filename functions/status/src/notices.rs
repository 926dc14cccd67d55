//! `/api/v1/notices…`: the operator's notices, for the companies that they concern.
//!
//! A feed of changes: without a cursor it starts with all notices in force; then follow the changes, each notice once,
//! in its current version. The passage of time is not a change: a client that stores a notice derives its `state` from
//! `starts_at` and `expires_at`.

mod cursor;
mod views;

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use ecf_api::{
    ApiError, Caller, CodedError, FieldError, Fields, FromFields, Instant, PathId, ValidQuery, ValidationError,
};
use ecf_store::{
    NoticeId,
    notices::{NoticeEvent, NoticeState},
};
use jiff::Timestamp;
use utoipa::IntoParams;

use crate::App;
use cursor::{Cursor, CursorError};
use ecf_language::{Say, say};
use views::ChangeView;
pub(crate) use views::{ChangesView, NoticeView};

/// `Retry-After` of a deployment that does not publish notices.
const DISABLED_RETRY: Duration = Duration::from_secs(3600);

/// Which part of the feed is asked for.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangesQuery {
    /// Upper bound of the changes: 1 to 100.
    #[param(required = false, minimum = 1, maximum = 100, default = 100)]
    limit: usize,
    /// `next_cursor` of the answer before; left out, the feed begins with all notices in force.
    #[param(min_length = 1, max_length = 200)]
    cursor: Option<String>,
}

impl FromFields for ChangesQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let limit = fields.integer("limit").range(1..=100).or(100);
        let cursor = fields.text("cursor").length(1..=200).optional();
        Some(Self {
            limit: usize::try_from(limit).ok()?,
            cursor,
        })
    }
}

/// Cambios de avisos
///
/// What changed after a cursor, for the key's company and environment.
#[utoipa::path(
    get,
    path = "/api/v1/notices/changes",
    operation_id = "list_notice_changes",
    tag = "Avisos",
    params(ChangesQuery),
    responses(
        (status = 200, description = "Changes in their order; store `next_cursor` even if the list is empty", body = ChangesView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "`cursor_expired`: begin again without a cursor", body = CodedError),
        (status = 422, description = "The key is missing, or every bad parameter", body = ValidationError),
        (status = 503, description = "`notices_disabled`: this deployment has no notices", body = CodedError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn changes(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(query): ValidQuery<ChangesQuery>,
) -> Result<Json<ChangesView>, ApiError> {
    app.check_notices_enabled()?;
    let (scope, now) = (&caller.scope, app.clock.now());
    // Read first: everything up to this number is committed, so no change can be missed between pages.
    let latest = app.table.last_notice_number().await?;
    let cursor = match &query.cursor {
        Some(text) => Cursor::read(text, scope, latest, now).map_err(|error| refused(&error, text))?,
        None => Cursor::beginning(latest),
    };
    let until = cursor.until(latest);
    let page = app.table.notice_events(scope, cursor.after, until, query.limit).await?;
    let next = match page.events.last() {
        Some(last) if page.has_more => cursor.at(last.number),
        _ => Cursor::after(until),
    };
    let shown = page
        .events
        .into_iter()
        .filter(|event| !cursor.is_beginning() || is_in_force(event, now));
    Ok(Json(ChangesView {
        schema_version: 1,
        changes: shown.map(|event| ChangeView::of(&caller, event, now)).collect(),
        next_cursor: next.text(scope, now),
        has_more: page.has_more || until < latest,
        checked_at: Instant(now),
    }))
}

/// Ver un aviso
///
/// One notice, as it is now.
#[utoipa::path(
    get,
    path = "/api/v1/notices/{public_id}",
    operation_id = "show_notice",
    tag = "Avisos",
    params(("public_id" = String, Path, description = "The notice's id")),
    responses(
        (status = 200, description = "The notice", body = NoticeView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "There is no such notice for this company and environment", body = CodedError),
        (status = 422, description = "The key is missing", body = ValidationError),
        (status = 503, description = "`notices_disabled`: this deployment has no notices", body = CodedError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<NoticeId>,
) -> Result<Json<NoticeView>, ApiError> {
    app.check_notices_enabled()?;
    let notice = app.table.notice_for(&caller.scope, &id).await?;
    let notice = notice.ok_or_else(ApiError::not_found)?;
    Ok(Json(NoticeView::of(&notice, app.clock.now())))
}

impl App {
    fn check_notices_enabled(&self) -> Result<(), ApiError> {
        if self.notices_enabled {
            return Ok(());
        }
        Err(ApiError::unavailable_because(
            "notices_disabled",
            say!(
                "this deployment publishes no notices",
                "este despliegue no publica comunicados"
            ),
            DISABLED_RETRY,
        ))
    }
}

fn is_in_force(event: &NoticeEvent, now: Timestamp) -> bool {
    event
        .notice
        .as_ref()
        .is_some_and(|notice| matches!(notice.state(now), NoticeState::Active | NoticeState::Scheduled))
}

fn refused(error: &CursorError, given: &str) -> ApiError {
    match error {
        CursorError::Expired => ApiError::conflict(
            "cursor_expired",
            say!(
                "what changed since this cursor is not known any more: begin again without a cursor",
                "ya no se sabe qué cambió desde este cursor: empiece otra vez sin cursor"
            ),
        ),
        CursorError::Unreadable | CursorError::Foreign => {
            let field = FieldError::new(["query", "cursor"], "value_error", error.say()).with_code("cursor_invalid");
            ApiError::validation(vec![field.with_input(&ecf::Node::Text(given.into()))])
        }
    }
}
