//! The responses of `POST /api/v1/ecf`.

use ecf::Monto;
use ecf::document::Totales;
use ecf_api::{DocumentView, FieldError};
use serde::Serialize;
use utoipa::ToSchema;

/// The receipt, and what the caller should know about the document although it was issued.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IssuedView {
    #[serde(flatten)]
    pub(crate) document: DocumentView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<FieldError>,
}

/// The result that issuing would have. Nothing was stored and no number was used.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ValidationView {
    /// What the tax authority would say of the document: `accepted` or `conditionally_accepted`. What it would reject is 422.
    pub(crate) verdict_forecast: &'static str,
    pub(crate) warnings: Vec<FieldError>,
    /// The amounts as they would be issued, given and computed ones alike.
    pub(crate) totals: TotalsView,
    /// The number that was next when this was asked; another request may take it.
    pub(crate) encf: String,
    /// The document that would be signed, but for number and time of signing.
    pub(crate) xml: String,
}

/// What a request is answered that made nothing new: the receipt that its key has already, or the forecast.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the contract alone puts the two together")]
pub(crate) enum NothingNewView {
    Replayed(Box<IssuedView>),
    Forecast(Box<ValidationView>),
}

/// The amounts of `Totales`, by the authority's names; one that the document does not have is left out.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TotalsView {
    #[serde(rename = "MontoGravadoTotal", skip_serializing_if = "Option::is_none")]
    monto_gravado_total: Option<String>,
    #[serde(rename = "MontoGravadoI1", skip_serializing_if = "Option::is_none")]
    monto_gravado_i1: Option<String>,
    #[serde(rename = "MontoGravadoI2", skip_serializing_if = "Option::is_none")]
    monto_gravado_i2: Option<String>,
    #[serde(rename = "MontoGravadoI3", skip_serializing_if = "Option::is_none")]
    monto_gravado_i3: Option<String>,
    #[serde(rename = "MontoExento", skip_serializing_if = "Option::is_none")]
    monto_exento: Option<String>,
    #[serde(rename = "TotalITBIS", skip_serializing_if = "Option::is_none")]
    total_itbis: Option<String>,
    #[serde(rename = "TotalITBIS1", skip_serializing_if = "Option::is_none")]
    total_itbis1: Option<String>,
    #[serde(rename = "TotalITBIS2", skip_serializing_if = "Option::is_none")]
    total_itbis2: Option<String>,
    #[serde(rename = "TotalITBIS3", skip_serializing_if = "Option::is_none")]
    total_itbis3: Option<String>,
    #[serde(rename = "MontoImpuestoAdicional", skip_serializing_if = "Option::is_none")]
    monto_impuesto_adicional: Option<String>,
    #[serde(rename = "MontoTotal", skip_serializing_if = "Option::is_none")]
    monto_total: Option<String>,
    #[serde(rename = "MontoNoFacturable", skip_serializing_if = "Option::is_none")]
    monto_no_facturable: Option<String>,
    #[serde(rename = "MontoPeriodo", skip_serializing_if = "Option::is_none")]
    monto_periodo: Option<String>,
    #[serde(rename = "ValorPagar", skip_serializing_if = "Option::is_none")]
    valor_pagar: Option<String>,
    #[serde(rename = "TotalITBISRetenido", skip_serializing_if = "Option::is_none")]
    total_itbis_retenido: Option<String>,
    #[serde(rename = "TotalISRRetencion", skip_serializing_if = "Option::is_none")]
    total_isr_retencion: Option<String>,
}

impl TotalsView {
    pub(crate) fn of(totales: &Totales) -> Self {
        let text = |monto: &Option<Monto>| monto.as_ref().map(ToString::to_string);
        Self {
            monto_gravado_total: text(&totales.monto_gravado_total),
            monto_gravado_i1: text(&totales.monto_gravado_i1),
            monto_gravado_i2: text(&totales.monto_gravado_i2),
            monto_gravado_i3: text(&totales.monto_gravado_i3),
            monto_exento: text(&totales.monto_exento),
            total_itbis: text(&totales.total_itbis),
            total_itbis1: text(&totales.total_itbis1),
            total_itbis2: text(&totales.total_itbis2),
            total_itbis3: text(&totales.total_itbis3),
            monto_impuesto_adicional: text(&totales.monto_impuesto_adicional),
            monto_total: text(&totales.monto_total),
            monto_no_facturable: text(&totales.monto_no_facturable),
            monto_periodo: text(&totales.monto_periodo),
            valor_pagar: text(&totales.valor_pagar),
            total_itbis_retenido: text(&totales.total_itbis_retenido),
            total_isr_retencion: text(&totales.total_isr_retencion),
        }
    }
}
