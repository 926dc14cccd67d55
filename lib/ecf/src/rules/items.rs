//! `DetallesItems`: each line by itself. The excise taxes of a line are in `excise`, retentions in `retentions`.

use ecf_language::{Bilingual, say};
use rust_decimal::Decimal;

use super::finding::line;
use super::{Case, Findings, Rule, sum};
use crate::ReceiptType::{E41, E43, E44, E46, E47};
use crate::catalogue::{IndicadorBienoServicio, IndicadorFacturacion, TipoValor};
use crate::document::Item;
use crate::totals::Tolerance;
use crate::{Monto, Porcentaje, ReceiptType};

pub(super) const RULES: &[Rule] = &[
    Rule::rejected(
        "LINEA-01",
        "format, Item: NumeroLinea",
        "lines are numbered 1, 2, 3 and so on",
        lines_are_numbered_without_gaps,
    ),
    Rule::conditional(
        "LINEA-02",
        "IT §12; format, Item: MontoItem",
        "MontoItem is price times quantity, less discounts, plus surcharges, give or take one peso",
        amount_follows_price_and_quantity,
    ),
    Rule::rejected(
        "LINEA-03",
        "recorded: message 2020; format, Item: DescuentoMonto",
        "DescuentoMonto is the sum of its MontoSubDescuento",
        discount_is_the_sum_of_its_parts,
    ),
    Rule::rejected(
        "LINEA-04",
        "recorded: message 2020; format, Item: TablaSubDescuento",
        "DescuentoMonto and TablaSubDescuento come together",
        discount_and_its_table_come_together,
    ),
    Rule::rejected(
        "LINEA-05",
        "recorded: message 2020; format, Item: SubDescuento",
        "a discount says its amount, and its percentage when it is one",
        discounts_are_complete,
    ),
    Rule::rejected(
        "LINEA-06",
        "recorded: message 2020; format, Item: MontoSubDescuento",
        "a discount in percent is that share of price times quantity, give or take one peso",
        discount_follows_its_percentage,
    ),
    Rule::rejected(
        "LINEA-07",
        "recorded: message 2030; format, Item: RecargoMonto",
        "RecargoMonto is the sum of its MontoSubRecargo",
        surcharge_is_the_sum_of_its_parts,
    ),
    Rule::rejected(
        "LINEA-08",
        "recorded: message 2030; format, Item: TablaSubRecargo",
        "RecargoMonto and TablaSubRecargo come together",
        surcharge_and_its_table_come_together,
    ),
    Rule::rejected(
        "LINEA-09",
        "recorded: message 2030; format, Item: SubRecargo",
        "a surcharge says its amount, and its percentage when it is one",
        surcharges_are_complete,
    ),
    Rule::rejected(
        "LINEA-10",
        "recorded: message 2030; format, Item: MontoSubRecargo",
        "a surcharge in percent is that share of price times quantity, give or take one peso",
        surcharge_follows_its_percentage,
    ),
    Rule::rejected(
        "LINEA-11",
        "format, table of IndicadorFacturacion",
        "types 43, 44 and 47 have exempt lines only, type 46 lines at 0 % only",
        indicator_is_that_of_the_type,
    ),
    Rule::rejected(
        "LINEA-12",
        "format, Totales: MontoNoFacturable is not allowed in type 41",
        "a purchase has no non-billable lines",
        purchase_bills_every_line,
    ),
    Rule::rejected(
        "LINEA-13",
        "format, Item: IndicadorBienoServicio",
        "type 47 pays for services",
        payment_abroad_is_for_services,
    ),
    Rule::notice(
        "LINEA-14",
        "IT, type 46",
        "type 46 is meant for goods",
        export_is_of_goods,
    ),
];

fn lines_are_numbered_without_gaps(case: &Case<'_>, out: &mut Findings<'_>) {
    for ((index, item), expected) in case.lines.iter().enumerate().zip(1_u32..) {
        let Some(given) = item.numero_linea.filter(|given| *given != expected) else {
            continue;
        };
        let message = say!(
            "NumeroLinea is {given} on the line that stands at place {expected}",
            "NumeroLinea es {given} en la línea que está en el lugar {expected}"
        );
        out.differs(line(index, &["NumeroLinea"]), given, expected, message);
    }
}

