//! The additional taxes: compares the codes on the lines with the entries of the totals, and checks each entry.

use ecf_language::{Bilingual, say};
use rust_decimal::Decimal;

use super::finding::{Path, at, line};
use super::{Case, Findings, Rule};
use crate::ReceiptType::E44;
use crate::catalogue::{ImpuestoClass, TipoImpuesto};
use crate::document::{ImpuestoAdicional, Item};
use crate::violation::Grade;
use crate::{Monto, Porcentaje};

pub(super) const RULES: &[Rule] = &[
    Rule::rejected(
        "IMPUESTO-01",
        "format, table of TipoImpuesto, type 44",
        "type 44 carries taxes 001 to 005 only",
        special_regime_carries_no_excise,
    ),
    Rule::rejected(
        "IMPUESTO-02",
        "recorded: message 0; format, Totales: ImpuestosAdicionales",
        "each tax that a line carries has its entry in the totals",
        each_tax_of_a_line_is_totalled,
    ),
    Rule::rejected(
        "IMPUESTO-03",
        "recorded: message 0; format, Totales: ImpuestosAdicionales",
        "each entry of the totals is a tax that a line carries",
        each_total_is_of_a_line,
    ),
    Rule::rejected(
        "IMPUESTO-04",
        "format, Totales: one ImpuestoAdicional per code",
        "a tax has one entry in the totals, and stands once on a line",
        taxes_stand_once,
    ),
    Rule::rejected(
        "IMPUESTO-05",
        "format, Totales: ImpuestoAdicional",
        "an entry has the amount of its class of tax, and no other",
        entries_have_the_amount_of_their_class,
    ),
    Rule::rejected(
        "IMPUESTO-06",
        "recorded: message 0; IT §12, §14",
        "the amount of a tax is that of the lines, give or take one peso for each line",
        amounts_follow_the_lines,
    ),
    Rule::notice(
        "IMPUESTO-07",
        "resolutions of the authority: the rates of 006 to 022 change each quarter, from 2027 on each year",
        "TasaImpuestoAdicional of the taxes 006 to 022 is the rate of the day",
        rates_are_those_of_the_day,
    ),
    Rule::rejected(
        "IMPUESTO-08",
        "format, table I",
        "the rate of the taxes 001 to 005 and 023 to 039 is fixed",
        fixed_rates_are_those_of_the_table,
    ),
];

fn entry(index: usize, field: &str) -> Path {
    let index = index.to_string();
    at(&[
        "Encabezado",
        "Totales",
        "ImpuestosAdicionales",
        "ImpuestoAdicional",
        &index,
        field,
    ])
}

fn carried(index: usize, place: usize) -> Path {
    let steps = [
        "TablaImpuestoAdicional",
        "ImpuestoAdicional",
        &place.to_string(),
        "TipoImpuesto",
    ];
    line(index, &steps)
}

fn entries<'a>(case: &Case<'a>) -> &'a [ImpuestoAdicional] {
    &case
        .document
        .encabezado
        .totales
        .impuestos_adicionales
        .impuesto_adicional
}

fn taxes(item: &Item) -> impl Iterator<Item = (usize, TipoImpuesto)> {
    let carried = item.tabla_impuesto_adicional.impuesto_adicional.iter().enumerate();
    carried.filter_map(|(place, tax)| Some((place, tax.tipo_impuesto?)))
}

fn special_regime_carries_no_excise(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type != E44 {
        return;
    }
    let lines = case.lines.iter().enumerate();
    let on_lines = lines.flat_map(|(index, item)| taxes(item).map(move |(place, tax)| (carried(index, place), tax)));
    let in_totals = entries(case).iter().enumerate();
    let in_totals = in_totals.filter_map(|(index, tax)| Some((entry(index, "TipoImpuesto"), tax.tipo_impuesto?)));
    for (path, tax) in on_lines.chain(in_totals) {
        if tax.class() != ImpuestoClass::Otros {
            let message = say!(
                "type 44 carries taxes 001 to 005 only, not {tax} ({})",
                "el tipo 44 solo lleva los impuestos 001 a 005, no {tax} ({})",
                tax.words()
            );
            out.differs(path, tax, "001 to 005", message);
        }
    }
}

/// The computed entry of a tax; `None` when the lines with the tax give zero.
fn computed_entry<'a>(case: &Case<'a>, tax: TipoImpuesto) -> Option<&'a ImpuestoAdicional> {
    let entries = &case.computed.totales.impuestos_adicionales.impuesto_adicional;
    entries.iter().find(|entry| entry.tipo_impuesto == Some(tax))
}

/// Whether a billed line carries the tax.
fn is_carried(case: &Case<'_>, tax: TipoImpuesto) -> bool {
    let mut lines = case.lines.iter();
    lines.any(|item| case.carried.of_line(item).any(|other| other == tax))
}

