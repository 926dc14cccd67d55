//! Why a receipt fails on its way to the tax authority, and what the caller reads of it.

use crate::FailReason;

/// Why a receipt fails on its way to the authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailCause<A> {
    /// A new attempt of the certification began before it was sent.
    AttemptAbandoned,
    /// The company has no certificate.
    CertificateMissing,
    /// The certificate does not open, or its key does not fit; why.
    CertificateUnusable(String),
    /// The authority issues no token for the certificate.
    CertificateRefused {
        /// Whether the certificate is of the wrong kind.
        is_wrong_kind: bool,
        /// What the authority said.
        answer: A,
    },
    /// The signed document is not in the bucket.
    SignedXmlMissing,
    /// The receipt that it modifies can no longer become valid.
    ModifiedReceiptNotAccepted(NotAccepted),
    /// The receipt that it modifies has less left than the note takes.
    ModifiedReceiptBalance,
    /// The authority did not take the document.
    Refused(A),
}

/// Why the receipt that a note modifies can no longer become valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAccepted {
    /// It was rejected and its number is burned.
    Burned,
    /// It was rejected or failed, and no successor came in time.
    NoSuccessor,
    /// It was withdrawn.
    Withdrawn,
}

/// What to do about "Tipo de certificado no admitido".
pub(crate) const WRONG_KIND: &str = "the certificate is not one for tax procedures (\"para procedimiento tributario\"), is self-signed, or is that of an \
    issuer of certificates instead of the signer's own; upload the right P12, then retry";

/// The authority refused the certificate, and its answer has no words.
pub(crate) const CERTIFICATE_REFUSED: &str = "the tax authority refused the certificate without a word";

/// The authority refused the document, and its answer has no words.
pub(crate) const REFUSED: &str = "the tax authority refused the document without a word";

impl<A> FailCause<A> {
    /// Its `error_code`, unless the authority gives one.
    pub const fn reason(&self) -> FailReason {
        match self {
            Self::AttemptAbandoned => FailReason::AttemptAbandoned,
            Self::CertificateMissing => FailReason::CertificateMissing,
            Self::CertificateUnusable(_) => FailReason::CertificateUnusable,
            Self::CertificateRefused { .. } => FailReason::CertificateRefused,
            Self::SignedXmlMissing => FailReason::SignedXmlMissing,
            Self::ModifiedReceiptNotAccepted(_) => FailReason::ModifiedReceiptNotAccepted,
            Self::ModifiedReceiptBalance => FailReason::ModifiedReceiptBalance,
            Self::Refused(_) => FailReason::Refused,
        }
    }

    /// What the authority said, where it was the authority that stopped the receipt.
    pub const fn answer(&self) -> Option<&A> {
        match self {
            Self::CertificateRefused { answer, .. } | Self::Refused(answer) => Some(answer),
            _ => None,
        }
    }

    /// Its `error_message`. `words`: those of the authority's answer. `modifies`: the number that a note modifies.
    pub fn message(&self, words: Option<String>, modifies: &str) -> String {
        match self {
            Self::AttemptAbandoned => {
                "a new attempt of the certification began before it was sent: send it with a new idempotency_key"
                    .to_owned()
            }
            Self::CertificateMissing => "the company has no certificate: upload its P12, then retry".to_owned(),
            Self::CertificateUnusable(why) => why.clone(),
            Self::CertificateRefused { is_wrong_kind, .. } => {
                let words = words.unwrap_or_else(|| CERTIFICATE_REFUSED.to_owned());
                if *is_wrong_kind {
                    format!("{words}: {WRONG_KIND}")
                } else {
                    words
                }
            }
            Self::SignedXmlMissing => "the signed document is not in the bucket".to_owned(),
            Self::ModifiedReceiptNotAccepted(why) => {
                let why = match why {
                    NotAccepted::Burned => "was rejected by the tax authority and its number is burned",
                    NotAccepted::NoSuccessor => {
                        "was not accepted by the tax authority, and no other receipt came in its place in time"
                    }
                    NotAccepted::Withdrawn => "was withdrawn and never sent",
                };
                format!("{modifies} {why}")
            }
            Self::ModifiedReceiptBalance => {
                format!("{modifies} has another amount left by now than the note takes: issue the note again")
            }
            Self::Refused(_) => words.unwrap_or_else(|| REFUSED.to_owned()),
        }
    }
}
