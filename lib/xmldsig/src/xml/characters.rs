//! Which characters XML 1.0 (fifth edition) allows, and where.

/// `Char`: what may stand in a document at all.
pub(crate) fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..='\u{10FFFF}')
}

/// The first character of a document that XML does not allow, with its offset.
pub(crate) fn first_forbidden(text: &str) -> Option<(usize, char)> {
    // A pass without branches, which the compiler turns into vector code; documents are large and nearly always clean.
    let is_suspicious = text.as_bytes().iter().fold(false, |found, &b| {
        found | ((b < 0x20) & (b != b'\t') & (b != b'\n') & (b != b'\r')) | (b == 0xEF)
    });
    if !is_suspicious {
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
        loop {
            length += eights::letters(&bytes[length..]);
            let Some(&byte) = bytes.get(length) else { break };
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
        loop {
            length += eights::plain_text(&bytes[length..]);
            match bytes.get(length) {
                None | Some(b'<' | b'&') => return Self { length, is_plain },
                Some(b'>' | b'\r') => is_plain = false,
                Some(_) => {}
            }
            length += 1;
        }
    }
}

/// Bytes looked at eight at a time, as one number: documents are large, and a byte at a time took a third of a verification.
mod eights {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

    /// How many whole eights at the start, and bytes of the next one, are ASCII letters.
    pub(super) fn letters(bytes: &[u8]) -> usize {
        leading(bytes, |eight| {
            // Upper case becomes lower case; without high bits no byte's sum reaches into the next.
            let lower = (eight | (ONES * 0x20)) & !HIGH_BITS;
            let from_a = lower + ONES * (0x80 - 0x61);
            let beyond_z = lower + ONES * (0x80 - 0x7B);
            !(from_a & !beyond_z & !eight) & HIGH_BITS
        })
    }

    /// How many whole eights at the start, and bytes of the next one, are none of `<`, `>`, `&` and carriage return.
    pub(super) fn plain_text(bytes: &[u8]) -> usize {
        leading(bytes, |eight| {
            // `<` and `>` differ in one bit.
            zeros((eight | (ONES * 0x02)) ^ (ONES * 0x3E)) | zeros(eight ^ (ONES * 0x26)) | zeros(eight ^ (ONES * 0x0D))
        })
    }

    /// The high bits of zero bytes. Bytes above the first may be marked wrongly, the first never.
    fn zeros(eight: u64) -> u64 {
        eight.wrapping_sub(ONES) & !eight & HIGH_BITS
    }

    /// `stops` marks bytes with their high bit. A rest of less than eight bytes is left to the caller.
    fn leading(bytes: &[u8], stops: impl Fn(u64) -> u64) -> usize {
        let (eights, _) = bytes.as_chunks::<8>();
        for (at, eight) in eights.iter().enumerate() {
            let marked = stops(u64::from_le_bytes(*eight));
            if marked != 0 {
                return at * 8 + (marked.trailing_zeros() / 8) as usize;
            }
        }
        eights.len() * 8
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
    use super::*;

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

    /// The scans beside the plainest loop that says the same, at every place of a block and with every byte.
    #[test]
    fn scans_stop_at_the_right_byte_wherever_it_stands() {
        for before in 0..20 {
            for byte in 0..=255 {
                for after in [&b"<"[..], b"a<", b"aaaaaaaaaaaa&", b""] {
                    let bytes = [&b"a".repeat(before), &[byte][..], after].concat();
                    let text_length = bytes.iter().take_while(|b| !matches!(b, b'<' | b'&')).count();
                    let text = TextScan::of(&bytes);
                    assert_eq!(text.length, text_length, "{bytes:?}");
                    let is_plain = !bytes[..text_length].iter().any(|b| matches!(b, b'>' | b'\r'));
                    assert_eq!(text.is_plain, is_plain, "{bytes:?}");
                    let class = |b: &u8| NAME_BYTES[usize::from(*b)];
                    let name_length = bytes.iter().take_while(|b| class(b) != OTHER).count();
                    let name = NameScan::of(&bytes);
                    assert_eq!(name.length, name_length, "{bytes:?}");
                    let is_plain = bytes[..name_length].iter().all(|b| class(b) & UNUSUAL == 0);
                    assert_eq!(name.is_plain, is_plain && class(&bytes[0]) == START, "{bytes:?}");
                }
            }
        }
    }
}
