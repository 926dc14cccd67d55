//! The lines of a receipt or of a page, summed by group and by tax.

use rust_decimal::Decimal;

use super::exact::{Exact as _, TooLarge, sum};
use super::lines::LineAmounts;
use super::taxes::TaxSum;
use crate::catalogue::IndicadorFacturacion;

/// Amounts, summed separately for each divisor: one division of a sum is more exact than one division per line.
#[derive(Debug, Clone, Default)]
pub(super) struct Gross(Vec<(Decimal, Decimal)>);

impl Gross {
    pub(super) fn add(&mut self, amount: Decimal, divisor: Decimal) -> Result<(), TooLarge> {
        match self.0.iter_mut().find(|(known, _)| *known == divisor) {
            Some((_, sum)) => *sum = sum.plus(amount)?,
            None => self.0.push((divisor, amount)),
        }
        Ok(())
    }

    /// The sum without the taxes that prices include.
    pub(super) fn exact(&self) -> Result<Decimal, TooLarge> {
        self.0.iter().try_fold(Decimal::ZERO, |sum, (divisor, amount)| {
            let net = if divisor.is_integer() {
                *amount
            } else {
                amount.over(*divisor)?
            };
            sum.plus(net)
        })
    }

    /// The sum of the stated amounts.
    pub(super) fn stated(&self) -> Result<Decimal, TooLarge> {
        sum(self.0.iter().map(|(_, amount)| *amount))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The groups of a receipt: 0 is outside the invoice, 4 is exempt.
pub(super) const GROUPS: usize = 5;

/// The index of a group.
pub(super) const fn group_of(indicador: IndicadorFacturacion) -> usize {
    match indicador {
        IndicadorFacturacion::NoFacturable => 0,
        IndicadorFacturacion::Itbis1 => 1,
        IndicadorFacturacion::Itbis2 => 2,
        IndicadorFacturacion::Itbis3 => 3,
        IndicadorFacturacion::Exento => 4,
    }
}

/// The sums of some lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    pub(super) groups: [Gross; GROUPS],
    /// In the order of the codes.
    pub(super) taxes: Vec<TaxSum>,
}

impl Sums {
    pub(super) fn of(lines: &[LineAmounts]) -> Result<Self, TooLarge> {
        let mut sums = Self::default();
        for line in lines {
            sums.add(line)?;
        }
        Ok(sums)
    }

    fn add(&mut self, line: &LineAmounts) -> Result<(), TooLarge> {
        let Some(indicador) = line.indicador else { return Ok(()) };
        self.groups[group_of(indicador)].add(line.amount, line.divisor)?;
        for tax in &line.taxes {
            let place = match self.taxes.binary_search_by_key(&tax.tipo, |sum| sum.tipo) {
                Ok(place) => place,
                Err(place) => {
                    self.taxes.insert(place, TaxSum::new(tax.tipo, tax.rate));
                    place
                }
            };
            self.taxes[place].add(tax, line.amount, line.divisor_of_taxes)?;
        }
        Ok(())
    }

    /// The stated amounts of all billed lines.
    pub(super) fn billable(&self) -> Result<Decimal, TooLarge> {
        self.groups[1..]
            .iter()
            .try_fold(Decimal::ZERO, |sum, group| sum.plus(group.stated()?))
    }
}