/// Entries are computed unless the caller states some of them. If one cannot be computed, the reason is reported
/// separately.
fn each_tax_of_a_line_is_totalled(case: &Case<'_>, out: &mut Findings<'_>) {
    let totalled = |tax| entries(case).iter().any(|entry| entry.tipo_impuesto == Some(tax));
    let are_filled_in = case.given.is_some_and(|given| !given.states_taxes());
    let mut told = Vec::new();
    for (index, item) in case.lines.iter().enumerate() {
        for (place, tax) in taxes(item) {
            if totalled(tax) || told.contains(&tax) {
                continue;
            }
            let computed = computed_entry(case, tax);
            let is_open = !case.computed.problems.is_empty() && is_carried(case, tax);
            if computed.is_none() && (are_filled_in || !is_open) {
                continue;
            }
            told.push(tax);
            let message = say!(
                "the line carries tax {tax} ({}), which has no ImpuestoAdicional in Totales",
                "la línea lleva el impuesto {tax} ({}), que no tiene ImpuestoAdicional en Totales",
                tax.words()
            );
            let amounts = computed.map_or_else(String::new, |entry| {
                let rate = entry.tasa_impuesto_adicional.as_ref();
                let rate = rate.map_or_else(String::new, |rate| format!(", TasaImpuestoAdicional {rate}"));
                let amount = amount_of(entry, tax);
                let amount = amount.map_or_else(String::new, |amount| format!(", {} {amount}", amount_name(tax)));
                format!("{rate}{amount}")
            });
            out.missing(carried(index, place), message).given(tax).expected(format!(
                "an ImpuestoAdicional in Totales with TipoImpuesto {tax}{amounts}"
            ));
        }
    }
}

fn each_total_is_of_a_line(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, given) in entries(case).iter().enumerate() {
        let Some(tax) = given.tipo_impuesto.filter(|tax| case.carried.contains(*tax)) else {
            continue;
        };
        let why = if !is_carried(case, tax) {
            say!("which no billed line carries", "que ninguna línea facturada lleva")
        } else if case.sums_are_known && computed_entry(case, tax).is_none() {
            say!(
                "and the lines that carry it come to nothing",
                "y las líneas que lo llevan dan cero"
            )
        } else {
            continue;
        };
        let message = say!(
            [why],
            "Totales has tax {tax} ({}), {why}",
            "Totales tiene el impuesto {tax} ({}), {why}",
            tax.words()
        );
        out.wrong(entry(index, "TipoImpuesto"), message)
            .given(tax)
            .expected(format!("a line with TipoImpuesto {tax}, or no such entry"));
    }
}

fn taxes_stand_once(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, given) in entries(case).iter().enumerate() {
        let earlier = &entries(case)[..index];
        let Some(tax) = given
            .tipo_impuesto
            .filter(|tax| earlier.iter().any(|other| other.tipo_impuesto == Some(*tax)))
        else {
            continue;
        };
        let message = say!(
            "tax {tax} has an entry already: one ImpuestoAdicional adds up all lines with it",
            "el impuesto {tax} ya tiene una entrada: un solo ImpuestoAdicional suma todas las líneas que lo llevan"
        );
        out.wrong(entry(index, "TipoImpuesto"), message)
            .given(tax)
            .expected("no second entry");
    }
    for (index, item) in case.lines.iter().enumerate() {
        for (place, tax) in taxes(item) {
            if taxes(item).any(|(earlier, other)| earlier < place && other == tax) {
                let message = say!(
                    "the line carries tax {tax} twice",
                    "la línea lleva el impuesto {tax} dos veces"
                );
                out.wrong(carried(index, place), message)
                    .given(tax)
                    .expected("no second entry");
            }
        }
    }
}

/// The three amounts of an entry, with the names of their elements.
fn amounts(entry: &ImpuestoAdicional) -> [(&'static str, Option<&Monto>); 3] {
    [
        (ESPECIFICO, entry.monto_impuesto_selectivo_consumo_especifico.as_ref()),
        (ADVALOREM, entry.monto_impuesto_selectivo_consumo_advalorem.as_ref()),
        (OTROS, entry.otros_impuestos_adicionales.as_ref()),
    ]
}

const ESPECIFICO: &str = "MontoImpuestoSelectivoConsumoEspecifico";
const ADVALOREM: &str = "MontoImpuestoSelectivoConsumoAdvalorem";
const OTROS: &str = "OtrosImpuestosAdicionales";

fn amount_name(tax: TipoImpuesto) -> &'static str {
    match tax.class() {
        ImpuestoClass::Otros => OTROS,
        ImpuestoClass::EspecificoAlcohol | ImpuestoClass::EspecificoTabaco => ESPECIFICO,
        ImpuestoClass::AdValoremAlcohol | ImpuestoClass::AdValoremTabaco => ADVALOREM,
    }
}

fn amount_of(entry: &ImpuestoAdicional, tax: TipoImpuesto) -> Option<&Monto> {
    let wanted = amount_name(tax);
    amounts(entry)
        .into_iter()
        .find_map(|(name, amount)| amount.filter(|_| name == wanted))
}

