//! The algorithms of password-based encryption: their names and iteration counts, read from their parameters. OpenSSL
//! runs them.

use bcder::Tag;
use bytes::Bytes;
use openssl::hash::MessageDigest;
use openssl::pkcs5::pbkdf2_hmac;
use openssl::symm::{self, Cipher};
use zeroize::Zeroizing;

use super::P12Error;
use super::inspection::Protection;
use super::password::Secret;
use super::structure::{count, identifier, octets, tag, values};

/// Upper bound of iterations per file: a few seconds of work. Firefox demands 600,000 for each of three keys.
const MOST_ITERATIONS: u32 = 6_000_000;
/// Upper bound of the characters of an object identifier in an error.
const MOST_NAME: usize = 64;

/// The iterations that a file may still demand.
pub(super) struct Work {
    left: u32,
}

impl Work {
    pub(super) fn new() -> Self {
        Self { left: MOST_ITERATIONS }
    }

    /// Counts a key whose kind is known only after OpenSSL has read it. Reading a DSA or DH key is a computation: a
    /// kilobyte takes as long as 30,000 iterations, and the time grows with the third power of the length.
    pub(super) fn spend_on_key(&mut self, bytes: usize) -> Result<(), P12Error> {
        let cubed = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_pow(3);
        self.spend(u32::try_from(cubed.saturating_mul(3) / 100_000).unwrap_or(u32::MAX))
    }

    /// Counts iterations before they are run.
    pub(super) fn spend(&mut self, iterations: u32) -> Result<(), P12Error> {
        self.left = self
            .left
            .checked_sub(iterations)
            .ok_or(P12Error::TooManyIterations { limit: MOST_ITERATIONS })?;
        Ok(())
    }
}

#[derive(Clone, Copy)]
pub(super) struct Digest {
    pub(super) name: &'static str,
    pub(super) algorithm: MessageDigest,
}

impl Digest {
    /// The digest with this object identifier.
    pub(super) fn of(identifier: &str) -> Option<Self> {
        let (name, algorithm) = match identifier {
            "1.3.14.3.2.26" => ("SHA-1", MessageDigest::sha1()),
            "2.16.840.1.101.3.4.2.4" => ("SHA-224", MessageDigest::sha224()),
            "2.16.840.1.101.3.4.2.1" => ("SHA-256", MessageDigest::sha256()),
            "2.16.840.1.101.3.4.2.2" => ("SHA-384", MessageDigest::sha384()),
            "2.16.840.1.101.3.4.2.3" => ("SHA-512", MessageDigest::sha512()),
            _ => return None,
        };
        Some(Self { name, algorithm })
    }

    /// Reads the `AlgorithmIdentifier` of an HMAC.
    pub(super) fn of_hmac(algorithm: &Bytes) -> Result<Self, P12Error> {
        let (hmac, _) = algorithm_identifier(algorithm)?;
        let digest = match hmac.as_str() {
            "1.2.840.113549.2.7" => "1.3.14.3.2.26",
            "1.2.840.113549.2.8" => "2.16.840.1.101.3.4.2.4",
            "1.2.840.113549.2.9" => "2.16.840.1.101.3.4.2.1",
            "1.2.840.113549.2.10" => "2.16.840.1.101.3.4.2.2",
            "1.2.840.113549.2.11" => "2.16.840.1.101.3.4.2.3",
            _ => "",
        };
        Self::of(digest).ok_or_else(|| unsupported(hmac))
    }
}

/// The encryption of a part.
pub(super) struct Encryption {
    pub(super) protection: Protection,
    /// Iterations of all derivations for one attempt.
    pub(super) cost: u32,
    /// Whether the cipher is in OpenSSL's legacy provider.
    pub(super) is_legacy: bool,
    /// The parameters of PBES2, which uses the bytes of a password; the older schemes use its characters.
    pub(super) pbes2: Option<Pbes2>,
}

pub(super) struct Pbes2 {
    kdf: Pbkdf2,
    cipher: Cipher,
    iv: Bytes,
}

