//! `GET /api/v1/client/sequences`.

use axum::Json;
use axum::extract::State;
use ecf::{Environment, Fecha};
use ecf_api::{ApiError, Caller, CodedError, Fields, FromFields, ValidQuery, ValidationError};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::SequenceView;
use crate::App;

/// Which ranges to list.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SequencesQuery {
    /// The key's environment; another one lists nothing.
    #[param(value_type = Option<String>)]
    environment: Option<Environment>,
    /// Two digits, such as 31.
    #[param(min_length = 2, max_length = 2)]
    ecf_type: Option<String>,
    /// `true`: only those in use.
    #[param(required = false, default = true)]
    active_only: bool,
}

impl FromFields for SequencesQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            environment: fields.environment("environment").optional(),
            ecf_type: fields.text("ecf_type").length(2..=2).optional(),
            active_only: fields.boolean("active_only").or(true),
        })
    }
}

/// The ranges, by type and first number.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SequencesView {
    items: Vec<SequenceView>,
    total: usize,
}

/// Listar secuencias
///
/// The ranges of the key's environment. A filter that asks for another environment finds none.
#[utoipa::path(
    get,
    path = "/api/v1/client/sequences",
    tag = "Secuencias",
    params(SequencesQuery),
    responses(
        (status = 200, description = "The ranges, by type and first number", body = SequencesView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 422, description = "Every bad field, a missing key included", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn list_sequences(
    State(app): State<App>,
    caller: Caller,
    ValidQuery(query): ValidQuery<SequencesQuery>,
) -> Result<Json<SequencesView>, ApiError> {
    let environment = caller.environment();
    let today = Fecha::at(app.clock.now());
    let ranges = if query.environment.is_none_or(|asked| asked == environment) {
        app.table.ranges(&caller.scope, None).await?
    } else {
        Vec::new()
    };
    let items: Vec<_> = ranges
        .iter()
        .filter(|range| {
            query
                .ecf_type
                .as_ref()
                .is_none_or(|asked| asked == range.ecf_type.as_str())
        })
        .map(|range| SequenceView::of(range, environment, today))
        .filter(|view| view.is_active || !query.active_only)
        .collect();
    let total = items.len();
    Ok(Json(SequencesView { items, total }))
}
