//! Decimals with a fixed scale per meaning, without floats and without silent rounding: a text with more digits than
//! the field allows is refused.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use ecf_language::{Bilingual, Say};
use rust_decimal::prelude::ToPrimitive as _;
use rust_decimal::{Decimal, RoundingStrategy};
use thiserror::Error;

/// How given amounts are written into the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Amounts {
    /// With the scale of the field: `10000` becomes `10000.00`.
    #[default]
    Scaled,
    /// As given, if the official schema allows it; certification compares the texts.
    Verbatim,
}

/// Why a text or a value does not fit a decimal field.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecimalError {
    /// Not a plain decimal number.
    #[error("{given:?} is not a decimal number such as 1234.50: digits, and a point before decimals")]
    NotANumber {
        /// The text as received.
        given: String,
    },
    /// An exponent or a word such as NaN: the output of a binary float.
    #[error("{given:?} is written as a float: write all digits, without an exponent")]
    Float {
        /// The text as received.
        given: String,
    },
    /// More decimals than the field allows.
    #[error("{given} has more than {scale} decimals; nothing is rounded here")]
    Decimals {
        /// The number as received.
        given: String,
        /// The decimals that the field allows.
        scale: u32,
    },
    /// More digits before the point than the field allows.
    #[error("{given} has more than {integers} digits before the point")]
    Integers {
        /// The number as received.
        given: String,
        /// The digits that the field allows.
        integers: u32,
    },
}

impl Say for DecimalError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::NotANumber { given } => {
                format!("{given:?} no es un número decimal como 1234.50: dígitos, y un punto antes de los decimales")
            }
            Self::Float { given } => {
                format!("{given:?} está escrito como punto flotante: escriba todos los dígitos, sin exponente")
            }
            Self::Decimals { given, scale } => {
                format!("{given} tiene más de {scale} decimales; aquí no se redondea nada")
            }
            Self::Integers { given, integers } => format!("{given} tiene más de {integers} dígitos antes del punto"),
        };
        Bilingual::of(self, spanish)
    }
}

