//! Characters as escaped by Canonical XML.

/// Writes character data. Line ends are normalised before, so `\r` comes from `&#xD;`.
pub(crate) fn text(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let replacement: &[u8] = match byte {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'\r' => b"&#xD;",
            _ => continue,
        };
        out.extend_from_slice(&bytes[copied..at]);
        out.extend_from_slice(replacement);
        copied = at + 1;
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// Writes the value of an attribute or of a namespace declaration.
pub(crate) fn attribute(out: &mut Vec<u8>, value: &str) {
    let bytes = value.as_bytes();
    let mut copied = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let replacement: &[u8] = match byte {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'"' => b"&quot;",
            b'\t' => b"&#x9;",
            b'\n' => b"&#xA;",
            b'\r' => b"&#xD;",
            _ => continue,
        };
        out.extend_from_slice(&bytes[copied..at]);
        out.extend_from_slice(replacement);
        copied = at + 1;
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// Writes literal source text with line ends normalised to `\n`; `each` writes the pieces between them.
pub(crate) fn with_line_ends(out: &mut Vec<u8>, source: &str, each: impl Fn(&mut Vec<u8>, &str)) {
    let mut rest = source;
    while let Some(at) = rest.find('\r') {
        each(out, &rest[..at]);
        out.push(b'\n');
        rest = rest[at..].strip_prefix("\r\n").unwrap_or(&rest[at + 1..]);
    }
    each(out, rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_escapes_four_characters_and_attributes_six() {
        for (source, in_text, in_attribute) in [
            ("a&b", "a&amp;b", "a&amp;b"),
            ("<", "&lt;", "&lt;"),
            (">", "&gt;", ">"),
            ("\"", "\"", "&quot;"),
            ("'", "'", "'"),
            ("\t", "\t", "&#x9;"),
            ("\n", "\n", "&#xA;"),
            ("\r", "&#xD;", "&#xD;"),
            ("ñ\u{1F600}\u{A0}", "ñ\u{1F600}\u{A0}", "ñ\u{1F600}\u{A0}"),
        ] {
            let (mut as_text, mut as_attribute) = (Vec::new(), Vec::new());
            text(&mut as_text, source);
            attribute(&mut as_attribute, source);
            assert_eq!(as_text, in_text.as_bytes(), "{source:?} as text");
            assert_eq!(as_attribute, in_attribute.as_bytes(), "{source:?} as attribute");
        }
    }

    #[test]
    fn line_ends_become_line_feeds() {
        let mut out = Vec::new();
        with_line_ends(&mut out, "a\r\nb\rc\r\r\n\n>", text);
        assert_eq!(out, b"a\nb\nc\n\n\n&gt;");
    }
}
