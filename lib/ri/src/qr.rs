//! The QR code of the stamp.

use qrcodegen::{QrCode, QrCodeEcc, QrSegment, Version};

use crate::RiError;
use crate::sheet::MM;

/// The authority requires version 8. Most URLs need a larger one; then the smallest that fits is used.
const SMALLEST: u8 = 8;
/// The authority requires at least 22 mm.
const SMALLEST_SIDE: f32 = 22.0 * MM;

/// A QR code, as a grid of modules.
pub(crate) struct Symbol {
    code: QrCode,
}

impl Symbol {
    /// Encodes a URL. Error correction restores 15 % of damage, or more where that does not enlarge the symbol.
    pub(crate) fn of(address: &str) -> Result<Self, RiError> {
        let segment = QrSegment::make_bytes(address.as_bytes());
        let code = QrCode::encode_segments_advanced(
            &[segment],
            QrCodeEcc::Medium,
            Version::new(SMALLEST),
            Version::MAX,
            None,
            true,
        );
        let code = code.map_err(|_| RiError::AddressTooLong { bytes: address.len() })?;
        Ok(Self { code })
    }

    /// The number of modules on each side.
    pub(crate) fn modules(&self) -> i32 {
        self.code.size()
    }

    /// The side length on a printer with dots of this size. A module is a whole number of dots: modules of uneven size
    /// are hard to scan.
    pub(crate) fn side(&self, dot: f32) -> f32 {
        let modules = self.modules() as f32;
        (SMALLEST_SIDE / (modules * dot)).ceil() * dot * modules
    }

    /// The dark modules as runs: row, first column, length. Drawing each run as one rectangle avoids hairlines between
    /// its modules.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (i32, i32, i32)> + '_ {
        (0..self.modules()).flat_map(move |row| {
            let mut column = 0;
            std::iter::from_fn(move || {
                while column < self.modules() && !self.code.get_module(column, row) {
                    column += 1;
                }
                let start = column;
                while column < self.modules() && self.code.get_module(column, row) {
                    column += 1;
                }
                (column > start).then_some((row, start, column - start))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_address_takes_version_8_and_a_long_one_the_smallest_that_holds_it() {
        assert_eq!(Symbol::of("https://example.org").unwrap().modules(), 49);
        assert_eq!(Symbol::of(&"x".repeat(152)).unwrap().modules(), 49);
        assert_eq!(Symbol::of(&"x".repeat(153)).unwrap().modules(), 53);
        assert!(matches!(
            Symbol::of(&"x".repeat(3_000)),
            Err(RiError::AddressTooLong { bytes: 3_000 })
        ));
    }

    #[test]
    fn a_module_is_a_whole_number_of_dots_and_the_symbol_is_large_enough() {
        for length in [20, 160, 190, 230, 260, 300] {
            let symbol = Symbol::of(&"x".repeat(length)).unwrap();
            for dot in [MM / 8.0, 72.0 / 300.0] {
                let side = symbol.side(dot);
                let dots = side / symbol.modules() as f32 / dot;
                assert!(
                    (dots - dots.round()).abs() < 0.001 && side >= 22.0 * MM,
                    "{length}: {dots}"
                );
                assert!(side < 31.0 * MM, "{length}: {side}");
            }
        }
    }

    #[test]
    fn runs_cover_exactly_the_dark_modules() {
        let symbol = Symbol::of("https://example.org").unwrap();
        let dark: i32 = symbol.runs().map(|(_, _, length)| length).sum();
        let expected = (0..49)
            .flat_map(|y| (0..49).map(move |x| (x, y)))
            .filter(|(x, y)| symbol.code.get_module(*x, *y))
            .count();
        assert_eq!(dark as usize, expected);
    }
}
