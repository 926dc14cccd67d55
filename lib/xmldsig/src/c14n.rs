//! Canonical XML 1.0 and Exclusive XML Canonicalization 1.0, both without comments, written while reading, without a
//! tree.
//!
//! [`writer`] turns tags and text into canonical bytes, [`namespaces`] tracks declarations in scope, [`document`]
//! processes a whole document and cuts the signature out of it, [`escape`] writes characters.

pub(crate) mod document;
pub(crate) mod escape;
pub(crate) mod namespaces;
pub(crate) mod writer;

use crate::algorithms;
use crate::xml::{Limits, XmlError, reader};
use document::{Options, Signatures};

/// The canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Canonical XML 1.0: an element carries every namespace that is in scope and new at that place.
    Inclusive,
    /// Exclusive XML Canonicalization 1.0: an element carries only the namespaces that it visibly uses.
    Exclusive,
}

impl Method {
    /// The identifier that signatures name.
    #[must_use]
    pub fn uri(self) -> &'static str {
        match self {
            Self::Inclusive => algorithms::INCLUSIVE_C14N,
            Self::Exclusive => algorithms::EXCLUSIVE_C14N,
        }
    }

    pub(crate) fn from_uri(uri: &str) -> Option<Self> {
        match uri {
            algorithms::INCLUSIVE_C14N => Some(Self::Inclusive),
            algorithms::EXCLUSIVE_C14N => Some(Self::Exclusive),
            _ => None,
        }
    }
}

/// The canonical form of a whole document, signatures included, without comments.
///
/// # Errors
///
/// [`XmlError`] when the document is not well-formed, has a document type declaration, or exceeds a limit.
pub fn canonicalize(xml: &[u8], method: Method, limits: &Limits) -> Result<Vec<u8>, XmlError> {
    let text = reader::decode(xml, limits)?;
    let options = Options {
        method,
        drop_blank_text: false,
        signatures: Signatures::Keep,
    };
    Ok(document::read(text, &options, limits)?.bytes)
}
