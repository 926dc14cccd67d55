//! The document before [`sign`](crate::sign) added its signature.

const START: &[u8] = b"<Signature xmlns=\"http://www.w3.org/2000/09/xmldsig#\">";
const END: &[u8] = b"</Signature>";

/// Removes the signature before the root's end tag from a document of [`sign`](crate::sign). The result is the
/// canonical bytes except for the references in the text. `None` for other documents. Nothing is verified.
pub fn without_signature(signed: &[u8]) -> Option<Vec<u8>> {
    let root_end = last(signed, b"</")?;
    let before = signed.get(..root_end)?.strip_suffix(END)?;
    let start = last(before, START)?;
    Some([signed.get(..start)?, signed.get(root_end..)?].concat())
}

fn last(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).rposition(|window| window == wanted)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_taken_out() {
        let (before, after) = ("<ECF><Nombre>a</Nombre>", "</ECF>");
        let signature = "<Signature xmlns=\"http://www.w3.org/2000/09/xmldsig#\"><SignedInfo></SignedInfo></Signature>";
        let signed = format!("{before}{signature}{after}");
        let unsigned = without_signature(signed.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(unsigned).unwrap(), format!("{before}{after}"));
        for other in ["", "<ECF></ECF>", "<ECF></Signature></ECF>", "no document"] {
            assert_eq!(without_signature(other.as_bytes()), None, "{other}");
        }
    }
}
