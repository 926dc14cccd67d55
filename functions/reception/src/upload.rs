//! Finds the XML in a request.
//!
//! Senders are as lax as the authority's own: it writes field names without quotes, parts without a type, boundaries
//! without their leading dashes. So headers are not trusted: a body that begins with `<` is the document, and any other
//! body is split at lines like its first one.

use std::ops::Range;

use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// Upper bound of the parts; a document is one part.
const MOST_PARTS: usize = 16;
const MOST_HEADER_BYTES: usize = 8 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The document as sent; `None` when nothing looks like one.
pub(crate) fn document<'b>(headers: &HeaderMap, body: &'b [u8]) -> Option<&'b [u8]> {
    if is_xml(body) {
        return Some(body);
    }
    let parts = parts(body, declared_boundary(headers).as_deref());
    let named = parts.iter().find(|part| part.is_named_xml && is_xml(part.content));
    let any = || parts.iter().find(|part| is_xml(part.content));
    named.or_else(any).map(|part| part.content)
}

/// The document without the byte order mark that some editors add.
pub(crate) fn without_mark(document: &[u8]) -> &[u8] {
    document.strip_prefix(BYTE_ORDER_MARK).unwrap_or(document)
}

fn is_xml(bytes: &[u8]) -> bool {
    // UTF-16 is accepted here: the acknowledgement names the error.
    let is_wide = matches!(
        bytes,
        [0xFF, 0xFE, b'<', 0, ..] | [0xFE, 0xFF, 0, b'<', ..] | [0, b'<', ..]
    );
    is_wide || without_mark(bytes).trim_ascii_start().first() == Some(&b'<')
}

struct Part<'b> {
    is_named_xml: bool,
    content: &'b [u8],
}

fn declared_boundary(headers: &HeaderMap) -> Option<String> {
    let content_type = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let at = content_type.to_ascii_lowercase().find("boundary=")?;
    let value = content_type[at + "boundary=".len()..].split(';').next()?;
    let value = value.trim().trim_matches('"');
    (!value.is_empty()).then(|| value.to_owned())
}

/// The parts between delimiter lines. The delimiter is the first line of the body, or the declared boundary when the
/// body has a preamble.
fn parts<'b>(body: &'b [u8], declared: Option<&str>) -> Vec<Part<'b>> {
    let first_line = body
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    let delimiter = match declared {
        Some(declared) if !contains(first_line, declared.as_bytes()) => declared.as_bytes(),
        _ => first_line,
    };
    if delimiter.is_empty() || delimiter.len() > 256 {
        return Vec::new();
    }
    let mut parts = Vec::new();
    let mut start = None;
    for line in delimiter_lines(body, delimiter).take(MOST_PARTS + 1) {
        if let Some(start) = start {
            parts.extend(part(&body[start..line.start]));
        }
        start = Some(line.end);
    }
    parts
}

/// The lines that begin with the delimiter, including the line breaks around them.
fn delimiter_lines<'b>(body: &'b [u8], delimiter: &'b [u8]) -> impl Iterator<Item = Range<usize>> + 'b {
    let mut from = 0;
    std::iter::from_fn(move || {
        while from < body.len() {
            let start = from;
            let length = body[start..].iter().position(|byte| *byte == b'\n');
            let end = length.map_or(body.len(), |length| start + length + 1);
            from = end;
            let line = &body[start..end];
            if line.starts_with(delimiter) || line.strip_prefix(b"--").is_some_and(|line| line.starts_with(delimiter)) {
                return Some(without_break(body, start)..end);
            }
        }
        None
    })
}

/// The end of the text before a line, because its line break belongs to the delimiter.
fn without_break(body: &[u8], start: usize) -> usize {
    let before = &body[..start];
    let before = before.strip_suffix(b"\n").unwrap_or(before);
    before.strip_suffix(b"\r").unwrap_or(before).len()
}

