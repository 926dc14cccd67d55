//! The taxpayer number: RNC (9 digits) of a company or cédula (11 digits) of a person.

use std::fmt;
use std::str::FromStr;

use ecf_language::{Bilingual, Say};
use thiserror::Error;

/// A taxpayer number of 9 or 11 digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rnc(Box<str>);

/// A text that is not a taxpayer number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{given:?} is not an RNC: 9 digits, or 11 for a cédula, were expected")]
pub struct RncError {
    /// The text as received.
    pub given: String,
}

impl Say for RncError {
    fn say(&self) -> Bilingual {
        Bilingual::of(
            self,
            format!(
                "{:?} no es un RNC: se esperaban 9 dígitos, u 11 de una cédula",
                self.given
            ),
        )
    }
}

impl Rnc {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the check digit is correct. Some numbers in use fail, so this is a hint and not an error.
    pub fn check_digit_ok(&self) -> bool {
        let digits: Vec<u32> = self.0.bytes().map(|digit| u32::from(digit - b'0')).collect();
        let Some((check, body)) = digits.split_last() else {
            return false;
        };
        let expected = if body.len() == 8 {
            company_check_digit(body)
        } else {
            luhn_check_digit(body)
        };
        *check == expected
    }
}

impl Rnc {
    /// Whether the digits are a placeholder for a missing number: all equal, or counting up or down.
    pub fn is_filler(&self) -> bool {
        let mut steps = self.0.as_bytes().windows(2).map(|pair| (pair[1] + 10 - pair[0]) % 10);
        let first = steps.next();
        matches!(first, Some(0 | 1 | 9)) && steps.all(|step| Some(step) == first)
    }
}

fn company_check_digit(body: &[u32]) -> u32 {
    const WEIGHTS: [u32; 8] = [7, 9, 8, 6, 5, 4, 3, 2];
    let sum: u32 = body.iter().zip(WEIGHTS).map(|(digit, weight)| digit * weight).sum();
    (10 - sum % 11) % 9 + 1
}

fn luhn_check_digit(body: &[u32]) -> u32 {
    let sum: u32 = body
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            if place % 2 == 0 {
                digit * 2 / 10 + digit * 2 % 10
            } else {
                *digit
            }
        })
        .sum();
    (10 - sum % 10) % 10
}

impl FromStr for Rnc {
    type Err = RncError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if matches!(text.len(), 9 | 11) && text.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(text.into()))
        } else {
            Err(RncError { given: text.to_owned() })
        }
    }
}

impl fmt::Display for Rnc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Rnc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rnc({})", self.0)
    }
}

text_serde!(Rnc);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_or_eleven_digits_are_a_taxpayer_number() {
        for good in ["130000001", "00113918205"] {
            assert_eq!(good.parse::<Rnc>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "13000000",
            "1300000012",
            "13000000A",
            "1-30-00001-2",
            "١٢٣٤٥٦٧٨٩",
            " 130000001",
        ] {
            assert!(bad.parse::<Rnc>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn c9_fillers_are_known() {
        for filler in [
            "222222222",
            "00000000000",
            "123456789",
            "12345678901",
            "987654321",
            "01234567890",
        ] {
            assert!(filler.parse::<Rnc>().unwrap().is_filler(), "{filler}");
        }
        for real in ["130000001", "101010632", "00113918205", "101010101", "111111112"] {
            assert!(!real.parse::<Rnc>().unwrap().is_filler(), "{real}");
        }
    }

    #[test]
    fn the_check_digit_follows_the_rule_of_companies_and_of_persons() {
        for good in [
            "199000013",
            "199000021",
            "198000012",
            "198000029",
            "499000014",
            "101010632",
        ] {
            assert!(good.parse::<Rnc>().unwrap().check_digit_ok(), "{good}");
        }
        assert!(!"199000014".parse::<Rnc>().unwrap().check_digit_ok());
        assert!("00113918205".parse::<Rnc>().unwrap().check_digit_ok());
        assert!(!"00113918204".parse::<Rnc>().unwrap().check_digit_ok());
    }
}
