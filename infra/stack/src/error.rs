//! Why a template cannot be carried out: always with the file, the resource and the property.

use std::fmt;

/// Where in a template something stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, relative to the root template's folder.
    pub file: String,
    /// The way down from the top: `Issuing.Properties.Timeout`.
    pub path: String,
}

impl Place {
    pub(crate) fn top(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            path: String::new(),
        }
    }

    pub(crate) fn below(&self, step: impl fmt::Display) -> Self {
        let path = if self.path.is_empty() {
            step.to_string()
        } else {
            format!("{}.{step}", self.path)
        };
        Self {
            file: self.file.clone(),
            path,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.file),
            path => write!(f, "{}: {path}", self.file),
        }
    }
}

/// Why a template could not be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StackError {
    #[error("cannot read {file}")]
    Read { file: String, source: std::io::Error },
    #[error("the nested template {file} is not one that this program was built with")]
    NotEmbedded { file: String },
    #[error("{file} is not YAML")]
    Yaml { file: String, source: serde_yaml_ng::Error },
    #[error("{place}: {what} is not supported here")]
    Unsupported { place: Place, what: String },
    #[error("{place}: there is no {name}")]
    Unknown { place: Place, name: String },
    #[error("{place} is missing")]
    Missing { place: Place },
    #[error("{place}: expected {expected}, found {found}")]
    Invalid {
        place: Place,
        expected: String,
        found: String,
    },
    #[error("{place}: {name} is defined twice")]
    Duplicate { place: Place, name: String },
    #[error("{place}: depends on itself")]
    Cycle { place: Place },
}
