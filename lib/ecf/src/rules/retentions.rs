//! Taxes that the payer withholds: on the lines, and in the totals. Their rates are not checked, because the payer
//! decides them.

use ecf_language::say;
use rust_decimal::Decimal;

use super::finding::{line, totales};
use super::{Case, Findings, Rule, ZERO, sum};
use crate::Monto;
use crate::ReceiptType::{E31, E33, E34, E41};
use crate::catalogue::{IndicadorAgenteRetencionoPercepcion, IndicadorBienoServicio, IndicadorFacturacion};
use crate::document::{Item, Retencion};

pub(super) const RULES: &[Rule] = &[
    Rule::notice(
        "RETENCION-01",
        "format, Retencion: perception is not in force",
        "a line withholds, it does not collect ahead",
        lines_do_not_collect_ahead,
    ),
    Rule::rejected(
        "RETENCION-02",
        "format, Retencion: MontoISRRetenido, type 41",
        "a purchase withholds income tax from services only",
        purchase_withholds_income_tax_from_services_only,
    ),
    Rule::rejected(
        "RETENCION-03",
        "format, Retencion: MontoITBISRetenido, type 41",
        "a purchase says the ITBIS that it withholds, 0.00 for exempt lines",
        purchase_says_the_itbis_withheld,
    ),
    Rule::notice(
        "RETENCION-04",
        "format, Retencion: MontoISRRetenido, type 41",
        "a purchase of services withholds income tax",
        purchase_of_services_withholds_income_tax,
    ),
    Rule::rejected(
        "RETENCION-05",
        "format, Retencion, types 31, 33 and 34",
        "a line that withholds says how much",
        retention_has_an_amount,
    ),
    Rule::conditional(
        "RETENCION-06",
        "IT §12; format, Totales: TotalITBISRetenido, TotalISRRetencion",
        "the totals withheld are the sums of the lines, give or take one peso for each line",
        totals_are_the_sums,
    ),
    Rule::rejected(
        "RETENCION-07",
        "format, Totales: TotalITBISRetenido, TotalISRRetencion",
        "what lines withhold has its total, 0.00 included",
        totals_are_there,
    ),
    Rule::notice(
        "RETENCION-08",
        "format, Totales: perception is not in force",
        "nothing is collected ahead",
        nothing_is_collected_ahead,
    ),
    Rule::rejected(
        "RETENCION-09",
        "format of October 2025, note 53, MontoITBISRetenido",
        "an exempt line withholds no ITBIS: MontoITBISRetenido is 0.00",
        exempt_lines_withhold_no_itbis,
    ),
    Rule::notice(
        "RETENCION-10",
        "arithmetic: the rates of retentions are the payer's business, and at most the whole tax",
        "the ITBIS withheld is not more than the ITBIS of the line",
        itbis_withheld_is_within_the_tax,
    ),
    Rule::notice(
        "RETENCION-11",
        "arithmetic: the rates of retentions are the payer's business, and at most the whole amount",
        "the income tax withheld is not more than the amount of the line",
        income_tax_withheld_is_within_the_amount,
    ),
];

/// The lines with retentions, with their indexes.
fn withholding<'a>(case: &Case<'a>) -> impl Iterator<Item = (usize, &'a Item)> {
    let lines = case.lines.iter().enumerate();
    lines.filter(|(_, item)| item.retencion != Retencion::default())
}

fn lines_do_not_collect_ahead(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, item) in withholding(case) {
        let indicator = item.retencion.indicador_agente_retenciono_percepcion;
        if indicator == Some(IndicadorAgenteRetencionoPercepcion::Percepcion) {
            let path = line(index, &["Retencion", "IndicadorAgenteRetencionoPercepcion"]);
            let message = say!(
                "perception (2) is not in force: what is withheld is a retention (1)",
                "la percepción (2) no está vigente: lo que se retiene es una retención (1)"
            );
            out.differs(path, 2, 1, message);
        }
    }
}

