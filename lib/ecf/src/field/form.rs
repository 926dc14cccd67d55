//! The required form of a value's text.

use crate::ReceiptType;

/// Codes with their words, in the tax authority's order.
pub(crate) type Catalogue = &'static [(&'static str, &'static str)];

/// The form of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// No value: the element contains elements.
    Block,
    /// Text of at most `max` characters, of a class.
    Text { max: usize, class: Class },
    /// A decimal number.
    Decimal { integers: u32, scale: u32, sign: Sign },
    /// A whole number from `min` up to `max`.
    Integer { min: u32, max: Limit },
    /// One of a list of codes.
    Code(Catalogue),
    /// `dd-MM-yyyy`.
    Fecha,
    /// `dd-MM-yyyy HH:mm:ss`.
    FechaHora,
    /// 9 or 11 digits.
    Rnc,
    /// 13 characters.
    Encf,
    /// 11, 13 or 19 characters.
    Ncf,
    /// One of the ten types.
    ReceiptType,
}

/// The characters that a text may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Any except control characters.
    Free,
    /// Digits.
    Digits,
    /// Digits; in type 45, whose schema is wider, any text.
    DigitsButIn45,
    /// Letters, digits and blanks.
    Words,
    /// Letters, commas and blanks.
    Letters,
    /// At least three characters without digits, the last one a letter.
    Place,
    /// A place; in type 47, whose schema differs, letters, commas and blanks.
    Destination,
    /// `ddd-ddd-dddd`.
    Telephone,
    /// An e-mail address.
    Email,
    /// Exactly this number of characters.
    Exactly(usize),
}

/// The signs that a decimal number may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Zero or more.
    NotNegative,
    /// More than zero.
    Positive,
    /// More than zero; in type 41, whose schema is wider, also zero.
    PositiveButIn41,
    /// Any sign.
    Signed,
}

/// A count that differs between types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    usual: u32,
    notes: u32,
    consumer: u32,
}

impl Limit {
    /// The same count for all types.
    pub(crate) const fn all(count: u32) -> Self {
        Self {
            usual: count,
            notes: count,
            consumer: count,
        }
    }

    /// A different count for debit and credit notes.
    pub(crate) const fn wider_in_notes(usual: u32, notes: u32) -> Self {
        Self {
            usual,
            notes,
            consumer: usual,
        }
    }

    /// Lines of a document: 1,000. Notes and small consumer invoices, of which only a summary is sent, have 10,000.
    pub(crate) const LINES: Self = Self {
        usual: 1_000,
        notes: 10_000,
        consumer: 10_000,
    };

    pub(crate) const fn of(&self, receipt_type: ReceiptType) -> u32 {
        match receipt_type {
            ReceiptType::E33 | ReceiptType::E34 => self.notes,
            ReceiptType::E32 => self.consumer,
            _ => self.usual,
        }
    }
}

/// Free text of at most `max` characters.
pub(crate) const fn text(max: usize) -> Form {
    Form::Text {
        max,
        class: Class::Free,
    }
}

/// Text of at most `max` characters of a class.
pub(crate) const fn text_of(class: Class, max: usize) -> Form {
    Form::Text { max, class }
}

/// An amount of money, or another decimal with sixteen digits and two decimals.
pub(crate) const fn money(sign: Sign) -> Form {
    Form::Decimal {
        integers: 16,
        scale: 2,
        sign,
    }
}

/// A whole number between two bounds.
pub(crate) const fn integer(min: u32, max: u32) -> Form {
    Form::Integer {
        min,
        max: Limit::all(max),
    }
}

/// The number of a line.
pub(crate) const fn line_number() -> Form {
    Form::Integer {
        min: 1,
        max: Limit::LINES,
    }
}

/// The number of a page.
pub(crate) const fn page_number() -> Form {
    Form::Integer {
        min: 1,
        max: Limit::wider_in_notes(1_000, 10_000),
    }
}
