//! Character references that the tax authority requires in the text of a signed document.
//!
//! The authority's table of 03-04-2025 lists eight characters that must not be raw in text. Canonical XML writes `&`,
//! `<` and `>` as references and the other five raw. A reference does not change the canonical form, so neither digest
//! nor signature depends on it.

use std::borrow::Cow;

/// Writes `"`, `'`, `©`, `®` and `€` as numeric references in the text of a canonical document. Tags and instructions
/// do not change.
pub(crate) fn in_text(canonical: &[u8]) -> Cow<'_, [u8]> {
    // A pass without branches, which the compiler vectorises. Most documents return here. 0xC2 and 0xE2 are the lead
    // bytes of `©`, `®` and `€`.
    let found = canonical.iter().fold(0, |found, &byte| {
        let is_one = (byte == b'"') | (byte == b'\'') | (byte == 0xC2) | (byte == 0xE2);
        found | u8::from(is_one)
    });
    if found != 0 {
        Cow::Owned(rewritten(canonical))
    } else {
        Cow::Borrowed(canonical)
    }
}

fn rewritten(canonical: &[u8]) -> Vec<u8> {
    const ROOM: usize = 64;
    let mut out = Vec::with_capacity(canonical.len() + ROOM);
    let (mut at, mut copied) = (0, 0);
    while let Some(&byte) = canonical.get(at) {
        if byte == b'<' {
            at += markup_length(&canonical[at..]);
            continue;
        }
        match reference(&canonical[at..]) {
            Some((length, reference)) => {
                out.extend_from_slice(&canonical[copied..at]);
                out.extend_from_slice(reference);
                at += length;
                copied = at;
            }
            None => at += 1,
        }
    }
    out.extend_from_slice(&canonical[copied..]);
    out
}

/// The reference for the character at the start, and the length of that character in bytes.
///
/// Numeric references only: `&copy;`, `&reg;` and `&euro;` are HTML entities, which XML does not define.
fn reference(text: &[u8]) -> Option<(usize, &'static [u8])> {
    match text {
        [b'"', ..] => Some((1, b"&#34;")),
        [b'\'', ..] => Some((1, b"&#39;")),
        [0xC2, 0xA9, ..] => Some((2, b"&#169;")),
        [0xC2, 0xAE, ..] => Some((2, b"&#174;")),
        [0xE2, 0x82, 0xAC, ..] => Some((3, b"&#8364;")),
        _ => None,
    }
}

/// The length of the tag or instruction at the start. Canonical attribute values are in double quotes and may contain a
/// raw `>`.
fn markup_length(markup: &[u8]) -> usize {
    let end = if markup.starts_with(b"<?") {
        markup.windows(2).position(|pair| pair == b"?>").map(|end| end + 1)
    } else {
        let mut is_quoted = false;
        markup.iter().position(|&byte| {
            is_quoted ^= byte == b'"';
            byte == b'>' && !is_quoted
        })
    };
    end.map_or(markup.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(canonical: &str) -> String {
        String::from_utf8_lossy(&in_text(canonical.as_bytes())).into_owned()
    }

    #[test]
    fn c15_five_characters_become_numeric_references_in_text() {
        assert_eq!(
            written("<a>\"'©€®</a><b>O'Neill &amp; \"Hijos\" &lt;x&gt;</b>"),
            "<a>&#34;&#39;&#169;&#8364;&#174;</a><b>O&#39;Neill &amp; &#34;Hijos&#34; &lt;x&gt;</b>"
        );
    }

    #[test]
    fn c15_characters_that_share_a_lead_byte_stay_raw() {
        let text = "<a>¿º°ª «ñ» – … ‘’ “” ™ \u{20AB}\u{A0}</a>";
        assert_eq!(written(text), text);
    }

    #[test]
    fn c15_tags_and_instructions_stay_as_they_are() {
        assert_eq!(
            written("<?a \"b' ?>\n<a b=\"> ' ©\"><c d=\"'\" e=\"\">'</c><?x '\"> ?>\"</a>"),
            "<?a \"b' ?>\n<a b=\"> ' ©\"><c d=\"'\" e=\"\">&#39;</c><?x '\"> ?>&#34;</a>"
        );
    }

    #[test]
    fn c15_a_document_without_them_is_not_copied() {
        let plain = "<ECF><a>Ñandú &amp; Cía.</a></ECF>".as_bytes();
        assert!(matches!(in_text(plain), Cow::Borrowed(_)));
    }
}
