//! Secrets that the template makes.

use serde::Deserialize;

use super::Properties;
use crate::text::Text;

/// A secret with a value that nobody chose.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Secret {
    /// Its name in the template.
    #[serde(skip)]
    pub logical_id: String,
    /// Its name in the vault.
    pub name: Text,
    /// The KMS key that encrypts it.
    pub kms_key_id: Text,
    /// How its value is made.
    pub generate_secret_string: Generate,
}

impl Properties for Secret {
    const WITHOUT_EFFECT: &'static [&'static str] = &["Description"];
}

/// How a secret's first value is made.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Generate {
    /// Its length in characters.
    pub password_length: u16,
    /// Whether it has no punctuation.
    pub exclude_punctuation: bool,
    /// Whether it may have blanks.
    pub include_space: bool,
}