/// The value of a decimal text, and whether the text differs from the printed value.
fn parse(text: &str, integers: u32, scale: u32, amounts: Amounts) -> Result<(Decimal, bool), DecimalError> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned
        .split_once('.')
        .map_or((unsigned, None), |(whole, rest)| (whole, Some(rest)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !fraction.is_none_or(digits) {
        let float = unsigned.bytes().next().is_some_and(|byte| byte.is_ascii_digit()) && unsigned.contains(['e', 'E'])
            || matches!(unsigned.to_ascii_lowercase().as_str(), "nan" | "inf" | "infinity");
        let given = text.to_owned();
        return Err(if float {
            DecimalError::Float { given }
        } else {
            DecimalError::NotANumber { given }
        });
    }
    // Padding zeros are not digits of the value. Verbatim text must match the schema's pattern, which counts them.
    let (whole, fraction) = match (amounts, fraction.unwrap_or_default()) {
        (Amounts::Scaled, fraction) => (whole.trim_start_matches('0'), fraction.trim_end_matches('0')),
        (Amounts::Verbatim, fraction) => (whole, fraction),
    };
    if fraction.len() > scale as usize {
        return Err(DecimalError::Decimals {
            given: text.to_owned(),
            scale,
        });
    }
    if whole.len() > integers as usize {
        return Err(DecimalError::Integers {
            given: text.to_owned(),
            integers,
        });
    }
    let padding = 10_i128.pow(scale - fraction.len() as u32);
    let mantissa = whole
        .bytes()
        .chain(fraction.bytes())
        .fold(0_i128, |sum, byte| sum * 10 + i128::from(byte - b'0'));
    let mantissa = if text.starts_with('-') { -mantissa } else { mantissa } * padding;
    let value = Decimal::from_i128_with_scale(mantissa, scale);
    Ok((value, amounts == Amounts::Verbatim && value.to_string() != text))
}

/// The value at the field's scale; refused if that would round or overflow.
fn fit(value: Decimal, integers: u32, scale: u32) -> Result<Decimal, DecimalError> {
    let mut scaled = value.normalize();
    if scaled.scale() > scale {
        return Err(DecimalError::Decimals {
            given: value.to_string(),
            scale,
        });
    }
    if scaled.abs() >= Decimal::from_i128_with_scale(10_i128.pow(integers), 0) {
        return Err(DecimalError::Integers {
            given: value.to_string(),
            integers,
        });
    }
    scaled.rescale(scale);
    Ok(scaled)
}

/// Rounds once, half up: the first dropped digit alone decides, and 5 or more adds one to the last digit that remains,
/// away from zero (Informe Técnico §13). Nothing else in this crate rounds, and nothing is rounded on the way to a
/// field.
pub(crate) fn rounded_half_up(exact: Decimal, scale: u32) -> Decimal {
    exact.round_dp_with_strategy(scale, RoundingStrategy::MidpointAwayFromZero)
}

/// A whole number of at most 96 bits.
const fn whole(number: u128) -> Decimal {
    Decimal::from_parts(number as u32, (number >> 32) as u32, (number >> 64) as u32, false, 0)
}

macro_rules! decimal_types {
    ($($(#[$meta:meta])* $Type:ident: $integers:literal digits, $scale:literal decimals;)+) => {$(
        $(#[$meta])*
        #[derive(Clone)]
        pub struct $Type {
            value: Decimal,
            given: Option<Box<str>>,
        }

        impl $Type {
            /// The maximum number of digits before the point.
            pub const INTEGERS: u32 = $integers;
            /// The number of decimals that are printed, which is also the maximum.
            pub const SCALE: u32 = $scale;

            /// Zero.
            pub fn zero() -> Self {
                Self { value: Decimal::new(0, $scale), given: None }
            }

            /// The exact value.
            pub fn value(&self) -> Decimal {
                self.value
            }

            /// A computed value, rounded half up to the scale of the field.
            ///
            /// # Errors
            ///
            /// When it has more digits before the point than the field allows.
            pub fn rounded(exact: Decimal) -> Result<Self, DecimalError> {
                const LIMIT: Decimal = whole(10_u128.pow($integers));
                let mut value = rounded_half_up(exact, $scale);
                if value.abs() >= LIMIT {
                    return Err(DecimalError::Integers { given: value.to_string(), integers: $integers });
                }
                value.rescale($scale);
                Ok(Self { value, given: None })
            }

            /// Parses a text; `Verbatim` keeps its spelling.
            ///
            /// # Errors
            ///
            /// When the text is not a plain decimal number, or has more digits than the field allows.
            pub fn parse(text: &str, amounts: Amounts) -> Result<Self, DecimalError> {
                let (value, keep) = parse(text, $integers, $scale, amounts)?;
                Ok(Self { value, given: keep.then(|| text.into()) })
            }
        }

        impl TryFrom<Decimal> for $Type {
            type Error = DecimalError;

            fn try_from(value: Decimal) -> Result<Self, Self::Error> {
                Ok(Self { value: fit(value, $integers, $scale)?, given: None })
            }
        }

        impl FromStr for $Type {
            type Err = DecimalError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text, Amounts::Scaled)
            }
        }

        impl fmt::Display for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match &self.given {
                    Some(given) => f.write_str(given),
                    None => self.value.fmt(f),
                }
            }
        }

        impl fmt::Debug for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($Type), "({})"), self)
            }
        }

        /// Values are compared, not spellings.
        impl PartialEq for $Type {
            fn eq(&self, other: &Self) -> bool {
                self.value == other.value
            }
        }

        impl Eq for $Type {}

        impl PartialOrd for $Type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $Type {
            fn cmp(&self, other: &Self) -> Ordering {
                self.value.cmp(&other.value)
            }
        }

        impl Hash for $Type {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.value.hash(state);
            }
        }

        text_serde!($Type);
    )+};
}

decimal_types! {
    /// An amount of money.
    Monto: 16 digits, 2 decimals;
    /// The number of units that are sold or packed.
    Cantidad: 16 digits, 2 decimals;
    /// A price per unit.
    Precio: 16 digits, 4 decimals;
    /// The content of one unit: litres, or cigarettes of a packet.
    Subcantidad: 16 digits, 3 decimals;
    /// The weight of a mineral.
    Peso: 16 digits, 3 decimals;
    /// A percentage, a degree of alcohol, or the rate of an additional tax.
    Porcentaje: 3 digits, 2 decimals;
    /// Dominican pesos for one unit of another currency.
    TipoCambio: 3 digits, 4 decimals;
}

impl Monto {
    /// The amount as the summary's schema requires it: without decimals or with exactly two.
    pub(crate) fn with_no_or_two_decimals(&self) -> Self {
        let one_decimal = self
            .given
            .as_deref()
            .and_then(|given| given.split_once('.'))
            .is_some_and(|(_, rest)| rest.len() == 1);
        Self {
            value: self.value,
            given: if one_decimal { None } else { self.given.clone() },
        }
    }

    /// The amount in centavos; 0 if it is negative.
    pub fn centavos(&self) -> u128 {
        let centavos = self.value.checked_mul(Decimal::ONE_HUNDRED);
        centavos.and_then(|centavos| centavos.to_u128()).unwrap_or_default()
    }

