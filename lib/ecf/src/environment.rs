//! The tax authority's three environments.

use std::fmt;
use std::str::FromStr;

use ecf_language::{Bilingual, Say};
use thiserror::Error;

/// One of the tax authority's environments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Environment {
    /// Pre-certification: for tests.
    TesteCF,
    /// Certification.
    CerteCF,
    /// Production.
    Ecf,
}

/// A name that is not one of the three; letter case matters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("environment {given:?} is not one of TesteCF, CerteCF, ecf")]
pub struct UnknownEnvironment {
    /// The text as received.
    pub given: String,
}

impl Say for UnknownEnvironment {
    fn say(&self) -> Bilingual {
        Bilingual::of(
            self,
            format!("el ambiente {:?} no es uno de TesteCF, CerteCF, ecf", self.given),
        )
    }
}

impl Environment {
    /// All three.
    pub const ALL: [Self; 3] = [Self::TesteCF, Self::CerteCF, Self::Ecf];

    /// The name in our API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TesteCF => "TesteCF",
            Self::CerteCF => "CerteCF",
            Self::Ecf => "ecf",
        }
    }

    /// The name in the tax authority's URLs, in lower case.
    pub const fn path_segment(self) -> &'static str {
        match self {
            Self::TesteCF => "testecf",
            Self::CerteCF => "certecf",
            Self::Ecf => "ecf",
        }
    }
}

impl FromStr for Environment {
    type Err = UnknownEnvironment;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|environment| environment.as_str() == text)
            .ok_or_else(|| UnknownEnvironment { given: text.to_owned() })
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

text_serde!(Environment);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact() {
        for environment in Environment::ALL {
            assert_eq!(environment.as_str().parse(), Ok(environment));
        }
        for bad in ["testecf", "ECF", "prod", ""] {
            assert!(bad.parse::<Environment>().is_err(), "{bad:?}");
        }
    }
}
