//! The identifiers of the algorithms in the profile. All others are refused by name.

pub(crate) const NAMESPACE: &str = "http://www.w3.org/2000/09/xmldsig#";
pub(crate) const INCLUSIVE_C14N: &str = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315";
pub(crate) const EXCLUSIVE_C14N: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";
pub(crate) const ENVELOPED: &str = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
pub(crate) const RSA_SHA256: &str = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
pub(crate) const SHA256: &str = "http://www.w3.org/2001/04/xmlenc#sha256";