pub(super) struct Pbkdf2 {
    salt: Bytes,
    iterations: u32,
    key_length: Option<u32>,
    digest: Digest,
}

impl Encryption {
    /// Reads an `AlgorithmIdentifier`.
    pub(super) fn read(algorithm: &Bytes) -> Result<Self, P12Error> {
        let (identifier, parameters) = algorithm_identifier(algorithm)?;
        // `blocks`: the number of SHA-1 outputs that key and initialization vector need.
        let (name, blocks, is_legacy) = match identifier.as_str() {
            "1.2.840.113549.1.12.1.3" => ("PBE-SHA1-3DES", 3, false),
            "1.2.840.113549.1.12.1.4" => ("PBE-SHA1-2DES", 2, false),
            "1.2.840.113549.1.12.1.5" => ("PBE-SHA1-RC2-128", 2, true),
            "1.2.840.113549.1.12.1.6" => ("PBE-SHA1-RC2-40", 2, true),
            "1.2.840.113549.1.5.13" => return Self::read_pbes2(parameters.as_ref()),
            _ => return Err(unsupported(identifier)),
        };
        let parameters = values(parameters.as_ref().ok_or(NO_PARAMETERS)?, Tag::SEQUENCE)?;
        let [_salt, iterations, ..] = parameters.as_slice() else {
            return Err(NO_PARAMETERS);
        };
        let iterations = count(iterations)?;
        Ok(Self {
            protection: Protection {
                algorithm: name.to_owned(),
                iterations: Some(iterations),
                supported: true,
                weak: is_legacy,
            },
            cost: iterations.saturating_mul(blocks),
            is_legacy,
            pbes2: None,
        })
    }

    fn read_pbes2(parameters: Option<&Bytes>) -> Result<Self, P12Error> {
        let parameters = values(parameters.ok_or(NO_PARAMETERS)?, Tag::SEQUENCE)?;
        let [kdf, encryption, ..] = parameters.as_slice() else {
            return Err(NO_PARAMETERS);
        };
        let kdf = Pbkdf2::read(kdf)?;
        let (identifier, iv) = algorithm_identifier(encryption)?;
        let (name, cipher) = match identifier.as_str() {
            "2.16.840.1.101.3.4.1.2" => ("AES-128-CBC", Cipher::aes_128_cbc()),
            "2.16.840.1.101.3.4.1.22" => ("AES-192-CBC", Cipher::aes_192_cbc()),
            "2.16.840.1.101.3.4.1.42" => ("AES-256-CBC", Cipher::aes_256_cbc()),
            "1.2.840.113549.3.7" => ("3DES-CBC", Cipher::des_ede3_cbc()),
            _ => return Err(unsupported(identifier)),
        };
        let iv = octets(iv.as_ref().ok_or(NO_PARAMETERS)?, Tag::OCTET_STRING)?;
        Ok(Self {
            protection: Protection {
                algorithm: format!("PBES2 with {name} and {}", kdf.name()),
                iterations: Some(kdf.iterations),
                supported: true,
                weak: false,
            },
            cost: kdf.cost(cipher.key_len()),
            is_legacy: false,
            pbes2: Some(Pbes2 { kdf, cipher, iv }),
        })
    }
}

impl Pbes2 {
    /// Decrypts with password bytes that are not UTF-8, which OpenSSL's interface for whole files does not accept.
    pub(super) fn decrypt(&self, encrypted: &[u8], password: &[u8]) -> Option<Secret> {
        let key = self.kdf.derive(password, self.cipher.key_len())?;
        if self.cipher.iv_len() != Some(self.iv.len()) {
            return None;
        }
        let plain = symm::decrypt(self.cipher, &key, Some(&self.iv), encrypted);
        plain.ok().map(Zeroizing::new)
    }
}