fn purchase_withholds_income_tax_from_services_only(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type != E41 {
        return;
    }
    for (index, item) in withholding(case) {
        let goods = item.indicador_bieno_servicio == Some(IndicadorBienoServicio::Bien);
        if let Some(given) = item.retencion.monto_isr_retenido.as_ref().filter(|_| goods) {
            let path = line(index, &["Retencion", "MontoISRRetenido"]);
            let message = say!(
                "income tax is withheld from services (IndicadorBienoServicio 2), and the line is of goods",
                "el ISR se retiene de servicios (IndicadorBienoServicio 2), y la línea es de bienes"
            );
            out.forbidden(path, message).given(given);
        }
    }
}

fn purchase_says_the_itbis_withheld(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type != E41 {
        return;
    }
    for (index, item) in withholding(case) {
        if item.retencion.monto_itbis_retenido.is_none() {
            let path = line(index, &["Retencion", "MontoITBISRetenido"]);
            let message = say!(
                "a line of type 41 says the ITBIS that is withheld, 0.00 when it is exempt",
                "una línea del tipo 41 dice el ITBIS que se retiene, 0.00 si es exenta"
            );
            out.missing(path, message).expected("an amount, or 0.00");
        }
    }
}

fn purchase_of_services_withholds_income_tax(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type != E41 {
        return;
    }
    for (index, item) in withholding(case) {
        let service = item.indicador_bieno_servicio == Some(IndicadorBienoServicio::Servicio);
        if service && item.retencion.monto_isr_retenido.is_none() {
            let path = line(index, &["Retencion", "MontoISRRetenido"]);
            out.missing(
                path,
                say!(
                    "income tax is usually withheld from services of type 41",
                    "de los servicios del tipo 41 se suele retener el ISR"
                ),
            );
        }
    }
}

fn retention_has_an_amount(case: &Case<'_>, out: &mut Findings<'_>) {
    if !case.is_one_of(&[E31, E33, E34]) {
        return;
    }
    for (index, item) in withholding(case) {
        if item.retencion.monto_itbis_retenido.is_none() && item.retencion.monto_isr_retenido.is_none() {
            let path = line(index, &["Retencion", "MontoITBISRetenido"]);
            let message = say!(
                "the line withholds, so MontoITBISRetenido or MontoISRRetenido says how much",
                "la línea lleva una retención, así que MontoITBISRetenido o MontoISRRetenido dice cuánto"
            );
            out.missing(path, message)
                .expected("MontoITBISRetenido or MontoISRRetenido");
        }
    }
}

fn is_exempt(item: &Item) -> bool {
    item.indicador_facturacion == Some(IndicadorFacturacion::Exento)
}

/// Perception is reported as a separate fault.
fn exempt_lines_withhold_no_itbis(case: &Case<'_>, out: &mut Findings<'_>) {
    let perception = Some(IndicadorAgenteRetencionoPercepcion::Percepcion);
    for (index, item) in withholding(case).filter(|(_, item)| is_exempt(item)) {
        let retencion = &item.retencion;
        let withheld = retencion.monto_itbis_retenido.as_ref();
        let withheld = withheld.filter(|_| retencion.indicador_agente_retenciono_percepcion != perception);
        if let Some(given) = withheld.filter(|withheld| !withheld.value().is_zero()) {
            let path = line(index, &["Retencion", "MontoITBISRetenido"]);
            let message = say!(
                "the line is exempt (IndicadorFacturacion 4), so no ITBIS can be withheld from it: \
                 MontoITBISRetenido is 0.00, not {given}",
                "la línea es exenta (IndicadorFacturacion 4), así que no se le puede retener ITBIS: \
                 MontoITBISRetenido es 0.00, no {given}"
            );
            out.differs(path, given, ZERO, message);
        }
    }
}

