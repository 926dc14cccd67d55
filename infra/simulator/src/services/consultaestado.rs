//! `consultaestado`: the state of a number, whether its document came in full or as a summary.

use axum::{Router, extract::State, response::Response, routing::get};
use rust_decimal::Decimal;

use crate::{App, answer::Answer, call::Caller, encf::Encf, failure::Failure, state::Record, verdict::Codigo};

/// "Aceptado Condicional" is only reported for consumer invoices below this total.
const CONDITIONAL_BELOW: i64 = 250_000;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/consultaestado/api/consultas/estado", get(consultar))
}

async fn consultar(State(app): State<App>, caller: Caller) -> Result<Response, Failure> {
    let params = &caller.params;
    let (Some(rnc), Some(encf)) = (params.get(&["rncemisor"]), params.get(&["ncfelectronico"])) else {
        return Err(Failure::refused(
            "Los parámetros RncEmisor y NcfElectronico son requeridos.",
        ));
    };
    let buyer = params.get(&["rnccomprador"]);
    caller.must_act_for(&app, &[rnc, buyer.unwrap_or(rnc)])?;
    let code = params.get(&["codigoseguridad"]);
    let records = app.state.documents_by_number(caller.environment, rnc, encf)?;
    let now = app.now();
    let matching = records.into_iter().filter(|record| {
        let decided = record.codigo_at(now) != Codigo::EnProceso;
        let buyer_fits = buyer.is_none_or(|buyer| record.facts.rnc_comprador.as_deref() == Some(buyer));
        decided && buyer_fits && code.is_none_or(|code| record.facts.codigo_seguridad == code)
    });
    let record = most_relevant(matching);
    let state = record.as_ref().map_or(Codigo::NoEncontrado, shown);
    let facts = record.map(|record| record.facts).unwrap_or_default();
    Ok(Answer::new("RespuestaConsultaEstado")
        .field("codigo", state.number())
        .field("estado", state.estado())
        .field("rncEmisor", rnc)
        .field("ncfElectronico", encf)
        .amount("montoTotal", number(facts.monto_total.as_deref()))
        .amount("totalITBIS", number(facts.total_itbis.as_deref()))
        .field("fechaEmision", facts.fecha_emision)
        .field("fechaFirma", facts.fecha_firma)
        .field("rncComprador", facts.rnc_comprador)
        .field("codigoSeguridad", facts.codigo_seguridad)
        .field("idExtranjero", facts.identificador_extranjero)
        .respond(caller.form))
}

/// The accepted document of a number, otherwise its last document.
pub(super) fn most_relevant(records: impl Iterator<Item = Record>) -> Option<Record> {
    records.reduce(|kept, next| if kept.verdict.codigo.is_accepted() { kept } else { next })
}

fn shown(record: &Record) -> Codigo {
    let total = number(record.facts.monto_total.as_deref());
    let is_consumer_invoice = Encf::parse(&record.facts.encf).is_some_and(|encf| encf.tipo == 32);
    match record.verdict.codigo {
        Codigo::AceptadoCondicional if !is_consumer_invoice || total >= Decimal::from(CONDITIONAL_BELOW) => {
            Codigo::Aceptado
        }
        other => other,
    }
}

fn number(text: Option<&str>) -> Decimal {
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}
