//! Percentages that were given as fractions.

use ecf_language::say;
use rust_decimal::Decimal;

use super::finding::{Path, at, line};
use super::{Case, Findings, Rule};
use crate::Porcentaje;
use crate::catalogue::TipoValor;

pub(super) const RULES: &[Rule] = &[Rule::notice(
    "PORCENTAJE-01",
    "format: percentages are written as 10.00 for ten percent",
    "a percentage is written in percent, not as a fraction of one",
    percentages_are_no_fractions,
)];

fn percentages_are_no_fractions(case: &Case<'_>, out: &mut Findings<'_>) {
    for (index, item) in case.lines.iter().enumerate() {
        let discounts = item.tabla_sub_descuento.sub_descuento.iter().enumerate();
        for (place, sub) in discounts {
            let steps = [
                "TablaSubDescuento",
                "SubDescuento",
                &place.to_string(),
                "SubDescuentoPorcentaje",
            ];
            report(sub.sub_descuento_porcentaje.as_ref(), || line(index, &steps), out);
        }
        let surcharges = item.tabla_sub_recargo.sub_recargo.iter().enumerate();
        for (place, sub) in surcharges {
            let steps = [
                "TablaSubRecargo",
                "SubRecargo",
                &place.to_string(),
                "SubRecargoPorcentaje",
            ];
            report(sub.sub_recargo_porcentaje.as_ref(), || line(index, &steps), out);
        }
        report(item.grados_alcohol.as_ref(), || line(index, &["GradosAlcohol"]), out);
    }
    let entries = case
        .document
        .descuentos_o_recargos
        .descuento_o_recargo
        .iter()
        .enumerate();
    for (index, entry) in entries.filter(|(_, entry)| entry.tipo_valor == Some(TipoValor::Porcentaje)) {
        let steps = [
            "DescuentosORecargos",
            "DescuentoORecargo",
            &index.to_string(),
            "ValorDescuentooRecargo",
        ];
        report(entry.valor_descuentoo_recargo.as_ref(), || at(&steps), out);
    }
}

fn report(given: Option<&Porcentaje>, path: impl FnOnce() -> Path, out: &mut Findings<'_>) {
    let is_fraction = |given: &Decimal| !given.is_zero() && *given < Decimal::ONE;
    if let Some(given) = given.map(Porcentaje::value).filter(is_fraction) {
        let percent = (given * Decimal::ONE_HUNDRED).normalize();
        let message = say!(
            "{given} is less than one percent: if {percent} percent is meant, write {percent}",
            "{given} es menos de uno por ciento: si se trata de {percent} por ciento, escriba {percent}"
        );
        out.wrong(path(), message).given(given).expected(percent.to_string());
    }
}
