//! Compares the totals with the lines.

use rust_decimal::Decimal;

use super::{
    Findings,
    amounts::{Receipt, cents, number, product, sum},
    taxes,
};
use crate::{structure, xml::Element};

const RATE_1: Decimal = Decimal::from_parts(18, 0, 0, false, 2);
const RATE_2: Decimal = Decimal::from_parts(16, 0, 0, false, 2);
/// Tolerance of a summary: one peso, because its lines are not known.
const SUMMARY_TOLERANCE: Decimal = Decimal::ONE;

/// Compares stated amounts with computed ones.
struct Comparison<'a> {
    findings: &'a mut Findings,
    tolerance: Decimal,
}

impl Comparison<'_> {
    /// A missing element is always an error. A difference within the tolerance is not.
    fn compare(&mut self, name: &str, stated: Option<Decimal>, computed: Decimal) {
        let computed = cents(computed);
        match stated {
            None if !computed.is_zero() => self.findings.error("0", format!("Falta {name}, calculado {computed}.")),
            Some(stated) if (stated - computed).abs() > self.tolerance => {
                self.findings
                    .remark(format!("{name} {stated} no coincide con el calculado {computed}."));
            }
            _ => {}
        }
    }
}

/// The tolerance of a document is one peso for each line.
pub(super) fn check(receipt: &Receipt<'_>, tipo: u8, findings: &mut Findings) -> Option<()> {
    check_within(receipt, tipo, Decimal::from(receipt.lines.len()), findings)
}

