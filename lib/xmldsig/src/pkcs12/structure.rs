//! Reads an encoded value one level at a time. `bcder` decodes BER, which includes DER: lengths may be indefinite, and
//! octet strings may come in pieces.
//!
//! This module reads what OpenSSL's interface does not report. It does not decrypt.

use std::convert::Infallible;

use bcder::decode::{BytesSource, Constructed, DecodeError, Source};
use bcder::{Mode, OctetString, Oid, Tag};
use bytes::Bytes;

/// The value is not encoded as required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// The encoded values inside a constructed value with this tag, in order.
pub(crate) fn values(value: &Bytes, tag: Tag) -> Result<Vec<Bytes>, Malformed> {
    read(value, |outer| outer.take_constructed_if(tag, all))
}

/// The tag of a value.
pub(crate) fn tag(value: &Bytes) -> Result<Tag, Malformed> {
    let mut source = BytesSource::new(value.clone());
    Tag::take_from(&mut source).map(|(tag, _)| tag).map_err(|_| Malformed)
}

/// The octets of a string with this tag.
pub(crate) fn octets(value: &Bytes, tag: Tag) -> Result<Bytes, Malformed> {
    read(value, |outer| outer.take_value_if(tag, OctetString::from_content)).map(OctetString::into_bytes)
}

/// The contents of a primitive value with this tag.
pub(crate) fn contents(value: &Bytes, tag: Tag) -> Result<Bytes, Malformed> {
    read(value, |outer| outer.take_primitive_if(tag, |value| value.take_all()))
}

/// A count. Values above 32 bits saturate, because every count has a much lower limit.
pub(crate) fn count(value: &Bytes) -> Result<u32, Malformed> {
    let number = read(value, |outer| outer.take_u64())?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

/// An object identifier in dotted form.
pub(crate) fn identifier(value: &Bytes) -> Result<String, Malformed> {
    read(value, Oid::take_from).map(|identifier| identifier.to_string())
}

fn read<T>(
    value: &Bytes,
    read: impl FnOnce(&mut Constructed<'_, BytesSource>) -> Result<T, DecodeError<Infallible>>,
) -> Result<T, Malformed> {
    Mode::Ber.decode(value.clone(), read).map_err(|_| Malformed)
}

fn all<S: Source>(inside: &mut Constructed<'_, S>) -> Result<Vec<Bytes>, DecodeError<S::Error>> {
    let mut values = Vec::new();
    loop {
        let mut found = None;
        let value = inside.capture(|inside| {
            found = inside.skip_opt(|_, _, _| Ok(()))?;
            Ok(())
        })?;
        if found.is_none() {
            return Ok(values);
        }
        values.push(value.into_bytes());
    }
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
            let read = octets(&Bytes::from_static(bytes), Tag::OCTET_STRING);
            assert_eq!(read.unwrap().as_ref(), [1, 2, 3], "{bytes:?}");
        }
    }

    #[test]
    fn the_values_of_a_sequence_end_where_it_ends() {
        for bytes in [
            &[0x30, 0x05, 0x02, 0x01, 7, 0x30, 0x00][..],
            &[0x30, 0x05, 0x02, 0x01, 7, 0x30, 0x00, 0xFF],
            &[0x30, 0x80, 0x02, 0x01, 7, 0x30, 0x80, 0, 0, 0, 0],
        ] {
            let values = values(&Bytes::from_static(bytes), Tag::SEQUENCE).unwrap();
            assert_eq!((values.len(), count(&values[0])), (2, Ok(7)), "{bytes:?}");
        }
    }

    #[test]
    fn broken_lengths_and_endless_nesting_are_malformed() {
        let nested = [0x30, 0x80].repeat(100_000);
        for bytes in [
            &[][..],
            &[0x30],
            &[0x30, 0x02, 1],
            &[0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            &[0x30, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            &[0x30, 0x80, 0x30],
            &[0x04, 0x80, 0, 0],
            &nested,
        ] {
            assert_eq!(values(&Bytes::copy_from_slice(bytes), Tag::SEQUENCE), Err(Malformed));
        }
    }
}
