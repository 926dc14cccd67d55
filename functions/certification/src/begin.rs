//! `POST /api/v1/client/certification/runs`: judges the workbooks and begins a run.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bytes::Bytes;
use ecf::Environment;
use ecf_api::{ApiError, Caller, CodedError, Form, FromForm, ValidForm, ValidationError};
use ecf_language::say;
use ecf_store::{
    ArtifactKind, RunId,
    runs::{Run, RunBegun, RunState},
};
use utoipa::ToSchema;

use crate::App;
use crate::books::{criteria, read};
use crate::rows::rows;
use crate::show::full;
use crate::views::{BegunView, FullRunView, findings};

/// The workbooks of the authority's portal.
#[derive(Debug, ToSchema)]
pub(crate) struct BeginRunRequest {
    /// The workbook of e-CF (.xlsx), as the portal gave it.
    #[schema(value_type = String, format = Binary)]
    workbook: Bytes,
    /// The workbook of commercial approvals (.xlsx); without it the run ends before them.
    #[schema(value_type = Option<String>, format = Binary)]
    approvals: Option<Bytes>,
    /// Names the run: the same key again answers with the same run.
    #[schema(min_length = 1, max_length = 100)]
    idempotency_key: String,
    /// May repeat the key's environment, never name another one.
    #[schema(value_type = Option<String>, example = "CerteCF")]
    environment: Option<Environment>,
}

impl FromForm for BeginRunRequest {
    fn read(form: &mut Form) -> Option<Self> {
        let workbook = form.file("workbook");
        let approvals = form.optional_file("approvals");
        let idempotency_key = form.fields().text("idempotency_key").length(1..=100).required();
        let environment = form.fields().environment("environment").optional();
        Some(Self {
            workbook: workbook?.bytes,
            approvals: approvals.map(|file| file.bytes),
            idempotency_key: idempotency_key?,
            environment,
        })
    }
}

/// Iniciar una corrida de certificación
///
/// Reads the workbooks of the data tests, judges every row, and sends them exactly as they are, in the portal's order: receipts,
/// notes after what they modify, summaries, and after the uploads of a person the approvals. Nothing is sent when a row cannot pass.
/// The first rejection stops the run. In CerteCF the run begins a new attempt and registers the prescribed numbers by itself; in TesteCF
/// it is a rehearsal. A run that stopped is abandoned when a new one begins.
#[utoipa::path(
    post,
    path = "/api/v1/client/certification/runs",
    operation_id = "begin_certification_run",
    tag = "Certificacion",
    request_body(content = BeginRunRequest, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "The run; its rows are sent from now on", body = BegunView),
        (status = 200, description = "The key began this run before", body = BegunView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "`run_open`: another run is under way; `not_in_production`: the key is of production", body = CodedError),
        (status = 413, description = "The body is too large", body = CodedError),
        (status = 415, description = "The body is no form", body = CodedError),
        (status = 422, description = "What is wrong with the workbooks: `ctx` has `code`, `sheet`, `row`, `column`, `header` and `cell`; nothing was sent", body = ValidationError),
        (status = 503, description = "Send the same request again", body = CodedError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn begin(
    State(app): State<App>,
    caller: Caller,
    ValidForm(request): ValidForm<BeginRunRequest>,
) -> Result<(StatusCode, Json<BegunView>), ApiError> {
    if caller.check_environment(request.environment)? == Environment::Ecf {
        let message = say!(
            "a certification runs in CerteCF, and rehearsals in TesteCF: call with a key of one of them",
            "una certificación corre en CerteCF y los ensayos en TesteCF: llame con una clave de uno de ellos"
        );
        return Err(ApiError::conflict("not_in_production", message));
    }
    let (scope, now) = (&caller.scope, app.clock.now());
    let id = RunId::of(scope, &request.idempotency_key);
    if let Some(existing) = app.store.table.run(scope, &id).await? {
        return replayed(&app, &caller, &existing).await;
    }
    let company = app.store.table.company(&scope.company).await?;
    if !company.is_some_and(|company| company.is_active()) {
        let message = say!(
            "the company was deactivated and issues nothing; its operator knows why",
            "la empresa fue desactivada y no emite nada; su operador sabe por qué"
        );
        return Err(ApiError::unauthorized("company_inactive", message));
    }
    let criteria = criteria(scope, &caller.rnc, now);
    let book = read(&request.workbook, request.approvals.as_deref(), &criteria)
        .map_err(|(part, found)| ApiError::validation(findings(part, &found)))?;
    let hash = |bytes: &Bytes| ecf_store::ContentHash::of(bytes);
    let new = Run::new(
        scope,
        request.idempotency_key,
        hash(&request.workbook),
        request.approvals.as_ref().map(hash),
        now,
    );
    for bytes in [Some(request.workbook), request.approvals].into_iter().flatten() {
        let (artifacts, kind) = (&app.store.artifacts, ArtifactKind::Workbook);
        artifacts.put_message(scope, new.begun_at, &new.id, kind, bytes).await?;
    }
    let run = match app.store.table.begin_run(scope, new).await? {
        RunBegun::New(run) => run,
        RunBegun::Replay(existing) => return replayed(&app, &caller, &existing).await,
        RunBegun::Open(open) => {
            let id = open.id;
            let message = say!(
                "run {id} is under way: wait for its end, or abandon it with POST /api/v1/client/certification/runs/{id}/abandon",
                "la corrida {id} está en curso: espere su final, o abandónela con POST /api/v1/client/certification/runs/{id}/abandon"
            );
            return Err(ApiError::conflict("run_open", message));
        }
    };
    app.enqueue(scope, &run).await;
    let book = app.store.books.insert(run.id, book, now);
    tracing::info!(run.id = %run.id, company.id = %scope.company, rows = book.documents().len(), "a certification run begins");
    let rows = rows(&app.store.table, scope, &run, &book).await?;
    let mut notices = findings("workbook", &book.suite.notices);
    if let Some(approvals) = &book.approvals {
        notices.extend(findings("approvals", &approvals.notices));
    }
    let run = FullRunView::of(&run, &book, &rows);
    Ok((StatusCode::CREATED, Json(BegunView { run, notices })))
}

/// The run that the key began before, whatever workbooks the request has. Its job may have been lost.
async fn replayed(app: &App, caller: &Caller, run: &Run) -> Result<(StatusCode, Json<BegunView>), ApiError> {
    if run.progress.state == RunState::Running {
        app.enqueue(&caller.scope, run).await;
    }
    let run = full(app, caller, run).await?;
    Ok((StatusCode::OK, Json(BegunView { run, notices: vec![] })))
}
