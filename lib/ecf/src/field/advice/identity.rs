//! Taxpayer numbers and receipt numbers in other spellings.

use super::words;
use crate::{Encf, Ncf, ReceiptType, Rnc};

fn digits_of(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// The RNC or cédula that a text means: its digits, or a cédula that lost leading zeros as a number.
pub(crate) fn meant_rnc(text: &str) -> Option<Rnc> {
    const CEDULA: usize = 11;
    let digits = digits_of(text);
    // `RNC 130000001` is an RNC; a passport number is not.
    let is_named = matches!(words(text).first().map(String::as_str), Some("rnc" | "cedula" | "ced"));
    if text.contains(char::is_alphabetic) && !is_named {
        return None;
    }
    if let Ok(rnc) = digits.parse() {
        return Some(rnc);
    }
    let padded: Rnc = format!("{digits:0>CEDULA$}").parse().ok()?;
    (digits.len() == CEDULA - 1 && padded.check_digit_ok()).then_some(padded)
}

/// The e-NCF that a text means: separators removed, the letter added, the sequence padded to ten digits.
pub(crate) fn meant_encf(text: &str) -> Option<Encf> {
    const SEQUENCE: usize = 10;
    let compact: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let digits = compact.strip_prefix(['E', 'e']).unwrap_or(&compact);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (code, sequence) = digits.split_at_checked(2)?;
    let receipt_type: ReceiptType = code.parse().ok()?;
    // A sequence with up to two digits too many or too few is plausible; a much shorter one is something else.
    let likely = (SEQUENCE - 2..=SEQUENCE + 2).contains(&sequence.len());
    Encf::new(receipt_type, sequence.parse().ok()?).ok().filter(|_| likely)
}

/// The number of a modified receipt that a text means: electronic, or paper of series B with eight digits.
pub(crate) fn meant_ncf(text: &str) -> Option<Ncf> {
    const SEQUENCE: usize = 8;
    if let Some(encf) = meant_encf(text) {
        return Some(encf.into());
    }
    let compact: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    if let Ok(ncf) = compact.parse() {
        return Some(ncf);
    }
    let (code, sequence) = compact.strip_prefix(['B', 'b'])?.split_at_checked(2)?;
    let number: u64 = sequence.parse().ok()?;
    let likely = (SEQUENCE - 2..=SEQUENCE + 2).contains(&sequence.len());
    format!("B{code}{number:0>SEQUENCE$}").parse().ok().filter(|_| likely)
}
