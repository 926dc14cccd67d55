//! `OtraMoneda`: the amounts in the other currency. They are informative, and the amounts in pesos take precedence: all
//! findings are notices, except for a currency without its rate.

use ecf_language::say;
use rust_decimal::Decimal;

use super::finding::{Path, at, line, otra_moneda};
use super::{Case, Findings, Rule, ZERO};
use crate::Monto;
use crate::document::{ImpuestoAdicionalOtraMoneda, OtraMoneda};

pub(super) const RULES: &[Rule] = &[
    Rule::rejected(
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
        "an amount of the header in the other currency is the one in pesos at the rate, and each tax has the same rate",
        header_follows,
    ),
    Rule::notice(
        "MONEDA-04",
        "format, OtraMoneda: TipoCambio",
        "TipoCambio is pesos for one unit of the currency, not the other way round",
        rate_is_not_inverted,
    ),
    Rule::notice(
        "MONEDA-05",
        "format, OtraMonedaDetalle; DescuentoORecargo: MontoDescuentooRecargoOtraMoneda",
        "prices, discounts and surcharges in the other currency are those in pesos at the rate",
        parts_follow,
    ),
];

fn currency_and_rate_are_given(case: &Case<'_>, out: &mut Findings<'_>) {
    let given = &case.document.encabezado.otra_moneda;
    if *given == OtraMoneda::default() {
        return;
    }
    if given.tipo_moneda.is_none() {
        let message = say!(
            "amounts in another currency come with TipoMoneda, such as USD",
            "los montos en otra moneda llevan TipoMoneda, por ejemplo USD"
        );
        out.missing(otra_moneda("TipoMoneda"), message)
            .expected("the code of the currency, such as USD");
    }
    if given.tipo_cambio.is_none() {
        let currency = given.tipo_moneda.map_or("the currency", |currency| currency.code());
        let message = say!(
            "amounts in another currency come with TipoCambio, the pesos for one unit of {currency}, such as 60.1234",
            "los montos en otra moneda llevan TipoCambio, los pesos por una unidad de {currency}, por \
             ejemplo 60.1234"
        );
        out.missing(otra_moneda("TipoCambio"), message)
            .expected("pesos for one unit, up to four decimals");
    }
}

fn rate(case: &Case<'_>) -> Option<Decimal> {
    let rate = case.document.encabezado.otra_moneda.tipo_cambio.as_ref();
    rate.map(|rate| rate.value()).filter(|rate| !rate.is_zero())
}

/// Whether the rate is on the wrong side of one peso for this currency.
fn is_inverted(case: &Case<'_>) -> bool {
    let currency = case.document.encabezado.otra_moneda.tipo_moneda;
    let above = currency.and_then(|currency| currency.is_above_the_peso());
    rate(case).zip(above).is_some_and(|(rate, above)| {
        if above {
            rate < Decimal::ONE
        } else {
            rate > Decimal::ONE
        }
    })
}

fn rate_is_not_inverted(case: &Case<'_>, out: &mut Findings<'_>) {
    let given = &case.document.encabezado.otra_moneda;
    let Some((currency, rate)) = given.tipo_moneda.zip(rate(case)).filter(|_| is_inverted(case)) else {
        return;
    };
    let other = Decimal::ONE.checked_div(rate).map(|other| other.round_dp(4));
    let Some(other) = other else { return };
    let message = say!(
        "TipoCambio {rate} looks inverted: it is the pesos for one {currency} ({}), so rather {other}",
        "TipoCambio {rate} parece invertido: son los pesos por un {currency} ({}), es decir, más bien {other}",
        currency.words()
    );
    out.differs(otra_moneda("TipoCambio"), rate, other, message);
}

/// The tolerance for an amount that is divided by the rate: ten cents or one peso, whichever is more.
fn limit(rate: Decimal) -> Decimal {
    const TEN_CENTS: Decimal = Decimal::from_parts(10, 0, 0, false, 2);
    let peso = Decimal::ONE.checked_div(rate).unwrap_or(Decimal::ONE);
    peso.max(TEN_CENTS)
}

fn is_close(given: Decimal, expected: Decimal, limit: Decimal) -> bool {
    given
        .checked_sub(expected)
        .is_some_and(|difference| difference.abs() <= limit)
}