    /// The amount with exactly two decimals.
    pub(crate) fn with_two_decimals(&self) -> Self {
        Self {
            value: self.value,
            given: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_scaled_amount_prints_with_the_scale_of_its_field() {
        for given in ["10000", "10000.0", "10000.00", "010000.000"] {
            assert_eq!(given.parse::<Monto>().unwrap().to_string(), "10000.00", "{given}");
        }
        assert_eq!("0.5".parse::<Precio>().unwrap().to_string(), "0.5000");
        assert_eq!("-3".parse::<Monto>().unwrap().to_string(), "-3.00");
        assert_eq!("-0.00".parse::<Monto>().unwrap().to_string(), "0.00");
    }

    #[test]
    fn a_verbatim_amount_is_written_as_given_when_the_schema_allows_it() {
        for given in ["35.0000", "1", "1.5", "02.11"] {
            assert_eq!(Precio::parse(given, Amounts::Verbatim).unwrap().to_string(), given);
        }
        assert!(matches!(
            Monto::parse("35.0000", Amounts::Verbatim),
            Err(DecimalError::Decimals { .. })
        ));
        assert_eq!(Monto::parse("1", Amounts::Verbatim).unwrap(), "1.00".parse().unwrap());
    }

    #[test]
    fn too_many_digits_are_refused_and_not_rounded() {
        assert!(matches!(
            "82.60000000000001".parse::<Monto>(),
            Err(DecimalError::Decimals { scale: 2, .. })
        ));
        assert!("9999999999999999.99".parse::<Monto>().is_ok());
        assert!(matches!(
            "10000000000000000".parse::<Monto>(),
            Err(DecimalError::Integers { integers: 16, .. })
        ));
        assert!(matches!(
            "1000".parse::<Porcentaje>(),
            Err(DecimalError::Integers { integers: 3, .. })
        ));
        assert!(Monto::try_from(Decimal::new(12345, 3)).is_err());
        assert_eq!(Monto::try_from(Decimal::new(12340, 3)).unwrap().to_string(), "12.34");
    }

    #[test]
    fn computed_values_are_rounded_half_up_away_from_zero() {
        for (mantissa, scale, expected) in [
            (10_005, 3, "10.01"),
            (2_205, 3, "2.21"),
            (2_204_999, 6, "2.20"),
            (-1_005, 3, "-1.01"),
            (5, 0, "5.00"),
        ] {
            let rounded = Monto::rounded(Decimal::new(mantissa, scale)).unwrap();
            assert_eq!(rounded.to_string(), expected);
        }
        assert_eq!(Precio::rounded(Decimal::new(123_455, 5)).unwrap().to_string(), "1.2346");
        let limit = Decimal::from_i128_with_scale(10_i128.pow(16), 0);
        assert!(matches!(
            Monto::rounded(limit),
            Err(DecimalError::Integers { integers: 16, .. })
        ));
        assert!(Monto::rounded(Decimal::MAX).is_err() && Monto::rounded(Decimal::MIN).is_err());
    }

    #[test]
    fn what_floats_print_is_refused() {
        for given in ["1e3", "1.5E-2", "NaN", "inf"] {
            assert!(
                matches!(given.parse::<Monto>(), Err(DecimalError::Float { .. })),
                "{given}"
            );
        }
        for given in ["", ".5", "5.", "1,000.00", "1.000,00", "1 000", "--1", "RD$5", "٥"] {
            assert!(
                matches!(given.parse::<Monto>(), Err(DecimalError::NotANumber { .. })),
                "{given}"
            );
        }
    }

    #[test]
    fn a_summary_has_no_decimals_or_two_and_an_approval_always_two() {
        for (given, in_summary) in [("10", "10"), ("10.5", "10.50"), ("10.50", "10.50")] {
            let amount = Monto::parse(given, Amounts::Verbatim).unwrap();
            assert_eq!(amount.with_no_or_two_decimals().to_string(), in_summary);
            assert_eq!(amount.with_two_decimals().value(), amount.value());
        }
        assert_eq!(
            Monto::parse("10", Amounts::Verbatim)
                .unwrap()
                .with_two_decimals()
                .to_string(),
            "10.00"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_never_panics(text in "[-+0-9.eE,]{0,40}") {
            for amounts in [Amounts::Scaled, Amounts::Verbatim] {
                let _ = Monto::parse(&text, amounts);
                let _ = TipoCambio::parse(&text, amounts);
            }
        }

        #[test]
        fn every_value_is_read_back_from_its_text(cents in -1_000_000_000_000_i64..1_000_000_000_000) {
            let amount = Monto::try_from(Decimal::new(cents, 2)).unwrap();
            prop_assert_eq!(amount.to_string().parse::<Monto>(), Ok(amount));
        }
    }
}
