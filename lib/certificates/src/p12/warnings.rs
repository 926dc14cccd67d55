//! Findings about a P12 that do not refuse it but may surprise.

use ecf_language::{Bilingual, Say as _, say};
use jiff::{SignedDuration, Timestamp};
use xmldsig::{CertificateError, Choice, Identity, P12Error};

/// An upload warns of the expiry from then on.
const EXPIRES_SOON: SignedDuration = SignedDuration::from_hours(24 * 30);

/// What the owner of an accepted P12 should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct P12Warning {
    /// Permanent: `several_certificates`, `no_mac`, `key_usage` or `expires_soon`.
    pub code: &'static str,
    pub message: Bilingual,
}

/// The warnings about an accepted P12.
pub fn p12_warnings(identity: &Identity, now: Timestamp) -> impl Iterator<Item = P12Warning> {
    let certificate = identity.certificate();
    let warning = |code, message| P12Warning { code, message };
    let several = several(identity).map(|msg| warning("several_certificates", msg));
    let no_mac = (!identity.has_mac()).then(|| {
        let msg = say!(
            "the file has no integrity check (MAC): nothing shows whether it was altered",
            "el archivo no tiene verificación de integridad (MAC): nada muestra si fue alterado"
        );
        warning("no_mac", msg)
    });
    let usage = certificate.key_usage.filter(|usage| !usage.digital_signature).map(|_| {
        let msg = say!(
            "the key usage of the certificate has nonRepudiation but not digitalSignature",
            "el uso de clave del certificado tiene nonRepudiation pero no digitalSignature"
        );
        warning("key_usage", msg)
    });
    let left = certificate.not_after.duration_since(now);
    let expiry = (left < EXPIRES_SOON).then(|| {
        let msg = say!(
            "the certificate expires at {}: ask for its successor now",
            "el certificado vence el {}: pida ahora su sucesor",
            certificate.not_after
        );
        warning("expires_soon", msg)
    });
    [several, no_mac, usage, expiry].into_iter().flatten()
}

/// Which certificate of several signs, and why the others do not.
fn several(identity: &Identity) -> Option<Bilingual> {
    let Choice { usable, unusable, .. } = identity.choice();
    let count = usable.len() + unusable.len();
    if count < 2 {
        return None;
    }
    let signer = identity.certificate();
    let chosen = say!(
        "the file has {count} certificates with a private key: {}, valid until {}, signs",
        "el archivo tiene {count} certificados con clave privada: firma {}, válido hasta {}",
        signer.subject,
        signer.not_after
    );
    let shorter = usable.iter().skip(1).map(|other| {
        let (subject, from, to) = (&other.subject, other.not_before, other.not_after);
        say!(
            "{subject}, valid from {from} to {to}: ends earlier",
            "{subject}, válido de {from} a {to}: termina antes"
        )
    });
    let others = unusable.iter().map(|other| match other.reason {
        P12Error::Certificate(CertificateError::NotYetValid { .. }) => {
            let other = other.say();
            say!(
                [other],
                "{other}; upload the file again then, so that the profile shows it",
                "{other}; suba el archivo otra vez entonces, para que el perfil lo muestre"
            )
        }
        _ => other.say(),
    });
    let all: Vec<_> = [chosen].into_iter().chain(shorter).chain(others).collect();
    Some(Bilingual::joined(&all, "; "))
}
