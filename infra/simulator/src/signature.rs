//! Verifies signatures and certificates with `bergshamra`, which shares no code with the signer under test.
//!
//! The profile is checked on the XML tree first (one signature, at the end of the root, one reference to the whole
//! document, only the known algorithms), so that the verifier never processes an unexpected transform or key.

use base64::{Engine, prelude::BASE64_STANDARD};
use bergshamra::{DsigContext, KeysManager, keys::loader::load_x509_cert_der};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use x509_cert::der::{Decode, asn1::ObjectIdentifier};

use crate::{document::Document, xml::Element};

const XMLDSIG: &str = "http://www.w3.org/2000/09/xmldsig#";
const ENVELOPED: &str = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
const RSA_SHA256: &str = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
const SHA256: &str = "http://www.w3.org/2001/04/xmlenc#sha256";
const C14N: [&str; 2] = [
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
    "http://www.w3.org/2001/10/xml-exc-c14n#",
];
const SUBJECT_SERIAL_NUMBER: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.5");

/// The signer of a document.
#[derive(Debug, Clone)]
pub(crate) struct Signer {
    /// SHA-256 of the certificate, in hex.
    pub(crate) fingerprint: String,
    /// The owner's RNC, cédula or passport, without the prefix that names the kind.
    pub(crate) owner: String,
    not_before: Timestamp,
    not_after: Timestamp,
}

impl Signer {
    /// Whether the certificate is valid at `now`.
    pub(crate) fn is_in_force(&self, now: Timestamp) -> bool {
        (self.not_before..=self.not_after).contains(&now)
    }
}

/// Why a signature is rejected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignatureError {
    #[error("the signature does not follow the profile: {0}")]
    Profile(&'static str),
    #[error("the certificate cannot be read")]
    Certificate,
    #[error("the signature does not verify")]
    Invalid,
}

/// Verifies the enveloped signature of a document.
pub(crate) fn verify(document: &Document) -> Result<Signer, SignatureError> {
    let certificate = certificate_of_profile(&document.root)?;
    let signer = read_certificate(&certificate)?;
    let mut keys = KeysManager::new();
    keys.add_key(load_x509_cert_der(&certificate).map_err(|_| SignatureError::Certificate)?);
    match bergshamra::verify(&DsigContext::new(keys), &document.source) {
        Ok(result) if result.all_reference_digests_verified() => Ok(signer),
        _ => Err(SignatureError::Invalid),
    }
}

fn certificate_of_profile(root: &Element) -> Result<Vec<u8>, SignatureError> {
    let refuse = |what| Err(SignatureError::Profile(what));
    if count(root, "Signature") != 1 {
        return refuse("exactly one signature is expected");
    }
    let Some(signature) = root.children.last().filter(|last| last.name == "Signature") else {
        return refuse("the signature must be the last child of the root");
    };
    if signature.attribute_value("xmlns") != Some(XMLDSIG) {
        return refuse("the signature must declare its namespace as default");
    }
    if signature
        .children
        .iter()
        .map(|child| child.name.as_str())
        .ne(["SignedInfo", "SignatureValue", "KeyInfo"])
    {
        return refuse("SignedInfo, SignatureValue and KeyInfo are expected");
    }
    let algorithm = |path: &[&str]| {
        signature
            .at(path)
            .and_then(|element| element.attribute_value("Algorithm"))
    };
    if !algorithm(&["SignedInfo", "CanonicalizationMethod"]).is_some_and(|one| C14N.contains(&one)) {
        return refuse("unknown canonicalisation");
    }
    if algorithm(&["SignedInfo", "SignatureMethod"]) != Some(RSA_SHA256) {
        return refuse("the signature method must be RSA with SHA-256");
    }
    if count(signature, "Reference") != 1 {
        return refuse("exactly one reference is expected");
    }
    if signature
        .at(&["SignedInfo", "Reference"])
        .and_then(|one| one.attribute_value("URI"))
        != Some("")
    {
        return refuse("the reference must point to the whole document");
    }
    if algorithm(&["SignedInfo", "Reference", "DigestMethod"]) != Some(SHA256) {
        return refuse("the digest method must be SHA-256");
    }
    let transforms: Vec<_> = signature
        .at(&["SignedInfo", "Reference", "Transforms"])
        .map(|all| {
            all.children
                .iter()
                .map(|one| one.attribute_value("Algorithm").unwrap_or_default())
                .collect()
        })
        .unwrap_or_default();
    match transforms.as_slice() {
        [ENVELOPED] => {}
        [ENVELOPED, canonicalisation] if C14N.contains(canonicalisation) => {}
        _ => return refuse("the transforms are not the enveloped one"),
    }
    let encoded = signature
        .text_at(&["KeyInfo", "X509Data", "X509Certificate"])
        .ok_or(SignatureError::Certificate)?;
    let encoded: String = encoded
        .chars()
        .filter(|character| !character.is_ascii_whitespace())
        .collect();
    BASE64_STANDARD.decode(encoded).map_err(|_| SignatureError::Certificate)
}

fn count(element: &Element, name: &str) -> usize {
    element
        .children
        .iter()
        .map(|child| usize::from(child.name == name || child.name.ends_with(&format!(":{name}"))) + count(child, name))
        .sum()
}

fn read_certificate(der: &[u8]) -> Result<Signer, SignatureError> {
    let certificate = x509_cert::Certificate::from_der(der).map_err(|_| SignatureError::Certificate)?;
    let body = certificate.tbs_certificate;
    let instant = |time: x509_cert::time::Time| {
        i64::try_from(time.to_unix_duration().as_secs())
            .ok()
            .and_then(|seconds| Timestamp::from_second(seconds).ok())
    };
    let serial_number = body
        .subject
        .0
        .iter()
        .flat_map(|relative| relative.0.iter())
        .find(|attribute| attribute.oid == SUBJECT_SERIAL_NUMBER)
        .and_then(|attribute| std::str::from_utf8(attribute.value.value()).ok())
        .unwrap_or_default();
    Ok(Signer {
        fingerprint: hex::encode(Sha256::digest(der)),
        owner: serial_number.rsplit('-').next().unwrap_or_default().to_owned(),
        not_before: instant(body.validity.not_before).ok_or(SignatureError::Certificate)?,
        not_after: instant(body.validity.not_after).ok_or(SignatureError::Certificate)?,
    })
}
