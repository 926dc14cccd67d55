//! The tolerance for given amounts (Informe Técnico §12). Beyond it the authority accepts a receipt only conditionally.

use rust_decimal::Decimal;

/// The largest accepted difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tolerance(Decimal);

impl Tolerance {
    /// For MontoItem compared with price times quantity, less discounts, plus surcharges: one peso.
    pub const LINE: Self = Self(Decimal::ONE);

    /// For amounts of the header compared with the computed ones: one peso for each line of DetallesItems.
    pub fn of_header(lines: usize) -> Self {
        Self(Decimal::from(lines))
    }

    /// The limit.
    pub fn limit(self) -> Decimal {
        self.0
    }

    /// Whether the difference of the two amounts is at most the limit.
    pub fn covers(self, given: Decimal, expected: Decimal) -> bool {
        given
            .checked_sub(expected)
            .is_some_and(|difference| difference.abs() <= self.0)
    }
}