/// The rate for comparisons; `None` when it is missing or inverted, which is reported separately.
fn sound_rate(case: &Case<'_>) -> Option<Decimal> {
    rate(case).filter(|_| !is_inverted(case))
}

/// The format multiplies price and quantity, the authority's own data divide the pesos by the rate. Both are accepted.
fn line_follows(case: &Case<'_>, out: &mut Findings<'_>) {
    if is_inverted(case) {
        return;
    }
    let rate = rate(case);
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
        let by_rate = by_rate.and_then(|(amount, rate)| amount.value().checked_div(rate));
        let accepted: Vec<Decimal> = [by_price, by_rate]
            .into_iter()
            .flatten()
            .filter_map(|exact| Monto::rounded(exact).ok())
            .map(|amount| amount.value())
            .collect();
        let Some(expected) = accepted.first() else { continue };
        let limit = limit(rate.unwrap_or(Decimal::ONE));
        if !accepted
            .iter()
            .any(|accepted| is_close(stated.value(), *accepted, limit))
        {
            let path = line(index, &["OtraMonedaDetalle", "MontoItemOtraMoneda"]);
            let message = say!(
                "MontoItemOtraMoneda is neither PrecioOtraMoneda × CantidadItem nor MontoItem / TipoCambio",
                "MontoItemOtraMoneda no es PrecioOtraMoneda × CantidadItem ni MontoItem / TipoCambio"
            );
            out.amount(path, stated.value(), *expected, message);
        }
    }
}

/// Prices with fewer than four decimals are accepted: the authority's own data have two.
fn parts_follow(case: &Case<'_>, out: &mut Findings<'_>) {
    const CENT: Decimal = Decimal::from_parts(1, 0, 0, false, 2);
    let Some(rate) = sound_rate(case) else { return };
    for (index, (item, computed)) in case.lines.iter().zip(&case.computed.lines).enumerate() {
        let (foreign, there) = (&item.otra_moneda_detalle, &computed.otra_moneda_detalle);
        let prices = foreign
            .precio_otra_moneda
            .as_ref()
            .zip(there.precio_otra_moneda.as_ref());
        if let Some((given, expected)) = prices.map(|(given, expected)| (given.value(), expected.value()))
            && !is_close(given, expected, CENT)
        {
            let path = line(index, &["OtraMonedaDetalle", "PrecioOtraMoneda"]);
            let message = say!(
                "PrecioOtraMoneda is not PrecioUnitarioItem / TipoCambio",
                "PrecioOtraMoneda no es PrecioUnitarioItem / TipoCambio"
            );
            out.amount(path, given, expected, message);
        }
        let amounts = [
            (
                "Descuento",
                &foreign.descuento_otra_moneda,
                &there.descuento_otra_moneda,
            ),
            ("Recargo", &foreign.recargo_otra_moneda, &there.recargo_otra_moneda),
        ];
        for (name, given, expected) in amounts {
            let field = format!("{name}OtraMoneda");
            let path = || line(index, &["OtraMonedaDetalle", &field]);
            part_follows(
                given.as_ref(),
                expected.as_ref(),
                rate,
                path,
                &format!("{name}Monto"),
                out,
            );
        }
    }
    let entries = &case.document.descuentos_o_recargos.descuento_o_recargo;
    for (index, (entry, computed)) in entries.iter().zip(&case.computed.entries).enumerate() {
        let field = "MontoDescuentooRecargoOtraMoneda";
        let path = || at(&["DescuentosORecargos", "DescuentoORecargo", &index.to_string(), field]);
        let given = entry.monto_descuentoo_recargo_otra_moneda.as_ref();
        let expected = computed.monto_descuentoo_recargo_otra_moneda.as_ref();
        part_follows(given, expected, rate, path, "MontoDescuentooRecargo", out);
    }
}

