//! Signs test documents with a throw-away key (`tests/data`), in the authority's profile.

use base64::{Engine, prelude::BASE64_STANDARD};
use bergshamra::{DsigContext, KeysManager, keys::loader::load_pem_auto};

const KEY: &[u8] = include_bytes!("../data/signer.key.pem");
const CERTIFICATE: &[u8] = include_bytes!("../data/signer.der");
const OTHER_CERTIFICATE: &[u8] = include_bytes!("../data/other.der");

/// The owner of [`sign`]'s certificate.
pub(crate) const OWNER: &str = "00100000009";
/// The owner of [`sign_as_other`]'s certificate.
pub(crate) const OTHER_OWNER: &str = "00100000017";

/// Appends a signature to the root of a document.
pub(crate) fn sign(xml: &str) -> String {
    sign_with(xml, CERTIFICATE)
}

/// Signs with the same key under another owner's certificate.
pub(crate) fn sign_as_other(xml: &str) -> String {
    sign_with(xml, OTHER_CERTIFICATE)
}

fn sign_with(xml: &str, certificate: &[u8]) -> String {
    let template = format!(
        "<Signature xmlns=\"http://www.w3.org/2000/09/xmldsig#\"><SignedInfo>\
         <CanonicalizationMethod Algorithm=\"http://www.w3.org/TR/2001/REC-xml-c14n-20010315\"/>\
         <SignatureMethod Algorithm=\"http://www.w3.org/2001/04/xmldsig-more#rsa-sha256\"/>\
         <Reference URI=\"\"><Transforms>\
         <Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\"/></Transforms>\
         <DigestMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"/><DigestValue></DigestValue>\
         </Reference></SignedInfo><SignatureValue></SignatureValue>\
         <KeyInfo><X509Data><X509Certificate>{}</X509Certificate></X509Data></KeyInfo></Signature>",
        BASE64_STANDARD.encode(certificate)
    );
    let end = xml.rfind("</").unwrap();
    let with_template = format!("{}{template}{}", &xml[..end], &xml[end..]);
    let mut keys = KeysManager::new();
    keys.add_key(load_pem_auto(KEY, None).unwrap());
    let signed = bergshamra::sign(&DsigContext::new(keys), &with_template).unwrap();
    assert!(
        !signed.contains("<SignatureValue></SignatureValue>"),
        "the signer fills the template"
    );
    signed
}
