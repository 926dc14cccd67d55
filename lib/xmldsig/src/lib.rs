//! XML signatures and PKCS#12 files, as the Dominican electronic receipts use them.
//!
//! The crate knows XML, digests, RSA and certificates; it knows nothing of receipts, networks or clocks. Start reading at:
//!
//! * [`Identity`]: a private key with its certificate, opened from a P12 file of any age ([`Identity::from_pkcs12`]);
//! * [`Choice`]: how that certificate was chosen among several of one file;
//! * [`inspect_pkcs12`]: what is in such a file, and what is wrong with it, also when it does not open;
//! * [`sign`]: puts a signature into a document whose bytes are already canonical, without parsing it;
//! * [`without_signature`]: the document of [`sign`] without its signature;
//! * [`sign_foreign`]: signs XML that somebody else wrote (the authority's seed, forms of its portal);
//! * [`verify`]: refuses everything outside one strict profile and hands out the bytes that were verified;
//! * [`examine`]: the same checks, each with its outcome, for people who want to know why;
//! * [`Authorities`]: whose certificates are believed to say whose key it is;
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
pub use sign::{SignError, Signed, sign, sign_foreign};
pub use trust::{Authorities, AuthoritiesError, Chain, UntrustedError};
pub use unsigned::without_signature;
pub use verify::{Check, Outcome, Report, Verified, VerifyError, examine, verify};
pub use xml::{Limits, XmlError, XmlErrorKind};
