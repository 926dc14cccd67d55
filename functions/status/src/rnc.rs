//! `GET /api/v1/taxauth/rnc/{rnc}`: a taxpayer of the authority's register, as of the day of its file. The route is
//! public, so requests are limited by client address.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use ecf::Rnc;
use ecf_api::{ApiError, CodedError, FieldError, Instant, ValidationError, Visitor};
use ecf_language::{Say, say};
use ecf_store::register::{RegisterAnswer, Registered};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

/// `Retry-After` until an operator has loaded the register.
const NOT_LOADED_RETRY: Duration = Duration::from_secs(3600);

/// A taxpayer, as the tax authority describes it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaxpayerView {
    rnc: String,
    razon_social: String,
    nombre_comercial: Option<String>,
    actividad_economica: Option<String>,
    estado: Option<String>,
    regimen_pagos: Option<String>,
    /// The day of the authority's file.
    #[schema(value_type = String, format = Date)]
    as_of: Date,
    age_days: i32,
    #[schema(value_type = String, format = DateTime)]
    loaded_at: Instant,
}

/// Registro de contribuyentes
///
/// Says what the register knows of a taxpayer. It is a help and no condition: nothing that is issued is held against it.
#[utoipa::path(
    get,
    path = "/api/v1/taxauth/rnc/{rnc}",
    operation_id = "show_taxpayer",
    tag = "Autoridad tributaria",
    params(("rnc" = String, Path, description = "9 digits (RNC) or 11 (cedula)")),
    responses(
        (status = 200, description = "The taxpayer, and how old the register is", body = TaxpayerView),
        (status = 404, description = "The register has no such taxpayer", body = CodedError),
        (status = 422, description = "That is no taxpayer's number", body = ValidationError),
        (status = 429, description = "Too many look-ups from this address; `Retry-After` says when to retry", body = CodedError),
        (status = 503, description = "`register_not_loaded`: this deployment has no register", body = CodedError),
    ),
    security(()),
)]
pub(crate) async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(text): Path<String>,
) -> Result<Json<TaxpayerView>, ApiError> {
    let now = app.clock.now();
    let rnc = number(&text)?;
    visitor
        .check_rate_limit(&app.table, app.register_rate_limit, now)
        .await?;
    match app.register.taxpayer(&rnc, now).await? {
        RegisterAnswer::Found(found) => Ok(Json(view(*found, now))),
        RegisterAnswer::Unknown => Err(ApiError::not_found_because(say!(
            "the register has no taxpayer {rnc}",
            "el registro no tiene el contribuyente {rnc}"
        ))),
        RegisterAnswer::Empty => Err(ApiError::unavailable_because(
            "register_not_loaded",
            say!(
                "this deployment has no register of taxpayers",
                "este despliegue no tiene registro de contribuyentes"
            ),
            NOT_LOADED_RETRY,
        )),
    }
}

fn number(text: &str) -> Result<Rnc, ApiError> {
    text.parse().map_err(|error: ecf::RncError| {
        let field = FieldError::new(["path", "rnc"], "value_error", error.say());
        ApiError::validation(vec![field.with_input(&ecf::Node::Text(text.into()))])
    })
}

fn view(found: Registered, now: Timestamp) -> TaxpayerView {
    let taxpayer = found.taxpayer;
    let age = ecf_store::fiscal_day(now) - found.as_of;
    TaxpayerView {
        rnc: taxpayer.rnc.to_string(),
        razon_social: taxpayer.razon_social,
        nombre_comercial: taxpayer.nombre_comercial,
        actividad_economica: taxpayer.actividad_economica,
        estado: taxpayer.estado,
        regimen_pagos: taxpayer.regimen_pagos,
        as_of: found.as_of,
        age_days: age.get_days().max(0),
        loaded_at: Instant(found.loaded_at),
    }
}
