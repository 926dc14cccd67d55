//! XML signatures and PKCS#12 files, as used by Dominican electronic receipts.
//!
//! The crate handles XML, digests, RSA and certificates. It does not depend on receipts, networks or clocks. Start
//! reading at:
//!
//! * [`Identity`]: a private key with its certificate, opened from a P12 file of any age ([`Identity::from_pkcs12`]);
//! * [`Choice`]: how that certificate was chosen among several in one file;
//! * [`inspect_pkcs12`]: the content of a P12 file and its problems, even if it does not open;
//! * [`sign`]: adds a signature to a document whose bytes are already canonical, without parsing it;
//! * [`without_signature`]: removes the signature that [`sign`] added;
//! * [`sign_foreign`]: signs XML from others (the authority's seed, forms of its portal);
//! * [`verify`]: accepts one strict profile and returns the bytes that were verified;
//! * [`examine`]: the same checks, with the outcome of each, for diagnosis;
//! * [`Authorities`]: the trusted certificate authorities, and chains that lead to them;
//! * [`canonicalize`]: Canonical XML 1.0, inclusive and exclusive, without comments.

mod algorithms;
mod c14n;
mod certificate;
mod choice;
mod identity;
mod pkcs12;
mod references;
mod rsa;
mod sign;
mod trust;
mod unsigned;
mod verify;
mod xml;

pub use c14n::{Method, canonicalize};
pub use certificate::{Certificate, CertificateError, KeyUsage, PublicKey};
pub use choice::{Choice, Unusable};
pub use identity::{Identity, ProofError};
pub use pkcs12::{
    InspectedCertificate, InspectedKey, Inspection, P12Error, P12Problem, Protection, Reencrypted, inspect_pkcs12,
    pkcs12_file,
};
pub use sign::{SignError, SignedDocument, sign, sign_foreign};
pub use trust::{Authorities, AuthoritiesError, Chain, UntrustedError};
pub use unsigned::without_signature;
pub use verify::{Check, CheckResult, Report, Verified, VerifyError, examine, verify};
pub use xml::{Limits, XmlError, XmlErrorKind};
