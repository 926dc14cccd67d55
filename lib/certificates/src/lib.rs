//! Who signed a document, and whether to believe it: one judgement for every place that reads what others signed.
//!
//! - [`Judge`]: the judgement itself. Sign-up, reception, buyers' answers, acknowledgements and tokens use it.
//! - [`CertificateTrust`] and [`ReceptionTrust`]: what the deployment's parameters decide.
//! - [`Owner`]: whether a certificate names the taxpayer or one of its delegates.
//!
//! Anybody can make a certificate that names any RNC. Only a chain to an authority that the deployment keeps proves a name, and
//! the list of authorities is never complete. So there are three results: [`Judgement::Trusted`], [`Judgement::Unknown`] (the
//! signature holds, the name is a claim) and [`Judgement::Refused`].

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod judge;
mod owner;
mod policy;

pub use judge::{Judge, Judgement, Refusal, SignedBy, Signer, TrustError, Untrusted};
pub use owner::Owner;
pub use policy::{CertificateTrust, ReceptionTrust, UnknownTrust};
