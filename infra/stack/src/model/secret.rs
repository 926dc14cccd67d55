//! Secrets that the template generates.

use serde::Deserialize;

use super::Properties;
use crate::text::Text;

/// A secret with a generated value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Secret {
    /// Its name in the template.
    #[serde(skip)]
    pub logical_id: String,
    /// Its name in Secrets Manager.
    pub name: Text,
    /// The KMS key that encrypts it.
    pub kms_key_id: Text,
    /// How its first value is generated.
    pub generate_secret_string: Generate,
}

impl Properties for Secret {
    const WITHOUT_EFFECT: &'static [&'static str] = &["Description"];
}

/// Parameters of a secret's first value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Generate {
    /// Its length in characters.
    pub password_length: u16,
    /// Whether punctuation is excluded.
    pub exclude_punctuation: bool,
    /// Whether spaces are allowed.
    pub include_space: bool,
}
