//! `Totales`: each amount against what the lines give, and whether the groups are complete.
//!
//! The tolerance excuses an amount that is off, never one that is not there.

use rust_decimal::Decimal;

use super::finding::totales;
use super::{Case, Findings, Rule, ZERO};
use crate::Monto;
use crate::document::Totales;

pub(super) const RULES: &[Rule] = &[
    Rule::conditional(
        "TOTALES-01",
        "IT §12; format, Totales: MontoGravadoI1, MontoGravadoI2, MontoGravadoI3, MontoExento",
        "each base is the sum of its lines, net of ITBIS and global entries, give or take one peso for each line",
        bases_follow_the_lines,
    ),
    Rule::conditional(
        "TOTALES-02",
        "IT §12; format, Totales: MontoGravadoTotal",
        "MontoGravadoTotal is the sum of the taxed bases, give or take one peso for each line",
        taxed_base_is_the_sum,
    ),
    Rule::conditional(
        "TOTALES-03",
        "IT §12; format, Totales: TotalITBIS, TotalITBIS1, TotalITBIS2, TotalITBIS3",
        "the ITBIS is its rate of the base and the excise taxes, give or take one peso for each line",
        itbis_follows_the_bases,
    ),
    Rule::conditional(
        "TOTALES-04",
        "IT §12; format, Totales: MontoImpuestoAdicional",
        "MontoImpuestoAdicional is the sum of all additional taxes, give or take one peso for each line",
        additional_tax_is_the_sum,
    ),
    Rule::conditional(
        "TOTALES-05",
        "IT §12; format, Totales: MontoTotal",
        "MontoTotal is taxed, exempt, ITBIS and additional taxes together, give or take one peso for each line",
        total_is_the_sum,
    ),
    Rule::conditional(
        "TOTALES-06",
        "IT §12; format, Totales: MontoNoFacturable",
        "MontoNoFacturable is the sum of the non-billable lines, give or take one peso for each line",
        not_billed_is_the_sum,
    ),
    Rule::notice(
        "TOTALES-07",
        "format, Totales: MontoPeriodo",
        "MontoPeriodo is MontoTotal and MontoNoFacturable together",
        period_is_the_sum,
    ),
    Rule::notice(
        "TOTALES-08",
        "format, Totales: ValorPagar",
        "ValorPagar is MontoTotal less the advance, plus the earlier balance; retentions are not deducted",
        amount_due_follows,
    ),
    Rule::rejected(
        "TOTALES-09",
        "format, Totales: conditions of the amounts; IT §12 excuses no missing element",
        "what the lines give has its amount in the totals",
        amounts_of_the_lines_are_there,
    ),
    Rule::rejected(
        "TOTALES-10",
        "format, Totales: MontoGravadoI1 to TotalITBIS3",
        "base, rate and ITBIS of a group come together, and so do parts and their sum",
        groups_are_complete,
    ),
    Rule::rejected(
        "TOTALES-11",
        "format, Totales: ITBIS1, ITBIS2, ITBIS3",
        "the rates are 18, 16 and 0",
        rates_are_the_legal_ones,
    ),
];

/// Reads one amount of the totals.
type Pick = fn(&Totales) -> Option<&Monto>;

const GRAVADO: [(&str, Pick); 3] = [
    ("MontoGravadoI1", |totales| totales.monto_gravado_i1.as_ref()),
    ("MontoGravadoI2", |totales| totales.monto_gravado_i2.as_ref()),
    ("MontoGravadoI3", |totales| totales.monto_gravado_i3.as_ref()),
];
const ITBIS: [(&str, Pick); 3] = [
    ("TotalITBIS1", |totales| totales.total_itbis1.as_ref()),
    ("TotalITBIS2", |totales| totales.total_itbis2.as_ref()),
    ("TotalITBIS3", |totales| totales.total_itbis3.as_ref()),
];
const EXENTO: (&str, Pick) = ("MontoExento", |totales| totales.monto_exento.as_ref());
const GRAVADO_TOTAL: (&str, Pick) = ("MontoGravadoTotal", |totales| totales.monto_gravado_total.as_ref());
const TOTAL_ITBIS: (&str, Pick) = ("TotalITBIS", |totales| totales.total_itbis.as_ref());
const IMPUESTO_ADICIONAL: (&str, Pick) = ("MontoImpuestoAdicional", |totales| {
    totales.monto_impuesto_adicional.as_ref()
});
const TOTAL: (&str, Pick) = ("MontoTotal", |totales| totales.monto_total.as_ref());
const NO_FACTURABLE: (&str, Pick) = ("MontoNoFacturable", |totales| totales.monto_no_facturable.as_ref());
const PERIODO: (&str, Pick) = ("MontoPeriodo", |totales| totales.monto_periodo.as_ref());
const VALOR_PAGAR: (&str, Pick) = ("ValorPagar", |totales| totales.valor_pagar.as_ref());

fn stated<'a>(case: &Case<'a>) -> &'a Totales {
    &case.document.encabezado.totales
}

/// What the amount must be; nothing of it when the lines give none.
fn computed(case: &Case<'_>, pick: Pick) -> Decimal {
    pick(&case.computed.totales).map_or(ZERO, Monto::value)
}

