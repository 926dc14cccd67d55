//! `POST /api/v1/client/certification/runs`: judges the workbooks, or the data of a simulation, and begins a run.

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use bytes::Bytes;
use ecf::Environment;
use ecf_api::{ApiError, Caller, CodedError, Form, FromForm, ValidForm, ValidJson, ValidationError};
use ecf_language::say;
use ecf_store::{
    ArtifactKind, ContentHash, RunId,
    companies::Company,
    runs::{Run, RunBegun, RunKind, RunState},
};
use utoipa::ToSchema;

use crate::App;
use crate::books::{Book, Content, criteria, read};
use crate::own::Own;
use crate::rows::rows;
use crate::show::full;
use crate::simulate::{self, SimulationRequest};
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

/// What a run is begun with: workbooks in a form, or the company's own data in JSON.
#[derive(Debug)]
pub(crate) enum Begin {
    Data(BeginRunRequest),
    Simulation(SimulationRequest),
}

impl<S: Send + Sync> FromRequest<S> for Begin {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let content_type = request.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        if content_type.is_some_and(|given| given.to_ascii_lowercase().starts_with(b"application/json")) {
            let ValidJson(request) = ValidJson::from_request(request, state).await?;
            return Ok(Self::Simulation(request));
        }
        let ValidForm(request) = ValidForm::from_request(request, state).await?;
        Ok(Self::Data(request))
    }
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
///
/// With a JSON body of `kind` `simulation` the run makes the receipts of step 4 from the company's own data: the required number of
/// each type, with new numbers from its ranges, and notes on them. With `from_receipts` it takes what the body leaves out of buyer, foreign
/// buyer and items from the newest accepted receipts of the company in the same environment, else in TesteCF.
#[utoipa::path(
    post,
    path = "/api/v1/client/certification/runs",
    operation_id = "begin_certification_run",
    tag = "Certificacion",
    request_body(content((BeginRunRequest = "multipart/form-data"), (SimulationRequest = "application/json"))),
    responses(
        (status = 201, description = "The run; its rows are sent from now on", body = BegunView),
        (status = 200, description = "The key began this run before", body = BegunView),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 409, description = "`run_open`: another run is under way; `not_in_production`: the key is of production; `not_enough_numbers`: the simulation needs more numbers than the ranges have", body = CodedError),
        (status = 413, description = "The body is too large", body = CodedError),
        (status = 415, description = "The body is neither a form nor JSON", body = CodedError),
        (status = 422, description = "What is wrong with the data, or with the workbooks: `ctx` has `code`, `sheet`, `row`, `column`, `header` and `cell`; nothing was sent", body = ValidationError),
        (status = 503, description = "Send the same request again", body = CodedError),
    ),
    security(("api_key" = ["full"])),
)]
pub(crate) async fn begin(
    State(app): State<App>,
    caller: Caller,
    request: Begin,
) -> Result<(StatusCode, Json<BegunView>), ApiError> {
    let (key, environment) = match &request {
        Begin::Data(request) => (request.idempotency_key.clone(), request.environment),
        Begin::Simulation(request) => (request.idempotency_key.clone(), request.environment),
    };
    if caller.check_environment(environment)? == Environment::Ecf {
        let message = say!(
            "a certification runs in CerteCF, and rehearsals in TesteCF: call with a key of one of them",
            "una certificación corre en CerteCF y los ensayos en TesteCF: llame con una clave de uno de ellos"
        );
        return Err(ApiError::conflict("not_in_production", message));
    }
    let (scope, now) = (&caller.scope, app.clock.now());
    if let Some(existing) = app.store.table.run(scope, &RunId::of(scope, &key)).await? {
        return replayed(&app, &caller, &existing).await;
    }
    let company = app.store.table.company(&scope.company).await?;
    let Some(company) = company.filter(Company::is_active) else {
        let message = say!(
            "the company was deactivated and issues nothing; its operator knows why",
            "la empresa fue desactivada y no emite nada; su operador sabe por qué"
        );
        return Err(ApiError::unauthorized("company_inactive", message));
    };
    let criteria = criteria(scope, &caller.rnc, now);
    let (new, book, files) = match request {
        Begin::Data(request) => {
            let book = read(&request.workbook, request.approvals.as_deref(), &criteria)
                .map_err(|(part, found)| ApiError::validation(findings(part, &found)))?;
            let approvals = request.approvals.as_ref().map(|bytes| ContentHash::of(bytes));
            let new = Run::new(scope, key, ContentHash::of(&request.workbook), approvals, now);
            let files = std::iter::once(request.workbook).chain(request.approvals).collect();
            (new, book, files)
        }
        Begin::Simulation(request) => {
            let own = match request.from_receipts {
                true => Own::read(&app.store, scope, now).await?,
                false => Own::default(),
            };
            let data = request.data(&company, own)?;
            let book = Book::simulated(&data, &criteria).map_err(|unusable| simulate::refused(&unusable))?;
            simulate::has_numbers(&app.store.table, scope, &book, criteria.today).await?;
            let kept = Bytes::from(serde_json::to_vec(&data).map_err(ApiError::internal)?);
            let new = Run {
                kind: RunKind::Simulation,
                ..Run::new(scope, key, ContentHash::of(&kept), None, now)
            };
            (new, book, vec![kept])
        }
    };
    start(&app, &caller, new, book, files).await
}

/// Stores the files, then the run.
async fn start(
    app: &App,
    caller: &Caller,
    new: Run,
    book: Book,
    files: Vec<Bytes>,
) -> Result<(StatusCode, Json<BegunView>), ApiError> {
    let (scope, now) = (&caller.scope, new.begun_at);
    for bytes in files {
        let (artifacts, kind) = (&app.store.artifacts, ArtifactKind::Workbook);
        artifacts.put_message(scope, new.begun_at, &new.id, kind, bytes).await?;
    }
    let run = match app.store.table.begin_run(scope, new).await? {
        RunBegun::New(run) => run,
        RunBegun::Replay(existing) => return replayed(app, caller, &existing).await,
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
    let mut notices = Vec::new();
    if let Content::Data { suite, approvals } = &book.content {
        notices = findings("workbook", &suite.notices);
        notices.extend(
            approvals
                .iter()
                .flat_map(|approvals| findings("approvals", &approvals.notices)),
        );
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
