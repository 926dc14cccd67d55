//! Password-based encryption: the schemes of PKCS#12 with SHA-1, and PBES2 (RFC 8018).

use std::borrow::Cow;

use aes::{Aes128, Aes192, Aes256};
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use des::TdesEde3;
use rc2::Rc2;
use zeroize::Zeroizing;

use super::P12Error;
use super::inspection::Protection;
use super::kdf::{self, Digest, Purpose, Work};
use super::password::{Forms, Secret};
use crate::ber::{Ber, INTEGER, dotted};

/// An `AlgorithmIdentifier` that decrypts.
pub(super) enum Scheme<'a> {
    /// Key and initialisation vector both come from the derivation of PKCS#12.
    Pkcs12 {
        cipher: Pkcs12Cipher,
        salt: Cow<'a, [u8]>,
        iterations: u32,
    },
    Pbes2 {
        kdf: Pbkdf2<'a>,
        cipher: Pbes2Cipher,
        iv: Cow<'a, [u8]>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pkcs12Cipher {
    TripleDes,
    TwoKeyTripleDes,
    Rc2With128Bits,
    Rc2With40Bits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pbes2Cipher {
    Aes128,
    Aes192,
    Aes256,
    TripleDes,
}

pub(super) struct Pbkdf2<'a> {
    salt: Cow<'a, [u8]>,
    iterations: u32,
    key_length: Option<u32>,
    digest: Digest,
}

impl<'a> Scheme<'a> {
    /// Reads an `AlgorithmIdentifier`.
    pub(super) fn read(algorithm: &mut Ber<'a>) -> Result<Self, P12Error> {
        let mut algorithm = algorithm.sequence()?;
        let identifier = dotted(algorithm.object_identifier()?);
        let cipher = match identifier.as_str() {
            "1.2.840.113549.1.12.1.3" => Pkcs12Cipher::TripleDes,
            "1.2.840.113549.1.12.1.4" => Pkcs12Cipher::TwoKeyTripleDes,
            "1.2.840.113549.1.12.1.5" => Pkcs12Cipher::Rc2With128Bits,
            "1.2.840.113549.1.12.1.6" => Pkcs12Cipher::Rc2With40Bits,
            "1.2.840.113549.1.5.13" => return Self::read_pbes2(&mut algorithm),
            _ => return Err(unsupported(identifier)),
        };
        let mut parameters = algorithm.sequence()?;
        Ok(Self::Pkcs12 {
            cipher,
            salt: parameters.octets()?,
            iterations: parameters.count()?,
        })
    }

    fn read_pbes2(algorithm: &mut Ber<'a>) -> Result<Self, P12Error> {
        let mut parameters = algorithm.sequence()?;
        let kdf = Pbkdf2::read(&mut parameters)?;
        let mut encryption = parameters.sequence()?;
        let identifier = dotted(encryption.object_identifier()?);
        let cipher = match identifier.as_str() {
            "2.16.840.1.101.3.4.1.2" => Pbes2Cipher::Aes128,
            "2.16.840.1.101.3.4.1.22" => Pbes2Cipher::Aes192,
            "2.16.840.1.101.3.4.1.42" => Pbes2Cipher::Aes256,
            "1.2.840.113549.3.7" => Pbes2Cipher::TripleDes,
            _ => return Err(unsupported(identifier)),
        };
        Ok(Self::Pbes2 {
            kdf,
            cipher,
            iv: encryption.octets()?,
        })
    }

    pub(super) fn protection(&self) -> Protection {
        match self {
            Self::Pkcs12 { cipher, iterations, .. } => Protection {
                algorithm: cipher.name().to_owned(),
                iterations: Some(*iterations),
                supported: true,
                weak: matches!(cipher, Pkcs12Cipher::Rc2With128Bits | Pkcs12Cipher::Rc2With40Bits),
            },
            Self::Pbes2 { kdf, cipher, .. } => Protection {
                algorithm: format!("PBES2 with {} and {}", cipher.name(), kdf.name()),
                iterations: Some(kdf.iterations),
                supported: true,
                weak: false,
            },
        }
    }

    /// Decrypts with each form of the password until the result is an encoded sequence. `None` when no form does.
    pub(super) fn decrypt(&self, data: &[u8], forms: &Forms, work: &mut Work) -> Result<Option<Secret>, P12Error> {
        let passwords = match self {
            Self::Pkcs12 { .. } => &forms.wide,
            Self::Pbes2 { .. } => &forms.narrow,
        };
        for password in passwords {
            if let Some(plain) = self.decrypt_with(data, password, work)?
                && Ber::new(&plain).sequence().is_ok()
            {
                return Ok(Some(plain));
            }
        }
        Ok(None)
    }

    fn decrypt_with(&self, data: &[u8], password: &[u8], work: &mut Work) -> Result<Option<Secret>, P12Error> {
        match self {
            Self::Pkcs12 {
                cipher,
                salt,
                iterations,
            } => {
                let mut derive =
                    |purpose, length| kdf::pkcs12(Digest::Sha1, purpose, password, salt, *iterations, length, work);
                let mut key = derive(Purpose::Key, cipher.key_length())?;
                if *cipher == Pkcs12Cipher::TwoKeyTripleDes {
                    key.extend_from_within(..8);
                }
                cipher.decrypt(&key, &derive(Purpose::InitializationVector, 8)?, data)
            }
            Self::Pbes2 { kdf, cipher, iv } => {
                let key = kdf.derive(password, cipher.key_length(), work)?;
                cipher.decrypt(&key, iv, data)
            }
        }
    }
}

