//! Compares the sums of the receipt with the amounts that they follow from. A finding names the compared numbers: the
//! other totals as the caller gave them, or the results of the lines.

use ecf_language::{Bilingual, say};
use rust_decimal::Decimal;

use super::finding::totales;
use super::{Case, Findings, ZERO, sum};
use crate::Monto;
use crate::catalogue::{IndicadorFacturacion, IndicadorFacturacionDescuentooRecargo, IndicadorMontoGravado};
use crate::document::Totales;
use crate::draft::Given;
use crate::violation::Violation;

/// Reads one amount of the totals.
pub(super) type Pick = fn(&Totales) -> Option<&Monto>;

pub(super) const GRAVADO: [(&str, Pick); 3] = [
    ("MontoGravadoI1", |totales| totales.monto_gravado_i1.as_ref()),
    ("MontoGravadoI2", |totales| totales.monto_gravado_i2.as_ref()),
    ("MontoGravadoI3", |totales| totales.monto_gravado_i3.as_ref()),
];
pub(super) const ITBIS: [(&str, Pick); 3] = [
    ("TotalITBIS1", |totales| totales.total_itbis1.as_ref()),
    ("TotalITBIS2", |totales| totales.total_itbis2.as_ref()),
    ("TotalITBIS3", |totales| totales.total_itbis3.as_ref()),
];
pub(super) const EXENTO: (&str, Pick) = ("MontoExento", |totales| totales.monto_exento.as_ref());
pub(super) const GRAVADO_TOTAL: (&str, Pick) = ("MontoGravadoTotal", |totales| totales.monto_gravado_total.as_ref());
pub(super) const TOTAL_ITBIS: (&str, Pick) = ("TotalITBIS", |totales| totales.total_itbis.as_ref());
pub(super) const IMPUESTO_ADICIONAL: (&str, Pick) = ("MontoImpuestoAdicional", |totales| {
    totales.monto_impuesto_adicional.as_ref()
});
pub(super) const TOTAL: (&str, Pick) = ("MontoTotal", |totales| totales.monto_total.as_ref());
pub(super) const NO_FACTURABLE: (&str, Pick) = ("MontoNoFacturable", |totales| totales.monto_no_facturable.as_ref());
pub(super) const PERIODO: (&str, Pick) = ("MontoPeriodo", |totales| totales.monto_periodo.as_ref());
pub(super) const VALOR_PAGAR: (&str, Pick) = ("ValorPagar", |totales| totales.valor_pagar.as_ref());

pub(super) fn stated<'a>(case: &Case<'a>) -> &'a Totales {
    &case.document.encabezado.totales
}

/// The computed amount; zero when the lines give none.
pub(super) fn computed(case: &Case<'_>, pick: Pick) -> Decimal {
    pick(&case.computed.totales).map_or(ZERO, Monto::value)
}

/// Sums that may be left out when their parts are given.
const SUMS: [(&str, Pick); 6] = [
    GRAVADO_TOTAL,
    TOTAL_ITBIS,
    IMPUESTO_ADICIONAL,
    TOTAL,
    PERIODO,
    VALOR_PAGAR,
];

/// Whether the caller stated the amount that a finding is about.
pub(super) fn was_given(violation: &Violation, given: &Given) -> bool {
    let [_, block, field] = violation.path.as_slice() else {
        return true;
    };
    let sum = SUMS.iter().find(|(name, _)| block == "Totales" && field == name);
    sum.is_none_or(|(_, pick)| pick(&given.totales).is_some())
}

fn is_given(case: &Case<'_>, pick: Pick) -> bool {
    case.given.is_none_or(|given| pick(&given.totales).is_some())
}

/// Compares an amount with the result of the lines. If that is unknown, nothing is compared: the cause is reported
/// separately.
fn follows(
    case: &Case<'_>,
    (name, pick): (&str, Pick),
    out: &mut Findings<'_>,
    what: impl FnOnce(Decimal, Decimal) -> Bilingual,
) {
    let Some(given) = pick(stated(case)).filter(|_| case.sums_are_known) else {
        return;
    };
    let mut accepted: Vec<Decimal> = case.computed.accepted(pick).map(Monto::value).collect();
    let none_is_due = accepted.is_empty();
    if none_is_due {
        accepted.push(ZERO);
    }
    if accepted.contains(&given.value()) {
        return;
    }
    let what = what(given.value(), accepted[0]);
    let found =
        out.of_given(is_given(case, pick))
            .tolerated(|| totales(name), given.value(), &accepted, case.tolerance, &what);
    // A zero amount may be written, except in the one field that must be more than zero.
    if let Some(finding) = found.filter(|_| none_is_due && name == IMPUESTO_ADICIONAL.0) {
        finding.expected("no such field");
    }
}

/// The derivation of an amount of the totals, in words with numbers, and its result. `None` when all parts are absent.
type Derive = fn(&Totales) -> Option<(Bilingual, Decimal)>;