/// The two ways of rounding the ITBIS differ by a cent.
fn itbis_withheld_is_within_the_tax(case: &Case<'_>, out: &mut Findings<'_>) {
    const CENT: Decimal = Decimal::from_parts(1, 0, 0, false, 2);
    for (index, item) in withholding(case).filter(|(_, item)| !is_exempt(item)) {
        let amounts = case.computed.lines.get(index).filter(|_| case.sums_are_known);
        let tax = amounts.and_then(|amounts| Monto::rounded(amounts.itbis()).ok());
        let Some((given, tax)) = item.retencion.monto_itbis_retenido.as_ref().zip(tax) else {
            continue;
        };
        if given.value() > tax.value() + CENT {
            let message = say!(
                "MontoITBISRetenido {given} is more than the ITBIS of the line, {tax}",
                "MontoITBISRetenido {given} es más que el ITBIS de la línea, {tax}"
            );
            let path = line(index, &["Retencion", "MontoITBISRetenido"]);
            out.differs(path, given, format!("at most {tax}"), message);
        }
    }
}

fn income_tax_withheld_is_within_the_amount(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, item) in withholding(case) {
        let amounts = case.computed.lines.get(index).filter(|_| case.sums_are_known);
        let amount = amounts.and_then(|amounts| Monto::rounded(amounts.amount()).ok());
        let Some((given, amount)) = item.retencion.monto_isr_retenido.as_ref().zip(amount) else {
            continue;
        };
        if *given > amount {
            let message = say!(
                "MontoISRRetenido {given} is more than the line comes to, {amount}",
                "MontoISRRetenido {given} es más que el monto de la línea, {amount}"
            );
            let path = line(index, &["Retencion", "MontoISRRetenido"]);
            out.differs(path, given, format!("at most {amount}"), message);
        }
    }
}

/// Element name, stated amount, sum of the lines.
type Total<'a> = (&'static str, Option<&'a Monto>, Option<Decimal>);

fn totals<'a>(case: &Case<'a>) -> [Total<'a>; 2] {
    let stated = &case.document.encabezado.totales;
    let itbis = case
        .lines
        .iter()
        .map(|item| item.retencion.monto_itbis_retenido.as_ref());
    let isr = case.lines.iter().map(|item| item.retencion.monto_isr_retenido.as_ref());
    [
        ("TotalITBISRetenido", stated.total_itbis_retenido.as_ref(), sum(itbis)),
        ("TotalISRRetencion", stated.total_isr_retencion.as_ref(), sum(isr)),
    ]
}

fn totals_are_the_sums(case: &Case<'_>, out: &mut Findings<'_>) {
    for (name, stated, lines) in totals(case) {
        let Some(stated) = stated else { continue };
        let expected = lines.unwrap_or(ZERO);
        let what = say!(
            "{name} is not the sum of what the lines withhold",
            "{name} no es la suma de lo que retienen las líneas"
        );
        out.tolerated(|| totales(name), stated.value(), &[expected], case.tolerance, &what);
    }
}

fn totals_are_there(case: &Case<'_>, out: &mut Findings<'_>) {
    for (name, stated, lines) in totals(case) {
        if let Some(expected) = lines.filter(|_| stated.is_none()) {
            out.missing(
                totales(name),
                say!(
                    "lines withhold {expected}, so {name} is due",
                    "las líneas retienen {expected}, así que se debe {name}"
                ),
            )
            .expected(expected.to_string());
        }
    }
}

fn nothing_is_collected_ahead(case: &Case<'_>, out: &mut Findings<'_>) {
    let stated = &case.document.encabezado.totales;
    for (name, given) in [
        ("TotalITBISPercepcion", &stated.total_itbis_percepcion),
        ("TotalISRPercepcion", &stated.total_isr_percepcion),
    ] {
        if let Some(given) = given {
            let message = say!(
                "perception is not in force: {name} should be left out, and is written as given",
                "la percepción no está vigente: {name} debe omitirse; se escribe como se recibió"
            );
            out.wrong(totales(name), message).given(given).expected("no such field");
        }
    }
}
