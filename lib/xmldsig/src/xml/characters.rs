//! Which characters XML 1.0 (fifth edition) allows, and where.

/// `Char`: the characters that a document may contain.
pub(crate) fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..='\u{10FFFF}')
}

/// The first character that XML does not allow, with its offset.
pub(crate) fn first_forbidden(text: &str) -> Option<(usize, char)> {
    // A pass without branches, which the compiler vectorises. Documents are large and nearly always valid.
    let is_suspicious = text.as_bytes().iter().fold(false, |found, &b| {
        found | ((b < 0x20) & (b != b'\t') & (b != b'\n') & (b != b'\r')) | (b == 0xEF)
    });
    if !is_suspicious {
        return None;
    }
    text.char_indices().find(|&(_, c)| !is_char(c))
}

/// Blanks as defined by XML (`S`).
pub(crate) fn is_blank_byte(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether the text consists only of blanks.
pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(is_blank_byte)
}

/// `Name` with at most one colon, that of a qualified name.
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
    // Non-ASCII, or invalid.
    let mut characters = name.chars().enumerate();
    !name.is_empty() && characters.all(|(at, c)| is_name_start(c) || (at > 0 && is_name_follow(c)))
}

/// The name at the start of a piece of markup.
pub(crate) struct NameScan {
    /// The length up to the first byte that cannot be in a name: blank, `>`, `/`, `=` and other punctuation.
    pub(crate) length: usize,
    /// Whether the name is ASCII without a prefix. Other names need the full check.
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
    /// Whether canonical form writes the text unchanged.
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

/// Scans eight bytes at a time, as one number. Scanning byte by byte took a third of a verification.
mod eights {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

    /// The number of leading bytes that are ASCII letters.
    pub(super) fn letters(bytes: &[u8]) -> usize {
        leading(bytes, |eight| {
            // Makes letters lower case and clears high bits, so that no byte's sum carries into the next.
            let lower = (eight | (ONES * 0x20)) & !HIGH_BITS;
            let from_a = lower + ONES * (0x80 - 0x61);
            let beyond_z = lower + ONES * (0x80 - 0x7B);
            !(from_a & !beyond_z & !eight) & HIGH_BITS
        })
    }

    /// The number of leading bytes other than `<`, `>`, `&` and carriage return.
    pub(super) fn plain_text(bytes: &[u8]) -> usize {
        leading(bytes, |eight| {
            // `<` and `>` differ in one bit.
            zeros((eight | (ONES * 0x02)) ^ (ONES * 0x3E)) | zeros(eight ^ (ONES * 0x26)) | zeros(eight ^ (ONES * 0x0D))
        })
    }

    /// Marks zero bytes by their high bit. The first mark is always right; later ones may be wrong.
    fn zeros(eight: u64) -> u64 {
        eight.wrapping_sub(ONES) & !eight & HIGH_BITS
    }

    /// The number of bytes before the first that `stops` marks with its high bit. The last bytes, fewer than eight, are
    /// left to the caller.
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
/// The colon of a prefix, or a byte of a non-ASCII character.
const UNUSUAL: u8 = 4;

/// The classes of name characters, by byte.
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

    /// Compares the scans with the simplest loop of the same meaning, at every position of a block and with every byte.
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
