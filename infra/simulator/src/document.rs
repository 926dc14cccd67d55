//! A received file: its bytes, and its XML tree after the authority's whitespace rule.
//!
//! The authority drops whitespace-only text before it verifies a signature, and so does this reader. A document that
//! was signed with its indentation therefore fails here as it fails there.

use sha2::{Digest, Sha256};

use crate::xml::{Element, XmlError};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A well-formed document.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// SHA-256 of the received bytes, in hex.
    pub(crate) sha256: String,
    /// The document without whitespace-only text.
    pub(crate) source: String,
    /// The XML tree of `source`.
    pub(crate) root: Element,
}

/// Why a file cannot be read as a document.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DocumentError {
    #[error("the file starts with a byte order mark")]
    ByteOrderMark,
    #[error("the file is not an acceptable XML document")]
    Xml(#[from] XmlError),
}

impl Document {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, DocumentError> {
        if bytes.starts_with(BYTE_ORDER_MARK) {
            return Err(DocumentError::ByteOrderMark);
        }
        let source = without_blank_text(std::str::from_utf8(bytes).map_err(|_| XmlError::Encoding)?);
        let root = Element::parse(source.as_bytes())?;
        Ok(Self {
            sha256: hex::encode(Sha256::digest(bytes)),
            source,
            root,
        })
    }

    /// The first six characters of the signature value.
    pub(crate) fn security_code(&self) -> String {
        let value = self.root.text_at(&["Signature", "SignatureValue"]).unwrap_or_default();
        value
            .chars()
            .filter(|character| !character.is_whitespace())
            .take(6)
            .collect()
    }
}

/// Drops whitespace-only text between two tags.
fn without_blank_text(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find('<') {
        // `rest` begins right after a tag, so the characters before the next tag are one whole text node.
        let (text, tag) = rest.split_at(start);
        if !text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
            out.push_str(text);
        }
        let close = match tag {
            _ if tag.starts_with("<![CDATA[") => "]]>",
            _ if tag.starts_with("<!--") => "-->",
            _ => ">",
        };
        let end = tag.find(close).map_or(tag.len(), |end| end + close.len());
        out.push_str(&tag[..end]);
        rest = &tag[end..];
    }
    out.push_str(rest.trim_end_matches([' ', '\t', '\r', '\n']));
    out
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn only_text_that_is_nothing_but_blanks_is_dropped() {
        assert_eq!(
            without_blank_text("<a>\n  <b> x > </b>\n <c> </c></a>\n"),
            "<a><b> x > </b><c></c></a>"
        );
    }

    #[test]
    fn a_byte_order_mark_is_told_from_bad_xml() {
        assert!(matches!(
            Document::read(b"\xef\xbb\xbf<a/>"),
            Err(DocumentError::ByteOrderMark)
        ));
        assert!(matches!(Document::read(b"hello"), Err(DocumentError::Xml(_))));
        assert_eq!(Document::read(b"<a/>").unwrap().sha256.len(), 64);
    }
}
