//! `GET /api/v1/taxauth/catalogues…`: the authority's code tables, as the service reads them. They change with a new
//! version of the service, so callers may cache them.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use ecf::Environment;
use ecf::catalogue::{Detail, Entry, ImpuestoClass, LISTED, Listed, TipoImpuesto};
use ecf::totals::IscRates;
use ecf_api::{ApiError, CodedError, ValidationError};
use ecf_language::say;
use jiff::civil::Date;
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

/// How long a cache may keep an answer.
const CACHING: &str = "public, max-age=86400";

/// The catalogues.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CataloguesView {
    items: Vec<CatalogueSummary>,
}

/// A catalogue without its codes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CatalogueSummary {
    name: &'static str,
    title: &'static str,
    /// The fields of a payload that take its codes.
    #[schema(value_type = Vec<String>)]
    fields: &'static [&'static str],
    /// The number of its codes.
    total: usize,
}

/// A catalogue with its codes, in the tax authority's order and Spanish names.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CatalogueView {
    name: &'static str,
    title: &'static str,
    /// The fields of a payload that take its codes.
    #[schema(value_type = Vec<String>)]
    fields: &'static [&'static str],
    items: Vec<CatalogueEntry>,
}

/// A code. Only units have `abbreviation`, only places `provincia`, only taxes the members after it.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct CatalogueEntry {
    code: &'static str,
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    abbreviation: Option<&'static str>,
    /// The code of the province of a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    provincia: Option<&'static str>,
    /// The element of the totals that has the amount of a tax.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount_field: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_unit: Option<RateUnit>,
    /// The known rates of a tax in production. A rate of another day is stated in the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    rates: Option<Vec<RateView>>,
}

/// What a rate counts.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RateUnit {
    Percent,
    PesosPerLitreOfAlcohol,
    PesosPerPacket,
}

/// A rate and the days when it is in force, both included. A rate fixed by law has no days.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RateView {
    rate: String,
    #[schema(value_type = Option<String>, format = Date)]
    valid_from: Option<Date>,
    #[schema(value_type = Option<String>, format = Date)]
    valid_until: Option<Date>,
}

/// Catálogos
///
/// Lists the catalogues of the tax authority: units of measure, currencies, provinces and municipalities, additional taxes and others.
/// No key is needed, and answers may be cached.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/catalogues",
    operation_id = "list_catalogues",
    tag = "Autoridad tributaria",
    responses(
        (status = 200, description = "The catalogues", body = CataloguesView),
        (status = 304, description = "The caller has this list"),
        (status = 422, description = "A parameter that this operation does not have", body = ValidationError),
    ),
    security(()),
)]
pub(crate) async fn list() -> Result<Response, ApiError> {
    let summary = |listed: &Listed| CatalogueSummary {
        name: listed.name,
        title: listed.title,
        fields: listed.fields,
        total: listed.entries().len(),
    };
    cacheable(&CataloguesView {
        items: LISTED.iter().map(summary).collect(),
    })
}

/// Códigos de un catálogo
///
/// Lists the codes of a catalogue with the authority's words. Additional taxes have their rates and the days of each. No key is needed,
/// and answers may be cached.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/catalogues/{name}",
    operation_id = "show_catalogue",
    tag = "Autoridad tributaria",
    params(("name" = String, Path, description = "A name of the list", example = "monedas")),
    responses(
        (status = 200, description = "The codes", body = CatalogueView),
        (status = 304, description = "The caller has this catalogue"),
        (status = 404, description = "No catalogue has this name; the message lists the names", body = CodedError),
    ),
    security(()),
)]
pub(crate) async fn show(Path(name): Path<String>) -> Result<Response, ApiError> {
    let Some(listed) = LISTED.iter().find(|listed| listed.name == name) else {
        let names = LISTED.map(|listed| listed.name).join(", ");
        return Err(ApiError::not_found_because(say!(
            "the catalogues are {names}",
            "los catálogos son {names}"
        )));
    };
    let rates = IscRates::of(Environment::Ecf);
    cacheable(&CatalogueView {
        name: listed.name,
        title: listed.title,
        fields: listed.fields,
        items: listed.entries().iter().map(|entry| view(entry, &rates)).collect(),
    })
}

fn view(entry: &Entry, rates: &IscRates) -> CatalogueEntry {
    let plain = CatalogueEntry {
        code: entry.code,
        name: entry.words,
        ..CatalogueEntry::default()
    };
    match entry.detail {
        Detail::None => plain,
        Detail::Abbreviation(abbreviation) => CatalogueEntry {
            abbreviation: Some(abbreviation),
            ..plain
        },
        Detail::Provincia(provincia) => CatalogueEntry {
            provincia: Some(provincia),
            ..plain
        },
        Detail::Impuesto(tax) => {
            let (amount_field, rate_unit) = amount_of(tax);
            CatalogueEntry {
                amount_field: Some(amount_field),
                rate_unit: Some(rate_unit),
                rates: Some(rates_of(tax, rates)),
                ..plain
            }
        }
    }
}

fn rates_of(tax: TipoImpuesto, rates: &IscRates) -> Vec<RateView> {
    let periods = rates.periods(tax).into_iter();
    let view = periods.map(|(valid_from, valid_until, rate)| RateView {
        rate: rate.to_string(),
        valid_from,
        valid_until,
    });
    view.collect()
}

fn amount_of(tax: TipoImpuesto) -> (&'static str, RateUnit) {
    const SPECIFIC: &str = "MontoImpuestoSelectivoConsumoEspecifico";
    const AD_VALOREM: &str = "MontoImpuestoSelectivoConsumoAdvalorem";
    match tax.class() {
        ImpuestoClass::Otros => ("OtrosImpuestosAdicionales", RateUnit::Percent),
        ImpuestoClass::EspecificoAlcohol => (SPECIFIC, RateUnit::PesosPerLitreOfAlcohol),
        ImpuestoClass::EspecificoTabaco => (SPECIFIC, RateUnit::PesosPerPacket),
        ImpuestoClass::AdValoremAlcohol | ImpuestoClass::AdValoremTabaco => (AD_VALOREM, RateUnit::Percent),
    }
}

/// The answer with the headers of a cache; the layers answer 304 to a caller that has it.
fn cacheable(view: &impl Serialize) -> Result<Response, ApiError> {
    let body = serde_json::to_vec(view).map_err(ApiError::internal)?;
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (header::CACHE_CONTROL, CACHING.to_owned()),
        (header::ETAG, format!("\"{}\"", hex::encode(Sha256::digest(&body)))),
    ];
    Ok((headers, body).into_response())
}
