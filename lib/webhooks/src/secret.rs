//! The secret key of a webhook's signatures.

use std::fmt;

use ecf_language::{Bilingual, Say};
use zeroize::Zeroizing;

/// The fewest characters of a secret that a caller chooses.
const MIN_CHARS: usize = 16;

/// The most characters of a secret that a caller chooses.
const MAX_CHARS: usize = 256;

/// A webhook's secret. It prints as `***` and is wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Zeroizing<String>);

/// Why a secret is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Too short to resist guessing, or longer than anybody needs.
    #[error("the secret has {given} characters; {MIN_CHARS} to {MAX_CHARS} are allowed")]
    Length {
        /// Its length in characters.
        given: usize,
    },
    /// Control characters do not survive configuration files and headers.
    #[error("the secret holds a control character")]
    ControlCharacter,
}

impl Say for SecretError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Length { given } => {
                format!("el secreto tiene {given} caracteres; se permiten de {MIN_CHARS} a {MAX_CHARS}")
            }
            Self::ControlCharacter => "el secreto tiene un carácter de control".to_owned(),
        };
        Bilingual::of(self, spanish)
    }
}

impl WebhookSecret {
    /// A new secret from random bytes.
    #[must_use]
    pub fn generate(random: &[u8; 32]) -> Self {
        Self(Zeroizing::new(format!("whsec_{}", hex::encode(random))))
    }

    /// A secret that the caller chose or that was stored.
    ///
    /// # Errors
    /// When its length is out of range or it holds a control character.
    pub fn parse(given: &str) -> Result<Self, SecretError> {
        let length = given.chars().count();
        if !(MIN_CHARS..=MAX_CHARS).contains(&length) {
            return Err(SecretError::Length { given: length });
        }
        if given.chars().any(char::is_control) {
            return Err(SecretError::ControlCharacter);
        }
        Ok(Self(Zeroizing::new(given.to_owned())))
    }

    /// The secret text: to show it once, to encrypt it, or to use it as a key.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_secret_is_long_and_carries_its_kind() {
        let secret = WebhookSecret::generate(&[0xab; 32]);
        assert_eq!(secret.expose(), format!("whsec_{}", "ab".repeat(32)));
        assert_eq!(WebhookSecret::parse(secret.expose()), Ok(secret));
    }

    #[test]
    fn a_chosen_secret_has_sixteen_characters_at_least() {
        assert_eq!(
            WebhookSecret::parse("123456789012345"),
            Err(SecretError::Length { given: 15 })
        );
        assert!(WebhookSecret::parse("ñ23456789012345ñ").is_ok());
        assert_eq!(
            WebhookSecret::parse(&"x".repeat(257)),
            Err(SecretError::Length { given: 257 })
        );
        assert_eq!(
            WebhookSecret::parse("1234567890123456\n"),
            Err(SecretError::ControlCharacter)
        );
        assert_eq!(
            SecretError::Length { given: 3 }.to_string(),
            "the secret has 3 characters; 16 to 256 are allowed"
        );
    }

    #[test]
    fn a_secret_does_not_print_itself() {
        let secret = WebhookSecret::parse("1234567890123456").unwrap();
        assert_eq!(format!("{secret:?}"), "WebhookSecret(***)");
    }
}
