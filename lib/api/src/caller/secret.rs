//! The text of an API key.

use std::fmt;

use ecf::Environment;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Random bytes of a key: 192 bits.
const RANDOM_BYTES: usize = 24;
/// Digits of the random part that the prefix shows, so that a company can distinguish its keys.
const SHOWN_DIGITS: usize = 8;
/// Longer texts are rejected without hashing.
const LONGEST_KEY: usize = 128;
const MARK: &str = "ecf_";

/// A new key. Its text is shown to its owner once; only its hash is stored.
pub struct ApiKeySecret {
    text: Zeroizing<String>,
    prefix: String,
    hash: [u8; 32],
}

impl ApiKeySecret {
    /// Makes `ecf_{test|cert|prod}_{48 hexadecimal digits}` from random bytes.
    pub fn generate(environment: Environment, random: [u8; RANDOM_BYTES]) -> Self {
        let tag = match environment {
            Environment::TesteCF => "test",
            Environment::CerteCF => "cert",
            Environment::Ecf => "prod",
        };
        let digits = Zeroizing::new(hex::encode(random));
        let text = Zeroizing::new(format!("{MARK}{tag}_{}", *digits));
        Self {
            prefix: format!("{MARK}{tag}_{}", &digits[..SHOWN_DIGITS]),
            hash: sha256(&text),
            text,
        }
    }

    /// The key itself, for its owner only.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The beginning of the key, by which its owner recognises it.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The stored hash.
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// The hash of a received key, or `None` for a text that cannot be one of our keys.
    pub(super) fn hash_of(text: &str) -> Option<[u8; 32]> {
        (text.starts_with(MARK) && text.len() <= LONGEST_KEY).then(|| sha256(text))
    }
}

impl fmt::Debug for ApiKeySecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiKeySecret({}***)", self.prefix)
    }
}

/// A fast hash suffices: unlike a password, 192 random bits cannot be guessed.
fn sha256(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}
