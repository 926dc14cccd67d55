//! The encoding of a document that is not UTF-8, for the error message.

use super::attributes;
use super::excerpt;

/// The first bytes, in which a declaration may name the encoding.
const DECLARATION_BYTES: usize = 200;

/// The encoding by the first bytes or by the declaration. `None`: UTF-8, or unknown.
pub(crate) fn other_than_utf8(xml: &[u8]) -> Option<String> {
    // UTF-32 is checked first, because its byte-order marks begin like those of UTF-16.
    match xml {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] | [b'<', 0, 0, 0, ..] | [0, 0, 0, b'<', ..] => {
            return Some("UTF-32".to_owned());
        }
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'<', 0, ..] | [0, b'<', ..] => return Some("UTF-16".to_owned()),
        _ => {}
    }
    let start = String::from_utf8_lossy(&xml[..xml.len().min(DECLARATION_BYTES)]);
    let (declaration, _) = start.strip_prefix("<?xml")?.split_once("?>")?;
    let mut parts = Vec::new();
    attributes::parse(declaration, 0, 3, &mut parts).ok()?;
    let encoding = parts.into_iter().find(|part| part.name == "encoding")?;
    (!encoding.value.eq_ignore_ascii_case("utf-8")).then(|| excerpt(&encoding.value))
}
