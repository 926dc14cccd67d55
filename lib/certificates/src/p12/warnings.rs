//! Findings about a P12 that do not refuse it but may surprise.

use jiff::{SignedDuration, Timestamp};
use xmldsig::{CertificateError, Choice, Identity, P12Error};

/// An upload warns of the expiry from then on.
const EXPIRES_SOON: SignedDuration = SignedDuration::from_hours(24 * 30);

/// What the owner of an accepted P12 should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct P12Warning {
    /// Permanent: `several_certificates`, `no_mac`, `key_usage` or `expires_soon`.
    pub code: &'static str,
    pub message: String,
}

/// The warnings about an accepted P12.
pub fn p12_warnings(identity: &Identity, now: Timestamp) -> impl Iterator<Item = P12Warning> {
    let certificate = identity.certificate();
    let warning = |code, message| P12Warning { code, message };
    let several = several(identity).map(|msg| warning("several_certificates", msg));
    let no_mac = (!identity.has_mac()).then(|| {
        let msg = "the file has no integrity check (MAC): nothing shows whether it was altered";
        warning("no_mac", msg.to_owned())
    });
    let usage = certificate.key_usage.filter(|usage| !usage.digital_signature).map(|_| {
        let msg = "the key usage of the certificate has nonRepudiation but not digitalSignature";
        warning("key_usage", msg.to_owned())
    });
    let left = certificate.not_after.duration_since(now);
    let expiry = (left < EXPIRES_SOON).then(|| {
        let msg = format!(
            "the certificate expires at {}: ask for its successor now",
            certificate.not_after
        );
        warning("expires_soon", msg)
    });
    [several, no_mac, usage, expiry].into_iter().flatten()
}

/// Which certificate of several signs, and why the others do not.
fn several(identity: &Identity) -> Option<String> {
    let Choice { usable, unusable, .. } = identity.choice();
    let count = usable.len() + unusable.len();
    if count < 2 {
        return None;
    }
    let signer = identity.certificate();
    let chosen = format!(
        "the file has {count} certificates with a private key: {}, valid until {}, signs",
        signer.subject, signer.not_after
    );
    let shorter = usable.iter().skip(1).map(|other| {
        let (subject, from, to) = (&other.subject, other.not_before, other.not_after);
        format!("{subject}, valid from {from} to {to}: ends earlier")
    });
    let others = unusable.iter().map(|other| match other.reason {
        P12Error::Certificate(CertificateError::NotYetValid { .. }) => {
            format!("{other}; upload the file again then, so that the profile shows it")
        }
        _ => other.to_string(),
    });
    let all: Vec<_> = [chosen].into_iter().chain(shorter).chain(others).collect();
    Some(all.join("; "))
}
