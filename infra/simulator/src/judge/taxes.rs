//! Additional taxes: the expected amount of each code, computed from the lines that carry it.

use rust_decimal::Decimal;

use super::amounts::{Line, Receipt, StatedTax, product, sum};

/// The unit of alcohol in bulk: it pays no specific tax, and its ad valorem tax is computed differently.
pub(super) const BULK: &str = "18";
const HUNDREDTH: Decimal = Decimal::from_parts(1, 0, 0, false, 2);
const WITH_ITBIS: Decimal = Decimal::from_parts(118, 0, 0, false, 2);
const BULK_MARGIN: Decimal = Decimal::from_parts(130, 0, 0, false, 2);
/// A specific code plus this offset is the ad valorem code of the same goods.
const AD_VALOREM_OFFSET: u8 = 17;

/// Whether a code is a selective tax on alcohol or tobacco. These taxes enter the base of the ITBIS.
pub(super) fn is_selective(code: u8) -> bool {
    (6..=39).contains(&code)
}

/// The element that states a code's amount.
pub(super) fn stated(tax: &StatedTax) -> (&'static str, Option<Decimal>) {
    match tax.code {
        1..=5 => ("OtrosImpuestosAdicionales", tax.other),
        6..=22 => ("MontoImpuestoSelectivoConsumoEspecifico", tax.specific),
        _ => ("MontoImpuestoSelectivoConsumoAdvalorem", tax.ad_valorem),
    }
}

/// The unrounded amount of a code, at the rate that the document states for it.
pub(super) fn expected(receipt: &Receipt<'_>, tax: &StatedTax) -> Option<Decimal> {
    let with_code = receipt.lines.iter().filter(|line| line.taxes.contains(&tax.code));
    match tax.code {
        1..=5 => {
            let global = Global::of(receipt)?;
            let bases = with_code.map(|line| base_of_other(receipt, &global, line, tax.code));
            let base = sum(bases.collect::<Option<Vec<_>>>()?)?;
            product(&[base, tax.rate, HUNDREDTH])
        }
        6..=22 => sum(with_code.map(|line| specific(line, tax)).collect::<Option<Vec<_>>>()?),
        _ => sum(with_code
            .map(|line| ad_valorem(receipt, line, tax))
            .collect::<Option<Vec<_>>>()?),
    }
}

/// The base of a telecommunication line under Norma 10-07, whose price includes ITBIS and both taxes.
pub(super) fn base_of_norma_1007(receipt: &Receipt<'_>, line: &Line<'_>) -> Option<Decimal> {
    let rates = receipt
        .taxes
        .iter()
        .filter(|tax| matches!(tax.code, 2 | 4) && line.taxes.contains(&tax.code));
    let all = sum(rates.map(|tax| tax.rate))?.checked_mul(HUNDREDTH)?;
    line.amount.checked_div(WITH_ITBIS.checked_add(all)?)
}

/// Whether a line falls under Norma 10-07.
pub(super) fn is_norma_1007(receipt: &Receipt<'_>, line: &Line<'_>) -> bool {
    receipt.entries.iter().any(|entry| entry.is_norma_1007) && line.taxes.iter().any(|code| matches!(code, 2 | 4))
}

/// Distributes global discounts and surcharges over all billed lines, in proportion to their amounts.
struct Global {
    adjustment: Decimal,
    billed: Decimal,
}

impl Global {
    fn of(receipt: &Receipt<'_>) -> Option<Self> {
        let entries = receipt.entries.iter().filter(|entry| !entry.is_norma_1007);
        let billed = receipt.lines.iter().filter(|line| line.indicator != 0);
        Some(Self {
            adjustment: sum(entries.map(|entry| entry.signed()))?,
            billed: sum(billed.map(|line| line.amount))?,
        })
    }

    fn share(&self, line: &Line<'_>) -> Option<Decimal> {
        if self.billed.is_zero() {
            return Some(Decimal::ZERO);
        }
        product(&[self.adjustment, line.amount])?.checked_div(self.billed)
    }
}

fn base_of_other(receipt: &Receipt<'_>, global: &Global, line: &Line<'_>, code: u8) -> Option<Decimal> {
    // The tax on first plates ignores global entries, and its base includes the ITBIS of the price.
    if code == 5 {
        return Some(line.amount);
    }
    if is_norma_1007(receipt, line) && matches!(code, 2 | 4) {
        return base_of_norma_1007(receipt, line);
    }
    let net = if receipt.includes_itbis {
        line.amount.checked_div(WITH_ITBIS)?
    } else {
        line.amount
    };
    net.checked_add(global.share(line)?)
}

fn specific(line: &Line<'_>, tax: &StatedTax) -> Option<Decimal> {
    let units = line.reference_quantity.unwrap_or_default();
    match tax.code {
        6..=18 if line.unit == Some(BULK) => Some(Decimal::ZERO),
        6..=18 => {
            let litres = sum(line.subquantities.iter().flatten().flatten().copied())?;
            let alcohol = product(&[line.degrees.unwrap_or_default(), HUNDREDTH])?;
            product(&[units, alcohol, litres, line.quantity, tax.rate])
        }
        _ => product(&[line.quantity, units, tax.rate]),
    }
}

fn ad_valorem(receipt: &Receipt<'_>, line: &Line<'_>, tax: &StatedTax) -> Option<Decimal> {
    let rate = tax.rate.checked_mul(HUNDREDTH)?;
    if line.unit == Some(BULK) {
        return product(&[line.price, BULK_MARGIN, rate, line.quantity]);
    }
    let sold = product(&[line.quantity, line.reference_quantity.unwrap_or_default()])?;
    if sold.is_zero() {
        return Some(Decimal::ZERO);
    }
    let twin = receipt
        .taxes
        .iter()
        .find(|one| one.code + AD_VALOREM_OFFSET == tax.code);
    let per_unit = match twin {
        None => Decimal::ZERO,
        Some(twin) if twin.code >= 19 => twin.rate,
        Some(twin) => specific(line, twin)?.checked_div(sold)?,
    };
    let retail = line.reference_price.unwrap_or_default().checked_div(WITH_ITBIS)?;
    let before_tax = retail
        .checked_sub(per_unit)?
        .checked_div(Decimal::ONE.checked_add(rate)?)?;
    product(&[before_tax, rate, sold])
}
