//! Receipt numbers: the electronic number (e-NCF), and any number that a note may refer to.

use std::fmt;
use std::str::FromStr;

use ecf_language::{Bilingual, Say};
use thiserror::Error;

use crate::ReceiptType;

/// An electronic receipt number: `E`, the type, a sequence of ten digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Encf {
    receipt_type: ReceiptType,
    sequence: u64,
}

/// Why a text or a sequence is not an e-NCF.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncfError {
    /// Not `E` and twelve digits.
    #[error("{given:?} is not an e-NCF: E and twelve digits were expected, such as E310000000001")]
    Shape {
        /// The text as received.
        given: String,
    },
    /// The two digits after the letter are not a known type.
    #[error("{given:?} is not an e-NCF: {code} after the E is not one of 31, 32, 33, 34, 41, 43, 44, 45, 46, 47")]
    UnknownType {
        /// The text as received.
        given: String,
        /// The two digits.
        code: String,
    },
    /// The sequence is 0 or has more than ten digits.
    #[error("sequence {sequence} is outside 1 to {}", Encf::MAX_SEQUENCE)]
    Sequence {
        /// The sequence as received.
        sequence: u64,
    },
}

impl Say for EncfError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Shape { given } => {
                format!("{given:?} no es un e-NCF: se esperaba E y doce dígitos, por ejemplo E310000000001")
            }
            Self::UnknownType { given, code } => format!(
                "{given:?} no es un e-NCF: {code} después de la E no es uno de 31, 32, 33, 34, 41, 43, 44, 45, 46, 47"
            ),
            Self::Sequence { sequence } => format!("la secuencia {sequence} está fuera de 1 a {}", Encf::MAX_SEQUENCE),
        };
        Bilingual::of(self, spanish)
    }
}

impl Encf {
    /// The largest sequence of ten digits.
    pub const MAX_SEQUENCE: u64 = 9_999_999_999;

    /// The number with this type and sequence.
    ///
    /// # Errors
    ///
    /// When the sequence is 0 or has more than ten digits.
    pub fn new(receipt_type: ReceiptType, sequence: u64) -> Result<Self, EncfError> {
        if (1..=Self::MAX_SEQUENCE).contains(&sequence) {
            Ok(Self { receipt_type, sequence })
        } else {
            Err(EncfError::Sequence { sequence })
        }
    }

    /// The type, digits two and three.
    pub const fn receipt_type(&self) -> ReceiptType {
        self.receipt_type
    }

    /// The last ten digits.
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }
}

impl FromStr for Encf {
    type Err = EncfError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let shape = || EncfError::Shape { given: text.to_owned() };
        let digits = text.strip_prefix(['E', 'e']).ok_or_else(shape)?;
        if digits.len() != 12 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(shape());
        }
        let (code, sequence) = digits.split_at(2);
        let receipt_type = code.parse().map_err(|_| EncfError::UnknownType {
            given: text.to_owned(),
            code: code.to_owned(),
        })?;
        Self::new(receipt_type, sequence.parse().map_err(|_| shape())?)
    }
}

impl fmt::Display for Encf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{}{:010}", self.receipt_type, self.sequence)
    }
}

impl fmt::Debug for Encf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encf({self})")
    }
}

/// The number of a receipt that another one modifies or replaces: electronic, or paper of series B, A or P.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Ncf(Box<str>);

/// A text that is not a receipt number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{given:?} is not a receipt number: an e-NCF of 13 characters, a series B number of 11 or a series A or P number of 19 was expected"
)]
pub struct NcfError {
    /// The text as received.
    pub given: String,
}

impl Say for NcfError {
    fn say(&self) -> Bilingual {
        Bilingual::of(
            self,
            format!(
                "{:?} no es un número de comprobante: se esperaba un e-NCF de 13 caracteres, un número de serie B de 11 o uno \
             de serie A o P de 19",
                self.given
            ),
        )
    }
}

impl Ncf {
    /// The number in upper case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number as an e-NCF; `None` for a paper receipt.
    pub fn encf(&self) -> Option<Encf> {
        self.0.parse().ok()
    }
}

impl From<Encf> for Ncf {
    fn from(encf: Encf) -> Self {
        Self(encf.to_string().into())
    }
}

impl FromStr for Ncf {
    type Err = NcfError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let upper = text.to_ascii_uppercase();
        let paper_length = match upper.as_bytes().first() {
            Some(b'B') => 11,
            Some(b'A' | b'P') => 19,
            _ => 0,
        };
        let paper = upper.len() == paper_length && upper.bytes().skip(1).all(|byte| byte.is_ascii_digit());
        if paper || upper.parse::<Encf>().is_ok() {
            Ok(Self(upper.into()))
        } else {
            Err(NcfError { given: text.to_owned() })
        }
    }
}

impl fmt::Display for Ncf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Ncf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ncf({})", self.0)
    }
}

text_serde!(Encf, Ncf);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_are_read_in_any_case_and_printed_in_upper() {
        let encf: Encf = "e310000000042".parse().unwrap();
        assert_eq!((encf.receipt_type(), encf.sequence()), (ReceiptType::E31, 42));
        assert_eq!(encf.to_string(), "E310000000042");
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_reason() {
        for bad in [
            "",
            "E31",
            "B0100000001",
            "E31000000000A",
            "E3100000000011",
            "É10000000001",
        ] {
            assert!(matches!(bad.parse::<Encf>(), Err(EncfError::Shape { .. })), "{bad:?}");
        }
        assert!(matches!(
            "E990000000001".parse::<Encf>(),
            Err(EncfError::UnknownType { .. })
        ));
        assert!(matches!(
            "E310000000000".parse::<Encf>(),
            Err(EncfError::Sequence { sequence: 0 })
        ));
        assert!(Encf::new(ReceiptType::E31, 10_000_000_000).is_err());
    }

    #[test]
    fn a_note_may_refer_to_paper() {
        for good in [
            "E310000000001",
            "B0100000001",
            "A010010010100000001",
            "P010010010100000001",
        ] {
            assert_eq!(good.to_lowercase().parse::<Ncf>().unwrap().as_str(), good);
        }
        for bad in ["B010000001", "E310000000000", "C0100000001", "B01000000012345"] {
            assert!(bad.parse::<Ncf>().is_err(), "{bad:?}");
        }
        assert_eq!("B0100000001".parse::<Ncf>().unwrap().encf(), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_never_panics(text in "\\PC{0,20}") {
            let _ = text.parse::<Encf>();
            let _ = text.parse::<Ncf>();
        }

        #[test]
        fn every_number_is_read_back_from_its_text(kind in 0..10usize, sequence in 1..=Encf::MAX_SEQUENCE) {
            let encf = Encf::new(ReceiptType::ALL[kind], sequence).unwrap();
            prop_assert_eq!(encf.to_string().parse(), Ok(encf));
        }
    }
}
