//! The control service under `/_control/`: a tester sets faults and settings here, and reads what the simulator
//! received. The README lists its routes.

use std::collections::{BTreeMap, BTreeSet};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
    routing::{delete, get, post, put},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    App,
    data_test::{self, DataTest},
    environment::Environment,
    failure::Failure,
    fault::FaultOrder,
    settings::{DirectoryEntry, Sequence, Settings, Taxpayer, Window},
    state::Exchanged,
    verdict::Mensaje,
};

/// Path prefix of the control service.
pub(crate) const PREFIX: &str = "/_control";

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(
            "/_control/faults",
            get(list_faults).post(order_fault).delete(clear_faults),
        )
        .route("/_control/struck", get(list_struck))
        .route("/_control/documents", get(list_documents))
        .route("/_control/exchanged", get(list_exchanged))
        .route("/_control/counters", get(counters))
        .route("/_control/settings", get(settings))
        .route("/_control/verdict-delay", put(set_verdict_delay))
        .route("/_control/data-tests/{rnc}", get(show_data_test).put(set_data_test))
        .route("/_control/data-tests/{rnc}/uploads", post(upload_invoice))
        .route("/_control/shapes", put(set_shapes))
        .route("/_control/maintenance", put(set_maintenance))
        .route("/_control/sequences", put(set_sequences))
        .route(
            "/_control/certificates/{id}",
            put(bind_certificate).merge(delete(unbind_certificate)),
        )
        .route("/_control/registry/{rnc}", put(register).merge(delete(unregister)))
        .route(
            "/_control/directory/{rnc}",
            put(list_in_directory).merge(delete(unlist)),
        )
}

#[derive(Debug, Serialize)]
struct FaultView {
    id: i64,
    remaining: Option<u32>,
    #[serde(flatten)]
    order: FaultOrder,
}

async fn list_faults(State(app): State<App>) -> Result<Json<Vec<FaultView>>, Failure> {
    let faults = app.state.faults()?;
    Ok(Json(
        faults
            .into_iter()
            .map(|(id, order, remaining)| FaultView { id, remaining, order })
            .collect(),
    ))
}

async fn order_fault(State(app): State<App>, Json(order): Json<FaultOrder>) -> Result<Response, Failure> {
    if let Some(problem) = order.problem() {
        return Ok(unprocessable(&problem));
    }
    let id = app.state.add_fault(&order)?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))).into_response())
}

async fn clear_faults(State(app): State<App>) -> Result<StatusCode, Failure> {
    app.state.clear_faults()?;
    Ok(StatusCode::NO_CONTENT)
}

/// How many requests about one number met the same fault.
#[derive(Debug, Serialize)]
struct StruckView {
    fault: String,
    service: String,
    encf: String,
    times: u64,
}

