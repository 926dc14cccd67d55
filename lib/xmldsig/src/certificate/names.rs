//! Distinguished names: which attribute is which, and what its text is in the string types of forty years.

use crate::ber::{Ber, BerError, OBJECT_IDENTIFIER, SET, Value, dotted};

/// One attribute of a name.
pub(super) struct Entry {
    /// The usual abbreviation, or the dotted object identifier.
    pub(super) name: String,
    pub(super) text: String,
}

/// All attributes of a name, in order.
pub(super) fn read(mut name: Ber<'_>) -> Result<Vec<Entry>, BerError> {
    let mut entries = Vec::with_capacity(6);
    while !name.is_empty() {
        let mut set = name.expect(SET)?.inside();
        while !set.is_empty() {
            let mut attribute = set.sequence()?;
            let identifier = attribute.expect(OBJECT_IDENTIFIER)?.contents;
            entries.push(Entry {
                name: short_name(identifier),
                text: text(attribute.value()?),
            });
        }
    }
    Ok(entries)
}

/// `C=DO, O=…, CN=…`
pub(super) fn one_line(entries: &[Entry]) -> String {
    let length = entries
        .iter()
        .map(|entry| entry.name.len() + entry.text.len() + 3)
        .sum();
    let mut line = String::with_capacity(length);
    for entry in entries {
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(&entry.name);
        line.push('=');
        line.push_str(&entry.text);
    }
    line
}

/// The abbreviations that OpenSSL prints.
fn short_name(identifier: &[u8]) -> String {
    let short = match identifier {
        [0x55, 0x04, 3] => "CN",
        [0x55, 0x04, 4] => "SN",
        [0x55, 0x04, 5] => "serialNumber",
        [0x55, 0x04, 6] => "C",
        [0x55, 0x04, 7] => "L",
        [0x55, 0x04, 8] => "ST",
        [0x55, 0x04, 9] => "street",
        [0x55, 0x04, 10] => "O",
        [0x55, 0x04, 11] => "OU",
        [0x55, 0x04, 12] => "title",
        [0x55, 0x04, 13] => "description",
        [0x55, 0x04, 15] => "businessCategory",
        [0x55, 0x04, 17] => "postalCode",
        [0x55, 0x04, 20] => "telephoneNumber",
        [0x55, 0x04, 41] => "name",
        [0x55, 0x04, 42] => "GN",
        [0x55, 0x04, 43] => "initials",
        [0x55, 0x04, 44] => "generationQualifier",
        [0x55, 0x04, 46] => "dnQualifier",
        [0x55, 0x04, 65] => "pseudonym",
        [0x55, 0x04, 97] => "organizationIdentifier",
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1] => "emailAddress",
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 2] => "unstructuredName",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1, 1] => "UID",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1, 25] => "DC",
        _ => return dotted(identifier),
    };
    short.to_owned()
}

/// The text of a string of any type. Issuers make mistakes here; what cannot be read shows as U+FFFD.
pub(crate) fn text(value: Value<'_>) -> String {
    let bytes = value.contents;
    match value.tag {
        // UTF8String
        0x0C => String::from_utf8_lossy(bytes).into_owned(),
        // UniversalString
        0x1C => bytes
            .chunks(4)
            .map(|unit| {
                unit.try_into()
                    .ok()
                    .and_then(|unit| char::from_u32(u32::from_be_bytes(unit)))
            })
            .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
        // BMPString, which is UTF-16 in practice.
        0x1E => {
            let (units, _) = bytes.as_chunks::<2>();
            char::decode_utf16(units.iter().map(|unit| u16::from_be_bytes(*unit)))
                .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
        // NumericString, PrintableString, T61String, IA5String, VisibleString, GeneralString: Latin-1 in practice.
        0x12 | 0x13 | 0x14 | 0x16 | 0x1A | 0x1B => bytes.iter().map(|&byte| char::from(byte)).collect(),
        // x500UniqueIdentifier is a bit string: nothing to read.
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_every_string_type_is_read() {
        for (tag, contents, expected) in [
            (0x0C, "Ñandú 日本".as_bytes(), "Ñandú 日本"),
            (0x0C, b"Se\xF1al", "Se\u{FFFD}al"),
            (0x13, b"DO", "DO"),
            (0x14, b"Se\xF1al", "Señal"),
            (0x16, b"a@b.example", "a@b.example"),
            (0x1E, b"\0S\0e\0\xF1\0a\0l", "Señal"),
            (0x1E, b"\xD8\x3D\xDE\x00", "\u{1F600}"),
            (0x1E, b"\xD8\x3D\0a", "\u{FFFD}a"),
            (0x1C, b"\0\0\0S\0\x01\xF6\x00", "S\u{1F600}"),
            (0x1C, b"\xFF\0\0\0\0", "\u{FFFD}\u{FFFD}"),
            (0x03, b"\0\x01", ""),
        ] {
            assert_eq!(text(Value { tag, contents }), expected, "{tag:x} {contents:?}");
        }
    }
}
