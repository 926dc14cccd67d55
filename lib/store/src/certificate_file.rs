//! A P12 file as the vault stores it.

use std::fmt;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use xmldsig::{Identity, P12Error};
use zeroize::Zeroizing;

/// A P12 with its password.
#[derive(Clone, PartialEq, Eq)]
pub struct CertificateFile {
    pub p12: Zeroizing<Vec<u8>>,
    pub pin: Zeroizing<String>,
    /// SHA-256 of the uploaded file, to detect a repeated upload.
    pub uploaded_sha256: [u8; 32],
}

impl CertificateFile {
    /// Opens an uploaded file and encrypts it again for the vault: with a password of `random`, so that the company's
    /// own is not stored, and with our parameters, so that opening does not cost the rounds that the file demands.
    ///
    /// # Errors
    /// The reason why the file does not open.
    pub fn open(p12: &[u8], pin: &str, now: Timestamp, random: &[u8; 64]) -> Result<(Identity, Self), P12Error> {
        let (identity, reencrypted) = Identity::reencrypt_pkcs12(p12, pin, now, random)?;
        let file = Self {
            p12: reencrypted.file,
            pin: reencrypted.password,
            uploaded_sha256: Sha256::digest(p12).into(),
        };
        Ok((identity, file))
    }

    /// The file as uploaded, as the first versions stored it.
    pub fn verbatim(p12: impl Into<Vec<u8>>, pin: &str) -> Self {
        let p12 = Zeroizing::new(p12.into());
        Self {
            uploaded_sha256: Sha256::digest(&*p12).into(),
            p12,
            pin: Zeroizing::new(pin.to_owned()),
        }
    }
}

impl fmt::Debug for CertificateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificateFile")
            .field("p12", &"***")
            .field("pin", &"***")
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_prints_neither_its_bytes_nor_its_pin() {
        let printed = format!("{:?}", CertificateFile::verbatim([42; 4], "s3cret"));
        assert!(!printed.contains("s3cret") && !printed.contains("42"), "{printed}");
    }
}