async fn list_struck(State(app): State<App>) -> Result<Json<Vec<StruckView>>, Failure> {
    let struck = app.state.struck()?.into_iter();
    let view = |(fault, service, encf, times)| StruckView {
        fault,
        service,
        encf,
        times,
    };
    Ok(Json(struck.map(view).collect()))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentFilter {
    ambiente: Option<String>,
    rnc: Option<String>,
    encf: Option<String>,
}

/// One document (by its bytes) under one number, and how many times it was received.
#[derive(Debug, Serialize)]
struct DocumentView {
    ambiente: String,
    kind: String,
    rnc: String,
    encf: String,
    sha256: String,
    times: u32,
    #[serde(rename = "trackIds")]
    track_ids: Vec<String>,
    /// Verdict of the accepted copy, otherwise of the last copy.
    codigo: i64,
    estado: &'static str,
    #[serde(rename = "secuenciaUtilizada")]
    secuencia_utilizada: bool,
    mensajes: Vec<Mensaje>,
}

async fn list_documents(
    State(app): State<App>,
    Query(filter): Query<DocumentFilter>,
) -> Result<Json<Vec<DocumentView>>, Failure> {
    let fits = |wanted: &Option<String>, given: &str| {
        wanted
            .as_deref()
            .is_none_or(|wanted| wanted.eq_ignore_ascii_case(given))
    };
    let now = app.now();
    let mut views: Vec<DocumentView> = Vec::new();
    let mut places = BTreeMap::new();
    for record in app
        .state
        .all_documents(filter.ambiente.as_deref().and_then(Environment::parse))?
    {
        let facts = record.facts.clone();
        if !fits(&filter.rnc, &facts.rnc_emisor) || !fits(&filter.encf, &facts.encf) {
            continue;
        }
        let codigo = record.codigo_at(now);
        let key = (
            record.environment,
            record.kind,
            facts.rnc_emisor,
            facts.encf,
            record.sha256,
        );
        let place = *places.entry(key.clone()).or_insert(views.len());
        if place == views.len() {
            let (ambiente, kind, rnc, encf, sha256) = key;
            views.push(DocumentView {
                ambiente,
                kind,
                rnc,
                encf,
                sha256,
                times: 0,
                track_ids: Vec::new(),
                codigo: 0,
                estado: "",
                secuencia_utilizada: false,
                mensajes: Vec::new(),
            });
        }
        let view = &mut views[place];
        view.times += 1;
        view.track_ids.extend(record.track_id);
        if !matches!(view.codigo, 1 | 4) {
            view.codigo = codigo.number();
            view.estado = codigo.estado();
            view.secuencia_utilizada = record.verdict.secuencia_utilizada;
            view.mensajes = record.verdict.mensajes;
        }
    }
    Ok(Json(views))
}

/// Documents that the other taxpayer sent and received.
async fn list_exchanged(State(app): State<App>) -> Result<Json<Vec<Exchanged>>, Failure> {
    Ok(Json(app.state.exchanged()?))
}

#[derive(Debug, Serialize)]
struct CounterView {
    service: String,
    status: u16,
    times: u64,
}

async fn counters(State(app): State<App>) -> Result<Json<Vec<CounterView>>, Failure> {
    let counts = app.state.request_counts()?;
    Ok(Json(
        counts
            .into_iter()
            .map(|(service, status, times)| CounterView { service, status, times })
            .collect(),
    ))
}

async fn settings(State(app): State<App>) -> Json<Settings> {
    Json(shown(app.state.settings()))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictDelay {
    ms: u64,
}

async fn set_verdict_delay(State(app): State<App>, Json(delay): Json<VerdictDelay>) -> Result<Json<Settings>, Failure> {
    change(&app, |settings| settings.verdict_delay_ms = Some(delay.ms))
}

/// The portal's page of a taxpayer.
async fn show_data_test(State(app): State<App>, Path(rnc): Path<String>) -> Response {
    match app.state.settings().data_tests.get(&rnc) {
        Some(test) => Json(test.portal()).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Sets new workbooks. The numbers of earlier ones are free again, because workbooks may repeat them.
async fn set_data_test(
    State(app): State<App>,
    Path(rnc): Path<String>,
    Json(test): Json<DataTest>,
) -> Result<Response, Failure> {
    app.state.forget(Environment::Certecf, &rnc)?;
    let portal = test.portal();
    app.state.change_settings(|settings| {
        settings.data_tests.insert(rnc, test);
    })?;
    Ok(Json(portal).into_response())
}

/// A full invoice that a person uploads in the portal.
async fn upload_invoice(State(app): State<App>, Path(rnc): Path<String>, body: Bytes) -> Result<Response, Failure> {
    Ok(match data_test::upload(&app, &rnc, &body)? {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(why) => unprocessable(&why),
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shapes {
    observed: bool,
}

async fn set_shapes(State(app): State<App>, Json(shapes): Json<Shapes>) -> Result<Json<Settings>, Failure> {
    change(&app, |settings| settings.observed_shapes = shapes.observed)
}

async fn set_maintenance(State(app): State<App>, Json(windows): Json<Vec<Window>>) -> Result<Response, Failure> {
    if !windows.iter().all(Window::is_readable) {
        return Ok(unprocessable(
            "a window needs ambiente, horaInicio and horaFin as 9:00 AM, dias as dd-MM-yyyy",
        ));
    }
    Ok(change(&app, |settings| settings.maintenance = windows)?.into_response())
}

async fn set_sequences(State(app): State<App>, Json(sequences): Json<Vec<Sequence>>) -> Result<Response, Failure> {
    let readable = |one: &Sequence| {
        Environment::parse(&one.ambiente).is_some() && crate::dates::parse_date(&one.vencimiento).is_some()
    };
    if !sequences.iter().all(readable) {
        return Ok(unprocessable(
            "a sequence needs ambiente as testecf, certecf or ecf and vencimiento as dd-MM-yyyy",
        ));
    }
    Ok(change(&app, |settings| settings.sequences = sequences)?.into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Binding {
    rncs: BTreeSet<String>,
}

async fn bind_certificate(
    State(app): State<App>,
    Path(id): Path<String>,
    Json(binding): Json<Binding>,
) -> Result<Json<Settings>, Failure> {
    change(&app, |settings| {
        settings.certificates.insert(id, binding.rncs);
    })
}

async fn unbind_certificate(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Settings>, Failure> {
    change(&app, |settings| {
        settings.certificates.remove(&id);
    })
}

async fn register(
    State(app): State<App>,
    Path(rnc): Path<String>,
    Json(taxpayer): Json<Taxpayer>,
) -> Result<Json<Settings>, Failure> {
    change(&app, |settings| {
        settings.registry.insert(rnc, taxpayer);
    })
}

async fn unregister(State(app): State<App>, Path(rnc): Path<String>) -> Result<Json<Settings>, Failure> {
    change(&app, |settings| {
        settings.registry.remove(&rnc);
    })
}

async fn list_in_directory(
    State(app): State<App>,
    Path(rnc): Path<String>,
    Json(entry): Json<DirectoryEntry>,
) -> Result<Json<Settings>, Failure> {
    change(&app, |settings| {
        settings.directory.insert(rnc, entry);
    })
}

async fn unlist(State(app): State<App>, Path(rnc): Path<String>) -> Result<Json<Settings>, Failure> {
    change(&app, |settings| {
        settings.directory.remove(&rnc);
    })
}

fn change(app: &App, change: impl FnOnce(&mut Settings)) -> Result<Json<Settings>, Failure> {
    Ok(Json(shown(app.state.change_settings(change)?)))
}

/// The settings without the key that signs tokens.
fn shown(settings: Settings) -> Settings {
    Settings {
        token_key: String::new(),
        ..settings
    }
}

fn unprocessable(problem: &str) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({ "detail": problem }))).into_response()
}
