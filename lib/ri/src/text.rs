//! Text of a receipt, prepared for print.

use unicode_normalization::UnicodeNormalization as _;

use crate::font::{Face, Weight};

/// The replacement for characters that the font does not have.
pub(crate) const REPLACEMENT: char = '\u{FFFD}';

/// The text in printable form: normalized (NFC), in one line, without control characters and without characters that
/// change the direction or look of others. A character that the font does not have becomes its compatibility form
/// (NFKC); runs of others become one [`REPLACEMENT`].
pub(crate) fn printable(text: &str) -> String {
    let face = Weight::Regular.face();
    let mut out = String::with_capacity(text.len());
    for character in text.nfc() {
        if character.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else if is_invisible(character) {
            continue;
        } else if face.has(character) {
            out.push(character);
        } else {
            replace(character, face, &mut out);
        }
    }
    out.trim().to_owned()
}

fn replace(character: char, face: &Face, out: &mut String) {
    let plain: Vec<char> = std::iter::once(character).nfkc().collect();
    if plain.iter().all(|character| face.has(*character)) {
        out.extend(plain);
    } else if !out.ends_with(REPLACEMENT) {
        out.push(REPLACEMENT);
    }
}

/// Control and format characters: invisible themselves, they change how others look.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'
                ..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1F3FB}'..='\u{1F3FF}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// Breaks a text into lines of at most this width: at blanks, and within words that are wider than a line. Returns at
/// least one line. Lines end with the blank at which they were broken, so that text extraction keeps the words apart.
pub(crate) fn wrap(text: &str, weight: Weight, size: f32, width: f32) -> Vec<String> {
    let face = weight.face();
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0.0;
    for word in text.split_inclusive(' ') {
        let bare = face.width(word.trim_end(), size);
        if used > 0.0 && used + bare > width {
            lines.push(std::mem::take(&mut line));
            used = 0.0;
        }
        if bare <= width {
            line.push_str(word);
            used += face.width(word, size);
            continue;
        }
        for character in word.chars() {
            let advance = face.width(character.encode_utf8(&mut [0; 4]), size);
            if used > 0.0 && used + advance > width && character != ' ' {
                lines.push(std::mem::take(&mut line));
                used = 0.0;
            }
            line.push(character);
            used += advance;
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_becomes_plain_text() {
        for (given, expected) in [
            ("Peña & Núñez, S.R.L.", "Peña & Núñez, S.R.L."),
            ("Pen\u{303}a", "Peña"),
            ("a\u{0}b\u{1b}[31m\u{7f}c", "ab[31mc"),
            ("factura\u{202e}fdp.exe\u{202c}", "facturafdp.exe"),
            ("x\u{200b}y\u{feff}z\u{00ad}", "xyz"),
            ("  dos\n\tlíneas  ", "dos líneas"),
            ("Café ☕👨‍👩‍👧 y té", "Café \u{fffd} y té"),
            ("東京株式会社", "\u{fffd}"),
            ("Ｆｕｌｌ ① ﬁn", "Full 1 fin"),
            ("Ελλάς, Россия", "Ελλάς, Россия"),
            ("\u{202e}", ""),
        ] {
            assert_eq!(printable(given), expected, "{given:?}");
        }
    }

    #[test]
    fn lines_break_at_blanks_and_words_that_are_too_long_break_anywhere() {
        let lines = |text, width| wrap(text, Weight::Regular, 10.0, width);
        assert_eq!(lines("", 50.0), [""]);
        assert_eq!(lines("uno dos tres", 45.0), ["uno dos ", "tres"]);
        let long = "x".repeat(40);
        let broken = lines(&format!("a {long} b"), 60.0);
        assert!(broken.len() > 3);
        assert_eq!(broken.concat(), format!("a {long} b"));
        for line in broken {
            assert!(Weight::Regular.face().width(line.trim_end(), 10.0) <= 60.0);
        }
    }

    #[test]
    fn a_width_of_nothing_ends() {
        assert_eq!(wrap("abc", Weight::Bold, 10.0, 0.0).len(), 3);
    }
}
