//! `consultatimbre` and `consultatimbrefc`: the pages that the QR symbol of a printed receipt links to.

use axum::{
    Router,
    extract::State,
    response::{Html, IntoResponse, Response},
    routing::get,
};
use rust_decimal::Decimal;

use super::consultaestado::most_relevant;
use crate::{
    App,
    call::Visitor,
    failure::Failure,
    state::{Kind, Record},
    verdict::Codigo,
    xml::Element,
};

/// Parameters in the QR symbol of a full receipt. They must match the document.
const OF_RECEIPT: [&str; 5] = [
    "rnccomprador",
    "fechaemision",
    "montototal",
    "fechafirma",
    "codigoseguridad",
];
const OF_SUMMARY: [&str; 2] = ["montototal", "codigoseguridad"];

pub(super) fn routes() -> Router<App> {
    Router::new().route("/consultatimbre", get(receipt))
}

pub(super) fn summary_routes() -> Router<App> {
    Router::new().route("/consultatimbrefc", get(summary))
}

async fn receipt(State(app): State<App>, visitor: Visitor) -> Result<Response, Failure> {
    let found = find(&app, &visitor, Kind::Ecf, &OF_RECEIPT)?;
    let facts = found.as_ref().map(|record| record.facts.clone()).unwrap_or_default();
    Ok(page(&[
        ("RNC Emisor", Some(facts.rnc_emisor)),
        ("Razón Social Emisor", facts.razon_social_emisor),
        ("RNC Comprador", facts.rnc_comprador),
        ("Razón Social Comprador", facts.razon_social_comprador),
        ("e-NCF", Some(facts.encf)),
        ("Fecha de Emisión", facts.fecha_emision),
        ("Total de ITBIS", facts.total_itbis),
        ("Monto Total", facts.monto_total),
        ("Estado", Some(estado(found.as_ref()).to_owned())),
    ]))
}

async fn summary(State(app): State<App>, visitor: Visitor) -> Result<Response, Failure> {
    let found = find(&app, &visitor, Kind::Rfce, &OF_SUMMARY)?;
    let facts = found.as_ref().map(|record| record.facts.clone()).unwrap_or_default();
    Ok(page(&[
        ("RNC Emisor", Some(facts.rnc_emisor)),
        ("Razón Social Emisor", facts.razon_social_emisor),
        ("e-NCF", Some(facts.encf)),
        ("Estado", Some(estado(found.as_ref()).to_owned())),
    ]))
}

fn find(app: &App, visitor: &Visitor, kind: Kind, names: &[&str]) -> Result<Option<Record>, Failure> {
    let (Some(rnc), Some(encf)) = (visitor.params.get(&["rncemisor"]), visitor.params.get(&["encf"])) else {
        return Ok(None);
    };
    let now = app.now();
    let records = app.state.documents_by_number(visitor.environment, rnc, encf)?;
    Ok(most_relevant(records.into_iter().filter(|record| {
        record.kind == kind.name()
            && record.codigo_at(now) != Codigo::EnProceso
            && names
                .iter()
                .all(|name| agrees(record, name, visitor.params.get(&[name])))
    })))
}

fn agrees(record: &Record, name: &str, given: Option<&str>) -> bool {
    let facts = &record.facts;
    let amount = |text: Option<&str>| text.and_then(|text| text.parse::<Decimal>().ok());
    match name {
        "montototal" => amount(given) == amount(facts.monto_total.as_deref()),
        "rnccomprador" => given == facts.rnc_comprador.as_deref(),
        "fechaemision" => given == facts.fecha_emision.as_deref(),
        "fechafirma" => given == facts.fecha_firma.as_deref(),
        _ => given == Some(facts.codigo_seguridad.as_str()),
    }
}

/// The public pages do not show "Aceptado Condicional".
fn estado(record: Option<&Record>) -> &'static str {
    match record.map(|record| record.verdict.codigo) {
        Some(codigo) if codigo.is_accepted() => Codigo::Aceptado.estado(),
        Some(codigo) => codigo.estado(),
        None => Codigo::NoEncontrado.estado(),
    }
}

fn page(rows: &[(&str, Option<String>)]) -> Response {
    let rows = rows
        .iter()
        .filter_map(|(title, value)| Some((title, value.as_ref().filter(|text| !text.is_empty())?)));
    let table = rows.fold(Element::new("table"), |table, (title, value)| {
        table.child(Element::new("tr").with("th", *title).with("td", value.clone()))
    });
    let head = Element::new("head").with("title", "Consulta de timbre (simulador)");
    let mut html = String::from("<!DOCTYPE html>");
    Element::new("html")
        .child(head)
        .child(Element::new("body").child(table))
        .write(&mut html, None);
    Html(html).into_response()
}
