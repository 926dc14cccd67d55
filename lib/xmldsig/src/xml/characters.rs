//! Which characters XML 1.0 (fifth edition) allows, and where.

/// `Char`: what may stand in a document at all.
pub(crate) fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..='\u{10FFFF}')
}

/// The first character of a document that XML does not allow, with its offset.
pub(crate) fn first_forbidden(text: &str) -> Option<(usize, char)> {
    // Two passes without branches, which the compiler turns into vector code; documents are large and nearly always clean.
    let bytes = text.as_bytes();
    let has_control = bytes.iter().fold(false, |found, &b| {
        found | ((b < 0x20) & (b != b'\t') & (b != b'\n') & (b != b'\r'))
    });
    let has_ef = bytes.iter().fold(false, |found, &b| found | (b == 0xEF));
    if !has_control && !has_ef {
        return None;
    }
    text.char_indices().find(|&(_, c)| !is_char(c))
}

/// Blanks as XML knows them (`S`).
pub(crate) fn is_blank_byte(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether the text has no character but blanks.
pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(is_blank_byte)
}

/// `Name` without colons beyond the one of a qualified name.
pub(crate) fn is_qualified_name(name: &str) -> bool {
    match name.split_once(':') {
        None => is_unprefixed_name(name),
        Some((prefix, local)) => is_unprefixed_name(prefix) && is_unprefixed_name(local),
    }
}

/// `NCName`.
pub(crate) fn is_unprefixed_name(name: &str) -> bool {
    let scan = NameScan::of(name.as_bytes());
    if scan.is_plain && scan.length == name.len() {
        return true;
    }
    // Beyond ASCII, or wrong.
    let mut characters = name.chars().enumerate();
    !name.is_empty() && characters.all(|(at, c)| is_name_start(c) || (at > 0 && is_name_follow(c)))
}

/// The name that starts a piece of markup.
pub(crate) struct NameScan {
    /// Up to the first byte that no name has: blank, `>`, `/`, `=` and other punctuation.
    pub(crate) length: usize,
    /// A name of plain ASCII without prefix. Any other must be looked at again.
    pub(crate) is_plain: bool,
}

impl NameScan {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut length = 0;
        let mut seen = 0;
        for &byte in bytes {
            let class = NAME_BYTES[usize::from(byte)];
            if class == OTHER {
                break;
            }
            seen |= class;
            length += 1;
        }
        let starts_well = bytes
            .first()
            .is_some_and(|&first| NAME_BYTES[usize::from(first)] == START);
        Self {
            length,
            is_plain: starts_well && seen & UNUSUAL == 0,
        }
    }
}

/// Literal text up to the next markup or reference.
pub(crate) struct TextScan {
    pub(crate) length: usize,
    /// Nothing in it is written in another way in canonical form.
    pub(crate) is_plain: bool,
}

impl TextScan {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut length = 0;
        let mut is_plain = true;
        for &byte in bytes {
            if byte == b'<' || byte == b'&' {
                break;
            }
            is_plain &= byte != b'>' && byte != b'\r';
            length += 1;
        }
        Self { length, is_plain }
    }
}

const OTHER: u8 = 0;
const START: u8 = 1;
const FOLLOW: u8 = 2;
/// The colon of a prefix, or a part of a character beyond ASCII.
const UNUSUAL: u8 = 4;

/// What a byte may be in a name.
static NAME_BYTES: [u8; 256] = {
    let mut table = [UNUSUAL; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        table[byte as usize] = if byte.is_ascii_alphabetic() || byte == b'_' {
            START
        } else if byte.is_ascii_digit() || byte == b'-' || byte == b'.' {
            FOLLOW
        } else if byte == b':' {
            UNUSUAL
        } else {
            OTHER
        };
        byte += 1;
    }
    table
};

fn is_name_start(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

fn is_name_follow(c: char) -> bool {
    matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

#[cfg(test)]
mod tests {
    use super::{first_forbidden, is_qualified_name};

    #[test]
    fn names_follow_the_fifth_edition() {
        for good in ["ECF", "eNCF", "_a", "ds:Signature", "Año", "a-b.c1", "x\u{B7}"] {
            assert!(is_qualified_name(good), "{good}");
        }
        for bad in [
            "", "1a", "-a", ":a", "a:", "a:b:c", "a\"b", "a b", "\u{B7}x", "a,b", "a:1",
        ] {
            assert!(!is_qualified_name(bad), "{bad}");
        }
    }

    #[test]
    fn control_and_non_characters_are_found_with_their_offset() {
        assert_eq!(first_forbidden("añ\u{1F600}\t\r\n\u{FFFD}"), None);
        assert_eq!(first_forbidden("ñ\u{1}"), Some((2, '\u{1}')));
        assert_eq!(first_forbidden("a\u{FFFE}"), Some((1, '\u{FFFE}')));
        assert_eq!(first_forbidden("a\u{FFFF}"), Some((1, '\u{FFFF}')));
    }
}
