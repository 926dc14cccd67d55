//! The permissions of a key within its company and environment.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The permissions of a key; each scope includes those before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyScope {
    /// Reads only.
    Read,
    /// Issues, withdraws and annuls receipts, acknowledges and answers received ones.
    Issue,
    /// Everything, including keys, certificate, settings, ranges and webhooks.
    #[default]
    Full,
}

/// A text that is not a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("scope {given:?} is not one of full, issue, read")]
pub struct UnknownKeyScope {
    /// The given text.
    pub given: String,
}

impl KeyScope {
    pub const ALL: [Self; 3] = [Self::Full, Self::Issue, Self::Read];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Issue => "issue",
            Self::Read => "read",
        }
    }

    /// The stored form. Keys from before scopes existed have none, and are `full`.
    pub(super) fn stored(self) -> Option<&'static str> {
        (self != Self::Full).then_some(self.as_str())
    }
}

impl FromStr for KeyScope {
    type Err = UnknownKeyScope;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.as_str() == text)
            .ok_or_else(|| UnknownKeyScope { given: text.to_owned() })
    }
}

impl fmt::Display for KeyScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
