//! `DescuentosORecargos`: discounts and surcharges of the whole receipt, including those of Norma 10-07.
//!
//! An entry that exceeds the amount of its group makes that amount negative, which the totals report.

use std::collections::BTreeSet;

use ecf_language::say;

use super::finding::{Path, at, id_doc};
use super::{Case, Findings, Rule};
use crate::catalogue::{
    IndicadorFacturacion, IndicadorFacturacionDescuentooRecargo, IndicadorMontoGravado, IndicadorNorma1007, TipoAjuste,
    TipoImpuesto, TipoValor,
};
use crate::document::{DescuentoORecargo, Item};

pub(super) const RULES: &[Rule] = &[
    Rule::rejected(
        "DESCUENTO-01",
        "format, DescuentoORecargo: NumeroLinea",
        "entries are numbered 1, 2, 3 and so on",
        entries_are_numbered_without_gaps,
    ),
    Rule::rejected(
        "DESCUENTO-02",
        "format, DescuentoORecargo",
        "an entry says its kind, its amount and which lines it affects",
        entries_are_complete,
    ),
    Rule::rejected(
        "DESCUENTO-03",
        "format, DescuentoORecargo: ValorDescuentooRecargo",
        "an entry in percent says how many",
        percentages_are_given,
    ),
    Rule::rejected(
        "DESCUENTO-04",
        "format, DescuentoORecargo: TipoValor",
        "when lines carry different additional taxes an entry is a percentage",
        entry_is_a_percentage_when_taxes_differ,
    ),
    Rule::rejected(
        "DESCUENTO-05",
        "format, DescuentoORecargo: IndicadorFacturacionDescuentooRecargo",
        "an entry affects lines that are there",
        entry_affects_lines,
    ),
    Rule::notice(
        "DESCUENTO-06",
        "format, DescuentoORecargo: MontoDescuentooRecargo; the base of the percentage is not written down",
        "an entry in percent is that share of the net amount of its lines",
        entry_follows_its_percentage,
    ),
    Rule::rejected(
        "DESCUENTO-07",
        "Norma 10-07; IT §15; format, IndicadorNorma1007",
        "a discount under Norma 10-07 is a discount on lines at 18 % with taxes 002 and 004",
        norma_1007_is_for_telecommunication,
    ),
    Rule::rejected(
        "DESCUENTO-08",
        "Norma 10-07; IT §15; format, IndicadorMontoGravado",
        "with a discount under Norma 10-07 amounts include the ITBIS",
        norma_1007_includes_the_itbis,
    ),
    Rule::notice(
        "DESCUENTO-09",
        "format, IndicadorNorma1007: 1 is the only value, the schema takes 0",
        "IndicadorNorma1007 is left out when it does not apply",
        norma_1007_is_one_or_absent,
    ),
];

fn entries<'a>(case: &Case<'a>) -> impl Iterator<Item = (usize, &'a DescuentoORecargo)> {
    let list = &case.document.descuentos_o_recargos.descuento_o_recargo;
    list.iter().enumerate()
}

fn entry(index: usize, field: &str) -> Path {
    at(&["DescuentosORecargos", "DescuentoORecargo", &index.to_string(), field])
}

fn entries_are_numbered_without_gaps(case: &Case<'_>, out: &mut Findings<'_>) {
    for ((index, given), expected) in entries(case).zip(1_u32..) {
        let Some(given) = given.numero_linea.filter(|given| *given != expected) else {
            continue;
        };
        let message = say!(
            "NumeroLinea is {given} on the entry that stands at place {expected}",
            "NumeroLinea es {given} en la entrada que está en el lugar {expected}"
        );
        out.differs(entry(index, "NumeroLinea"), given, expected, message);
    }
}

fn entries_are_complete(case: &Case<'_>, out: &mut Findings<'_>) {
    // The amount of a percentage is computed once the entry is complete.
    let will_be_computed =
        |entry: &DescuentoORecargo| case.given.is_some() && entry.tipo_valor == Some(TipoValor::Porcentaje);
    for (index, given) in entries(case) {
        let fields = [
            ("TipoValor", given.tipo_valor.is_some()),
            (
                "MontoDescuentooRecargo",
                given.monto_descuentoo_recargo.is_some() || will_be_computed(given),
            ),
            (
                "IndicadorFacturacionDescuentooRecargo",
                given.indicador_facturacion_descuentoo_recargo.is_some(),
            ),
        ];
        for (field, _) in fields.into_iter().filter(|(_, there)| !there) {
            out.missing(
                entry(index, field),
                say!("{field} is due in every entry", "cada entrada lleva {field}"),
            );
        }
    }
}

