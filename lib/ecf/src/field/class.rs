//! The characters that a class of text may contain, checked by code: the official patterns were written for another
//! regex engine.

use ecf_language::{Bilingual, say};

use super::Class;
use crate::ReceiptType;

impl Class {
    /// What was expected if the text does not fit; `None` if it fits.
    pub(super) fn complaint(self, text: &str, receipt_type: ReceiptType) -> Option<Bilingual> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (fits, expected): (bool, fn() -> Bilingual) = match self {
            Self::Free => return None,
            Self::Digits => (digits(text), digits_only),
            Self::DigitsButIn45 => (receipt_type == ReceiptType::E45 || digits(text), digits_only),
            Self::Words => (text.chars().all(is_word_or_blank), || {
                say!(
                    "a text of letters, digits and blanks only",
                    "un texto de solo letras, dígitos y espacios"
                )
            }),
            Self::Letters => (is_letters(text), letters_only),
            Self::Place => (is_place(text), a_place),
            Self::Destination if receipt_type == ReceiptType::E47 => (is_letters(text), letters_only),
            Self::Destination => (is_place(text), a_place),
            Self::Telephone => (is_telephone(text), || {
                say!(
                    "a telephone number written 809-555-0100",
                    "un teléfono escrito 809-555-0100"
                )
            }),
            Self::Email => (is_email(text), || say!("an e-mail address", "un correo electrónico")),
            Self::Exactly(count) => (text.chars().count() == count, || {
                say!("a text of the exact length", "un texto de la longitud exacta")
            }),
        };
        (!fits).then(expected)
    }
}

fn digits_only() -> Bilingual {
    say!("a text of digits only", "un texto de solo dígitos")
}

fn letters_only() -> Bilingual {
    say!(
        "a text of letters, commas and blanks only",
        "un texto de solo letras, comas y espacios"
    )
}

fn a_place() -> Bilingual {
    say!(
        "a place of at least three characters without digits and with a letter at the end",
        "un lugar de al menos tres caracteres, sin dígitos y con una letra al final"
    )
}

/// The letters that the official patterns list.
fn is_listed_letter(character: char) -> bool {
    character.is_ascii_alphabetic() || "ñÑáéíóúÁÉÍÓÚ".contains(character)
}

fn is_word_or_blank(character: char) -> bool {
    // Accents may be separate combining characters.
    character.is_alphanumeric() || matches!(character, ' ' | '\u{300}'..='\u{36F}')
}

fn is_letters(text: &str) -> bool {
    text.chars()
        .all(|character| is_listed_letter(character) || matches!(character, ',' | ' '))
}

fn is_place(text: &str) -> bool {
    text.chars().count() >= 3
        && !text.chars().any(char::is_numeric)
        && text.chars().next_back().is_some_and(is_listed_letter)
}

fn is_telephone(text: &str) -> bool {
    text.len() == 12
        && text.bytes().enumerate().all(|(index, byte)| match index {
            3 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// The official pattern, with `_` as a letter: the authority's own engine accepts it, only strict XSD engines do not.
fn is_email(text: &str) -> bool {
    let word = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|character| character == '_' || (is_word_or_blank(character) && character != ' '))
    };
    let Some((name, host)) = text.split_once('@') else {
        return false;
    };
    name.split(['-', '+', '.']).all(word) && host.split(['-', '.']).all(word) && host.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_mail_addresses_follow_the_official_pattern_and_may_hold_underscores() {
        for good in [
            "a@b.do",
            "EMISOR01+PRUEBA@PRUEBA.EXAMPLE",
            "ana.perez-ruiz@mail.empresa-1.com.do",
            "a_b@c.do",
        ] {
            assert!(is_email(good), "{good}");
        }
        for bad in [
            "", "a", "a@b", "@b.do", "a@", "a b@c.do", "a@b..do", "a@b@c.do", ".a@b.do",
        ] {
            assert!(!is_email(bad), "{bad}");
        }
    }

    #[test]
    fn places_and_letters_follow_the_official_patterns() {
        assert!(is_place("España") && is_place("CIF") && is_place("U.S.A"));
        assert!(!is_place("US") && !is_place("Zona 3") && !is_place("U.S.A."));
        assert!(is_letters("Pérez, Ana") && !is_letters("A-1"));
        assert!(is_telephone("809-555-0100") && !is_telephone("8095550100") && !is_telephone("809-555-010A"));
    }
}