/// Splits headers from content at the first empty line.
fn part(bytes: &[u8]) -> Option<Part<'_>> {
    let mut at = 0;
    let mut is_named_xml = false;
    loop {
        let length = bytes[at..].iter().position(|byte| *byte == b'\n')?;
        let line = bytes[at..at + length].trim_ascii();
        at += length + 1;
        if line.is_empty() {
            return Some(Part {
                is_named_xml,
                content: &bytes[at..],
            });
        }
        if at > MOST_HEADER_BYTES {
            return None;
        }
        is_named_xml |= names_xml(line);
    }
}

/// Whether a header contains `name=xml` or `name="xml"`.
fn names_xml(header: &[u8]) -> bool {
    let header = String::from_utf8_lossy(header).to_ascii_lowercase();
    header.starts_with("content-disposition")
        && header.split(';').any(|parameter| {
            let parameter = parameter.trim().split_once('=');
            parameter.is_some_and(|(name, value)| name.trim() == "name" && value.trim().trim_matches('"') == "xml")
        })
}

fn contains(text: &[u8], wanted: &[u8]) -> bool {
    text.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn found(content_type: Option<&str>, body: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        if let Some(content_type) = content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).expect("a header"));
        }
        document(&headers, body.as_bytes()).map(|bytes| String::from_utf8(bytes.to_vec()).expect("UTF-8"))
    }

    #[test]
    fn a_document_is_found_however_it_is_sent() {
        let parts = [
            // The format of the standard.
            (
                "--b",
                "Content-Disposition: form-data; name=\"xml\"; filename=\"x.xml\"\r\nContent-Type: text/xml",
            ),
            // The format of the authority's own sender.
            (
                "--b",
                "Content-Disposition: form-data; name=\"xml\"; filename=\"131880738E310000000002.xml\"\r\nContent-Type: multipart/form-data;",
            ),
            (
                "b",
                "Content-Disposition: form-data; name=xml; filename=aprobacionComercial.xml; filename*=utf-8''aprobacionComercial.xml",
            ),
        ];
        for (delimiter, headers) in parts {
            let body = format!("{delimiter}\r\n{headers}\r\n\r\n<ECF>\r\n</ECF>\r\n\r\n{delimiter}--\r\n");
            for content_type in [
                Some("multipart/form-data; boundary=b"),
                Some("multipart/form-data; boundary=\"b\""),
                None,
            ] {
                assert_eq!(
                    found(content_type, &body).as_deref(),
                    Some("<ECF>\r\n</ECF>\r\n"),
                    "{headers}"
                );
            }
        }
        assert_eq!(found(Some("text/xml"), "<ECF/>").as_deref(), Some("<ECF/>"));
        assert_eq!(
            found(Some("application/json"), "\u{FEFF} <ECF/>").as_deref(),
            Some("\u{FEFF} <ECF/>")
        );
    }

    #[test]
    fn the_part_of_the_right_name_is_preferred() {
        let part =
            |name: &str, content: &str| format!("--b\nContent-Disposition: form-data; name={name}\n\n{content}\n");
        let body = part("otro", "<Otro/>") + &part("XML", "<ECF/>") + "--b--";
        assert_eq!(found(None, &body).as_deref(), Some("<ECF/>"));
        let body = part("archivo", "no") + &part("archivo", "<ECF/>") + "--b--";
        assert_eq!(found(None, &body).as_deref(), Some("<ECF/>"));
    }

    #[test]
    fn what_has_no_document_gives_none() {
        for body in [
            "",
            "{}",
            "--b\r\n\r\nno\r\n--b--",
            "--b\r\nContent-Disposition: form-data; name=xml",
            "\n\n\n",
            "--",
        ] {
            assert_eq!(found(Some("multipart/form-data; boundary=b"), body), None, "{body:?}");
            assert_eq!(found(None, body), None, "{body:?}");
        }
        let many = "--b\r\n\r\nno\r\n".repeat(100) + "--b\r\n\r\n<ECF/>\r\n--b--";
        assert_eq!(found(None, &many), None);
    }
}
