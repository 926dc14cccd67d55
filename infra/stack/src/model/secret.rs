//! Secrets that the template makes.

use crate::{error::StackError, fields::Fields, text::Text};

/// A secret with a value that nobody chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its name in the template.
    pub logical_id: String,
    /// Its name in the vault.
    pub name: Text,
    /// The KMS key that encrypts it; `None`: the account's own.
    pub kms_key: Option<Text>,
    /// How its value is made.
    pub generate: Generate,
}

/// How a secret's first value is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generate {
    /// Its length in characters.
    pub length: u16,
    /// Whether it has no punctuation.
    pub exclude_punctuation: bool,
    /// Whether it may have blanks.
    pub include_space: bool,
}

impl Secret {
    pub(crate) fn read(logical_id: &str, mut fields: Fields) -> Result<Self, StackError> {
        fields.without_effect(&["Description"]);
        let mut generate = fields.fields("GenerateSecretString")?;
        let secret = Self {
            logical_id: logical_id.to_owned(),
            name: fields.text("Name")?,
            kms_key: fields.optional_text("KmsKeyId")?,
            generate: Generate {
                length: generate.integer("PasswordLength")?,
                exclude_punctuation: generate.flag("ExcludePunctuation")?,
                include_space: generate.flag("IncludeSpace")?,
            },
        };
        generate.finish()?;
        fields.finish()?;
        Ok(secret)
    }
}