fn amount_follows_price_and_quantity(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, (item, computed)) in case.lines.iter().zip(&case.computed.lines).enumerate() {
        let Some((given, expected)) = item.monto_item.as_ref().zip(computed.monto_item.as_ref()) else {
            continue;
        };
        if given == expected {
            continue;
        }
        // If DescuentoMonto is not the sum of its parts, the amount may follow from either.
        let by_parts = amount_by_parts(item);
        let mut accepted = vec![expected.value()];
        match by_parts {
            Some(by_parts) if by_parts != expected.value() => accepted.insert(0, by_parts),
            _ => {}
        }
        out.tolerated(
            || line(index, &["MontoItem"]),
            given.value(),
            &accepted,
            Tolerance::LINE,
            &say!("MontoItem is not {}", "MontoItem no es {}", formula(item)),
        );
    }
}

/// The formula with the amounts of the line: price times quantity, less discounts, plus surcharges.
fn formula(item: &Item) -> String {
    let text = |amount: Option<String>| amount.unwrap_or_default();
    let mut formula = format!(
        "PrecioUnitarioItem {} × CantidadItem {}",
        text(item.precio_unitario_item.as_ref().map(ToString::to_string)),
        text(item.cantidad_item.as_ref().map(ToString::to_string))
    );
    if let Some(discount) = &item.descuento_monto {
        formula.push_str(&format!(" − DescuentoMonto {discount}"));
    }
    if let Some(surcharge) = &item.recargo_monto {
        formula.push_str(&format!(" + RecargoMonto {surcharge}"));
    }
    formula
}

/// Price times quantity.
fn gross(item: &Item) -> Option<Decimal> {
    let factors = item.precio_unitario_item.as_ref().zip(item.cantidad_item.as_ref());
    factors.and_then(|(price, quantity)| price.value().checked_mul(quantity.value()))
}

/// MontoItem computed from the parts of discounts and surcharges instead of their sums.
fn amount_by_parts(item: &Item) -> Option<Decimal> {
    let side = |adjustment: Adjustment<'_>| {
        let stated = adjustment.amount.map(Monto::value).unwrap_or_default();
        adjustment.sum_of_parts(item).unwrap_or(stated)
    };
    let exact = gross(item)?.checked_sub(side(discount(item)))?;
    let exact = exact.checked_add(side(surcharge(item)))?;
    Monto::rounded(exact).ok().map(|amount| amount.value())
}

/// The discounts or the surcharges of a line: element names, amount and table.
struct Adjustment<'a> {
    amount_name: &'static str,
    table_name: &'static str,
    entry_name: &'static str,
    percentage_name: &'static str,
    part_name: &'static str,
    amount: Option<&'a Monto>,
    parts: Vec<Part<'a>>,
}

struct Part<'a> {
    kind: Option<TipoValor>,
    percentage: Option<&'a Porcentaje>,
    amount: Option<&'a Monto>,
}

impl Part<'_> {
    /// The amount of the percentage. Each percentage applies to price times quantity, never to the remainder after an
    /// earlier discount.
    fn share(&self, gross: Option<Decimal>) -> Option<Decimal> {
        let percentage = self.percentage.filter(|_| self.kind == Some(TipoValor::Porcentaje))?;
        let share = gross?.checked_mul(percentage.value() * Decimal::new(1, 2))?;
        Monto::rounded(share).ok().map(|share| share.value())
    }
}

fn discount(item: &Item) -> Adjustment<'_> {
    let parts = item.tabla_sub_descuento.sub_descuento.iter();
    Adjustment {
        amount_name: "DescuentoMonto",
        table_name: "TablaSubDescuento",
        entry_name: "SubDescuento",
        percentage_name: "SubDescuentoPorcentaje",
        part_name: "MontoSubDescuento",
        amount: item.descuento_monto.as_ref(),
        parts: parts
            .map(|part| Part {
                kind: part.tipo_sub_descuento,
                percentage: part.sub_descuento_porcentaje.as_ref(),
                amount: part.monto_sub_descuento.as_ref(),
            })
            .collect(),
    }
}

fn surcharge(item: &Item) -> Adjustment<'_> {
    let parts = item.tabla_sub_recargo.sub_recargo.iter();
    Adjustment {
        amount_name: "RecargoMonto",
        table_name: "TablaSubRecargo",
        entry_name: "SubRecargo",
        percentage_name: "SubRecargoPorcentaje",
        part_name: "MontoSubRecargo",
        amount: item.recargo_monto.as_ref(),
        parts: parts
            .map(|part| Part {
                kind: part.tipo_sub_recargo,
                percentage: part.sub_recargo_porcentaje.as_ref(),
                amount: part.monto_sub_recargo.as_ref(),
            })
            .collect(),
    }
}

