//! BER: definite and indefinite lengths, octet strings in one piece or in many. DER is a part of it.

use std::borrow::Cow;

pub(crate) const BOOLEAN: u8 = 0x01;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;
/// `[0]`, constructed.
pub(crate) const CONTEXT_0: u8 = 0xA0;
/// `[3]`, constructed.
pub(crate) const CONTEXT_3: u8 = 0xA3;

/// What is wrong with the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BerError(pub(crate) &'static str);

const CONSTRUCTED: u8 = 0x20;
/// Real files need about ten levels.
const DEEPEST: usize = 24;

/// What is left to read of the contents of one value.
#[derive(Clone, Copy)]
pub(crate) struct Ber<'a> {
    rest: &'a [u8],
}

#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) tag: u8,
    pub(crate) contents: &'a [u8],
}

impl<'a> Ber<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next value, whatever it is.
    pub(crate) fn value(&mut self) -> Result<Value<'a>, BerError> {
        let (value, rest) = split(self.rest, 0)?;
        self.rest = rest;
        Ok(value)
    }

    /// The next value, which must have this tag.
    pub(crate) fn expect(&mut self, tag: u8) -> Result<Value<'a>, BerError> {
        let value = self.value()?;
        if value.tag == tag {
            Ok(value)
        } else {
            Err(BerError("a part of another kind than expected"))
        }
    }

    /// The next value when it has this tag.
    pub(crate) fn optional(&mut self, tag: u8) -> Result<Option<Value<'a>>, BerError> {
        if self.rest.first() == Some(&tag) {
            self.value().map(Some)
        } else {
            Ok(None)
        }
    }

    pub(crate) fn sequence(&mut self) -> Result<Self, BerError> {
        Ok(self.expect(SEQUENCE)?.inside())
    }

    /// The contents of an object identifier.
    pub(crate) fn object_identifier(&mut self) -> Result<&'a [u8], BerError> {
        Ok(self.expect(OBJECT_IDENTIFIER)?.contents)
    }

    /// An octet string in any form.
    pub(crate) fn octets(&mut self) -> Result<Cow<'a, [u8]>, BerError> {
        let value = self.value()?;
        if value.tag & !CONSTRUCTED != OCTET_STRING {
            return Err(BerError("a part of another kind than expected"));
        }
        value.octets()
    }

    /// A count; more than 32 bits saturate, since every count has a much lower limit.
    pub(crate) fn count(&mut self) -> Result<u32, BerError> {
        let contents = self.expect(INTEGER)?.contents;
        if contents.first().is_none_or(|first| first & 0x80 != 0) {
            return Err(BerError("a count that is not a positive number"));
        }
        let number = contents.iter().fold(0_u64, |number, &byte| {
            number.saturating_mul(256).saturating_add(u64::from(byte))
        });
        Ok(u32::try_from(number).unwrap_or(u32::MAX))
    }
}

impl<'a> Value<'a> {
    pub(crate) fn inside(self) -> Ber<'a> {
        Ber::new(self.contents)
    }

    /// The octets of a string, which may be cut into pieces, under whatever implicit tag it has.
    pub(crate) fn octets(self) -> Result<Cow<'a, [u8]>, BerError> {
        if self.tag & CONSTRUCTED == 0 {
            return Ok(Cow::Borrowed(self.contents));
        }
        let mut octets = Vec::with_capacity(self.contents.len());
        collect(self.contents, 0, &mut octets)?;
        Ok(Cow::Owned(octets))
    }
}

fn collect(mut pieces: &[u8], depth: usize, into: &mut Vec<u8>) -> Result<(), BerError> {
    while !pieces.is_empty() {
        let (piece, rest) = split(pieces, depth)?;
        pieces = rest;
        match piece.tag {
            OCTET_STRING => into.extend_from_slice(piece.contents),
            tag if tag == OCTET_STRING | CONSTRUCTED => collect(piece.contents, depth + 1, into)?,
            _ => return Err(BerError("an octet string with a foreign piece")),
        }
    }
    Ok(())
}

/// The first value of `bytes`, and what follows it.
fn split(bytes: &[u8], depth: usize) -> Result<(Value<'_>, &[u8]), BerError> {
    let cut_short = BerError("it ends in the middle of a part");
    let [tag, length, rest @ ..] = bytes else {
        return Err(cut_short);
    };
    if depth > DEEPEST {
        return Err(BerError("parts are nested too deep"));
    }
    if tag & 0x1F == 0x1F {
        return Err(BerError("a tag of a kind that is not used"));
    }
    if *length == 0x80 {
        if tag & CONSTRUCTED == 0 {
            return Err(BerError("a length that is not allowed"));
        }
        let mut after = rest;
        loop {
            if let [0, 0, end @ ..] = after {
                let contents = &rest[..rest.len() - after.len()];
                return Ok((Value { tag: *tag, contents }, end));
            }
            after = split(after, depth + 1)?.1;
        }
    }
    let (length, rest) = if *length < 0x80 {
        (usize::from(*length), rest)
    } else {
        let digits = usize::from(length & 0x7F);
        let Some((number, rest)) = rest.split_at_checked(digits) else {
            return Err(cut_short);
        };
        let length = number.iter().fold(0_usize, |length, &byte| {
            length.saturating_mul(256).saturating_add(usize::from(byte))
        });
        (length, rest)
    };
    let (contents, rest) = rest.split_at_checked(length).ok_or(cut_short)?;
    Ok((Value { tag: *tag, contents }, rest))
}

/// The dotted form of an object identifier.
pub(crate) fn dotted(contents: &[u8]) -> String {
    let mut arcs: Vec<String> = Vec::new();
    let mut arc: u64 = 0;
    for &byte in contents.iter().take(40) {
        arc = arc.saturating_mul(128).saturating_add(u64::from(byte & 0x7F));
        if byte & 0x80 != 0 {
            continue;
        }
        if arcs.is_empty() {
            let first = (arc / 40).min(2);
            arcs.push(first.to_string());
            arc -= first * 40;
        }
        arcs.push(arc.to_string());
        arc = 0;
    }
    arcs.join(".")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn octet_strings_are_read_in_every_form() {
        for bytes in [
            &[0x04, 0x03, 1, 2, 3][..],
            &[0x04, 0x81, 0x03, 1, 2, 3],
            &[0x24, 0x07, 0x04, 0x01, 1, 0x04, 0x02, 2, 3],
            &[0x24, 0x80, 0x04, 0x01, 1, 0x24, 0x80, 0x04, 0x02, 2, 3, 0, 0, 0, 0],
        ] {
            let mut ber = Ber::new(bytes);
            assert_eq!(&*ber.octets().unwrap(), [1, 2, 3], "{bytes:?}");
            assert!(ber.is_empty());
        }
    }

    #[test]
    fn broken_lengths_and_endless_nesting_are_damage() {
        let nested = [0x30, 0x80].repeat(100_000);
        for bytes in [
            &[][..],
            &[0x30],
            &[0x04, 0x02, 1],
            &[0x04, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            &[0x04, 0x80, 0, 0],
            &[0x30, 0x80, 0x30],
            &[0x1F, 0x81, 0],
            &nested,
        ] {
            assert!(Ber::new(bytes).value().is_err(), "{:?}", bytes.get(..8));
        }
    }

    #[test]
    fn object_identifiers_are_written_with_dots() {
        assert_eq!(dotted(&[0x55, 0x04, 0x61]), "2.5.4.97");
        assert_eq!(
            dotted(&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01, 0x06]),
            "1.2.840.113549.1.12.1.6"
        );
    }
}