/// Compares an amount with two results: that of the other totals in the receipt, and that of the lines.
fn follows_from(case: &Case<'_>, field: (&str, Pick), derive: Derive, out: &mut Findings<'_>) {
    follows(case, field, out, |given, expected| {
        let name = field.0;
        let lines = derive(&case.computed.totales).map_or_else(|| say!("nothing", "nada"), |(words, _)| words);
        let origin = origin(case);
        match derive(stated(case)) {
            Some((words, value)) if value == given => {
                say!(
                    [words, origin, lines],
                    "{name} is {words} {origin}, but the lines give {lines}",
                    "{name} es {words} {origin}, pero las líneas dan {lines}"
                )
            }
            Some((words, value)) if value == expected => say!(
                [words],
                "{name} is not {words}, as the lines give it",
                "{name} no es {words}, que es lo que dan las líneas"
            ),
            Some((words, value)) => say!(
                [words, origin, lines],
                "{name} is neither {words} = {value} {origin}, nor what the lines give, {lines}",
                "{name} no es {words} = {value} {origin}, ni lo que dan las líneas, {lines}"
            ),
            None => say!(
                [lines],
                "{name} is not what the lines give, {lines}",
                "{name} no es lo que dan las líneas, {lines}"
            ),
        }
    });
}

/// The origin of the totals: given or computed.
fn origin(case: &Case<'_>) -> Bilingual {
    match case.given {
        Some(given) if given.totales != *stated(case) => say!("as the receipt has it", "según el comprobante"),
        _ => say!("as given", "según lo recibido"),
    }
}

/// `MontoGravadoI1 100.00 + MontoGravadoI2 50.00`, of the parts that are present.
fn added(totales: &Totales, parts: &[(&str, Pick)]) -> Option<(Bilingual, Decimal)> {
    let parts: Vec<(&str, &Monto)> = parts
        .iter()
        .filter_map(|(name, pick)| Some((*name, pick(totales)?)))
        .collect();
    let words: Vec<String> = parts.iter().map(|(name, amount)| format!("{name} {amount}")).collect();
    let sum = sum(parts.iter().map(|(_, amount)| Some(*amount)))?;
    Some((Bilingual::same(words.join(" + ")), sum))
}

/// The ITBIS of a group: its rate applied to the base. At 18 % the base includes excise taxes.
fn taxed(totales: &Totales, base: (&str, Pick), rate: u32, with_excise: bool) -> Option<(Bilingual, Decimal)> {
    let amount = base.1(totales)?;
    let taxes = totales.impuestos_adicionales.impuesto_adicional.iter();
    let excise = taxes.flat_map(|tax| {
        [
            tax.monto_impuesto_selectivo_consumo_especifico.as_ref(),
            tax.monto_impuesto_selectivo_consumo_advalorem.as_ref(),
        ]
    });
    let excise = sum(excise.filter(|_| with_excise));
    let words = match excise {
        Some(excise) => say!(
            "{rate} % of ({} {amount} + excise taxes {excise})",
            "{rate} % de ({} {amount} + impuestos selectivos {excise})",
            base.0
        ),
        None => say!("{rate} % of {} {amount}", "{rate} % de {} {amount}", base.0),
    };
    let exact = amount.value().checked_add(excise.unwrap_or_default())?;
    let itbis = exact.checked_mul(Decimal::new(rate.into(), 2))?;
    Some((words, Monto::rounded(itbis).ok()?.value()))
}

pub(super) fn bases_follow_the_lines(case: &Case<'_>, out: &mut Findings<'_>) {
    let groups = [
        (
            GRAVADO[0],
            IndicadorFacturacion::Itbis1,
            IndicadorFacturacionDescuentooRecargo::Itbis1,
        ),
        (
            GRAVADO[1],
            IndicadorFacturacion::Itbis2,
            IndicadorFacturacionDescuentooRecargo::Itbis2,
        ),
        (
            GRAVADO[2],
            IndicadorFacturacion::Itbis3,
            IndicadorFacturacionDescuentooRecargo::Itbis3,
        ),
        (
            EXENTO,
            IndicadorFacturacion::Exento,
            IndicadorFacturacionDescuentooRecargo::Exento,
        ),
    ];
    for (field, lines, entries) in groups {
        follows(case, field, out, |_, _| {
            let name = field.0;
            let included = case.document.encabezado.id_doc.indicador_monto_gravado
                == Some(IndicadorMontoGravado::ConItbis)
                && matches!(lines, IndicadorFacturacion::Itbis1 | IndicadorFacturacion::Itbis2);
            let included = if included {
                say!(", less the ITBIS that they include", ", menos el ITBIS que incluyen")
            } else {
                Bilingual::default()
            };
            let list = &case.document.descuentos_o_recargos.descuento_o_recargo;
            let adjusted = list
                .iter()
                .any(|entry| entry.indicador_facturacion_descuentoo_recargo == Some(entries));
            let adjusted = if adjusted {
                say!(", with DescuentosORecargos", ", con DescuentosORecargos")
            } else {
                Bilingual::default()
            };
            let lines = sum_of_lines(case, lines);
            say!(
                [lines, included, adjusted],
                "{name} is not what its lines give: {lines}{included}{adjusted}",
                "{name} no es lo que dan sus líneas: {lines}{included}{adjusted}"
            )
        });
    }
}