/// An amount that is absent in pesos counts as zero in the other currency.
fn part_follows(
    given: Option<&Monto>,
    expected: Option<&Monto>,
    rate: Decimal,
    path: impl FnOnce() -> Path,
    in_pesos: &str,
    out: &mut Findings<'_>,
) {
    let Some(given) = given.map(Monto::value) else { return };
    let expected = expected.map_or(ZERO, Monto::value);
    if !is_close(given, expected, limit(rate)) {
        let path = path();
        let field = path.last().cloned().unwrap_or_default();
        out.amount(
            path,
            given,
            expected,
            say!(
                "{field} is not {in_pesos} / TipoCambio",
                "{field} no es {in_pesos} / TipoCambio"
            ),
        );
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

/// Reads one amount of a tax in the other currency.
type PickOfTax = fn(&ImpuestoAdicionalOtraMoneda) -> Option<&Monto>;

const AMOUNTS_OF_TAXES: [(&str, PickOfTax); 3] = [
    ("MontoImpuestoSelectivoConsumoEspecificoOtraMoneda", |tax| {
        tax.monto_impuesto_selectivo_consumo_especifico_otra_moneda.as_ref()
    }),
    ("MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda", |tax| {
        tax.monto_impuesto_selectivo_consumo_advalorem_otra_moneda.as_ref()
    }),
    ("OtrosImpuestosAdicionalesOtraMoneda", |tax| {
        tax.otros_impuestos_adicionales_otra_moneda.as_ref()
    }),
];

/// Differences of cents are not reported, because the authority's own data have some.
fn header_follows(case: &Case<'_>, out: &mut Findings<'_>) {
    let Some(rate) = sound_rate(case).filter(|_| case.computed.problems.is_empty()) else {
        return;
    };
    let lines = Decimal::from(case.lines.len().max(1));
    let limit = limit(rate).checked_mul(lines).unwrap_or(lines);
    let given = &case.document.encabezado.otra_moneda;
    let computed = &case.computed.otra_moneda;
    for (name, pick) in AMOUNTS {
        let expected = pick(computed).map_or(ZERO, Monto::value);
        let stated = pick(given).map(Monto::value);
        if let Some(stated) = stated.filter(|stated| !is_close(*stated, expected, limit)) {
            let message = say!(
                "{name} is not the amount in pesos divided by TipoCambio",
                "{name} no es el monto en pesos dividido entre TipoCambio"
            );
            out.amount(otra_moneda(name), stated, expected, message);
        }
    }
    let taxes = &given.impuestos_adicionales_otra_moneda.impuesto_adicional_otra_moneda;
    for (index, tax) in taxes.iter().enumerate() {
        let path = |name: &str| {
            let steps = [
                "Encabezado",
                "OtraMoneda",
                "ImpuestosAdicionalesOtraMoneda",
                "ImpuestoAdicionalOtraMoneda",
                &index.to_string(),
                name,
            ];
            at(&steps)
        };
        let Some(tipo) = tax.tipo_impuesto_otra_moneda else {
            continue;
        };
        let known = &computed
            .impuestos_adicionales_otra_moneda
            .impuesto_adicional_otra_moneda;
        let known = known.iter().find(|known| known.tipo_impuesto_otra_moneda == Some(tipo));
        for (name, pick) in AMOUNTS_OF_TAXES {
            let expected = known.and_then(pick).map_or(ZERO, Monto::value);
            let stated = pick(tax).map(Monto::value);
            if let Some(stated) = stated.filter(|stated| !is_close(*stated, expected, limit)) {
                let message = say!(
                    "{name} of tax {tipo} is not the amount in pesos divided by TipoCambio",
                    "{name} del impuesto {tipo} no es el monto en pesos dividido entre TipoCambio"
                );
                out.amount(path(name), stated, expected, message);
            }
        }
        let rates = tax.tasa_impuesto_adicional_otra_moneda.as_ref();
        let rates = rates.zip(known.and_then(|known| known.tasa_impuesto_adicional_otra_moneda.as_ref()));
        if let Some((stated, expected)) = rates.filter(|(stated, expected)| stated.value() != expected.value()) {
            let name = "TasaImpuestoAdicionalOtraMoneda";
            let message = say!(
                "{name} of tax {tipo} is not the rate in the totals, a rate is not converted",
                "{name} del impuesto {tipo} no es la tasa de los totales; una tasa no se convierte"
            );
            out.differs(path(name), stated, expected, message);
        }
    }
}
