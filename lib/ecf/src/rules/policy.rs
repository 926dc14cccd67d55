//! The policy for receipts that the authority would accept only conditionally.

use std::str::FromStr;

use ecf_language::{Bilingual, Say};
use thiserror::Error;

use crate::Environment;
use crate::violation::{Grade, Violation};

/// Whether findings of grade *conditional* stop a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnConditional {
    /// They stop it, as those of grade *rejected* do.
    Refuse,
    /// They are reported, and the receipt continues.
    Warn,
}

/// A word that is not one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("on_conditional {given:?} is not one of refuse, warn")]
pub struct UnknownPolicy {
    /// The text as received.
    pub given: String,
}

impl Say for UnknownPolicy {
    fn say(&self) -> Bilingual {
        Bilingual::of(
            self,
            format!("on_conditional {:?} no es uno de refuse, warn", self.given),
        )
    }
}

impl OnConditional {
    /// The default, unless company or request override it. Tests and certification are meant to find faults; in
    /// production a legally valid receipt is not stopped.
    pub const fn default_of(environment: Environment) -> Self {
        match environment {
            Environment::TesteCF | Environment::CerteCF => Self::Refuse,
            Environment::Ecf => Self::Warn,
        }
    }

    /// The word in our API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Warn => "warn",
        }
    }

    /// Whether a finding of this grade stops the receipt.
    pub const fn refuses(self, grade: Grade) -> bool {
        match grade {
            Grade::Rejected => true,
            Grade::Conditional => matches!(self, Self::Refuse),
            Grade::Notice => false,
        }
    }
}

impl FromStr for OnConditional {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "refuse" => Ok(Self::Refuse),
            "warn" => Ok(Self::Warn),
            _ => Err(UnknownPolicy { given: text.to_owned() }),
        }
    }
}

impl std::fmt::Display for OnConditional {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

text_serde!(OnConditional);

/// Separates findings that stop the receipt from those that are only reported. Both keep their order.
pub fn split(violations: Vec<Violation>, policy: OnConditional) -> (Vec<Violation>, Vec<Violation>) {
    violations
        .into_iter()
        .partition(|violation| policy.refuses(violation.grade))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graded(grade: Grade) -> Violation {
        Violation::rejected(Vec::new(), "LINEA-02", "value_error", Bilingual::default()).with_grade(grade)
    }

    #[test]
    fn conditional_findings_stop_a_receipt_before_production_and_are_told_in_it() {
        let found = || {
            vec![Grade::Notice, Grade::Rejected, Grade::Conditional]
                .into_iter()
                .map(graded)
                .collect()
        };
        for (environment, stopped) in [
            (Environment::TesteCF, 2),
            (Environment::CerteCF, 2),
            (Environment::Ecf, 1),
        ] {
            let (refusals, warnings) = split(found(), OnConditional::default_of(environment));
            assert_eq!(
                (refusals.len(), warnings.len()),
                (stopped, 3 - stopped),
                "{environment}"
            );
        }
    }

    #[test]
    fn the_words_of_the_api_are_read() {
        for policy in [OnConditional::Refuse, OnConditional::Warn] {
            assert_eq!(policy.as_str().parse(), Ok(policy));
        }
        let error = "ignore".parse::<OnConditional>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "on_conditional \"ignore\" is not one of refuse, warn"
        );
    }
}
