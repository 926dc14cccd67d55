//! `POST …/runs/{id}/continue`, `…/confirm-uploads`, `…/abandon`: what a person decides about a run.

use axum::Json;
use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, PathId, ValidationError};
use ecf_language::Bilingual;
use ecf_store::{
    RunId,
    runs::{Run, RunProgress, RunState},
};
use ecf_workbook::run::{self, Command, Refused};

use crate::App;
use crate::rows::{Numbered, Row, entries, rows, state_of, stopped_at, stored};
use crate::show::{find, full};
use crate::views::{FullRunView, resolve};

/// Continuar una corrida detenida
///
/// Continues a run after the reason was removed for which a row was not sent, such as a missing certificate. That row is sent with a new
/// receipt; what was accepted stays.
#[utoipa::path(
    post,
    path = "/api/v1/client/certification/runs/{run_id}/continue",
    operation_id = "continue_certification_run",
    tag = "Certificacion",
    params(("run_id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "The run, which sends again", body = FullRunView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "No such run", body = CodedError),
        (status = 409, description = "`run_reset`: the authority rejected a row; `run_outcome_unknown`: the row may have arrived; `run_row_numbered`: the operator has to retry its receipt first; `run_row_withdrawn`: only a new run can send the row; `run_state`: the run did not stop", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn go_on(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<RunId>,
) -> Result<Json<FullRunView>, ApiError> {
    carry_out(&app, &caller, &id, Command::Continue).await
}

/// Confirmar las cargas en el portal
///
/// Confirms that a person uploaded the full invoices below RD$250,000.00 in the portal. The approvals are sent then.
#[utoipa::path(
    post,
    path = "/api/v1/client/certification/runs/{run_id}/confirm-uploads",
    operation_id = "confirm_certification_uploads",
    tag = "Certificacion",
    params(("run_id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "The run, which sends the approvals", body = FullRunView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "No such run", body = CodedError),
        (status = 409, description = "`run_state`: the run does not await uploads", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn confirm_uploads(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<RunId>,
) -> Result<Json<FullRunView>, ApiError> {
    carry_out(&app, &caller, &id, Command::ConfirmUploads).await
}

/// Abandonar una corrida
///
/// Sends nothing more. A row that is under way still gets its verdict. A new run may begin.
#[utoipa::path(
    post,
    path = "/api/v1/client/certification/runs/{run_id}/abandon",
    operation_id = "abandon_certification_run",
    tag = "Certificacion",
    params(("run_id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "The run, which is abandoned", body = FullRunView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "No such run", body = CodedError),
        (status = 409, description = "`run_state`: the run has ended", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn abandon(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<RunId>,
) -> Result<Json<FullRunView>, ApiError> {
    carry_out(&app, &caller, &id, Command::Abandon).await
}

/// Upper bound of the tries while the worker moves the run.
const ROUNDS: usize = 8;

async fn carry_out(app: &App, caller: &Caller, id: &RunId, command: Command) -> Result<Json<FullRunView>, ApiError> {
    let (store, scope) = (&app.store, &caller.scope);
    for _ in 0..ROUNDS {
        let (seen, now) = (find(app, caller, id).await?, app.clock.now());
        let book = store.books.of(&store.artifacts, scope, &caller.rnc, &seen, now).await?;
        let rows = rows(&store.table, scope, &seen, &book).await?;
        let uploaded = seen.progress.uploaded;
        let change = run::command(state_of(&seen), &entries(&rows), uploaded, command);
        let change = change.map_err(|refusal| refused(refusal, &seen, &rows))?;
        let mut tries = seen.progress.tries.clone();
        if let Some(place) = change.retry {
            *tries.entry(u32::try_from(place).unwrap_or(u32::MAX)).or_default() += 1;
        }
        let (state, _) = stored(change.state);
        let progress = RunProgress {
            state,
            stop: None,
            uploaded: change.uploaded,
            tries,
        };
        if let Some(run) = store.table.advance_run(scope, &seen, progress, now).await? {
            tracing::info!(run.id = %run.id, company.id = %scope.company, ?command, "a person decided about the run");
            if run.progress.state == RunState::Running {
                app.enqueue(scope, &run).await;
            }
            return Ok(Json(full(app, caller, &run).await?));
        }
    }
    Err(ApiError::unavailable(std::time::Duration::from_secs(1)).caused_by("others kept changing the run"))
}

fn refused(refusal: Refused, run: &Run, rows: &[Row]) -> ApiError {
    let (code, spanish) = match refusal {
        Refused::Reset => (
            "run_reset",
            "la DGII rechazó una fila, lo que reinicia el paso: descargue un libro nuevo e inicie otra corrida con él",
        ),
        Refused::OutcomeUnknown => (
            "run_outcome_unknown",
            "la fila pudo haber llegado a la DGII: el operador tiene que averiguarlo antes de que la corrida siga",
        ),
        Refused::Numbered => (
            "run_row_numbered",
            "el comprobante de la fila ya tiene su número: el operador tiene que reintentarlo antes de que la corrida siga",
        ),
        Refused::WrongState => (
            "run_state",
            "la corrida no está en un estado en el que esto se pueda hacer",
        ),
    };
    match (refusal, stopped_at(run, rows).and_then(Row::numbered)) {
        (Refused::Numbered, Some(numbered)) => {
            let code = match numbered {
                Numbered::Failed(_) => code,
                Numbered::Withdrawn(_) => "run_row_withdrawn",
            };
            ApiError::conflict(code, resolve(run, numbered))
        }
        _ => ApiError::conflict(code, Bilingual::of(&refusal, spanish)),
    }
}