pub(super) fn check_within(receipt: &Receipt<'_>, tipo: u8, tolerance: Decimal, findings: &mut Findings) -> Option<()> {
    let additional = check_taxes(receipt, tolerance, findings)?;
    for (name, rate, base) in [
        ("ITBIS1", 18, "MontoGravadoI1"),
        ("ITBIS2", 16, "MontoGravadoI2"),
        ("ITBIS3", 0, "MontoGravadoI3"),
    ] {
        let stated = receipt.stated(name);
        if stated.is_some_and(|stated| stated != Decimal::from(rate))
            || (stated.is_none() && receipt.stated(base).is_some())
        {
            findings.error("0", format!("{name} debe ser {rate}."));
        }
    }
    let mut comparison = Comparison { findings, tolerance };
    let [gravado_1, gravado_2, gravado_3, exento] = bases(receipt)?;
    let gravado = sum([gravado_1, gravado_2, gravado_3])?;
    let itbis_1 = cents(product(&[gravado_1.checked_add(additional.selective)?, RATE_1])?);
    let itbis_2 = cents(product(&[gravado_2, RATE_2])?);
    let itbis = itbis_1.checked_add(itbis_2)?;
    let total = sum([cents(gravado), cents(exento), itbis, additional.all])?;
    let of_lines = |pick: fn(&super::amounts::Line<'_>) -> Option<Decimal>| sum(receipt.lines.iter().filter_map(pick));
    let not_billed = sum(receipt
        .lines
        .iter()
        .filter(|line| line.indicator == 0)
        .map(|line| line.amount))?;
    for (name, computed) in [
        ("MontoGravadoTotal", gravado),
        ("MontoGravadoI1", gravado_1),
        ("MontoGravadoI2", gravado_2),
        ("MontoGravadoI3", gravado_3),
        ("MontoExento", exento),
        ("TotalITBIS", itbis),
        ("TotalITBIS1", itbis_1),
        ("TotalITBIS2", itbis_2),
        ("TotalITBIS3", Decimal::ZERO),
        ("MontoImpuestoAdicional", additional.all),
        ("MontoTotal", total),
        ("MontoNoFacturable", not_billed),
        ("TotalITBISRetenido", of_lines(|line| line.itbis_retenido)?),
        ("TotalISRRetencion", of_lines(|line| line.isr_retenido)?),
    ] {
        // A type is only checked for totals that its format has: 41 has no MontoNoFacturable.
        if structure::is_allowed(name, tipo) {
            comparison.compare(name, receipt.stated(name), computed);
        }
    }
    Some(())
}

/// The net amounts of the groups 18 %, 16 %, 0 % and exempt, not rounded.
fn bases(receipt: &Receipt<'_>) -> Option<[Decimal; 4]> {
    let divisor = |indicator| match indicator {
        1 if receipt.includes_itbis => Decimal::ONE + RATE_1,
        2 if receipt.includes_itbis => Decimal::ONE + RATE_2,
        _ => Decimal::ONE,
    };
    let mut bases = [Decimal::ZERO; 4];
    for (base, indicator) in bases.iter_mut().zip(1u8..) {
        for line in receipt.lines.iter().filter(|line| line.indicator == indicator) {
            let net = if indicator == 1 && taxes::is_norma_1007(receipt, line) {
                taxes::base_of_norma_1007(receipt, line)?
            } else {
                line.amount.checked_div(divisor(indicator))?
            };
            *base = base.checked_add(net)?;
        }
        // Global entries are net amounts, so they are added after the division.
        let entries = receipt
            .entries
            .iter()
            .filter(|entry| entry.indicator == Some(indicator) && !entry.is_norma_1007);
        *base = base.checked_add(sum(entries.map(|entry| entry.signed()))?)?;
    }
    Some(bases)
}

#[derive(Debug, Default)]
struct Additional {
    all: Decimal,
    /// The selective taxes that enter the base of the ITBIS.
    selective: Decimal,
}

fn check_taxes(receipt: &Receipt<'_>, tolerance: Decimal, findings: &mut Findings) -> Option<Additional> {
    let mut additional = Additional::default();
    for code in receipt.lines.iter().flat_map(|line| &line.taxes) {
        if !receipt.taxes.iter().any(|tax| tax.code == *code) {
            findings.error(
                "0",
                format!("Falta el Tipo de Impuesto {code:03} en ImpuestosAdicionales."),
            );
        }
    }
    for tax in &receipt.taxes {
        let computed = cents(taxes::expected(receipt, tax)?);
        additional.all = additional.all.checked_add(computed)?;
        if taxes::is_selective(tax.code) {
            additional.selective = additional.selective.checked_add(computed)?;
        }
        let (name, stated) = taxes::stated(tax);
        let Some(stated) = stated else {
            if !computed.is_zero() {
                findings.error("0", format!("Falta {name} para el Tipo de Impuesto {:03}.", tax.code));
            }
            continue;
        };
        if (stated - computed).abs() <= tolerance {
            continue;
        }
        let text = format!(
            "{name} para el Tipo de Impuesto {:03} ({stated}) no coincide con el detalle de la factura ({computed}).",
            tax.code
        );
        // Seen in real verdicts: a wrong amount of the other taxes rejects; the tolerance rule covers selective taxes.
        if tax.code <= 5 {
            findings.error("0", text)
        } else {
            findings.remark(text)
        }
    }
    Some(additional)
}

/// A summary has no lines, so its totals are only compared with each other.
pub(super) fn check_summary(root: &Element, findings: &mut Findings) -> Option<()> {
    let totales = root.at(&["Encabezado", "Totales"])?;
    let stated = |name: &str| number(totales, name);
    let total_of = |names: &[&str]| sum(names.iter().filter_map(|name| stated(name)));
    let taxes = totales
        .get("ImpuestosAdicionales")
        .into_iter()
        .flat_map(|all| &all.children);
    let amounts = [
        "MontoImpuestoSelectivoConsumoEspecifico",
        "MontoImpuestoSelectivoConsumoAdvalorem",
    ];
    let (mut selective, mut additional) = (Decimal::ZERO, Decimal::ZERO);
    for tax in taxes {
        let of_tax = sum(amounts.iter().filter_map(|name| number(tax, name)))?;
        selective = selective.checked_add(of_tax)?;
        additional = sum([
            additional,
            of_tax,
            number(tax, "OtrosImpuestosAdicionales").unwrap_or_default(),
        ])?;
    }
    let itbis_1 = product(&[total_of(&["MontoGravadoI1"])?.checked_add(selective)?, RATE_1])?;
    let itbis_2 = product(&[total_of(&["MontoGravadoI2"])?, RATE_2])?;
    let gravado = total_of(&["MontoGravadoI1", "MontoGravadoI2", "MontoGravadoI3"])?;
    let itbis = total_of(&["TotalITBIS1", "TotalITBIS2", "TotalITBIS3"])?;
    let total = total_of(&[
        "MontoGravadoTotal",
        "MontoExento",
        "TotalITBIS",
        "MontoImpuestoAdicional",
    ])?;
    let mut comparison = Comparison {
        findings,
        tolerance: SUMMARY_TOLERANCE,
    };
    for (name, computed) in [
        ("MontoGravadoTotal", gravado),
        ("TotalITBIS1", itbis_1),
        ("TotalITBIS2", itbis_2),
        ("TotalITBIS", itbis),
        ("MontoImpuestoAdicional", additional),
        ("MontoTotal", total),
    ] {
        comparison.compare(name, stated(name), computed);
    }
    Some(())
}
