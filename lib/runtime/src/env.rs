//! The one place that reads the process environment.
//!
//! Each function's `Config::from_env()` calls these once in `main`. An empty value counts as absent: a template
//! parameter that was left blank arrives as an empty variable.

use std::{fmt::Display, str::FromStr};

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

/// Reads a variable that must be there.
pub fn required(name: &'static str) -> Result<String, EnvError> {
    optional(name)?.ok_or(EnvError::Missing { name })
}

/// Reads a variable that may be left out.
pub fn optional(name: &'static str) -> Result<Option<String>, EnvError> {
    #[expect(clippy::disallowed_methods, reason = "this module is the environment's only door")]
    let value = std::env::var(name);
    match value {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(EnvError::NotUtf8 { name }),
    }
}

/// Reads a variable into a type, `None` when it is left out. Not for secrets: the error shows the value.
pub fn parsed<T>(name: &'static str) -> Result<Option<T>, EnvError>
where
    T: FromStr<Err: Display>,
{
    optional(name)?.map(|value| parse(name, value)).transpose()
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

    #[test]
    fn a_missing_variable_is_named() {
        let error = required("ECF_TEST_NEVER_SET").expect_err("nobody sets it");
        assert_eq!(error.to_string(), "environment variable ECF_TEST_NEVER_SET is missing");
    }

    #[test]
    fn an_absent_optional_is_none() {
        assert_eq!(optional("ECF_TEST_NEVER_SET"), Ok(None));
        assert_eq!(parsed::<u32>("ECF_TEST_NEVER_SET"), Ok(None));
    }

    #[test]
    fn a_present_variable_is_read() {
        // Cargo sets this one for every test process.
        assert_eq!(required("CARGO_PKG_NAME").as_deref(), Ok("ecf-runtime"));
    }

    #[test]
    fn an_unparsable_value_is_shown_with_its_reason() {
        let error = parsed::<u32>("CARGO_PKG_NAME").expect_err("a name is no number");
        assert_eq!(
            error.to_string(),
            "environment variable CARGO_PKG_NAME is \"ecf-runtime\": invalid digit found in string"
        );
    }
}
