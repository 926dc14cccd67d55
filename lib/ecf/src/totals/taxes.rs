//! The taxes other than the ITBIS, codes 001 to 039 (Informe Técnico §14, and the format's footnotes on
//! ImpuestosAdicionales).
//!
//! With `t` the rate of an ad valorem tax in percent and `s` the specific amount of the line, the official formula
//! `((PVP / 1.18 − s / (q × ref)) / (1 + t/100)) × t/100 × q × ref` equals `(PVP × q × ref − 1.18 × s) × t / (1.18 ×
//! (100 + t))`. In this form, sums over lines stay exact and each code needs one division.

use rust_decimal::Decimal;

use super::exact::{BULK_MARGIN, Exact as _, TooLarge, WITH_ITBIS1};
use super::problem::{Problem, line_path};
use super::setting::{Setting, is_bulk};
use super::sums::Gross;
use crate::catalogue::{ImpuestoClass, TipoImpuesto};
use crate::document::Item;

/// One tax of one line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LineTax {
    pub(super) tipo: TipoImpuesto,
    pub(super) rate: Decimal,
    pub(super) basis: Basis,
}

/// The base of a tax.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Basis {
    /// The amount of the line, less its share of global discounts.
    Line,
    /// The tax itself: volume or packets times rate.
    Specific(Decimal),
    /// The retail value, less 1.18 times the specific amount.
    Retail(Decimal),
    /// The raised price of bulk alcohol.
    Bulk(Decimal),
}

impl LineTax {
    /// The exact amount of an excise tax on this line. Taxes 001 to 005 are computed from the sum of the lines.
    pub(super) fn isc(&self) -> Result<Decimal, TooLarge> {
        match self.basis {
            Basis::Line => Ok(Decimal::ZERO),
            Basis::Specific(amount) => Ok(amount),
            Basis::Retail(value) => of_retail(value, self.rate),
            Basis::Bulk(value) => value.percent(self.rate),
        }
    }
}

/// `value × t / (1.18 × (100 + t))`.
fn of_retail(value: Decimal, rate: Decimal) -> Result<Decimal, TooLarge> {
    let divisor = rate.plus(Decimal::ONE_HUNDRED)?.times(WITH_ITBIS1)?;
    value.times(rate)?.over(divisor)
}

/// The taxes of a line that can be computed.
pub(super) fn of_line(
    index: usize,
    item: &Item,
    price_times_quantity: Decimal,
    setting: &Setting,
    problems: &mut Vec<Problem>,
) -> Result<Vec<LineTax>, TooLarge> {
    let mut taxes: Vec<LineTax> = Vec::new();
    let mut needs = Needs {
        index,
        item,
        setting,
        problems,
    };
    // Specific taxes come first, because ad valorem taxes depend on them.
    let (specific, others): (Vec<_>, Vec<_>) = setting.taxes_of(item).partition(|tipo| is_specific(*tipo));
    for tipo in specific.into_iter().chain(others) {
        let rate = setting.rate(tipo);
        let basis = match tipo.class() {
            ImpuestoClass::Otros => Some(Basis::Line),
            ImpuestoClass::EspecificoAlcohol if is_bulk(item) => None,
            ImpuestoClass::EspecificoAlcohol => needs.alcohol(tipo, rate)?,
            ImpuestoClass::EspecificoTabaco => needs.tobacco(tipo, rate)?,
            ImpuestoClass::AdValoremAlcohol if is_bulk(item) => {
                Some(Basis::Bulk(price_times_quantity.times(BULK_MARGIN)?))
            }
            ImpuestoClass::AdValoremAlcohol | ImpuestoClass::AdValoremTabaco => needs.retail(tipo, &taxes)?,
        };
        taxes.extend(basis.zip(rate).map(|(basis, rate)| LineTax { tipo, rate, basis }));
    }
    Ok(taxes)
}

fn is_specific(tipo: TipoImpuesto) -> bool {
    matches!(
        tipo.class(),
        ImpuestoClass::EspecificoAlcohol | ImpuestoClass::EspecificoTabaco
    )
}

/// Collects the fields that a tax needs from its line.
struct Needs<'n> {
    index: usize,
    item: &'n Item,
    setting: &'n Setting,
    problems: &'n mut Vec<Problem>,
}

