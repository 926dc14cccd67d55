//! Writes canonical XML: no blanks, no empty elements, and the escaping of C14N. These bytes are hashed and signed.

use super::Block;

/// `<name>content</name>`, or nothing if the content is empty.
pub(crate) fn element(name: &str, out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
    let inside = out.len();
    content(out);
    if out.len() == inside {
        out.truncate(start);
        return;
    }
    out.extend_from_slice(b"</");
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
}

pub(super) fn block(name: &str, block: &impl Block, out: &mut Vec<u8>) {
    element(name, out, |out| block.write_members(out));
}

/// The text of an element as C14N escapes it: `"` and `'` do not change.
pub(crate) fn escape(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut written = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let reference: &[u8] = match byte {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'\r' => b"&#xD;",
            _ => continue,
        };
        out.extend_from_slice(&bytes[written..index]);
        out.extend_from_slice(reference);
        written = index + 1;
    }
    out.extend_from_slice(&bytes[written..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_as_c14n_does() {
        for (text, expected) in [
            ("a & b", "a &amp; b"),
            ("<b>", "&lt;b&gt;"),
            ("\"quoted\" 'too'", "\"quoted\" 'too'"),
            ("a\rb", "a&#xD;b"),
            ("ñ 😀 e\u{301} &amp;", "ñ 😀 e\u{301} &amp;amp;"),
        ] {
            let mut out = Vec::new();
            escape(text, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn an_element_without_content_is_not_written() {
        let mut out = b"before".to_vec();
        element("Comprador", &mut out, |_| {});
        assert_eq!(out, b"before");
    }
}
