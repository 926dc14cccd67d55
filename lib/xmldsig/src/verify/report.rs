//! The outcome of each check of a verification.

use super::{Verified, VerifyError};
use crate::certificate::Certificate;

/// The checks, in their order: the first that fails is the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Check {
    /// UTF-8, well-formed, no document type declaration, within the limits.
    WellFormed,
    /// Exactly one signature, directly below the root.
    OneSignature,
    /// The structure of the `Signature` element.
    Structure,
    /// The signature and its canonicalisation use allowed algorithms.
    Algorithms,
    /// One reference to the whole document, with allowed transforms and digest.
    Reference,
    /// The certificate is readable and has an RSA key.
    Certificate,
    /// The document is the one that was signed.
    Digest,
    /// The certificate's key made the signature.
    SignatureValue,
}

impl Check {
    /// All checks in order.
    pub const ALL: [Self; 8] = [
        Self::WellFormed,
        Self::OneSignature,
        Self::Structure,
        Self::Algorithms,
        Self::Reference,
        Self::Certificate,
        Self::Digest,
        Self::SignatureValue,
    ];

    /// A permanent code for programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::WellFormed => "well_formed",
            Self::OneSignature => "one_signature",
            Self::Structure => "structure",
            Self::Algorithms => "algorithms",
            Self::Reference => "reference",
            Self::Certificate => "certificate",
            Self::Digest => "digest",
            Self::SignatureValue => "signature_value",
        }
    }
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckResult {
    /// The check passed.
    Passed,
    /// The check failed, for this reason.
    Failed(VerifyError),
    /// An earlier check failed, so this one had no input.
    NotReached,
}

/// The outcome of every check of one document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    outcomes: [Option<Result<(), VerifyError>>; Check::ALL.len()],
    /// The signer's certificate, or the first certificate when none matches. Unverified unless [`Self::is_valid`].
    pub certificate: Option<Certificate>,
    /// The text of `SignatureValue`, if it could be read.
    pub signature_value: Option<String>,
    /// Whether the document verifies only without text nodes that consist only of blanks.
    pub whitespace_dropped: bool,
    pub(super) verified: Option<Verified>,
}

impl Report {
    /// Every check with its outcome, in order.
    pub fn outcomes(&self) -> impl Iterator<Item = (Check, CheckResult)> + '_ {
        Check::ALL.into_iter().zip(&self.outcomes).map(|(check, outcome)| {
            let outcome = match outcome {
                None => CheckResult::NotReached,
                Some(Ok(())) => CheckResult::Passed,
                Some(Err(error)) => CheckResult::Failed(error.clone()),
            };
            (check, outcome)
        })
    }

    /// Whether all checks passed.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.verified.is_some()
    }

    /// The verified document, or the reason of the first failed check.
    ///
    /// # Errors
    ///
    /// The reason of the first failed check.
    pub fn into_result(self) -> Result<Verified, VerifyError> {
        match self.outcomes.into_iter().flatten().find_map(Result::err) {
            Some(error) => Err(error),
            // If no check failed, all ran, and there is a result.
            None => self.verified.ok_or(VerifyError::NoSignature),
        }
    }

    /// Records the outcome of `check` and returns its value.
    pub(super) fn record<T>(&mut self, check: Check, result: Result<T, VerifyError>) -> Option<T> {
        let (value, outcome) = match result {
            Ok(value) => (Some(value), Ok(())),
            Err(error) => (None, Err(error)),
        };
        self.outcomes[check as usize] = Some(outcome);
        value
    }
}
