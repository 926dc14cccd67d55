//! The integrity check of a file: HMAC with a key from the derivation of PKCS#12, or PBMAC1 (RFC 9579).

use std::borrow::Cow;

use subtle::ConstantTimeEq;

use super::P12Error;
use super::inspection::Protection;
use super::kdf::{self, Digest, Purpose, Work};
use super::password::Forms;
use super::scheme::{Pbkdf2, hmac_digest, unsupported};
use crate::ber::{Ber, dotted};

pub(super) struct Mac<'a> {
    kind: Kind<'a>,
    stated: Cow<'a, [u8]>,
}

enum Kind<'a> {
    Pkcs12 {
        digest: Digest,
        salt: Cow<'a, [u8]>,
        iterations: u32,
    },
    Pbmac1 {
        kdf: Pbkdf2<'a>,
        digest: Digest,
        key_length: usize,
    },
}

impl<'a> Mac<'a> {
    /// Reads `MacData`.
    pub(super) fn read(mut data: Ber<'a>) -> Result<Self, P12Error> {
        let mut digest_info = data.sequence()?;
        let mut algorithm = digest_info.sequence()?;
        let identifier = dotted(algorithm.object_identifier()?);
        let stated = digest_info.octets()?;
        let salt = data.octets()?;
        // DEFAULT 1
        let iterations = if data.is_empty() { 1 } else { data.count()? };
        let digest = match identifier.as_str() {
            "1.3.14.3.2.26" => Digest::Sha1,
            "2.16.840.1.101.3.4.2.4" => Digest::Sha224,
            "2.16.840.1.101.3.4.2.1" => Digest::Sha256,
            "2.16.840.1.101.3.4.2.2" => Digest::Sha384,
            "2.16.840.1.101.3.4.2.3" => Digest::Sha512,
            "1.2.840.113549.1.5.14" => {
                let mut parameters = algorithm.sequence()?;
                let kdf = Pbkdf2::read(&mut parameters)?;
                let digest = hmac_digest(&mut parameters)?;
                // RFC 9579, section 5: the length must be there.
                let key_length = kdf
                    .key_length()
                    .ok_or(P12Error::Damaged("PBMAC1 without a key length"))?;
                return Ok(Self {
                    kind: Kind::Pbmac1 {
                        kdf,
                        digest,
                        key_length,
                    },
                    stated,
                });
            }
            _ => return Err(unsupported(identifier)),
        };
        Ok(Self {
            kind: Kind::Pkcs12 {
                digest,
                salt,
                iterations,
            },
            stated,
        })
    }

    pub(super) fn protection(&self) -> Protection {
        match &self.kind {
            Kind::Pkcs12 { digest, iterations, .. } => Protection {
                algorithm: format!("HMAC-{}", digest.name()),
                iterations: Some(*iterations),
                supported: true,
                weak: false,
            },
            Kind::Pbmac1 { kdf, digest, .. } => Protection {
                algorithm: format!("PBMAC1 with HMAC-{} and {}", digest.name(), kdf.name()),
                iterations: Some(kdf.iterations()),
                supported: true,
                weak: false,
            },
        }
    }

    /// Whether a form of the password makes this code of `data`.
    pub(super) fn fits(&self, data: &[u8], forms: &Forms, work: &mut Work) -> Result<bool, P12Error> {
        let passwords = match self.kind {
            Kind::Pkcs12 { .. } => &forms.wide,
            Kind::Pbmac1 { .. } => &forms.narrow,
        };
        for password in passwords {
            let (key, digest) = match &self.kind {
                Kind::Pkcs12 {
                    digest,
                    salt,
                    iterations,
                } => {
                    let length = digest.output_size();
                    (
                        kdf::pkcs12(*digest, Purpose::Mac, password, salt, *iterations, length, work)?,
                        *digest,
                    )
                }
                Kind::Pbmac1 {
                    kdf,
                    digest,
                    key_length,
                } => (kdf.derive(password, *key_length, work)?, *digest),
            };
            if digest.hmac(&key, data).ct_eq(&self.stated).into() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
