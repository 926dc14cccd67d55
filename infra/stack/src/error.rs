//! Template errors. Each names the file, the resource and the property.

use std::fmt;

use serde::{Deserializer, de::DeserializeOwned};

/// A position in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, relative to the root template's folder.
    file: String,
    /// The path from the top: `Issuing.Properties.Timeout`.
    path: String,
}

impl Place {
    pub(crate) fn top(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            path: String::new(),
        }
    }

    pub(crate) fn below(&self, step: impl fmt::Display) -> Self {
        let path = match self.path.as_str() {
            "" => step.to_string(),
            path => format!("{path}.{step}"),
        };
        Self {
            file: self.file.clone(),
            path,
        }
    }

    pub(crate) fn unsupported(&self, what: impl fmt::Display) -> StackError {
        StackError::Unsupported {
            place: self.clone(),
            what: what.to_string(),
        }
    }

    pub(crate) fn unknown(&self, name: impl fmt::Display) -> StackError {
        StackError::Unknown {
            place: self.clone(),
            name: name.to_string(),
        }
    }

    pub(crate) fn invalid(&self, problem: impl fmt::Display) -> StackError {
        StackError::Invalid {
            place: self.clone(),
            problem: problem.to_string(),
        }
    }

    /// Deserializes the value at this place.
    pub(crate) fn read<'de, T: DeserializeOwned>(&self, value: impl Deserializer<'de>) -> Result<T, StackError> {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let place = match error.path().iter().next() {
                None => self.clone(),
                Some(_) => self.below(error.path()),
            };
            place.invalid(error.inner())
        })
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
    #[error("{place}: {problem}")]
    Invalid { place: Place, problem: String },
}
