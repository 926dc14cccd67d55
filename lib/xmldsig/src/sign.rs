//! Signing: the canonical bytes are hashed, `SignedInfo` is written in canonical form, and RSA runs once.
//!
//! The profile is that of the authority's own software: inclusive C14N, one reference to the whole document, SHA-256,
//! the certificate in `KeyInfo`, and no white space, because a verifier may drop it.
//!
//! The signed bytes are the canonical ones except for five characters, which [`references`] writes as the authority
//! requires.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ecf_language::{Bilingual, Say};
use sha2::{Digest, Sha256};

use crate::algorithms;
use crate::c14n::Method;
use crate::c14n::document::{self, Options, Signatures};
use crate::c14n::writer::{self, Context};
use crate::identity::Identity;
use crate::references;
use crate::xml::reader;
use crate::xml::{Limits, XmlError};

/// A signed document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedDocument {
    /// The document with its signature: the bytes to store and to send. Five characters of its text are references: `"
    /// ' © ® €`.
    pub xml: Vec<u8>,
    /// The text of `SignatureValue`; the security code of a receipt is its first six characters.
    pub signature_value: String,
    /// SHA-256 of the canonical document without the signature.
    pub digest: [u8; 32],
}

/// Why a document was not signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// [`sign`] takes canonical bytes only: `<Root>…</Root>`, without declarations or attributes on the root.
    #[error("not a canonical document: {0}")]
    NotCanonical(&'static str),
    /// The document already has a signature.
    #[error("the document is signed already")]
    AlreadySigned,
    /// The foreign document is not well-formed, or exceeds a limit.
    #[error(transparent)]
    Xml(#[from] XmlError),
    /// OpenSSL could not sign with the private key.
    #[error("the private key cannot sign")]
    Key,
}

impl Say for SignError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::NotCanonical(_) => "no es un documento canónico".to_owned(),
            Self::AlreadySigned => "el documento ya está firmado".to_owned(),
            Self::Xml(error) => return error.say(),
            Self::Key => "la clave privada no puede firmar".to_owned(),
        };
        Bilingual::of(self, spanish)
    }
}

/// Signs a document whose bytes are already canonical, as our own writers make them. It is not parsed.
///
/// # Errors
///
/// [`SignError::NotCanonical`] when the bytes do not start and end with the root's tags, or the root has attributes.
pub fn sign(canonical_xml: &[u8], identity: &Identity) -> Result<SignedDocument, SignError> {
    let root_end = check_root(canonical_xml)?;
    let digest = Sha256::digest(canonical_xml).into();
    let body = signed_info_body(&digest);
    // The root declares no namespace, so the canonical `SignedInfo` has only that of `Signature`.
    let signed_info = [SIGNED_INFO_START_CANONICAL, &body].concat();
    finish(canonical_xml, root_end, digest, &body, signed_info.as_bytes(), identity)
}

/// Signs XML from others: the authority's seed, forms of its portal.
///
/// Text nodes that consist only of blanks are removed first, as the authority does when it reads the document. The
/// result is in canonical form, except for the references in its text. `SignedInfo` inherits namespace declarations of
/// the root.
///
/// # Errors
///
/// [`SignError::Xml`] when the document is not well-formed or exceeds a limit, [`SignError::AlreadySigned`] when it has
/// a signature.
pub fn sign_foreign(xml: &[u8], identity: &Identity, limits: &Limits) -> Result<SignedDocument, SignError> {
    let text = reader::decode(xml, limits)?;
    let options = Options {
        method: Method::Inclusive,
        drop_blank_text: true,
        signatures: Signatures::CutOut,
    };
    let document = document::read(text, &options, limits)?;
    if !document.found.is_empty() {
        return Err(SignError::AlreadySigned);
    }
    let digest = Sha256::digest(&document.bytes).into();
    let body = signed_info_body(&digest);
    let mut context: Context<'_> = document.root_context;
    context.scopes.declare("", algorithms::NAMESPACE.into(), 2, 0)?;
    let in_document = [SIGNED_INFO_START, &body].concat();
    let signed_info = writer::subtree(
        &in_document,
        0..in_document.len(),
        Method::Inclusive,
        false,
        &context,
        limits,
    )?;
    finish(
        &document.bytes,
        document.root_end,
        digest,
        &body,
        &signed_info,
        identity,
    )
}