impl Adjustment<'_> {
    /// The sum of the corrected parts: a part that differs from its percentage counts with the amount of the
    /// percentage.
    fn sum_of_parts(&self, item: &Item) -> Option<Decimal> {
        let gross = gross(item);
        let mut amounts = self.parts.iter().filter_map(|part| {
            let stated = part.amount.map(Monto::value);
            let share = part.share(gross);
            match (stated, share) {
                (Some(stated), Some(share)) if !Tolerance::LINE.covers(stated, share) => Some(share),
                (stated, share) => stated.or(share),
            }
        });
        let first = amounts.next()?;
        amounts.try_fold(first, Decimal::checked_add)
    }

    fn part_path(&self, index: usize, part: usize, field: &str) -> Vec<String> {
        line(index, &[self.table_name, self.entry_name, &part.to_string(), field])
    }
}

fn discount_is_the_sum_of_its_parts(case: &Case<'_>, out: &mut Findings<'_>) {
    each(case, discount, out, amount_is_the_sum);
}

fn surcharge_is_the_sum_of_its_parts(case: &Case<'_>, out: &mut Findings<'_>) {
    each(case, surcharge, out, amount_is_the_sum);
}

fn discount_and_its_table_come_together(case: &Case<'_>, out: &mut Findings<'_>) {
    each(case, discount, out, amount_and_table_come_together);
}

fn surcharge_and_its_table_come_together(case: &Case<'_>, out: &mut Findings<'_>) {
    each(case, surcharge, out, amount_and_table_come_together);
}

fn discounts_are_complete(case: &Case<'_>, out: &mut Findings<'_>) {
    each(case, discount, out, |index, item, given, out| {
        parts_are_complete(case, index, item, given, out);
    });
}

fn surcharges_are_complete(case: &Case<'_>, out: &mut Findings<'_>) {
    each(case, surcharge, out, |index, item, given, out| {
        parts_are_complete(case, index, item, given, out);
    });
}

fn discount_follows_its_percentage(case: &Case<'_>, out: &mut Findings<'_>) {
    each(case, discount, out, parts_follow_their_percentage);
}

fn surcharge_follows_its_percentage(case: &Case<'_>, out: &mut Findings<'_>) {
    each(case, surcharge, out, parts_follow_their_percentage);
}