fn entries_have_the_amount_of_their_class(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, given) in entries(case).iter().enumerate() {
        // A tax that the type may not carry is reported separately.
        let Some(tax) = given.tipo_impuesto.filter(|tax| case.carried.contains(*tax)) else {
            continue;
        };
        let due = amount_name(tax);
        for (name, amount) in amounts(given) {
            match amount {
                None if name == due => {
                    let message = say!(
                        "the amount of tax {tax} ({}) stands in {due}",
                        "el monto del impuesto {tax} ({}) va en {due}",
                        tax.words()
                    );
                    out.missing(entry(index, due), message);
                }
                Some(amount) if name != due => {
                    let message = say!(
                        "the amount of tax {tax} ({}) stands in {due}, not in {name}",
                        "el monto del impuesto {tax} ({}) va en {due}, no en {name}",
                        tax.words()
                    );
                    out.forbidden(entry(index, name), message).given(amount);
                }
                _ => {}
            }
        }
    }
}

/// Added to a finding that is stricter than its kind.
pub(super) fn stays_refused() -> Bilingual {
    say!(
        "; the authority rejects such a receipt, so it is refused with on_conditional=warn too",
        "; la DGII rechaza un comprobante así, por eso se deniega también con on_conditional=warn"
    )
}

/// The norm says that a difference beyond the tolerance is accepted conditionally. For taxes 001 to 005 a rejection was
/// recorded, whose message says that the amount does not match the lines. The recorded verdict takes precedence.
fn amounts_follow_the_lines(case: &Case<'_>, out: &mut Findings<'_>) {
    if !case.sums_are_known {
        return;
    }
    for (index, given) in entries(case).iter().enumerate() {
        let Some((tax, amount)) = given.tipo_impuesto.and_then(|tax| Some((tax, amount_of(given, tax)?))) else {
            continue;
        };
        let accepted = computed_amounts(case, tax);
        let beyond = match tax.class() {
            ImpuestoClass::Otros => Grade::Rejected,
            _ => Grade::Conditional,
        };
        let name = amount_name(tax);
        let rate = computed_entry(case, tax).and_then(|entry| entry.tasa_impuesto_adicional.as_ref());
        let at = rate.map_or_else(Bilingual::default, |rate| {
            say!(" at the rate {rate}", " a la tasa {rate}")
        });
        let what = say!(
            [at],
            "{name} of tax {tax} ({}) is not what the lines give{at}",
            "{name} del impuesto {tax} ({}) no es lo que dan las líneas{at}",
            tax.words()
        );
        let mut out = out.graded(beyond);
        let told = out.tolerated(|| entry(index, name), amount.value(), &accepted, case.tolerance, &what);
        if let Some(finding) = told.filter(|finding| finding.grade() == Grade::Rejected) {
            finding.adding(&stays_refused());
        }
    }
}

fn computed_amounts(case: &Case<'_>, tax: TipoImpuesto) -> Vec<Decimal> {
    [&case.computed.totales, &case.computed.literal]
        .into_iter()
        .filter_map(|totales| {
            let computed = &totales.impuestos_adicionales.impuesto_adicional;
            let entry = computed.iter().find(|entry| entry.tipo_impuesto == Some(tax))?;
            amount_of(entry, tax).map(Monto::value)
        })
        .collect()
}

/// Entries whose rate differs from the known one: index, tax, given rate, known rate.
fn other_rates<'a>(case: &Case<'a>) -> impl Iterator<Item = (usize, TipoImpuesto, &'a Porcentaje, Decimal)> {
    let day = case.document.encabezado.emisor.fecha_emision;
    let rates = case.rates;
    entries(case).iter().enumerate().filter_map(move |(index, given)| {
        let (tax, rate) = given.tipo_impuesto.zip(given.tasa_impuesto_adicional.as_ref())?;
        let known = rates.tasa(tax, day).filter(|known| *known != rate.value())?;
        Some((index, tax, rate, known))
    })
}

/// The rates of 006 to 022 are known for some periods only, and the test environments use their own. They are checked
/// only if the rate of the day is known.
fn rates_are_those_of_the_day(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, tax, rate, known) in other_rates(case).filter(|(_, tax, ..)| !tax.has_fixed_rate()) {
        let message = say!(
            "the rate of tax {tax} ({}) in force is {known}",
            "la tasa vigente del impuesto {tax} ({}) es {known}",
            tax.words()
        );
        out.differs(entry(index, "TasaImpuestoAdicional"), rate, known, message);
    }
}

fn fixed_rates_are_those_of_the_table(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, tax, rate, known) in other_rates(case).filter(|(_, tax, ..)| tax.has_fixed_rate()) {
        let fraction = rate.value() * Decimal::ONE_HUNDRED == known;
        let unit = if fraction {
            say!(", in percent", ", en por ciento")
        } else {
            Bilingual::default()
        };
        let message = say!(
            [unit],
            "the rate of tax {tax} ({}) is fixed: write {known}{unit}, not {rate}",
            "la tasa del impuesto {tax} ({}) es fija: escriba {known}{unit}, no {rate}",
            tax.words()
        );
        out.differs(entry(index, "TasaImpuestoAdicional"), rate, known, message);
    }
}
