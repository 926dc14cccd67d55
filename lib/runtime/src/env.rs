//! The one place that reads the process environment.
//!
//! Each function reads its settings once, from an [`Env`]. When deployed, these are the variables of the process. In
//! the local system many functions share one process, and the values come from the template. An empty value counts as
//! absent, because a template parameter that is left blank arrives as an empty variable.

use std::{collections::BTreeMap, fmt::Display, str::FromStr, sync::Arc};

/// Why a setting could not be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvError {
    #[error("environment variable {name} is missing")]
    Missing { name: &'static str },
    #[error("environment variable {name} is not valid UTF-8")]
    NotUtf8 { name: &'static str },
    #[error("environment variable {name} is \"{value}\": {reason}")]
    Invalid {
        name: &'static str,
        value: String,
        reason: String,
    },
}

/// The variables of a function. Clones share them.
#[derive(Debug, Clone)]
pub struct Env(Source);

#[derive(Debug, Clone)]
enum Source {
    Process,
    Given(Arc<BTreeMap<String, String>>),
}

impl Env {
    /// The variables of this process.
    pub fn process() -> Self {
        Self(Source::Process)
    }

    /// Exactly these variables.
    pub fn of(variables: BTreeMap<String, String>) -> Self {
        Self(Source::Given(Arc::new(variables)))
    }

    /// Reads a required variable.
    ///
    /// # Errors
    /// Fails when the variable is missing, empty or not UTF-8.
    pub fn required(&self, name: &'static str) -> Result<String, EnvError> {
        self.optional(name)?.ok_or(EnvError::Missing { name })
    }

    /// Reads a required variable and parses it. Not for secrets: the error contains the value.
    ///
    /// # Errors
    /// Fails when the variable is missing, empty, not UTF-8, or not a `T`.
    pub fn required_as<T>(&self, name: &'static str) -> Result<T, EnvError>
    where
        T: FromStr<Err: Display>,
    {
        parse(name, self.required(name)?)
    }

    /// Reads an optional variable.
    ///
    /// # Errors
    /// Fails when the value is not UTF-8.
    pub fn optional(&self, name: &'static str) -> Result<Option<String>, EnvError> {
        let value = match &self.0 {
            Source::Given(variables) => variables.get(name).cloned(),
            Source::Process => process_variable(name)?,
        };
        Ok(value.filter(|value| !value.is_empty()))
    }

    /// Reads an optional variable and parses it. Not for secrets: the error contains the value.
    ///
    /// # Errors
    /// Fails when the value is not UTF-8 or not a `T`.
    pub fn parsed<T>(&self, name: &'static str) -> Result<Option<T>, EnvError>
    where
        T: FromStr<Err: Display>,
    {
        self.optional(name)?.map(|value| parse(name, value)).transpose()
    }
}

fn process_variable(name: &'static str) -> Result<Option<String>, EnvError> {
    #[expect(clippy::disallowed_methods, reason = "only this module reads the environment")]
    let value = std::env::var(name);
    match value {
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(EnvError::NotUtf8 { name }),
    }
}

fn parse<T>(name: &'static str, value: String) -> Result<T, EnvError>
where
    T: FromStr<Err: Display>,
{
    value.parse().map_err(|error: T::Err| EnvError::Invalid {
        name,
        reason: error.to_string(),
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(variables: &[(&str, &str)]) -> Env {
        Env::of(
            variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn a_missing_variable_is_named() {
        for env in [Env::process(), given(&[("ECF_TEST_NEVER_SET", "")])] {
            let error = env.required("ECF_TEST_NEVER_SET").expect_err("nobody sets it");
            assert_eq!(error.to_string(), "environment variable ECF_TEST_NEVER_SET is missing");
        }
    }

    #[test]
    fn an_absent_optional_is_none() {
        assert_eq!(Env::process().optional("ECF_TEST_NEVER_SET"), Ok(None));
        assert_eq!(Env::process().parsed::<u32>("ECF_TEST_NEVER_SET"), Ok(None));
    }

    #[test]
    fn a_present_variable_is_read() {
        // Cargo sets this variable for every test process.
        assert_eq!(Env::process().required("CARGO_PKG_NAME").as_deref(), Ok("ecf-runtime"));
        assert_eq!(given(&[("A", "7")]).required_as("A"), Ok(7));
    }

    #[test]
    fn an_unparsable_value_is_shown_with_its_reason() {
        let error = given(&[("A", "seven")])
            .parsed::<u32>("A")
            .expect_err("a word is no number");
        assert_eq!(
            error.to_string(),
            "environment variable A is \"seven\": invalid digit found in string"
        );
    }
}
