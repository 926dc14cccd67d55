//! The ten types of electronic receipt.

use std::fmt;
use std::str::FromStr;

use ecf_language::{Bilingual, Say, say};
use thiserror::Error;

/// The type of a receipt, printed as its two-digit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each variant is its code; `title` says the words")]
pub enum ReceiptType {
    E31,
    E32,
    E33,
    E34,
    E41,
    E43,
    E44,
    E45,
    E46,
    E47,
}

/// A code that is not one of the ten.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("ecf type {given:?} {}", what_to_write(given).en)]
pub struct UnknownReceiptType {
    /// The text as received.
    pub given: String,
}

impl Say for UnknownReceiptType {
    fn say(&self) -> Bilingual {
        Bilingual::of(
            self,
            format!("el tipo de e-CF {:?} {}", self.given, what_to_write(&self.given).es),
        )
    }
}

/// The type that is meant, or a list of all types with their names.
fn what_to_write(given: &str) -> Bilingual {
    let named = |receipt_type: ReceiptType| format!("{receipt_type} ({})", receipt_type.title());
    match ReceiptType::meant_by(given) {
        Some(meant) => say!(
            "is not one of the ten: write {}",
            "no es uno de los diez: escriba {}",
            named(meant)
        ),
        None => say!(
            "is not one of {}",
            "no es uno de {}",
            ReceiptType::ALL.map(named).join(", ")
        ),
    }
}

impl ReceiptType {
    /// All types, in the order of their codes and of the columns of the field declarations.
    pub const ALL: [Self; 10] = [
        Self::E31,
        Self::E32,
        Self::E33,
        Self::E34,
        Self::E41,
        Self::E43,
        Self::E44,
        Self::E45,
        Self::E46,
        Self::E47,
    ];

    /// The two-digit code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::E31 => "31",
            Self::E32 => "32",
            Self::E33 => "33",
            Self::E34 => "34",
            Self::E41 => "41",
            Self::E43 => "43",
            Self::E44 => "44",
            Self::E45 => "45",
            Self::E46 => "46",
            Self::E47 => "47",
        }
    }

    /// The title for print, as worded in the format of October 2025.
    pub const fn title(self) -> &'static str {
        match self {
            Self::E31 => "Factura de Crédito Fiscal Electrónica",
            Self::E32 => "Factura de Consumo Electrónica",
            Self::E33 => "Nota de Débito Electrónica",
            Self::E34 => "Nota de Crédito Electrónica",
            Self::E41 => "Compras Electrónico",
            Self::E43 => "Gastos Menores Electrónico",
            Self::E44 => "Regímenes Especiales Electrónico",
            Self::E45 => "Gubernamental Electrónico",
            Self::E46 => "Comprobante de Exportaciones Electrónico",
            Self::E47 => "Comprobante para Pagos al Exterior Electrónico",
        }
    }

    /// The type that replaces the paper receipts of a code of series B, such as `01`.
    pub fn of_paper(code: &str) -> Option<Self> {
        Some(match code {
            "01" => Self::E31,
            "02" => Self::E32,
            "03" => Self::E33,
            "04" => Self::E34,
            "11" => Self::E41,
            "13" => Self::E43,
            "14" => Self::E44,
            "15" => Self::E45,
            "16" => Self::E46,
            "17" => Self::E47,
            _ => return None,
        })
    }

    /// The type that a text means if it is not a code: the start of a number (`E31`, `B01`), a paper code, or words
    /// that occur in one title only.
    pub fn meant_by(text: &str) -> Option<Self> {
        let given = crate::field::words(text);
        let joined = given.concat();
        let digits = joined.trim_start_matches(['e', 'b']);
        if digits.len() + 1 >= joined.len() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let code = digits.trim_start_matches('0');
            let electronic = |code: &str| code.parse().ok();
            return if joined.starts_with('b') {
                Self::of_paper(digits.get(..2)?)
            } else {
                electronic(digits.get(..2).unwrap_or(digits))
                    .or_else(|| electronic(code))
                    .or_else(|| Self::of_paper(&format!("{code:0>2}")))
            };
        }
        let holds_all = |receipt_type: &Self| {
            let title = crate::field::words(receipt_type.title());
            let stem = |word: &str| word.trim_end_matches('s').to_owned();
            given
                .iter()
                .all(|word| title.iter().any(|known| known.starts_with(&stem(word))))
        };
        let mut found = Self::ALL.into_iter().filter(holds_all);
        let first = found.next().filter(|_| !given.is_empty())?;
        found.next().is_none().then_some(first)
    }

    /// Whether the receipt carries FechaVencimientoSecuencia.
    pub const fn carries_expiry(self) -> bool {
        !matches!(self, Self::E32 | Self::E34)
    }

    /// Whether issuers send it to electronic buyers; other types go to the authority only (Descripción técnica,
    /// emisor-receptor).
    pub const fn is_exchanged(self) -> bool {
        matches!(self, Self::E31 | Self::E33 | Self::E34 | Self::E44)
    }

    /// Whether a buyer approves or rejects it commercially (Descripción técnica, emisor-receptor).
    pub const fn is_approved_by_buyers(self) -> bool {
        self.is_exchanged() || matches!(self, Self::E45)
    }

    /// Whether the receipt is a note on another receipt.
    pub const fn is_note(self) -> bool {
        matches!(self, Self::E33 | Self::E34)
    }
}