const SIGNED_INFO_START: &str = "<SignedInfo>";
const SIGNED_INFO_START_CANONICAL: &str = "<SignedInfo xmlns=\"http://www.w3.org/2000/09/xmldsig#\">";

/// The content of `SignedInfo`; equal in the document and in canonical form.
fn signed_info_body(digest: &[u8; 32]) -> String {
    const BEFORE_DIGEST: &str = concat!(
        "<CanonicalizationMethod Algorithm=\"http://www.w3.org/TR/2001/REC-xml-c14n-20010315\"></CanonicalizationMethod>",
        "<SignatureMethod Algorithm=\"http://www.w3.org/2001/04/xmldsig-more#rsa-sha256\"></SignatureMethod>",
        "<Reference URI=\"\"><Transforms>",
        "<Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\"></Transform>",
        "</Transforms><DigestMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"></DigestMethod><DigestValue>",
    );
    const AFTER_DIGEST: &str = "</DigestValue></Reference></SignedInfo>";
    let mut body = String::with_capacity(BEFORE_DIGEST.len() + 44 + AFTER_DIGEST.len());
    body.push_str(BEFORE_DIGEST);
    STANDARD.encode_string(digest, &mut body);
    body.push_str(AFTER_DIGEST);
    body
}

/// Signs `signed_info` and inserts the signature before the root's end tag.
fn finish(
    document: &[u8],
    root_end: usize,
    digest: [u8; 32],
    signed_info_body: &str,
    signed_info: &[u8],
    identity: &Identity,
) -> Result<SignedDocument, SignError> {
    let signature_value = STANDARD.encode(identity.sign_digest(&Sha256::digest(signed_info).into())?);
    let certificate = identity.certificate_base64();
    let (before, after) = document.split_at(root_end);
    let before = references::in_text(before);
    let parts: [&[u8]; 10] = [
        &before,
        b"<Signature xmlns=\"http://www.w3.org/2000/09/xmldsig#\">",
        SIGNED_INFO_START.as_bytes(),
        signed_info_body.as_bytes(),
        b"<SignatureValue>",
        signature_value.as_bytes(),
        b"</SignatureValue><KeyInfo><X509Data><X509Certificate>",
        certificate.as_bytes(),
        b"</X509Certificate></X509Data></KeyInfo></Signature>",
        after,
    ];
    let xml = parts.concat();
    Ok(SignedDocument {
        xml,
        signature_value,
        digest,
    })
}

/// Checks the outer tags; returns the offset of the end tag.
fn check_root(xml: &[u8]) -> Result<usize, SignError> {
    let not_canonical = SignError::NotCanonical;
    let Some(inside) = xml.strip_prefix(b"<") else {
        return Err(not_canonical("it does not start with a tag"));
    };
    let name_length = inside
        .iter()
        .position(|&b| !(b.is_ascii_alphanumeric() || b == b'_' || b == b'-' || b == b'.'));
    let name = match name_length {
        Some(length) if length > 0 && inside[length] == b'>' => &inside[..length],
        _ => {
            return Err(not_canonical(
                "it does not start with the tag of a root without attributes and prefix",
            ));
        }
    };
    let end = xml
        .strip_suffix(b">")
        .and_then(|rest| rest.strip_suffix(name))
        .and_then(|rest| rest.strip_suffix(b"</"));
    match end {
        Some(before) if before.ends_with(b"</Signature>") => Err(SignError::AlreadySigned),
        Some(before) if before.len() > name.len() => Ok(before.len()),
        _ => Err(not_canonical("it does not end with the end tag of the root")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_roots_are_signed_without_parsing() {
        assert!(matches!(check_root(b"<ECF><a></a></ECF>"), Ok(12)));
        for bad in [
            "",
            "<ECF>",
            "<ECF/>",
            "</ECF>",
            "<></>",
            "<ECF a=\"1\"></ECF>",
            "<ECF></ECF>\n",
            " <ECF></ECF>",
            "<a></b>",
            "<?xml version=\"1.0\"?><a></a>",
            "\u{FEFF}<a></a>",
            "<a>",
        ] {
            assert!(
                matches!(check_root(bad.as_bytes()), Err(SignError::NotCanonical(_))),
                "{bad}"
            );
        }
        assert!(matches!(
            check_root(b"<a><Signature></Signature></a>"),
            Err(SignError::AlreadySigned)
        ));
    }
}
