//! How amounts are printed: the digits of the document, with grouped thousands and at least two decimals.

use std::fmt::Display;

/// The amount with the digits of the document, without padding zeros: `02.1` is printed as `2.10` and `35.0000` as
/// `35.00`. Nothing is rounded.
pub(crate) fn amount(value: &dyn Display) -> String {
    grouped(&value.to_string(), 2)
}

/// A quantity or a percentage: as an amount, but without decimals that are all zero.
pub(crate) fn quantity(value: &dyn Display) -> String {
    grouped(&value.to_string(), 0)
}

fn grouped(text: &str, decimals: usize) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    let fraction = fraction.trim_end_matches('0');
    let decimals = if fraction.is_empty() { decimals } else { decimals.max(2) };
    if decimals > 0 {
        out.push('.');
        out.push_str(fraction);
        out.extend(std::iter::repeat_n('0', decimals.saturating_sub(fraction.len())));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stay_and_thousands_stand_apart() {
        for (given, expected) in [
            ("0", "0.00"),
            ("02.1", "2.10"),
            ("35.0000", "35.00"),
            ("1234.5678", "1,234.5678"),
            ("999999.99", "999,999.99"),
            ("9999999999999999.99", "9,999,999,999,999,999.99"),
            ("-1500", "-1,500.00"),
        ] {
            assert_eq!(amount(&given), expected, "{given}");
        }
    }

    #[test]
    fn quantities_carry_no_empty_decimals() {
        for (given, expected) in [("2", "2"), ("2.00", "2"), ("2.50", "2.50"), ("1000.125", "1,000.125")] {
            assert_eq!(quantity(&given), expected, "{given}");
        }
    }
}