impl FromStr for ReceiptType {
    type Err = UnknownReceiptType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|receipt_type| receipt_type.as_str() == text)
            .ok_or_else(|| UnknownReceiptType { given: text.to_owned() })
    }
}

impl fmt::Display for ReceiptType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

text_serde!(ReceiptType);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read_back_from_its_code() {
        for receipt_type in ReceiptType::ALL {
            assert_eq!(receipt_type.as_str().parse(), Ok(receipt_type));
        }
        let error = "99".parse::<ReceiptType>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "ecf type \"99\" is not one of 31 (Factura de Crédito Fiscal Electrónica), 32 (Factura de Consumo Electrónica), \
             33 (Nota de Débito Electrónica), 34 (Nota de Crédito Electrónica), 41 (Compras Electrónico), \
             43 (Gastos Menores Electrónico), 44 (Regímenes Especiales Electrónico), 45 (Gubernamental Electrónico), \
             46 (Comprobante de Exportaciones Electrónico), 47 (Comprobante para Pagos al Exterior Electrónico)"
        );
    }

    #[test]
    fn a11_a_type_is_known_by_its_paper_code_its_number_and_its_name() {
        for (given, meant) in [
            ("B01", Some("31")),
            ("B0100000001", Some("31")),
            ("E34", Some("34")),
            ("E310000000001", Some("31")),
            ("2", Some("32")),
            ("02", Some("32")),
            ("031", Some("31")),
            ("31.0", Some("31")),
            ("Factura de consumo", Some("32")),
            ("NOTA DE CREDITO", Some("34")),
            ("exportación", Some("46")),
            ("gasto menor", Some("43")),
            ("nota", None),
            ("credito", None),
            ("B99", None),
            ("99", None),
            ("", None),
            ("-", None),
        ] {
            assert_eq!(
                ReceiptType::meant_by(given).map(ReceiptType::as_str),
                meant,
                "{given:?}"
            );
        }
        let error = "B01".parse::<ReceiptType>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "ecf type \"B01\" is not one of the ten: write 31 (Factura de Crédito Fiscal Electrónica)"
        );
    }

    #[test]
    fn only_consumer_invoices_and_credit_notes_carry_no_expiry() {
        let without: Vec<_> = ReceiptType::ALL
            .into_iter()
            .filter(|kind| !kind.carries_expiry())
            .collect();
        assert_eq!(without, [ReceiptType::E32, ReceiptType::E34]);
    }
}
