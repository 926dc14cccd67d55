//! Texts of a certain class in other spellings.

use ecf_language::{Bilingual, say};

use super::super::Class;
use super::words;
use crate::ReceiptType;

/// The text of this class that the given text means. The result always fits the class.
pub(crate) fn meant_text(class: Class, text: &str, receipt_type: ReceiptType) -> Option<String> {
    let meant = match class {
        Class::Telephone => telephone(text),
        Class::Email => email(text),
        Class::Digits | Class::DigitsButIn45 => {
            let digits: String = text.chars().filter(char::is_ascii_digit).collect();
            (!digits.is_empty()).then_some(digits)
        }
        Class::Words => Some(only(text, |character| character.is_alphanumeric())),
        Class::Letters => Some(only(text, |character| character.is_alphabetic() || character == ',')),
        Class::Place | Class::Destination => country(text).or_else(|| {
            let trimmed = text.trim_end_matches(|character: char| !character.is_alphabetic());
            Some(trimmed.to_owned())
        }),
        Class::Free | Class::Exactly(_) => None,
    };
    meant.filter(|meant| !meant.is_empty() && class.complaint(meant, receipt_type).is_none())
}

/// Ten digits in three groups. A leading 1 is the country code. Separate digits after the tenth are an extension or
/// another number.
fn telephone(text: &str) -> Option<String> {
    const NATIONAL: usize = 10;
    let mut digits = text.char_indices().filter(|(_, character)| character.is_ascii_digit());
    let mut number = String::new();
    let mut end = 0;
    while number.len() < NATIONAL {
        let (index, digit) = digits.next()?;
        // Area codes never start with 1.
        if !(number.is_empty() && digit == '1') {
            number.push(digit);
        }
        end = index + 1;
    }
    if text[end..].starts_with(|character: char| character.is_ascii_digit()) {
        return None;
    }
    Some(format!("{}-{}-{}", &number[..3], &number[3..6], &number[6..]))
}

/// The first address in a text such as `Ana <ana@ejemplo.do>; otra@ejemplo.do`.
fn email(text: &str) -> Option<String> {
    let fits = |part: &&str| Class::Email.complaint(part, ReceiptType::E31).is_none();
    text.split(|character: char| character.is_whitespace() || ",;<>()[]\"'/".contains(character))
        .map(|part| part.strip_prefix("mailto:").unwrap_or(part).trim_end_matches('.'))
        .find(fits)
        .map(str::to_owned)
}

/// The text with all other characters replaced by blanks.
fn only(text: &str, keep: fn(char) -> bool) -> String {
    let kept: String = text
        .chars()
        .map(|character| if keep(character) { character } else { ' ' })
        .collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of a country for its two-letter code, for the most frequent ones.
fn country(text: &str) -> Option<String> {
    let name = match words(text).concat().as_str() {
        "us" => "Estados Unidos",
        "es" => "España",
        "pr" => "Puerto Rico",
        "ht" => "Haití",
        "mx" => "México",
        "co" => "Colombia",
        "pa" => "Panamá",
        "ca" => "Canadá",
        "cn" => "China",
        "uk" | "gb" => "Reino Unido",
        _ => return None,
    };
    Some(name.to_owned())
}

/// Another field that holds a longer text.
pub(crate) fn longer_field(field: &str) -> Option<Bilingual> {
    match field {
        "NombreItem" => Some(say!(
            "DescripcionItem, which takes 1000",
            "DescripcionItem, que admite 1000"
        )),
        "Sucursal" | "ZonaVenta" | "RutaVenta" => Some(say!(
            "InformacionAdicionalEmisor, which takes 250",
            "InformacionAdicionalEmisor, que admite 250"
        )),
        _ => None,
    }
}