/// Compares what is given with what is computed. Where something cannot be computed nothing is compared: its cause is
/// told by itself.
fn follows(case: &Case<'_>, fields: &[(&str, Pick)], why: &str, out: &mut Findings<'_>) {
    if !case.computed.problems.is_empty() {
        return;
    }
    for (name, pick) in fields {
        let Some(given) = pick(stated(case)) else { continue };
        let mut accepted: Vec<Decimal> = case.computed.accepted(pick).map(Monto::value).collect();
        if accepted.is_empty() {
            accepted.push(ZERO);
        }
        let what = format!("{name} is not {why}");
        out.tolerated(|| totales(name), given.value(), &accepted, case.tolerance, &what);
    }
}

fn bases_follow_the_lines(case: &Case<'_>, out: &mut Findings<'_>) {
    let why = "the sum of its lines net of ITBIS, discounts and surcharges";
    follows(case, &GRAVADO, why, out);
    follows(case, &[EXENTO], why, out);
}

fn taxed_base_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    let why = "MontoGravadoI1 + MontoGravadoI2 + MontoGravadoI3";
    follows(case, &[GRAVADO_TOTAL], why, out);
}

fn itbis_follows_the_bases(case: &Case<'_>, out: &mut Findings<'_>) {
    let why = "its rate of the base, excise taxes included";
    follows(case, &ITBIS, why, out);
    let why = "TotalITBIS1 + TotalITBIS2 + TotalITBIS3";
    follows(case, &[TOTAL_ITBIS], why, out);
}

fn additional_tax_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    follows(case, &[IMPUESTO_ADICIONAL], "the sum of all additional taxes", out);
}

fn total_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    let why = "MontoGravadoTotal + MontoExento + TotalITBIS + MontoImpuestoAdicional";
    follows(case, &[TOTAL], why, out);
}

fn not_billed_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    let why = "the sum of the lines with IndicadorFacturacion 0";
    follows(case, &[NO_FACTURABLE], why, out);
}

fn period_is_the_sum(case: &Case<'_>, out: &mut Findings<'_>) {
    follows(case, &[PERIODO], "MontoTotal + MontoNoFacturable", out);
}

fn amount_due_follows(case: &Case<'_>, out: &mut Findings<'_>) {
    let why = "MontoTotal − MontoAvancePago + SaldoAnterior (less discounts under Norma 10-07)";
    follows(case, &[VALOR_PAGAR], why, out);
}

/// A group of nothing may be left out.
fn amounts_of_the_lines_are_there(case: &Case<'_>, out: &mut Findings<'_>) {
    for ((base, itbis), rate) in GRAVADO.into_iter().zip(ITBIS).zip(RATES) {
        let absent =
            base.1(stated(case)).is_none() && itbis.1(stated(case)).is_none() && rate.1(stated(case)).is_none();
        if absent && !computed(case, base.1).is_zero() {
            need(case, base, out);
            need(case, itbis, out);
            let message = format!("lines of this group are there, so {} is due", rate.0);
            out.missing(totales(rate.0), message).expected(rate.2.to_string());
        }
    }
    for single in [EXENTO, IMPUESTO_ADICIONAL, NO_FACTURABLE] {
        if single.1(stated(case)).is_none() && !computed(case, single.1).is_zero() {
            need(case, single, out);
        }
    }
    for (sum, parts) in [(GRAVADO_TOTAL, GRAVADO), (TOTAL_ITBIS, ITBIS)] {
        let absent = sum.1(stated(case)).is_none() && parts.iter().all(|part| part.1(stated(case)).is_none());
        if absent && !computed(case, sum.1).is_zero() {
            need(case, sum, out);
        }
    }
}

fn need(case: &Case<'_>, (name, pick): (&str, Pick), out: &mut Findings<'_>) {
    let expected = computed(case, pick);
    let message = format!("the lines give {name} {expected}, and it is not there");
    out.missing(totales(name), message).expected(expected.to_string());
}

/// Name, reader and value of the rate of each group.
type Rate = (&'static str, fn(&Totales) -> Option<u32>, u32);

const RATES: [Rate; 3] = [
    ("ITBIS1", |totales| totales.itbis1, 18),
    ("ITBIS2", |totales| totales.itbis2, 16),
    ("ITBIS3", |totales| totales.itbis3, 0),
];

fn groups_are_complete(case: &Case<'_>, out: &mut Findings<'_>) {
    let given = stated(case);
    for ((base, itbis), rate) in GRAVADO.into_iter().zip(ITBIS).zip(RATES) {
        let members = [
            (base.0, base.1(given).is_some()),
            (rate.0, rate.1(given).is_some()),
            (itbis.0, itbis.1(given).is_some()),
        ];
        if members.iter().all(|(_, there)| !there) {
            continue;
        }
        for (name, _) in members.iter().filter(|(_, there)| !there) {
            let group = format!("{}, {} and {}", base.0, rate.0, itbis.0);
            out.missing(totales(name), format!("{group} come together: {name} is not there"));
        }
    }
    for ((sum, pick), parts) in [(GRAVADO_TOTAL, GRAVADO), (TOTAL_ITBIS, ITBIS)] {
        let stated_part = parts.iter().find(|part| part.1(given).is_some());
        if let Some((part, _)) = stated_part.filter(|_| pick(given).is_none()) {
            out.missing(totales(sum), format!("{part} is there, so its sum {sum} is due"))
                .expected(computed(case, pick).to_string());
        }
    }
}

fn rates_are_the_legal_ones(case: &Case<'_>, out: &mut Findings<'_>) {
    for (name, pick, legal) in RATES {
        if let Some(given) = pick(stated(case)).filter(|given| *given != legal) {
            out.differs(totales(name), given, legal, format!("{name} is always {legal}"));
        }
    }
}
