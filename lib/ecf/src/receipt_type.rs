//! The ten types of electronic receipt.

use std::fmt;
use std::str::FromStr;

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

/// A code that is none of the ten.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("ecf type {given:?} is not one of 31, 32, 33, 34, 41, 43, 44, 45, 46, 47")]
pub struct UnknownReceiptType {
    /// The text as it came.
    pub given: String,
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

    /// The title as it is printed, in the words of the format of October 2025.
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

    /// Whether the receipt carries FechaVencimientoSecuencia.
    pub const fn carries_expiry(self) -> bool {
        !matches!(self, Self::E32 | Self::E34)
    }

    /// Whether issuers send it to electronic buyers; the others reach the authority alone (Descripción técnica, emisor-receptor).
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
            "ecf type \"99\" is not one of 31, 32, 33, 34, 41, 43, 44, 45, 46, 47"
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
