//! The inside of a start tag after its name, and the references in text and attribute values.

use std::borrow::Cow;

use super::characters::{is_blank_byte, is_char, is_qualified_name};
use super::{XmlError, XmlErrorKind, excerpt};

/// One attribute with its normalised value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: Cow<'a, str>,
}

/// Reads all attributes of a tag. `offset`: the position of `raw` in the document.
pub(crate) fn parse<'a>(
    raw: &'a str,
    offset: usize,
    limit: usize,
    into: &mut Vec<Attribute<'a>>,
) -> Result<(), XmlError> {
    into.clear();
    let bytes = raw.as_bytes();
    let mut at = 0;
    loop {
        let before_blanks = at;
        while bytes.get(at).copied().is_some_and(is_blank_byte) {
            at += 1;
        }
        if at == bytes.len() {
            return Ok(());
        }
        let malformed = || XmlErrorKind::Attribute(excerpt(&raw[before_blanks..])).at(offset + before_blanks);
        if at == before_blanks {
            return Err(malformed());
        }
        let name_start = at;
        while bytes.get(at).is_some_and(|&b| b != b'=' && !is_blank_byte(b)) {
            at += 1;
        }
        let name = &raw[name_start..at];
        if !is_qualified_name(name) {
            return Err(XmlErrorKind::Name(excerpt(name)).at(offset + name_start));
        }
        while bytes.get(at).copied().is_some_and(is_blank_byte) {
            at += 1;
        }
        if bytes.get(at) != Some(&b'=') {
            return Err(malformed());
        }
        at += 1;
        while bytes.get(at).copied().is_some_and(is_blank_byte) {
            at += 1;
        }
        let quote = match bytes.get(at) {
            Some(&quote @ (b'"' | b'\'')) => quote,
            _ => return Err(malformed()),
        };
        at += 1;
        let value_start = at;
        let Some(length) = bytes[at..].iter().position(|&b| b == quote) else {
            return Err(malformed());
        };
        at += length;
        let value = &raw[value_start..at];
        at += 1;
        if value.contains('<') {
            return Err(malformed());
        }
        if into.iter().any(|other| other.name == name) {
            return Err(XmlErrorKind::DuplicateAttribute(excerpt(name)).at(offset + name_start));
        }
        if into.len() == limit {
            return Err(XmlErrorKind::TooManyAttributes { limit }.at(offset + name_start));
        }
        into.push(Attribute {
            name,
            value: normalise(value, offset + value_start)?,
        });
    }
}

/// Normalises an attribute value of type CDATA: references are resolved, literal line ends and tabs become blanks.
fn normalise(value: &str, offset: usize) -> Result<Cow<'_, str>, XmlError> {
    if !value.bytes().any(|b| matches!(b, b'&' | b'\t' | b'\n' | b'\r')) {
        return Ok(Cow::Borrowed(value));
    }
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(found) = rest.find(['&', '\t', '\n', '\r']) {
        let at = offset + (value.len() - rest.len()) + found;
        text.push_str(&rest[..found]);
        rest = &rest[found..];
        if let Some(reference) = rest.strip_prefix('&') {
            let Some((name, after)) = reference.split_once(';') else {
                return Err(XmlErrorKind::UnknownEntity(excerpt(reference)).at(at));
            };
            text.push(resolve(name, at)?);
            rest = after;
        } else {
            text.push(' ');
            rest = rest.strip_prefix("\r\n").unwrap_or(&rest[1..]);
        }
    }
    text.push_str(rest);
    Ok(Cow::Owned(text))
}

/// The character of the reference `&name;`.
pub(crate) fn resolve(name: &str, offset: usize) -> Result<char, XmlError> {
    let Some(number) = name.strip_prefix('#') else {
        return match name {
            "amp" => Ok('&'),
            "lt" => Ok('<'),
            "gt" => Ok('>'),
            "quot" => Ok('"'),
            "apos" => Ok('\''),
            _ => Err(XmlErrorKind::UnknownEntity(excerpt(name)).at(offset)),
        };
    };
    let code = match number.strip_prefix('x') {
        // `from_str_radix` would also accept a sign, which XML does not.
        Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16).ok(),
        None if number.bytes().all(|b| b.is_ascii_digit()) => number.parse().ok(),
        _ => None,
    };
    code.and_then(char::from_u32)
        .filter(|&c| is_char(c))
        .ok_or_else(|| XmlErrorKind::CharacterReference(excerpt(name)).at(offset))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(raw: &str) -> Result<Vec<(String, String)>, XmlErrorKind> {
        let mut into = Vec::new();
        parse(raw, 0, 4, &mut into).map_err(|error| error.kind)?;
        Ok(into
            .into_iter()
            .map(|a| (a.name.to_owned(), a.value.into_owned()))
            .collect())
    }

    #[test]
    fn values_are_normalised() {
        let read = read(" a='1\r\n2\t3\n4\r5' b = \"&#9;&#xA;&#13;&lt;&amp;&quot;'\" ").unwrap();
        assert_eq!(read[0].1, "1 2 3 4 5");
        assert_eq!(read[1].1, "\t\n\r<&\"'");
    }

    #[test]
    fn malformed_attributes_are_refused() {
        for bad in [
            " a",
            " a=",
            " a=1",
            " a='1",
            " a='1'b='2'",
            " a='<'",
            " ='1'",
            " 1='1'",
            " a='1' a='2'",
            " a='&x;'",
            " a='&#0;'",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(
            read(" a='' b='' c='' d='' e=''"),
            Err(XmlErrorKind::TooManyAttributes { limit: 4 })
        );
    }

    #[test]
    fn only_references_to_allowed_characters_resolve() {
        assert_eq!(resolve("#241", 0).unwrap(), 'ñ');
        assert_eq!(resolve("#x1F600", 0).unwrap(), '\u{1F600}');
        for bad in [
            "#",
            "#x",
            "#0",
            "#xD800",
            "#xFFFE",
            "#+1",
            "#x+1",
            "#X41",
            "#99999999999",
            "nbsp",
            "",
        ] {
            assert!(resolve(bad, 0).is_err(), "{bad}");
        }
    }
}
