//! Advice for values that cannot be read: common misspellings, each with its correct form.
//!
//! Advice never accepts a value. A misspelled value is refused, and the refusal says what to write.

mod code;
mod date;
mod identity;
mod number;
mod text;

use ecf_language::{Bilingual, say};

pub(super) use code::{listed, meant_codes, meant_switch};
pub(super) use date::meant_day;
pub(super) use identity::{meant_encf, meant_ncf, meant_rnc};
pub(super) use number::{Meant, meant_decimal, meant_integer};
pub(super) use text::{longer_field, meant_text};

/// The text in quotes, cut to a maximum length.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

/// `a, b or c`.
pub(super) fn alternatives(words: &[String]) -> Bilingual {
    match words {
        [] => Bilingual::default(),
        [one] => Bilingual::same(one.clone()),
        [first @ .., last] => say!("{} or {last}", "{} o {last}", first.join(", ")),
    }
}

/// Lower-case words without accents; `%`, `$` and `€` are part of a word.
pub(crate) fn words(text: &str) -> Vec<String> {
    let folded: String = text
        .chars()
        .flat_map(char::to_lowercase)
        // Accents may be separate combining characters.
        .filter(|character| !matches!(character, '\u{300}'..='\u{36F}'))
        .map(|character| match character {
            'á' | 'à' | 'ä' | 'â' => 'a',
            'é' | 'è' | 'ë' | 'ê' => 'e',
            'í' | 'ì' | 'ï' | 'î' => 'i',
            'ó' | 'ò' | 'ö' | 'ô' => 'o',
            'ú' | 'ù' | 'ü' | 'û' => 'u',
            'ñ' => 'n',
            other => other,
        })
        .collect();
    let part = |character: char| character.is_alphanumeric() || matches!(character, '%' | '$' | '€');
    folded
        .split(|character| !part(character))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
