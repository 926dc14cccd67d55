//! How far given amounts may be off (Informe Técnico §12). Beyond it the authority accepts a receipt only conditionally.

use rust_decimal::Decimal;

/// How far an amount may be off, the limit itself included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tolerance(Decimal);

impl Tolerance {
    /// Of MontoItem against price times quantity, less discounts, plus surcharges: one peso.
    pub const LINE: Self = Self(Decimal::ONE);

    /// Of the amounts of the header against the recomputed ones: one peso for each line of DetallesItems.
    pub fn of_header(lines: usize) -> Self {
        Self(Decimal::from(lines))
    }

    /// The limit.
    pub fn limit(self) -> Decimal {
        self.0
    }

    /// Whether the two amounts are no further apart than the limit.
    pub fn covers(self, given: Decimal, expected: Decimal) -> bool {
        given
            .checked_sub(expected)
            .is_some_and(|difference| difference.abs() <= self.0)
    }
}
