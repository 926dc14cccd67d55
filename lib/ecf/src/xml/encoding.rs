//! Encoding and version of a document, by its first bytes and its XML declaration.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::XmlError;

/// The first bytes, which contain the declaration if there is one.
const DECLARATION_BYTES: usize = 200;
/// Upper bound of an encoding name that is shown: the sender chooses it.
const LONGEST_NAME: usize = 40;

/// Refuses, by name, any encoding except UTF-8 and any version except 1.0.
///
/// The bytes alone are ambiguous: ISO-8859-1 without accents is valid UTF-8, with accents it is not.
pub(super) fn check(bytes: &[u8]) -> Result<(), XmlError> {
    if let Some(found) = wide(bytes) {
        return Err(XmlError::Encoding {
            found: found.to_owned(),
        });
    }
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES)]);
    let Ok(Event::Decl(declaration)) = Reader::from_str(start.trim_start_matches('\u{FEFF}')).read_event() else {
        return Ok(());
    };
    if let Some(Ok(encoding)) = declaration.encoding()
        && !encoding.eq_ignore_ascii_case("utf-8")
    {
        return Err(XmlError::Encoding {
            found: shown(&encoding),
        });
    }
    match declaration.version() {
        Ok(version) if version != "1.0" => Err(XmlError::Version { found: shown(&version) }),
        _ => Ok(()),
    }
}

/// The text in any encoding. Only ASCII is reliable, which suffices for RNC and e-NCF.
pub(super) fn decode_lossy(bytes: &[u8]) -> Cow<'_, str> {
    let units =
        |of: fn([u8; 2]) -> u16| -> Vec<u16> { bytes.chunks_exact(2).map(|pair| of([pair[0], pair[1]])).collect() };
    match bytes {
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => Cow::Owned(String::from_utf16_lossy(&units(u16::from_le_bytes))),
        [0xFE, 0xFF, ..] | [0, b'<', ..] => Cow::Owned(String::from_utf16_lossy(&units(u16::from_be_bytes))),
        _ => String::from_utf8_lossy(bytes),
    }
}

/// An encoding that uses more than one byte for an ASCII character.
fn wide(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        // UTF-32 is checked first, because its byte-order marks begin like those of UTF-16.
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] | [b'<', 0, 0, 0, ..] | [0, 0, 0, b'<', ..] => Some("UTF-32"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'<', 0, ..] | [0, b'<', ..] => Some("UTF-16"),
        _ => None,
    }
}

fn shown(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Heading;

    fn refusal(bytes: &[u8]) -> String {
        check(bytes).map_or_else(|error| error.to_string(), |()| "none".to_owned())
    }

    #[test]
    fn c12_another_encoding_is_named_whatever_the_bytes() {
        for (bytes, named) in [
            (
                &b"<?xml version='1.0' encoding='ISO-8859-1'?><ECF>a</ECF>"[..],
                "ISO-8859-1",
            ),
            (
                b"<?xml version='1.0' encoding='ISO-8859-1'?><ECF>\xF1</ECF>",
                "ISO-8859-1",
            ),
            (b"<?xml version=\"1.0\" encoding=\"us-ascii\"?><ECF/>", "us-ascii"),
            (
                b"<?xml version=\"1.0\" encoding=\"windows-1252\"?><ECF>\x80</ECF>",
                "windows-1252",
            ),
            (b"\xFF\xFE<\0E\0C\0F\0/\0>\0", "UTF-16"),
            (b"\0<\0E\0C\0F\0/\0>", "UTF-16"),
            (b"<\0\0\0E\0\0\0", "UTF-32"),
        ] {
            let expected = format!("the document is in the encoding {named}: only UTF-8 is read");
            assert_eq!(refusal(bytes), expected);
        }
        assert_eq!(
            refusal(b"<?xml version='1.1' encoding='utf-8'?><ECF/>"),
            "the document is XML 1.1: only XML 1.0 is read"
        );
        for good in [
            "<ECF/>",
            "<?xml version=\"1.0\"?><ECF/>",
            "\u{FEFF}<?xml version='1.0' encoding='UTF-8'?><ECF/>",
        ] {
            assert_eq!(refusal(good.as_bytes()), "none");
        }
    }

    #[test]
    fn c12_the_heading_is_read_in_any_encoding() {
        let xml = "<ECF><Encabezado><IdDoc><eNCF>E310000000001</eNCF></IdDoc><Emisor><RNCEmisor>130000001</RNCEmisor>\
                   <Otro>ñ</Otro></Emisor></Encabezado></ECF>";
        let declared = format!("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>{xml}");
        let latin: Vec<u8> = declared.chars().map(|character| character as u8).collect();
        let little: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = xml.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = [b"\xFE\xFF".as_slice(), &big].concat();
        let newer = format!("<?xml version=\"1.1\"?>{xml}").into_bytes();
        for bytes in [latin, little, big, marked, newer] {
            let heading = Heading::from_xml(&bytes).unwrap();
            assert_eq!(heading.rnc_emisor, "130000001".parse().ok());
            assert_eq!(heading.encf, "E310000000001".parse().ok());
        }
    }
}
