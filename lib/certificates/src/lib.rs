//! Certificates, judged in one place: who signed a document and whether to believe it, whether an uploaded P12 can sign, and
//! whether a company can sign now. Status codes are `ecf_api`'s.
//!
//! - [`Judge`]: the judgement itself. Sign-up, reception, buyers' answers, acknowledgements and tokens use it.
//! - [`CertificateTrust`] and [`ReceptionTrust`]: what the deployment's parameters decide.
//! - [`Owner`]: whether a certificate names the taxpayer or one of its delegates.
//! - [`open_p12`] and [`p12_warnings`]: what an upload must show. Sign-up and the upload of a certificate use it.
//! - [`signing_identity`]: the identity that signs for a company now, or why there is none.
//!
//! Anybody can make a certificate that names any RNC. Only a chain to an authority that the deployment keeps proves a name, and
//! the list of authorities is never complete. So there are three results: [`Judgement::Trusted`], [`Judgement::Unknown`] (the
//! signature holds, the name is a claim) and [`Judgement::Refused`].

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod identity;
mod judge;
mod owner;
mod p12;
mod policy;

pub use identity::{CannotSign, signing_identity, usable_identity};
pub use judge::{Judge, Judgement, Refusal, SignedBy, Signer, TrustError, Untrusted};
pub use owner::Owner;
pub use p12::{LARGEST_P12_BYTES, P12Refusal, P12Warning, open_p12, p12_warnings};
pub use policy::{CertificateTrust, ReceptionTrust, UnknownTrust};