/// Cipher block chaining with the padding of PKCS#7. Bad padding is how a wrong password shows: it gives `None`.
fn decrypt<C>(key: &[u8], iv: &[u8], data: &[u8]) -> Result<Option<Secret>, P12Error>
where
    C: BlockCipherDecrypt + KeyInit,
{
    let cipher = Decryptor::<C>::new_from_slices(key, iv)
        .map_err(|_| P12Error::Damaged("a cipher with impossible parameters"))?;
    Ok(cipher.decrypt_padded_vec::<Pkcs7>(data).ok().map(Zeroizing::new))
}

impl Pkcs12Cipher {
    fn name(self) -> &'static str {
        match self {
            Self::TripleDes => "PBE-SHA1-3DES",
            Self::TwoKeyTripleDes => "PBE-SHA1-2DES",
            Self::Rc2With128Bits => "PBE-SHA1-RC2-128",
            Self::Rc2With40Bits => "PBE-SHA1-RC2-40",
        }
    }

    fn key_length(self) -> usize {
        match self {
            Self::TripleDes => 24,
            Self::TwoKeyTripleDes | Self::Rc2With128Bits => 16,
            Self::Rc2With40Bits => 5,
        }
    }

    fn decrypt(self, key: &[u8], iv: &[u8], data: &[u8]) -> Result<Option<Secret>, P12Error> {
        match self {
            Self::TripleDes | Self::TwoKeyTripleDes => decrypt::<TdesEde3>(key, iv, data),
            Self::Rc2With128Bits | Self::Rc2With40Bits => decrypt::<Rc2>(key, iv, data),
        }
    }
}

impl Pbes2Cipher {
    fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "AES-128-CBC",
            Self::Aes192 => "AES-192-CBC",
            Self::Aes256 => "AES-256-CBC",
            Self::TripleDes => "3DES-CBC",
        }
    }

    fn key_length(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes192 | Self::TripleDes => 24,
            Self::Aes256 => 32,
        }
    }

    fn decrypt(self, key: &[u8], iv: &[u8], data: &[u8]) -> Result<Option<Secret>, P12Error> {
        match self {
            Self::Aes128 => decrypt::<Aes128>(key, iv, data),
            Self::Aes192 => decrypt::<Aes192>(key, iv, data),
            Self::Aes256 => decrypt::<Aes256>(key, iv, data),
            Self::TripleDes => decrypt::<TdesEde3>(key, iv, data),
        }
    }
}

impl<'a> Pbkdf2<'a> {
    /// Reads the `AlgorithmIdentifier` of a key derivation.
    pub(super) fn read(parameters: &mut Ber<'a>) -> Result<Self, P12Error> {
        let mut derivation = parameters.sequence()?;
        let identifier = dotted(derivation.object_identifier()?);
        if identifier != "1.2.840.113549.1.5.12" {
            return Err(unsupported(identifier));
        }
        let mut parameters = derivation.sequence()?;
        let salt = parameters.octets()?;
        let iterations = parameters.count()?;
        let mut rest = parameters;
        let key_length = match rest.value() {
            Ok(value) if value.tag == INTEGER => Some(parameters.count()?),
            _ => None,
        };
        let digest = if parameters.is_empty() {
            Digest::Sha1
        } else {
            hmac_digest(&mut parameters)?
        };
        Ok(Self {
            salt,
            iterations,
            key_length,
            digest,
        })
    }

    /// Derives `length` bytes, or what the parameters say when that is also `length`.
    pub(super) fn derive(&self, password: &[u8], length: usize, work: &mut Work) -> Result<Secret, P12Error> {
        if self
            .key_length
            .is_some_and(|stated| usize::try_from(stated) != Ok(length))
        {
            return Err(P12Error::Damaged("a key length that does not fit the cipher"));
        }
        kdf::pbkdf2(self.digest, password, &self.salt, self.iterations, length, work)
    }

    pub(super) fn name(&self) -> String {
        format!("PBKDF2-HMAC-{}", self.digest.name())
    }

    pub(super) fn iterations(&self) -> u32 {
        self.iterations
    }

    pub(super) fn key_length(&self) -> Option<usize> {
        // Longer than any digest's block makes no sense.
        self.key_length
            .and_then(|length| usize::try_from(length).ok())
            .filter(|&length| length <= 128)
    }
}

/// Reads the `AlgorithmIdentifier` of an HMAC.
pub(super) fn hmac_digest(parameters: &mut Ber<'_>) -> Result<Digest, P12Error> {
    let identifier = dotted(parameters.sequence()?.object_identifier()?);
    match identifier.as_str() {
        "1.2.840.113549.2.7" => Ok(Digest::Sha1),
        "1.2.840.113549.2.8" => Ok(Digest::Sha224),
        "1.2.840.113549.2.9" => Ok(Digest::Sha256),
        "1.2.840.113549.2.10" => Ok(Digest::Sha384),
        "1.2.840.113549.2.11" => Ok(Digest::Sha512),
        _ => Err(unsupported(identifier)),
    }
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
        _ => return P12Error::UnsupportedCipher { name: identifier },
    };
    P12Error::UnsupportedCipher { name: name.to_owned() }
}
