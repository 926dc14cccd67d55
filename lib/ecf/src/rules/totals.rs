//! `Totales`: compares each amount with the result of the lines, and checks that the groups are complete.
//!
//! The tolerance applies to wrong amounts, never to missing ones.

use ecf_language::say;

use super::finding::totales;
use super::sums::{
    self, EXENTO, GRAVADO, GRAVADO_TOTAL, IMPUESTO_ADICIONAL, ITBIS, NO_FACTURABLE, Pick, TOTAL_ITBIS, computed, stated,
};
use super::{Case, Findings, Rule};
use crate::document::Totales;

pub(super) const RULES: &[Rule] = &[
    Rule::conditional(
        "TOTALES-01",
        "IT §12; format, Totales: MontoGravadoI1, MontoGravadoI2, MontoGravadoI3, MontoExento",
        "each base is the sum of its lines, net of ITBIS and global entries, give or take one peso for each line",
        sums::bases_follow_the_lines,
    ),
    Rule::conditional(
        "TOTALES-02",
        "IT §12; format, Totales: MontoGravadoTotal",
        "MontoGravadoTotal is the sum of the taxed bases, give or take one peso for each line",
        sums::taxed_base_is_the_sum,
    ),
    Rule::conditional(
        "TOTALES-03",
        "IT §12; format, Totales: TotalITBIS, TotalITBIS1, TotalITBIS2, TotalITBIS3",
        "the ITBIS is its rate of the base and the excise taxes, give or take one peso for each line",
        sums::itbis_follows_the_bases,
    ),
    Rule::conditional(
        "TOTALES-04",
        "IT §12; format, Totales: MontoImpuestoAdicional",
        "MontoImpuestoAdicional is the sum of all additional taxes, give or take one peso for each line",
        sums::additional_tax_is_the_sum,
    ),
    Rule::conditional(
        "TOTALES-05",
        "IT §12; format, Totales: MontoTotal",
        "MontoTotal is taxed, exempt, ITBIS and additional taxes together, give or take one peso for each line",
        sums::total_is_the_sum,
    ),
    Rule::conditional(
        "TOTALES-06",
        "IT §12; format, Totales: MontoNoFacturable",
        "MontoNoFacturable is the sum of the non-billable lines, give or take one peso for each line",
        sums::not_billed_is_the_sum,
    ),
    Rule::notice(
        "TOTALES-07",
        "format, Totales: MontoPeriodo",
        "MontoPeriodo is MontoTotal and MontoNoFacturable together",
        sums::period_is_the_sum,
    ),
    Rule::notice(
        "TOTALES-08",
        "format, Totales: ValorPagar",
        "ValorPagar is MontoTotal less the advance, plus the earlier balance; retentions are not deducted",
        sums::amount_due_follows,
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

/// A group whose amount is zero may be left out.
fn amounts_of_the_lines_are_there(case: &Case<'_>, out: &mut Findings<'_>) {
    if !case.sums_are_known {
        return;
    }
    for ((base, itbis), rate) in GRAVADO.into_iter().zip(ITBIS).zip(RATES) {
        let absent =
            base.1(stated(case)).is_none() && itbis.1(stated(case)).is_none() && rate.1(stated(case)).is_none();
        if absent && !computed(case, base.1).is_zero() {
            need(case, base, out);
            need(case, itbis, out);
            let message = say!(
                "lines of this group are there, so {} is due",
                "hay líneas de este grupo, así que se debe {}",
                rate.0
            );
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
    let message = say!(
        "the lines give {name} {expected}, and it is not there",
        "las líneas dan {name} {expected}, y falta"
    );
    out.missing(totales(name), message).expected(expected.to_string());
}

/// Element name, reader and value of the rate of each group.
type Rate = (&'static str, fn(&Totales) -> Option<u32>, u32);

const RATES: [Rate; 3] = [
    ("ITBIS1", |totales| totales.itbis1, 18),
    ("ITBIS2", |totales| totales.itbis2, 16),
    ("ITBIS3", |totales| totales.itbis3, 0),
];

fn groups_are_complete(case: &Case<'_>, out: &mut Findings<'_>) {
    let given = stated(case);
    for ((base, itbis), rate) in GRAVADO.into_iter().zip(ITBIS).zip(RATES) {
        let there = [
            base.1(given).is_some(),
            rate.1(given).is_some(),
            itbis.1(given).is_some(),
        ];
        if there.iter().all(|there| *there) || there.iter().all(|there| !there) {
            continue;
        }
        let amount = |pick| case.sums_are_known.then(|| computed(case, pick).to_string());
        let members = [
            (base.0, amount(base.1)),
            (rate.0, Some(rate.2.to_string())),
            (itbis.0, amount(itbis.1)),
        ];
        let missing = members.into_iter().zip(there).filter(|(_, there)| !there);
        for ((name, expected), _) in missing {
            let finding = out.missing(
                totales(name),
                say!(
                    "{}, {} and {} come together: {name} is not there",
                    "{}, {} y {} van juntos: falta {name}",
                    base.0,
                    rate.0,
                    itbis.0
                ),
            );
            if let Some(expected) = expected {
                finding.expected(expected);
            }
        }
    }
    for ((sum, pick), parts) in [(GRAVADO_TOTAL, GRAVADO), (TOTAL_ITBIS, ITBIS)] {
        let stated_part = parts.iter().find(|part| part.1(given).is_some());
        if let Some((part, _)) = stated_part.filter(|_| pick(given).is_none()) {
            let finding = out.missing(
                totales(sum),
                say!(
                    "{part} is there, so its sum {sum} is due",
                    "está {part}, así que se debe su suma {sum}"
                ),
            );
            if case.sums_are_known {
                finding.expected(computed(case, pick).to_string());
            }
        }
    }
}

fn rates_are_the_legal_ones(case: &Case<'_>, out: &mut Findings<'_>) {
    for (name, pick, legal) in RATES {
        if let Some(given) = pick(stated(case)).filter(|given| *given != legal) {
            out.differs(
                totales(name),
                given,
                legal,
                say!("{name} is always {legal}", "{name} es siempre {legal}"),
            );
        }
    }
}