impl Pbkdf2 {
    /// Reads the `AlgorithmIdentifier` of a key derivation.
    pub(super) fn read(algorithm: &Bytes) -> Result<Self, P12Error> {
        let (identifier, parameters) = algorithm_identifier(algorithm)?;
        if identifier != "1.2.840.113549.1.5.12" {
            return Err(unsupported(identifier));
        }
        let parameters = values(parameters.as_ref().ok_or(NO_PARAMETERS)?, Tag::SEQUENCE)?;
        let [salt, iterations, rest @ ..] = parameters.as_slice() else {
            return Err(NO_PARAMETERS);
        };
        let (key_length, rest) = match rest {
            [length, rest @ ..] if tag(length)? == Tag::INTEGER => (Some(count(length)?), rest),
            rest => (None, rest),
        };
        let digest = match rest {
            [hmac, ..] => Digest::of_hmac(hmac)?,
            [] => Digest {
                name: "SHA-1",
                algorithm: MessageDigest::sha1(),
            },
        };
        Ok(Self {
            salt: octets(salt, Tag::OCTET_STRING)?,
            iterations: count(iterations)?,
            key_length,
            digest,
        })
    }

    /// Derives `length` bytes; `None` when the parameters state another length.
    pub(super) fn derive(&self, password: &[u8], length: usize) -> Option<Secret> {
        if self
            .key_length
            .is_some_and(|stated| usize::try_from(stated) != Ok(length))
        {
            return None;
        }
        let mut key = Zeroizing::new(vec![0; length]);
        // Larger counts exceed OpenSSL's interface.
        i32::try_from(self.iterations).ok()?;
        let iterations = usize::try_from(self.iterations).ok()?;
        pbkdf2_hmac(password, &self.salt, iterations, self.digest.algorithm, &mut key).ok()?;
        Some(key)
    }

    /// Iterations for a key of this length.
    pub(super) fn cost(&self, length: usize) -> u32 {
        let blocks = length.div_ceil(self.digest.algorithm.size()).max(1);
        self.iterations
            .saturating_mul(u32::try_from(blocks).unwrap_or(u32::MAX))
    }

    pub(super) fn name(&self) -> String {
        format!("PBKDF2-HMAC-{}", self.digest.name)
    }

    pub(super) fn iterations(&self) -> u32 {
        self.iterations
    }

    pub(super) fn key_length(&self) -> Option<usize> {
        // Zero, or longer than any digest's block, is invalid.
        self.key_length
            .and_then(|length| usize::try_from(length).ok())
            .filter(|length| (1..=128).contains(length))
    }
}

const NO_PARAMETERS: P12Error = P12Error::Damaged("an algorithm without its parameters");

/// The identifier of an `AlgorithmIdentifier`, and its parameters if it has any.
pub(super) fn algorithm_identifier(algorithm: &Bytes) -> Result<(String, Option<Bytes>), P12Error> {
    let mut values = values(algorithm, Tag::SEQUENCE)?.into_iter();
    let name = values.next().ok_or(NO_PARAMETERS)?;
    Ok((identifier(&name)?, values.next()))
}

pub(super) fn unsupported(identifier: String) -> P12Error {
    let name = match identifier.as_str() {
        "1.2.840.113549.1.12.1.1" => "PBE-SHA1-RC4-128",
        "1.2.840.113549.1.12.1.2" => "PBE-SHA1-RC4-40",
        "1.2.840.113549.1.5.1" => "PBE-MD2-DES",
        "1.2.840.113549.1.5.3" => "PBE-MD5-DES",
        "1.2.840.113549.1.5.6" => "PBE-MD5-RC2-64",
        "1.2.840.113549.1.5.10" => "PBE-SHA1-DES",
        "1.2.840.113549.1.5.11" => "PBE-SHA1-RC2-64",
        "1.3.6.1.4.1.11591.4.11" => "scrypt",
        "1.2.840.113549.3.2" => "PBES2 with RC2-CBC",
        "1.3.14.3.2.7" => "PBES2 with DES-CBC",
        "2.16.840.1.101.3.4.1.46" => "PBES2 with AES-256-GCM",
        _ => {
            let name = identifier.chars().take(MOST_NAME).collect();
            return P12Error::UnsupportedCipher { name };
        }
    };
    P12Error::UnsupportedCipher { name: name.to_owned() }
}