/// `MontoItem 100.00 + 50.00 = 150.00`, for the lines of a group.
fn sum_of_lines(case: &Case<'_>, group: IndicadorFacturacion) -> Bilingual {
    const MOST: usize = 4;
    let lines = case.lines.iter().zip(&case.computed.lines);
    let amounts: Vec<Decimal> = lines
        .filter(|(item, _)| item.indicador_facturacion == Some(group))
        .map(|(_, amounts)| amounts.amount())
        .collect();
    let total = amounts.iter().try_fold(ZERO, |sum, amount| sum.checked_add(*amount));
    let total = total.unwrap_or_default();
    match amounts.as_slice() {
        [] => say!(
            "there are none with IndicadorFacturacion {group}",
            "no hay ninguna con IndicadorFacturacion {group}"
        ),
        [_] => Bilingual::same(format!("MontoItem {total}")),
        few if few.len() <= MOST => {
            let amounts: Vec<String> = few.iter().map(ToString::to_string).collect();
            Bilingual::same(format!("MontoItem {} = {total}", amounts.join(" + ")))
        }
        many => say!(
            "MontoItem of {} lines, together {total}",
            "MontoItem de {} líneas, en total {total}",
            many.len()
        ),
    }
}

pub(super) fn taxed_base_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    follows_from(case, GRAVADO_TOTAL, |totales| added(totales, &GRAVADO), out);
}

pub(super) fn itbis_follows_the_bases(case: &Case<'_>, out: &mut Findings<'_>) {
    let rates: [Derive; 3] = [
        |totales| taxed(totales, GRAVADO[0], 18, true),
        |totales| taxed(totales, GRAVADO[1], 16, false),
        |totales| taxed(totales, GRAVADO[2], 0, false),
    ];
    for (field, derive) in ITBIS.into_iter().zip(rates) {
        follows_from(case, field, derive, out);
    }
    follows_from(case, TOTAL_ITBIS, |totales| added(totales, &ITBIS), out);
}

/// The amounts of all entries.
fn additional(totales: &Totales) -> Option<(Bilingual, Decimal)> {
    let entries = totales.impuestos_adicionales.impuesto_adicional.iter();
    let amounts = entries.flat_map(|tax| {
        let amounts = [
            &tax.monto_impuesto_selectivo_consumo_especifico,
            &tax.monto_impuesto_selectivo_consumo_advalorem,
            &tax.otros_impuestos_adicionales,
        ];
        let code = tax.tipo_impuesto.map_or("", |tipo| tipo.code());
        amounts
            .into_iter()
            .filter_map(move |amount| Some((code, amount.as_ref()?)))
    });
    let amounts: Vec<(&str, &Monto)> = amounts.collect();
    let words: Vec<Bilingual> = amounts
        .iter()
        .map(|(code, amount)| say!("tax {code} {amount}", "impuesto {code} {amount}"))
        .collect();
    let sum = sum(amounts.iter().map(|(_, amount)| Some(*amount)))?;
    Some((Bilingual::joined(&words, " + "), sum))
}

pub(super) fn additional_tax_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    follows_from(case, IMPUESTO_ADICIONAL, additional, out);
}

pub(super) fn total_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    const PARTS: [(&str, Pick); 4] = [GRAVADO_TOTAL, EXENTO, TOTAL_ITBIS, IMPUESTO_ADICIONAL];
    follows_from(case, TOTAL, |totales| added(totales, &PARTS), out);
}

pub(super) fn not_billed_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    follows(case, NO_FACTURABLE, out, |_, _| {
        let lines = sum_of_lines(case, IndicadorFacturacion::NoFacturable);
        say!(
            [lines],
            "MontoNoFacturable is not the sum of the lines with IndicadorFacturacion 0: {lines}",
            "MontoNoFacturable no es la suma de las líneas con IndicadorFacturacion 0: {lines}"
        )
    });
}

pub(super) fn period_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    const PARTS: [(&str, Pick); 2] = [TOTAL, NO_FACTURABLE];
    follows_from(case, PERIODO, |totales| added(totales, &PARTS), out);
}

pub(super) fn amount_due_follows(case: &Case<'_>, out: &mut Findings<'_>) {
    follows(case, VALOR_PAGAR, out, |_, _| {
        let why = say!(
            "MontoTotal − MontoAvancePago + SaldoAnterior (less discounts under Norma 10-07)",
            "MontoTotal − MontoAvancePago + SaldoAnterior (menos los descuentos de la Norma 10-07)"
        );
        say!(
            [why],
            "ValorPagar is not {why}, recomputed from the lines",
            "ValorPagar no es {why}, recalculado a partir de las líneas"
        )
    });
}
