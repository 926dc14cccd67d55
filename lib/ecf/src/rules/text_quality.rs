//! Damaged text: a wrong encoding, invisible characters, HTML references. It is reported but never repaired, because
//! the signed receipt must contain the caller's text.

use ecf_language::{Bilingual, say};

use super::RuleInfo;
use crate::field::Problem;
use crate::violation::Grade;

/// Checked while the payload is read.
pub(super) const RULES: &[RuleInfo] = &[
    RuleInfo {
        code: DAMAGED,
        grade: Grade::Notice,
        source: "seen on printed receipts",
        summary: "text was not damaged by a wrong encoding",
    },
    RuleInfo {
        code: INVISIBLE,
        grade: Grade::Notice,
        source: "seen in names copied from web pages and office documents",
        summary: "text holds no invisible characters",
    },
    RuleInfo {
        code: REFERENCE,
        grade: Grade::Notice,
        source: "seen on printed receipts",
        summary: "text holds no character references or markup of HTML and no escapes of JSON",
    },
];

const DAMAGED: &str = "AVISO-20";
const INVISIBLE: &str = "AVISO-22";
const REFERENCE: &str = "AVISO-23";

/// Notices about a text, which is not changed.
pub(crate) fn complaints(text: &str) -> impl Iterator<Item = Problem> {
    let damaged = damage(text).map(|(word, cause)| {
        let message = say!(
            [cause],
            "the word {word:?} looks damaged: {cause}; it is kept as it came",
            "la palabra {word:?} parece dañada: {cause}; se conserva como se recibió"
        );
        Problem::new(DAMAGED, "text_damaged", message)
    });
    [damaged, invisible(text), escaped(text)].into_iter().flatten()
}

/// The first invisible character, and the text without invisible characters.
fn invisible(text: &str) -> Option<Problem> {
    if text.is_ascii() {
        return None;
    }
    let hidden = |character: char| name_of_invisible(character).is_some();
    let (index, character) = text.char_indices().find(|(_, character)| hidden(*character))?;
    let visible: String = text.chars().filter(|character| !hidden(*character)).collect();
    let place = text[..index].chars().count() + 1;
    let name = name_of_invisible(character)?;
    let message = say!(
        [name],
        "the text holds the invisible character U+{:04X} ({name}) at character {place}; it is kept as it came, write \
         {visible:?} to be rid of it",
        "el texto tiene el carácter invisible U+{:04X} ({name}) en la posición {place}; se conserva \
         como se recibió, escriba {visible:?} para quitarlo",
        u32::from(character)
    );
    Some(Problem::new(INVISIBLE, "text_invisible", message).expecting(visible))
}

/// U+200D, the joiner, is not listed because emoji use it.
fn name_of_invisible(character: char) -> Option<Bilingual> {
    Some(match character {
        '\u{200B}' => say!("zero width space", "espacio de ancho cero"),
        '\u{200C}' | '\u{2060}' => say!("joiner", "unión"),
        '\u{FEFF}' => say!("byte order mark", "marca de orden de bytes"),
        '\u{AD}' => say!("soft hyphen", "guion opcional"),
        '\u{180E}' => say!("vowel separator", "separador de vocales"),
        '\u{200E}' | '\u{200F}' | '\u{61C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
            say!("direction mark", "marca de dirección")
        }
        '\u{E0000}'..='\u{E007F}' => say!("tag", "etiqueta"),
        _ => return None,
    })
}

/// The first character reference, escape or markup, and the text with all of them decoded.
fn escaped(text: &str) -> Option<Problem> {
    if !text.contains(['&', '\\', '<']) {
        return None;
    }
    let mut plain = String::new();
    let mut first = None;
    let mut rest = text;
    while let Some(start) = rest.find(['&', '\\', '<']) {
        plain.push_str(&rest[..start]);
        let from = &rest[start..];
        match decoded(from) {
            Some((length, character)) => {
                first.get_or_insert(&from[..length]);
                plain.push_str(&character);
                rest = &from[length..];
            }
            None => {
                plain.push_str(&from[..1]);
                rest = &from[1..];
            }
        }
    }
    plain.push_str(rest);
    let first = first?;
    let message = say!(
        "the text holds {first:?}, which is printed as it stands: write {plain:?}",
        "el texto tiene {first:?}, que se imprime tal cual: escriba {plain:?}"
    );
    Some(Problem::new(REFERENCE, "text_escaped", message).expecting(plain))
}

/// The length of the reference at the start of the text, and its character.
fn decoded(text: &str) -> Option<(usize, String)> {
    const LONGEST: usize = 12;
    if let Some(digits) = text.strip_prefix("\\u").and_then(|rest| rest.get(..4)) {
        let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?;
        return Some((6, character.to_string()));
    }
    if text.starts_with('<') {
        let end = text.find('>').filter(|end| *end < LONGEST)?;
        let tag = text[1..end]
            .trim_start_matches('/')
            .trim_end_matches(['/', ' '])
            .to_ascii_lowercase();
        let is_markup = matches!(
            tag.as_str(),
            "br" | "b" | "i" | "p" | "u" | "strong" | "em" | "span" | "div"
        );
        return is_markup.then(|| (end + 1, if tag == "br" { " ".to_owned() } else { String::new() }));
    }
    let end = text.find(';').filter(|end| *end < LONGEST)?;
    let name = text.get(1..end)?;
    let character = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            code.ok().and_then(char::from_u32)?
        }
        None => NAMED.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((end + 1, character.to_string()))
}