fn percentages_are_given(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, given) in entries(case) {
        if given.tipo_valor == Some(TipoValor::Porcentaje) && given.valor_descuentoo_recargo.is_none() {
            let message = say!(
                "TipoValor is %, so ValorDescuentooRecargo says how many percent",
                "TipoValor es %, así que ValorDescuentooRecargo dice qué porcentaje"
            );
            out.missing(entry(index, "ValorDescuentooRecargo"), message);
        }
    }
}

fn taxes(item: &Item) -> Vec<TipoImpuesto> {
    let carried = item.tabla_impuesto_adicional.impuesto_adicional.iter();
    let mut taxes: Vec<_> = carried.filter_map(|tax| tax.tipo_impuesto).collect();
    taxes.sort_unstable();
    taxes
}

/// Lines without additional taxes are ignored: the official example of a shared amount has one.
fn entry_is_a_percentage_when_taxes_differ(case: &Case<'_>, out: &mut Findings<'_>) {
    let amounts: Vec<_> = entries(case)
        .filter(|(_, entry)| entry.tipo_valor == Some(TipoValor::Monto) && !is_norma_1007(entry))
        .collect();
    if amounts.is_empty() {
        return;
    }
    let mut combinations = case.lines.iter().map(taxes).filter(|taxes| !taxes.is_empty());
    let Some(first) = combinations.next() else { return };
    let Some(other) = combinations.find(|other| *other != first) else {
        return;
    };
    let codes = |taxes: &[TipoImpuesto]| taxes.iter().map(|tax| tax.code()).collect::<Vec<_>>().join(" + ");
    for (index, _) in amounts {
        let message = say!(
            "lines carry different additional taxes ({} and {}), so TipoValor must be %",
            "las líneas llevan impuestos adicionales distintos ({} y {}), así que TipoValor debe ser %",
            codes(&first),
            codes(&other)
        );
        out.differs(entry(index, "TipoValor"), "$", "%", message);
    }
}

fn affected(indicator: IndicadorFacturacionDescuentooRecargo) -> IndicadorFacturacion {
    match indicator {
        IndicadorFacturacionDescuentooRecargo::Itbis1 => IndicadorFacturacion::Itbis1,
        IndicadorFacturacionDescuentooRecargo::Itbis2 => IndicadorFacturacion::Itbis2,
        IndicadorFacturacionDescuentooRecargo::Itbis3 => IndicadorFacturacion::Itbis3,
        IndicadorFacturacionDescuentooRecargo::Exento => IndicadorFacturacion::Exento,
    }
}

/// Whether any line is affected by the entry.
fn has_lines(case: &Case<'_>, entry: &DescuentoORecargo) -> bool {
    let group = entry.indicador_facturacion_descuentoo_recargo.map(affected);
    let mut lines = case.lines.iter();
    group.is_some_and(|group| lines.any(|item| item.indicador_facturacion == Some(group)))
}

fn entry_affects_lines(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, given) in entries(case) {
        let Some(indicator) = given.indicador_facturacion_descuentoo_recargo else {
            continue;
        };
        if !has_lines(case, given) {
            let path = entry(index, "IndicadorFacturacionDescuentooRecargo");
            let message = say!(
                "the entry affects lines with IndicadorFacturacion {indicator}, and there are none",
                "la entrada afecta las líneas con IndicadorFacturacion {indicator}, y no hay ninguna"
            );
            let there: BTreeSet<&str> = case
                .lines
                .iter()
                .filter_map(|item| item.indicador_facturacion)
                .filter(|indicator| *indicator != IndicadorFacturacion::NoFacturable)
                .map(IndicadorFacturacion::code)
                .collect();
            let expected = match there.into_iter().collect::<Vec<_>>().join(" or ") {
                none if none.is_empty() => "no such entry: no line is billed".to_owned(),
                some => some,
            };
            out.wrong(path, message).given(indicator).expected(expected);
        }
    }
}