fn each<'a>(
    case: &Case<'a>,
    side: fn(&'a Item) -> Adjustment<'a>,
    out: &mut Findings<'_>,
    judge: impl Fn(usize, &'a Item, &Adjustment<'a>, &mut Findings<'_>),
) {
    for (index, item) in case.lines.iter().enumerate() {
        judge(index, item, &side(item), out);
    }
}

fn amount_is_the_sum(index: usize, item: &Item, given: &Adjustment<'_>, out: &mut Findings<'_>) {
    let Some((amount, parts)) = given.amount.zip(sum(given.parts.iter().map(|part| part.amount))) else {
        return;
    };
    if amount.value() != parts {
        // A part that differs from its percentage is reported separately; a sum that fits the percentage is right.
        let parts = given.sum_of_parts(item).unwrap_or(parts);
        if amount.value() == parts {
            return;
        }
        let Adjustment {
            amount_name, part_name, ..
        } = given;
        let message = say!(
            "{amount_name} is not the sum of the {part_name} of the line",
            "{amount_name} no es la suma de los {part_name} de la línea"
        );
        out.amount(line(index, &[amount_name]), amount.value(), parts, message);
    }
}

fn amount_and_table_come_together(index: usize, _: &Item, given: &Adjustment<'_>, out: &mut Findings<'_>) {
    let Adjustment {
        amount_name,
        table_name,
        entry_name,
        ..
    } = given;
    match (given.amount, given.parts.is_empty()) {
        (Some(amount), true) => {
            let message = say!(
                "{amount_name} {amount} stands without {table_name}: the parts it adds up are due too",
                "{amount_name} {amount} está sin {table_name}: también se deben las partes que suma"
            );
            out.missing(line(index, &[table_name]), message)
                .expected(format!("{entry_name} entries that add up to {amount}"));
        }
        (None, false) => {
            let finding = out.missing(
                line(index, &[amount_name]),
                say!(
                    "{table_name} stands without {amount_name}, the sum of its entries",
                    "{table_name} está sin {amount_name}, la suma de sus entradas"
                ),
            );
            if let Some(parts) = sum(given.parts.iter().map(|part| part.amount)) {
                finding.expected(parts.to_string());
            }
        }
        _ => {}
    }
}

fn parts_are_complete(case: &Case<'_>, index: usize, _: &Item, given: &Adjustment<'_>, out: &mut Findings<'_>) {
    for (place, part) in given.parts.iter().enumerate() {
        // The amount of a percentage is computed once the percentage is given.
        let will_be_computed = case.given.is_some() && part.kind == Some(TipoValor::Porcentaje);
        if part.amount.is_none() && !will_be_computed {
            let message = say!(
                "{} is due in every {}",
                "falta {}: lo lleva cada {}",
                given.part_name,
                given.entry_name
            );
            out.missing(given.part_path(index, place, given.part_name), message);
        }
        if part.kind == Some(TipoValor::Porcentaje) && part.percentage.is_none() {
            let message = say!(
                "with %, {} says how many percent",
                "con %, {} dice qué porcentaje",
                given.percentage_name
            );
            out.missing(given.part_path(index, place, given.percentage_name), message);
        }
    }
}

fn parts_follow_their_percentage(index: usize, item: &Item, given: &Adjustment<'_>, out: &mut Findings<'_>) {
    let gross = gross(item);
    for (place, part) in given.parts.iter().enumerate() {
        let Some((percentage, amount)) = part.percentage.zip(part.amount) else {
            continue;
        };
        if let Some(expected) = part.share(gross) {
            out.tolerated(
                || given.part_path(index, place, given.part_name),
                amount.value(),
                &[expected],
                Tolerance::LINE,
                &say!(
                    "{} is not {percentage} % of price × quantity",
                    "{} no es el {percentage} % de precio × cantidad",
                    given.part_name
                ),
            );
        }
    }
}

/// The only indicator that lines of a type may have, if there is just one.
fn only_indicator(receipt_type: ReceiptType) -> Option<IndicadorFacturacion> {
    match receipt_type {
        E43 | E44 | E47 => Some(IndicadorFacturacion::Exento),
        E46 => Some(IndicadorFacturacion::Itbis3),
        _ => None,
    }
}

/// Whether lines of a type may have an indicator.
pub(super) fn allows(receipt_type: ReceiptType, indicator: IndicadorFacturacion) -> bool {
    let without_group = receipt_type == E41 && indicator == IndicadorFacturacion::NoFacturable;
    !without_group && only_indicator(receipt_type).is_none_or(|only| only == indicator)
}

fn indicator_is_that_of_the_type(case: &Case<'_>, out: &mut Findings<'_>) {
    let Some(expected) = only_indicator(case.receipt_type) else {
        return;
    };
    for (index, item) in case.lines.iter().enumerate() {
        let Some(given) = item.indicador_facturacion.filter(|given| *given != expected) else {
            continue;
        };
        let message = say!(
            "every line of type {} has IndicadorFacturacion {expected}",
            "cada línea del tipo {} tiene IndicadorFacturacion {expected}",
            case.receipt_type
        );
        out.differs(line(index, &["IndicadorFacturacion"]), given, expected, message);
    }
}

fn purchase_bills_every_line(case: &Case<'_>, out: &mut Findings<'_>) {
    let not_billable = Some(IndicadorFacturacion::NoFacturable);
    if case.receipt_type != E41 {
        return;
    }
    for (index, _) in case
        .lines
        .iter()
        .enumerate()
        .filter(|(_, item)| item.indicador_facturacion == not_billable)
    {
        let message = say!(
            "type 41 has no MontoNoFacturable, so no line can be non-billable",
            "el tipo 41 no tiene MontoNoFacturable, así que ninguna línea puede ser no facturable"
        );
        out.differs(line(index, &["IndicadorFacturacion"]), 0, "1, 2, 3 or 4", message);
    }
}

fn payment_abroad_is_for_services(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type == E47 {
        goods_or_services(
            case,
            IndicadorBienoServicio::Servicio,
            &say!("type 47 pays for services", "el tipo 47 paga servicios"),
            out,
        );
    }
}

fn export_is_of_goods(case: &Case<'_>, out: &mut Findings<'_>) {
    if case.receipt_type == E46 {
        goods_or_services(
            case,
            IndicadorBienoServicio::Bien,
            &say!("type 46 is meant for goods", "el tipo 46 es para bienes"),
            out,
        );
    }
}

fn goods_or_services(case: &Case<'_>, expected: IndicadorBienoServicio, why: &Bilingual, out: &mut Findings<'_>) {
    for (index, item) in case.lines.iter().enumerate() {
        let Some(given) = item.indicador_bieno_servicio.filter(|given| *given != expected) else {
            continue;
        };
        let message = say!(
            [why],
            "{why}: IndicadorBienoServicio {given} is {}",
            "{why}: IndicadorBienoServicio {given} es {}",
            given.words()
        );
        out.differs(line(index, &["IndicadorBienoServicio"]), given, expected, message);
    }
}
