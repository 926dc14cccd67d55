//! Arithmetic that detects overflow, and the constants of the formulas.

use rust_decimal::Decimal;

/// A result or an intermediate result has more digits than any amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// The four operations, none of which panics. Sixteen digits before the point and all decimals of a product of price,
/// quantity and percentage fit. Within the limits of the fields, only division loses digits.
pub(super) trait Exact: Sized {
    fn plus(self, other: Decimal) -> Result<Decimal, TooLarge>;
    fn minus(self, other: Decimal) -> Result<Decimal, TooLarge>;
    fn times(self, other: Decimal) -> Result<Decimal, TooLarge>;
    fn over(self, other: Decimal) -> Result<Decimal, TooLarge>;
    /// This percentage of the value.
    fn percent(self, percentage: Decimal) -> Result<Decimal, TooLarge>;
}

impl Exact for Decimal {
    fn plus(self, other: Decimal) -> Result<Decimal, TooLarge> {
        self.checked_add(other).ok_or(TooLarge)
    }

    fn minus(self, other: Decimal) -> Result<Decimal, TooLarge> {
        self.checked_sub(other).ok_or(TooLarge)
    }

    fn times(self, other: Decimal) -> Result<Decimal, TooLarge> {
        self.checked_mul(other).ok_or(TooLarge)
    }

    fn over(self, other: Decimal) -> Result<Decimal, TooLarge> {
        self.checked_div(other).ok_or(TooLarge)
    }

    fn percent(self, percentage: Decimal) -> Result<Decimal, TooLarge> {
        self.times(percentage)?.times(PERCENT)
    }
}

/// The sum of amounts.
pub(super) fn sum(amounts: impl IntoIterator<Item = Decimal>) -> Result<Decimal, TooLarge> {
    amounts.into_iter().try_fold(Decimal::ZERO, Exact::plus)
}

const fn hundredths(number: u32) -> Decimal {
    Decimal::from_parts(number, 0, 0, false, 2)
}

/// One hundredth.
pub(super) const PERCENT: Decimal = hundredths(1);
/// The divisor of a price that includes 18 % ITBIS.
pub(super) const WITH_ITBIS1: Decimal = hundredths(118);
/// The divisor of a price that includes 16 % ITBIS.
pub(super) const WITH_ITBIS2: Decimal = hundredths(116);
/// The general rate of the ITBIS, in percent.
pub(super) const ITBIS1: Decimal = hundredths(1_800);
/// The reduced rate of the ITBIS, in percent.
pub(super) const ITBIS2: Decimal = hundredths(1_600);
/// Bulk alcohol has no retail price. Instead, its price is raised by 30 %.
pub(super) const BULK_MARGIN: Decimal = hundredths(130);
