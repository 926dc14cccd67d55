//! `OtraMoneda`: the amounts in the other currency. They are informative, the pesos rule: all findings are notices.

use rust_decimal::Decimal;

use super::finding::{line, otra_moneda};
use super::{Case, Findings, Rule, ZERO};
use crate::Monto;
use crate::document::OtraMoneda;
use crate::totals::Tolerance;

pub(super) const RULES: &[Rule] = &[
    Rule::notice(
        "MONEDA-01",
        "format, OtraMoneda: TipoMoneda, TipoCambio",
        "amounts in another currency say which, and its rate",
        currency_and_rate_are_given,
    ),
    Rule::notice(
        "MONEDA-02",
        "format, OtraMonedaDetalle: MontoItemOtraMoneda",
        "MontoItemOtraMoneda is price times quantity in that currency, or MontoItem at the rate",
        line_follows,
    ),
    Rule::notice(
        "MONEDA-03",
        "format, OtraMoneda",
        "an amount in the other currency is the one in pesos at the rate, give or take one for each line",
        header_follows,
    ),
];

fn currency_and_rate_are_given(case: &Case<'_>, out: &mut Findings<'_>) {
    let given = &case.document.encabezado.otra_moneda;
    if *given == OtraMoneda::default() {
        return;
    }
    for (name, _) in [
        ("TipoMoneda", given.tipo_moneda.is_some()),
        ("TipoCambio", given.tipo_cambio.is_some()),
    ]
    .into_iter()
    .filter(|(_, there)| !there)
    {
        out.missing(
            otra_moneda(name),
            format!("amounts in another currency come with {name}"),
        );
    }
}

/// The format multiplies price and quantity, the authority's own data divide the pesos by the rate: both are taken.
fn line_follows(case: &Case<'_>, out: &mut Findings<'_>) {
    let rate = case.document.encabezado.otra_moneda.tipo_cambio.as_ref();
    for (index, item) in case.lines.iter().enumerate() {
        let foreign = &item.otra_moneda_detalle;
        let Some(stated) = &foreign.monto_item_otra_moneda else {
            continue;
        };
        let by_price = foreign.precio_otra_moneda.as_ref().zip(item.cantidad_item.as_ref());
        let by_price = by_price.and_then(|(price, quantity)| {
            let gross = price.value().checked_mul(quantity.value())?;
            let less = foreign.descuento_otra_moneda.as_ref().map_or(ZERO, Monto::value);
            let more = foreign.recargo_otra_moneda.as_ref().map_or(ZERO, Monto::value);
            gross.checked_sub(less)?.checked_add(more)
        });
        let by_rate = item.monto_item.as_ref().zip(rate);
        let by_rate = by_rate.and_then(|(amount, rate)| amount.value().checked_div(rate.value()));
        let accepted: Vec<Decimal> = [by_price, by_rate]
            .into_iter()
            .flatten()
            .filter_map(|exact| Monto::rounded(exact).ok())
            .map(|amount| amount.value())
            .collect();
        let Some(expected) = accepted.first() else { continue };
        let close = |accepted: &Decimal| Tolerance::LINE.covers(stated.value(), *accepted);
        if !accepted.iter().any(close) {
            let path = line(index, &["OtraMonedaDetalle", "MontoItemOtraMoneda"]);
            let message = "MontoItemOtraMoneda is neither PrecioOtraMoneda × CantidadItem nor MontoItem / TipoCambio";
            out.amount(path, stated.value(), *expected, message);
        }
    }
}

/// Reads one amount in the other currency.
type Pick = fn(&OtraMoneda) -> Option<&Monto>;

const AMOUNTS: [(&str, Pick); 11] = [
    ("MontoGravadoTotalOtraMoneda", |sums| {
        sums.monto_gravado_total_otra_moneda.as_ref()
    }),
    ("MontoGravado1OtraMoneda", |sums| {
        sums.monto_gravado1_otra_moneda.as_ref()
    }),
    ("MontoGravado2OtraMoneda", |sums| {
        sums.monto_gravado2_otra_moneda.as_ref()
    }),
    ("MontoGravado3OtraMoneda", |sums| {
        sums.monto_gravado3_otra_moneda.as_ref()
    }),
    ("MontoExentoOtraMoneda", |sums| sums.monto_exento_otra_moneda.as_ref()),
    ("TotalITBISOtraMoneda", |sums| sums.total_itbis_otra_moneda.as_ref()),
    ("TotalITBIS1OtraMoneda", |sums| sums.total_itbis1_otra_moneda.as_ref()),
    ("TotalITBIS2OtraMoneda", |sums| sums.total_itbis2_otra_moneda.as_ref()),
    ("TotalITBIS3OtraMoneda", |sums| sums.total_itbis3_otra_moneda.as_ref()),
    ("MontoImpuestoAdicionalOtraMoneda", |sums| {
        sums.monto_impuesto_adicional_otra_moneda.as_ref()
    }),
    ("MontoTotalOtraMoneda", |sums| sums.monto_total_otra_moneda.as_ref()),
];

/// Cents are not told: the data of the authority differ by some themselves.
fn header_follows(case: &Case<'_>, out: &mut Findings<'_>) {
    let rate = &case.document.encabezado.otra_moneda.tipo_cambio;
    if rate.is_none() || !case.computed.problems.is_empty() {
        return;
    }
    for (name, pick) in AMOUNTS {
        let Some(stated) = pick(&case.document.encabezado.otra_moneda).map(Monto::value) else {
            continue;
        };
        let expected = pick(&case.computed.otra_moneda).map_or(ZERO, Monto::value);
        if !case.tolerance.covers(stated, expected) {
            let message = format!("{name} is not the amount in pesos divided by TipoCambio");
            out.amount(otra_moneda(name), stated, expected, message);
        }
    }
}