fn entry_follows_its_percentage(case: &Case<'_>, out: &mut Findings<'_>) {
    for ((index, given), computed) in entries(case).zip(&case.computed.entries) {
        // Without lines the percentage has no base, which is reported separately.
        if !case.sums_are_known || !has_lines(case, given) {
            continue;
        }
        let amounts = given.monto_descuentoo_recargo.as_ref();
        let Some((stated, expected)) = amounts.zip(computed.monto_descuentoo_recargo.as_ref()) else {
            continue;
        };
        out.tolerated(
            || entry(index, "MontoDescuentooRecargo"),
            stated.value(),
            &[expected.value()],
            case.tolerance,
            &say!(
                "MontoDescuentooRecargo is not its percentage of the net amount of the lines it affects",
                "MontoDescuentooRecargo no es su porcentaje del monto neto de las líneas que afecta"
            ),
        );
    }
}

fn is_norma_1007(entry: &DescuentoORecargo) -> bool {
    entry.indicador_norma1007 == Some(IndicadorNorma1007::Si)
}

fn norma_1007_is_for_telecommunication(case: &Case<'_>, out: &mut Findings<'_>) {
    const TELECOMMUNICATION: [&str; 2] = ["002", "004"];
    let taxed = |item: &Item| {
        item.indicador_facturacion == Some(IndicadorFacturacion::Itbis1)
            && taxes(item).iter().any(|tax| TELECOMMUNICATION.contains(&tax.code()))
    };
    for (index, given) in entries(case).filter(|(_, entry)| is_norma_1007(entry)) {
        if given.tipo_ajuste.is_some_and(|kind| kind != TipoAjuste::Descuento) {
            let message = say!(
                "IndicadorNorma1007 is 1, so the entry is a discount",
                "IndicadorNorma1007 es 1, así que la entrada es un descuento"
            );
            out.differs(entry(index, "TipoAjuste"), "R", "D", message);
        }
        let indicator = given.indicador_facturacion_descuentoo_recargo;
        if let Some(indicator) = indicator.filter(|indicator| affected(*indicator) != IndicadorFacturacion::Itbis1) {
            let path = entry(index, "IndicadorFacturacionDescuentooRecargo");
            let message = say!(
                "IndicadorNorma1007 is 1, so the entry affects lines with IndicadorFacturacion 1",
                "IndicadorNorma1007 es 1, así que la entrada afecta las líneas con IndicadorFacturacion 1"
            );
            out.differs(path, indicator, 1, message);
        }
        if !case.lines.iter().any(taxed) {
            let message = say!(
                "IndicadorNorma1007 is 1, and no line at 18 % carries tax 002 or 004",
                "IndicadorNorma1007 es 1, y ninguna línea al 18 % lleva el impuesto 002 o 004"
            );
            out.wrong(entry(index, "IndicadorNorma1007"), message)
                .given(1)
                .expected("a line with IndicadorFacturacion 1 and taxes 002 and 004");
        }
    }
}

fn norma_1007_includes_the_itbis(case: &Case<'_>, out: &mut Findings<'_>) {
    let given = case.document.encabezado.id_doc.indicador_monto_gravado;
    if entries(case).any(|(_, entry)| is_norma_1007(entry)) && given == Some(IndicadorMontoGravado::SinItbis) {
        let message = say!(
            "a discount under Norma 10-07 is there, so amounts must include the ITBIS",
            "hay un descuento de la Norma 10-07, así que los montos deben incluir el ITBIS"
        );
        out.differs(id_doc("IndicadorMontoGravado"), 0, 1, message);
    }
}

fn norma_1007_is_one_or_absent(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, _) in entries(case).filter(|(_, entry)| entry.indicador_norma1007 == Some(IndicadorNorma1007::No)) {
        let message = say!(
            "IndicadorNorma1007 0 says nothing: it is 1 or left out, and is written as given",
            "IndicadorNorma1007 0 no dice nada: es 1 o se omite; se escribe como se recibió"
        );
        out.wrong(entry(index, "IndicadorNorma1007"), message)
            .given(0)
            .expected("1, or no such field");
    }
}
