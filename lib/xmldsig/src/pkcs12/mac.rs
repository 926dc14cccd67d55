//! The integrity check of a file: HMAC with a key from the PKCS#12 key derivation, or PBMAC1 (RFC 9579).
//!
//! OpenSSL's interface checks and writes it only together with the contents. That work has no bound, and it covers one
//! key only.

use bcder::Tag;
use bytes::Bytes;
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::md::Md;
use openssl::md_ctx::MdCtx;
use openssl::memcmp;
use openssl::pkey::PKey;
use openssl::sign::Signer;
use zeroize::Zeroizing;

use super::P12Error;
use super::algorithms::{Digest, Pbkdf2, Work, algorithm_identifier, unsupported};
use super::inspection::Protection;
use super::password::{Forms, Secret};
use super::structure::{count, octets, values};

pub(super) struct Mac {
    kind: Kind,
    digest: Digest,
    stated: Bytes,
}

enum Kind {
    Pkcs12 { salt: Bytes, iterations: u32 },
    Pbmac1 { kdf: Pbkdf2, key_length: usize },
}

impl Mac {
    /// Reads `MacData`.
    pub(super) fn read(data: &Bytes) -> Result<Self, P12Error> {
        let incomplete = P12Error::Damaged("an integrity check without its parts");
        let data = values(data, Tag::SEQUENCE)?;
        let [digest_info, salt, iterations @ ..] = data.as_slice() else {
            return Err(incomplete);
        };
        let digest_info = values(digest_info, Tag::SEQUENCE)?;
        let [algorithm, stated, ..] = digest_info.as_slice() else {
            return Err(incomplete);
        };
        let stated = octets(stated, Tag::OCTET_STRING)?;
        let (identifier, parameters) = algorithm_identifier(algorithm)?;
        if identifier == "1.2.840.113549.1.5.14" {
            let parameters = values(parameters.as_ref().ok_or(incomplete.clone())?, Tag::SEQUENCE)?;
            let [kdf, hmac, ..] = parameters.as_slice() else {
                return Err(incomplete);
            };
            let kdf = Pbkdf2::read(kdf)?;
            let digest = Digest::of_hmac(hmac)?;
            // RFC 9579, section 5: the length is mandatory.
            let key_length = kdf
                .key_length()
                .ok_or(P12Error::Damaged("PBMAC1 without a key length"))?;
            return Ok(Self {
                kind: Kind::Pbmac1 { kdf, key_length },
                digest,
                stated,
            });
        }
        let digest = Digest::of(&identifier).ok_or_else(|| unsupported(identifier))?;
        // DEFAULT 1
        let iterations = iterations.first().map_or(Ok(1), count)?;
        let salt = octets(salt, Tag::OCTET_STRING)?;
        Ok(Self {
            kind: Kind::Pkcs12 { salt, iterations },
            digest,
            stated,
        })
    }

    pub(super) fn protection(&self) -> Protection {
        let (algorithm, iterations) = match &self.kind {
            Kind::Pkcs12 { iterations, .. } => (format!("HMAC-{}", self.digest.name), *iterations),
            Kind::Pbmac1 { kdf, .. } => (
                format!("PBMAC1 with HMAC-{} and {}", self.digest.name, kdf.name()),
                kdf.iterations(),
            ),
        };
        Protection {
            algorithm,
            iterations: Some(iterations),
            supported: true,
            weak: false,
        }
    }

    /// Whether a form of the password gives this MAC for `data`.
    pub(super) fn fits(&self, data: &[u8], forms: &Forms, work: &mut Work) -> Result<bool, P12Error> {
        let code = |key: &[u8]| hmac(self.digest.algorithm, key, data).ok();
        let is_stated = |code: Vec<u8>| code.len() == self.stated.len() && memcmp::eq(&code, &self.stated);
        match &self.kind {
            Kind::Pkcs12 { salt, iterations } => {
                for form in &forms.wide {
                    work.spend(*iterations)?;
                    let key = key(self.digest.algorithm, &form.bytes, salt, *iterations).ok();
                    if key.and_then(|key| code(&key)).is_some_and(is_stated) {
                        return Ok(true);
                    }
                }
            }
            Kind::Pbmac1 { kdf, key_length } => {
                for password in forms.narrow() {
                    work.spend(kdf.cost(*key_length))?;
                    let key = kdf.derive(password, *key_length);
                    if key.and_then(|key| code(&key)).is_some_and(is_stated) {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }
}

/// The key of a MAC (RFC 7292, appendix B.2): one block of the digest.
pub(super) fn key(digest: MessageDigest, password: &[u8], salt: &[u8], iterations: u32) -> Result<Secret, ErrorStack> {
    /// The "ID" of appendix B.3.
    const MAC: u8 = 3;
    let block = digest.block_size();
    let filled = |text: &[u8]| -> Secret {
        let length = text.len().next_multiple_of(block);
        Zeroizing::new(text.iter().copied().cycle().take(length).collect())
    };
    // Fetched once, because a fetch takes longer than an iteration.
    let algorithm = Md::fetch(None, digest.type_().long_name()?, None)?;
    let mut context = MdCtx::new()?;
    let mut key = Zeroizing::new(vec![0; digest.size()]);
    context.digest_init(&algorithm)?;
    context.digest_update(&vec![MAC; block])?;
    context.digest_update(&filled(salt))?;
    context.digest_update(&filled(password))?;
    context.digest_final(&mut key)?;
    for _ in 1..iterations {
        context.digest_init(&algorithm)?;
        context.digest_update(&key)?;
        context.digest_final(&mut key)?;
    }
    Ok(key)
}

pub(super) fn hmac(digest: MessageDigest, key: &[u8], data: &[u8]) -> Result<Vec<u8>, ErrorStack> {
    Signer::new(digest, &*PKey::hmac(key)?)?.sign_oneshot_to_vec(data)
}