/// The HTML references that Spanish texts use.
const NAMED: [(&str, char); 32] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("aacute", 'á'),
    ("eacute", 'é'),
    ("iacute", 'í'),
    ("oacute", 'ó'),
    ("uacute", 'ú'),
    ("ntilde", 'ñ'),
    ("uuml", 'ü'),
    ("Aacute", 'Á'),
    ("Eacute", 'É'),
    ("Iacute", 'Í'),
    ("Oacute", 'Ó'),
    ("Uacute", 'Ú'),
    ("Ntilde", 'Ñ'),
    ("Uuml", 'Ü'),
    ("ccedil", 'ç'),
    ("iquest", '¿'),
    ("iexcl", '¡'),
    ("deg", '°'),
    ("ordm", 'º'),
    ("ordf", 'ª'),
    ("copy", '©'),
    ("reg", '®'),
    ("trade", '™'),
    ("euro", '€'),
    ("ndash", '–'),
    ("mdash", '—'),
];

/// The first damaged word, and the kind of damage.
fn damage(text: &str) -> Option<(&str, Bilingual)> {
    if text.is_ascii() {
        return None;
    }
    text.split_whitespace()
        .find_map(|word| cause(word).map(|cause| (word, cause)))
}

fn cause(word: &str) -> Option<Bilingual> {
    if word.contains('\u{FFFD}') {
        return Some(say!(
            "it holds U+FFFD, which stands for a character that was lost",
            "tiene U+FFFD, que está en lugar de un carácter perdido"
        ));
    }
    if is_doubly_encoded(word) {
        return Some(say!(
            "it looks like UTF-8 that was read as Latin-1",
            "parece UTF-8 leído como Latin-1"
        ));
    }
    let inner = |(index, character): (usize, char)| {
        let after = word[..index].chars().next_back().is_some_and(char::is_alphanumeric);
        character == '¿' && after
    };
    word.char_indices().any(inner).then(|| {
        say!(
            "it holds ¿ after a letter, which often stands for a lost accent",
            "tiene ¿ detrás de una letra, que suele estar en lugar de un acento perdido"
        )
    })
}

/// The UTF-8 bytes of á, ñ, ° and similar characters start with C2 or C3. Read as Latin-1 or Windows-1252 these are Â
/// and Ã, followed by the character of the second byte, 80 to BF.
fn is_doubly_encoded(word: &str) -> bool {
    let mut characters = word.chars().peekable();
    while let Some(character) = characters.next() {
        if matches!(character, 'Â' | 'Ã') && characters.peek().is_some_and(|next| is_continuation(*next)) {
            return true;
        }
    }
    false
}

fn is_continuation(character: char) -> bool {
    const WINDOWS_1252: &str = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ";
    ('\u{80}'..='\u{BF}').contains(&character) || WINDOWS_1252.contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_words_are_found() {
        for (text, word) in [
            ("Pan de piÃ±a fresco", "piÃ±a"),
            ("CAFÃ‰ MOLIDO", "CAFÃ‰"),
            ("25Â°C", "25Â°C"),
            ("Ca\u{FFFD}a", "Ca\u{FFFD}a"),
            ("CAF¿ SANTO DOMINGO", "CAF¿"),
            ("COMPA¿IA", "COMPA¿IA"),
        ] {
            assert_eq!(damage(text).map(|(word, _)| word), Some(word), "{text}");
        }
    }

    #[test]
    fn c9_invisible_characters_and_references_are_reported_with_the_plain_text() {
        for (text, code, plain) in [
            ("Caf\u{200B}é", INVISIBLE, "Café"),
            ("\u{FEFF}Pérez", INVISIBLE, "Pérez"),
            ("ABC\u{202E}DEF", INVISIBLE, "ABCDEF"),
            ("coope\u{AD}rativa", INVISIBLE, "cooperativa"),
            ("Caf&eacute; &amp; T&eacute;", REFERENCE, "Café & Té"),
            ("Ni&#241;o", REFERENCE, "Niño"),
            ("Ni&#xF1;o", REFERENCE, "Niño"),
            ("Ni\\u00f1o", REFERENCE, "Niño"),
            ("uno<br/>dos", REFERENCE, "uno dos"),
        ] {
            let found: Vec<Problem> = complaints(text).collect();
            let told: Vec<_> = found
                .iter()
                .map(|problem| (problem.code, problem.expected.as_deref().unwrap()))
                .collect();
            assert_eq!(told, [(code, plain)], "{text:?}");
        }
        for sound in [
            "AT&T; S&P",
            "a < b > c",
            "C:\\unidad",
            "👨\u{200D}👩\u{200D}👧",
            "R&D;",
            "&;",
            "<>",
            "\\u12",
        ] {
            assert_eq!(complaints(sound).count(), 0, "{sound:?}");
        }
    }

    #[test]
    fn sound_text_is_left_alone() {
        for text in [
            "Piña colada",
            "¿Qué es?",
            "São Paulo",
            "ÂNGELO",
            "MAÇÃ",
            "Ñandú 25 °C",
            "plain",
            "e\u{301}",
        ] {
            assert_eq!(damage(text), None, "{text}");
        }
    }
}
