//! The choice of the certificate that signs, independent of the file's reader.
//!
//! A renewed certificate often comes in one file with its predecessor, and some authorities add a second key for
//! encryption.

use std::cmp::Reverse;
use std::fmt;

use ecf_language::{Bilingual, Say, say};
use jiff::Timestamp;
use openssl::pkey::{PKey, Private};

use crate::certificate::{Certificate, CertificateError};
use crate::pkcs12::P12Error;

/// A private key of a file together with a certificate that belongs to it.
pub(crate) struct Candidate {
    /// The loaded key, or why it cannot sign.
    pub(crate) key: Result<PKey<Private>, P12Error>,
    /// `None` only for a key that cannot sign.
    pub(crate) certificate: Option<Certificate>,
}

/// How the signing certificate was chosen when the file was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The certificates that are valid, may sign and have a key, in order of preference: the one that expires last
    /// comes first.
    pub usable: Vec<Certificate>,
    /// The other keys and their certificates.
    pub unusable: Vec<Unusable>,
}

/// A private key that must not sign.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unusable {
    /// Its certificate, if one is known.
    pub certificate: Option<Certificate>,
    /// Why.
    pub reason: P12Error,
}

impl Say for Unusable {
    fn say(&self) -> Bilingual {
        let subject = match &self.certificate {
            Some(certificate) => {
                let Certificate {
                    subject,
                    not_before,
                    not_after,
                    ..
                } = certificate;
                say!(
                    "{subject}, valid from {not_before} to {not_after}",
                    "{subject}, válido de {not_before} a {not_after}"
                )
            }
            None => say!("a further key", "otra clave"),
        };
        let reason = match &self.reason {
            P12Error::Certificate(CertificateError::Expired { .. }) => say!("expired", "vencido"),
            P12Error::Certificate(CertificateError::NotYetValid { .. }) => say!("not valid yet", "aún no es válido"),
            reason => reason.say(),
        };
        say!([subject, reason], "{subject}: {reason}", "{subject}: {reason}")
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say().en)
    }
}

/// Chooses the key and certificate that sign at `now`: of those that are valid and may sign, the pair that expires
/// last. If none qualifies, [`Choice::usable`] is empty, and the best remaining certificate is returned.
///
/// # Errors
///
/// When no key that can sign has a certificate: the reason of the first unusable key, or `None` when only certificates
/// are missing.
pub(crate) fn choose(
    candidates: Vec<Candidate>,
    now: Timestamp,
) -> Result<(PKey<Private>, Certificate, Choice), Option<P12Error>> {
    let (mut pairs, mut unusable, mut keys_at_fault) = (Vec::new(), Vec::new(), Vec::new());
    for Candidate { key, certificate } in candidates {
        match (key, certificate) {
            (Ok(key), Some(certificate)) => pairs.push((key, certificate)),
            (Ok(_), None) => {}
            (Err(reason), certificate) => keys_at_fault.push(Unusable { certificate, reason }),
        }
    }
    // A stable sort: of equal pairs, the first in the file wins.
    pairs.sort_by_key(|(_, certificate)| Reverse(preference(certificate, now)));
    let Some((key, chosen)) = pairs.first().cloned() else {
        return Err(keys_at_fault.into_iter().next().map(|key| key.reason));
    };
    let mut usable = Vec::new();
    for (_, certificate) in pairs {
        match certificate.check_usable_at(now) {
            Ok(()) => usable.push(certificate),
            Err(error) => unusable.push(Unusable {
                certificate: Some(certificate),
                reason: error.into(),
            }),
        }
    }
    unusable.append(&mut keys_at_fault);
    Ok((key, chosen, Choice { usable, unusable }))
}

/// A sort key; the largest is preferred.
fn preference(certificate: &Certificate, now: Timestamp) -> impl Ord + use<> {
    let usable = certificate.check_usable_at(now).is_ok();
    (
        usable,
        certificate.may_sign(),
        certificate.not_after,
        certificate.not_before,
    )
}