impl Needs<'_> {
    /// The field; if it is missing, adds a problem that names the tax.
    fn need(&mut self, value: Option<Decimal>, field: &[&str], tipo_impuesto: TipoImpuesto) -> Option<Decimal> {
        if value.is_none() {
            let mut path = line_path(self.index, field[0]);
            path.extend(field[1..].iter().map(|&step| step.to_owned()));
            let told = Problem::MissingForTax { path, tipo_impuesto };
            self.problems.push(told);
        }
        value
    }

    /// CantidadReferencia × GradosAlcohol / 100 × rate × Subcantidad × quantity.
    fn alcohol(&mut self, tipo: TipoImpuesto, rate: Option<Decimal>) -> Result<Option<Basis>, TooLarge> {
        let item = self.item;
        let packets = self.packets_for(tipo)?;
        let mut contents = item.tabla_subcantidad.subcantidad_item.iter();
        let litres = contents
            .find_map(|content| content.subcantidad.as_ref())
            .map(|content| content.value());
        // Either the table is missing, or the amount in its first entry.
        let field = if item.tabla_subcantidad.subcantidad_item.is_empty() {
            &["TablaSubcantidad"][..]
        } else {
            &["TablaSubcantidad", "SubcantidadItem", "0", "Subcantidad"]
        };
        let litres = self.need(litres, field, tipo);
        let degrees = item.grados_alcohol.as_ref().map(|degrees| degrees.value());
        let degrees = self.need(degrees, &["GradosAlcohol"], tipo);
        let (Some(packets), Some(degrees), Some(litres), Some(rate)) = (packets, degrees, litres, rate) else {
            return Ok(None);
        };
        let amount = packets.times(litres)?.percent(degrees)?.times(rate)?;
        Ok(Some(Basis::Specific(amount)))
    }

    /// Quantity × CantidadReferencia × rate.
    fn tobacco(&mut self, tipo: TipoImpuesto, rate: Option<Decimal>) -> Result<Option<Basis>, TooLarge> {
        let (Some(packets), Some(rate)) = (self.packets_for(tipo)?, rate) else {
            return Ok(None);
        };
        Ok(Some(Basis::Specific(packets.times(rate)?)))
    }

    fn retail(&mut self, tipo: TipoImpuesto, taxes: &[LineTax]) -> Result<Option<Basis>, TooLarge> {
        let wanted = match tipo.class() {
            ImpuestoClass::AdValoremTabaco => ImpuestoClass::EspecificoTabaco,
            _ => ImpuestoClass::EspecificoAlcohol,
        };
        let price = self.item.precio_unitario_referencia.as_ref().map(|price| price.value());
        let price = self.need(price, &["PrecioUnitarioReferencia"], tipo);
        if !self.setting.taxes_of(self.item).any(|tipo| tipo.class() == wanted) {
            let path = line_path(self.index, "TablaImpuestoAdicional");
            self.problems.push(Problem::SpecificMissing {
                path,
                tipo_impuesto: tipo,
            });
            return Ok(None);
        }
        // A specific tax that could not be computed has its own problem, such as a missing CantidadReferencia.
        let specific = taxes.iter().find(|tax| tax.tipo.class() == wanted).map(|tax| tax.basis);
        let (Some(price), Some(packets), Some(Basis::Specific(amount))) = (price, self.packets()?, specific) else {
            return Ok(None);
        };
        // For tobacco the specific amount is rate × packets, so the same formula applies.
        let value = price.times(packets)?.minus(amount.times(WITH_ITBIS1)?)?;
        Ok(Some(Basis::Retail(value)))
    }

    /// The number of bottles or packets; a missing CantidadReferencia is reported.
    fn packets_for(&mut self, tipo: TipoImpuesto) -> Result<Option<Decimal>, TooLarge> {
        let reference = self
            .item
            .cantidad_referencia
            .as_ref()
            .map(|reference| reference.value());
        self.need(reference, &["CantidadReferencia"], tipo);
        self.packets()
    }

    /// Quantity × CantidadReferencia.
    fn packets(&self) -> Result<Option<Decimal>, TooLarge> {
        let factors = self
            .item
            .cantidad_item
            .as_ref()
            .zip(self.item.cantidad_referencia.as_ref());
        factors
            .map(|(quantity, reference)| quantity.value().times(reference.value()))
            .transpose()
    }
}

/// The sum of one tax over some lines.
#[derive(Debug, Clone)]
pub(super) struct TaxSum {
    pub(super) tipo: TipoImpuesto,
    pub(super) rate: Decimal,
    lines: Decimal,
    net: Gross,
    specific: Decimal,
    retail: Decimal,
    bulk: Decimal,
}

/// The effect of global discounts and surcharges on taxes 001 to 004: each line has a share in proportion to its
/// amount.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    /// Surcharges less discounts, of all groups.
    pub(super) adjustment: Decimal,
    /// The amount of all billed lines.
    pub(super) billable: Decimal,
}

impl TaxSum {
    pub(super) fn new(tipo: TipoImpuesto, rate: Decimal) -> Self {
        Self {
            tipo,
            rate,
            lines: Decimal::ZERO,
            net: Gross::default(),
            specific: Decimal::ZERO,
            retail: Decimal::ZERO,
            bulk: Decimal::ZERO,
        }
    }

    pub(super) fn add(&mut self, tax: &LineTax, line: Decimal, divisor: Decimal) -> Result<(), TooLarge> {
        match tax.basis {
            Basis::Line => {
                self.lines = self.lines.plus(line)?;
                self.net.add(line, divisor)?;
            }
            Basis::Specific(amount) => self.specific = self.specific.plus(amount)?,
            Basis::Retail(value) => self.retail = self.retail.plus(value)?,
            Basis::Bulk(value) => self.bulk = self.bulk.plus(value)?,
        }
        Ok(())
    }

    /// The exact amount of the tax.
    pub(super) fn exact(&self, shares: Shares) -> Result<Decimal, TooLarge> {
        match self.tipo.class() {
            // Code 005 uses neither division nor shares (format; the older Informe Técnico divides here too).
            ImpuestoClass::Otros if self.tipo.code() == "005" => self.lines.percent(self.rate),
            ImpuestoClass::Otros => {
                let share = if shares.billable.is_zero() || shares.adjustment.is_zero() {
                    Decimal::ZERO
                } else {
                    shares.adjustment.times(self.lines)?.over(shares.billable)?
                };
                self.net.exact()?.plus(share)?.percent(self.rate)
            }
            ImpuestoClass::EspecificoAlcohol | ImpuestoClass::EspecificoTabaco => Ok(self.specific),
            ImpuestoClass::AdValoremAlcohol | ImpuestoClass::AdValoremTabaco => {
                of_retail(self.retail, self.rate)?.plus(self.bulk.percent(self.rate)?)
            }
        }
    }
}
