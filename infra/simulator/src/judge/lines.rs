//! Checks within one line.

use rust_decimal::Decimal;

use super::{
    Findings,
    amounts::{Adjustment, Line, Receipt, cents, product, sum},
    taxes,
};
use crate::structure;

/// Tolerance of a line: one peso.
const TOLERANCE: Decimal = Decimal::ONE;

pub(super) fn check(receipt: &Receipt<'_>, tipo: u8, findings: &mut Findings) -> Option<()> {
    for (index, line) in receipt.lines.iter().enumerate() {
        if line.number.parse() != Ok(index + 1) {
            findings.error("0", format!("NumeroLinea {} no es correlativo.", line.number));
        }
        check_indicator(line, tipo, findings);
        adjustment(line, &line.discount, "2020", "Descuento", findings)?;
        adjustment(line, &line.surcharge, "2030", "Recargo", findings)?;
        check_subquantities(line, tipo, findings);
        check_amount(line, findings)?;
    }
    Some(())
}

fn check_indicator(line: &Line<'_>, tipo: u8, findings: &mut Findings) {
    let only = match tipo {
        43 | 44 | 47 => Some(4),
        46 => Some(3),
        _ => None,
    };
    if only.is_some_and(|only| only != line.indicator) {
        findings.error(
            "0",
            format!(
                "IndicadorFacturacion {} de la línea {} no se admite en el tipo {tipo}.",
                line.indicator, line.number
            ),
        );
    }
}

/// The amount and its table must both be present, and the parts must add up to the amount.
fn adjustment(line: &Line<'_>, given: &Adjustment, codigo: &str, word: &str, findings: &mut Findings) -> Option<()> {
    let valid = match (&given.parts, given.amount) {
        (None, None) => true,
        (Some(parts), Some(amount)) => {
            let gross = product(&[line.price, line.quantity])?;
            let mut all_fit = true;
            for (percentage, part) in parts {
                let expected = match percentage {
                    // Every percentage applies to price × quantity; earlier discounts do not reduce its base.
                    Some(percentage) => Some(cents(product(&[gross, *percentage, Decimal::new(1, 2)])?)),
                    None => *part,
                };
                let differs = |(expected, part): (Decimal, Decimal)| (expected - part).abs() > TOLERANCE;
                all_fit &= part.is_some() && !expected.zip(*part).is_some_and(differs);
            }
            all_fit && sum(parts.iter().filter_map(|(_, part)| *part))? == amount
        }
        _ => false,
    };
    if !valid {
        findings.error(
            codigo,
            format!("TablaSub{word} / {word}Monto de la línea {} no es válido.", line.number),
        );
    }
    Some(())
}

fn check_subquantities(line: &Line<'_>, tipo: u8, findings: &mut Findings) {
    // Type 44 may have these taxes but has no subquantities.
    let has_table = structure::is_allowed("TablaSubcantidad", tipo);
    let needed =
        has_table && line.taxes.iter().any(|code| taxes::is_selective(*code)) && line.unit != Some(taxes::BULK);
    let valid = match &line.subquantities {
        Some(all) => all.iter().all(Option::is_some),
        None => !needed,
    };
    if !valid {
        findings.error(
            "2150",
            format!("TablaSubcantidad de la línea {} no es válida.", line.number),
        );
    }
}

fn check_amount(line: &Line<'_>, findings: &mut Findings) -> Option<()> {
    let gross = product(&[line.price, line.quantity])?;
    let less = line.discount.amount.unwrap_or_default();
    let expected = cents(sum([gross, -less, line.surcharge.amount.unwrap_or_default()])?);
    if (expected - line.amount).abs() > TOLERANCE {
        findings.remark(format!(
            "MontoItem {} de la línea {} no coincide con el calculado {expected}.",
            line.amount, line.number
        ));
    }
    Some(())
}
