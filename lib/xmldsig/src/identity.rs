//! A private key with its certificate: the signer.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ecf_language::{Bilingual, Say};
use jiff::Timestamp;
use openssl::pkey::{PKey, Private};
use sha2::{Digest, Sha256};

use crate::certificate::{self, Certificate};
use crate::choice::Choice;
use crate::pkcs12::{self, P12Error, Reencrypted};
use crate::rsa;
use crate::sign::SignError;

/// An RSA key and the certificate that belongs to it.
///
/// Clones share the key. It exists only in memory, OpenSSL wipes it when the last clone is dropped, and `Debug` prints
/// `***`.
#[derive(Clone)]
pub struct Identity {
    key: PKey<Private>,
    certificate: Certificate,
    others: Vec<Certificate>,
    choice: Arc<Choice>,
    has_mac: bool,
    certificate_base64: String,
}

/// Why a key does not match its certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The key could not sign, or the signature could not be verified.
    #[error("the private key cannot be used")]
    Unusable,
    /// The certificate rejects a signature of the key.
    #[error("a probe signed with the private key is not accepted by the certificate")]
    Mismatch,
}

impl Say for ProofError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Unusable => "no se puede usar la clave privada",
            Self::Mismatch => "el certificado no acepta una firma de prueba hecha con la clave privada",
        };
        Bilingual::of(self, spanish)
    }
}

impl Identity {
    /// Opens a PKCS#12 file (`.p12`, `.pfx`).
    ///
    /// Of several keys and certificates it chooses those that are valid at `now`, may sign and expire last, at any
    /// position in the file. A file whose certificates are all expired still opens: [`Identity::choice`] says why none
    /// of them is usable. The password is tried in every form that known tools have used.
    ///
    /// # Errors
    ///
    /// A [`P12Error`] that distinguishes a wrong password, an unsupported cipher, a damaged file and a missing part.
    pub fn from_pkcs12(der: &[u8], password: &str, now: Timestamp) -> Result<Self, P12Error> {
        pkcs12::open(der, password, now)
    }

    /// Opens a file like [`Identity::from_pkcs12`], and writes all its keys and certificates into a new file with a
    /// password derived from `random` and few key-derivation iterations. The cost of the original file's iterations is
    /// paid once.
    ///
    /// # Errors
    ///
    /// As [`Identity::from_pkcs12`].
    pub fn reencrypt_pkcs12(
        der: &[u8],
        password: &str,
        now: Timestamp,
        random: &[u8; 64],
    ) -> Result<(Self, Reencrypted), P12Error> {
        pkcs12::reencrypt(der, password, now, random)
    }

    /// `others`: the further certificates of the file.
    pub(crate) fn from_parts(
        key: PKey<Private>,
        certificate: Certificate,
        others: Vec<Certificate>,
        choice: Choice,
        has_mac: bool,
    ) -> Self {
        let certificate_base64 = STANDARD.encode(&certificate.der);
        Self {
            key,
            certificate,
            others,
            choice: Arc::new(choice),
            has_mac,
            certificate_base64,
        }
    }

    /// The signer's certificate.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The other certificates of the file, in its order: usually those of the issuers.
    #[must_use]
    pub fn other_certificates(&self) -> &[Certificate] {
        &self.others
    }

    /// How the certificate was chosen when the file was opened.
    #[must_use]
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Whether the file has an integrity check that matches its password.
    #[must_use]
    pub fn has_mac(&self) -> bool {
        self.has_mac
    }

    /// Signs a probe with the key and verifies it with the certificate. Uploads are accepted only after this check.
    ///
    /// # Errors
    ///
    /// [`ProofError`] when the key cannot sign, or when the certificate belongs to another key.
    pub fn prove(&self) -> Result<(), ProofError> {
        const PROBE: &[u8] = b"proof of possession";
        let digest = Sha256::digest(PROBE).into();
        let signature = rsa::sign_sha256(&self.key, &digest).map_err(|_| ProofError::Unusable)?;
        let (_, public) = certificate::read(&self.certificate.der).map_err(|_| ProofError::Mismatch)?;
        let public = public.ok_or(ProofError::Mismatch)?;
        if rsa::fits_sha256(&public, &digest, &signature) {
            Ok(())
        } else {
            Err(ProofError::Mismatch)
        }
    }

    /// Signs a file with this digest (RSASSA-PKCS1-v1_5 with SHA-256), as `openssl dgst -sha256 -sign` does.
    ///
    /// # Errors
    ///
    /// When OpenSSL cannot sign with the key.
    pub fn sign_digest(&self, sha256: &[u8; 32]) -> Result<Vec<u8>, SignError> {
        rsa::sign_sha256(&self.key, sha256).map_err(|_| SignError::Key)
    }

    pub(crate) fn certificate_base64(&self) -> &str {
        &self.certificate_base64
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("key", &"***")
            .field("certificate", &self.certificate)
            .finish_non_exhaustive()
    }
}
