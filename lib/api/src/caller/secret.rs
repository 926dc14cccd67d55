//! The text of an API key.

use std::fmt;

use ecf::Environment;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Random bytes of a key: 192 bits.
const RANDOM_BYTES: usize = 24;
/// How much of the random part the prefix shows, enough to tell one's keys apart.
const SHOWN_DIGITS: usize = 8;
/// Nothing longer is worth hashing.
const LONGEST_KEY: usize = 128;
const MARK: &str = "ecf_";

/// A new key: its text is shown to its owner once, its hash is kept.
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

    /// The key itself, for its owner's eyes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The beginning, to recognise the key by.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// What is kept.
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// The hash of a key that came in, none when it cannot be one of ours.
    pub(super) fn hash_of(text: &str) -> Option<[u8; 32]> {
        (text.starts_with(MARK) && text.len() <= LONGEST_KEY).then(|| sha256(text))
    }
}

impl fmt::Debug for ApiKeySecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiKeySecret({}***)", self.prefix)
    }
}

/// A fast hash is enough: unlike a password, 192 random bits cannot be guessed.
fn sha256(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}
