//! Logs: one JSON object a line in Lambda, readable lines elsewhere. `RUST_LOG` selects, `info` without it.

use std::{
    error::Error,
    fmt,
    io::{IsTerminal, stderr},
};

use tracing_subscriber::{EnvFilter, fmt::format::FmtSpan};

use crate::env::Env;

/// Lambda sets this in every execution environment and nobody else does.
const LAMBDA_MARK: &str = "AWS_LAMBDA_RUNTIME_API";

/// Installs the process's log output. A second call changes nothing.
pub fn init() {
    init_with("info");
}

/// The same for a process that selects otherwise without `RUST_LOG`.
pub fn init_with(default: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_span_events(FmtSpan::NONE);
    let in_lambda = matches!(Env::process().optional(LAMBDA_MARK), Ok(Some(_)));
    let installed = if in_lambda {
        builder
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false)
            .try_init()
    } else {
        // Colours are for people: a file or a pipe gets plain text.
        builder.with_ansi(stderr().is_terminal()).with_writer(stderr).try_init()
    };
    if let Err(error) = installed {
        tracing::debug!(%error, "log output was already installed");
    }
}

/// Shows an error with all its sources, in one line. `Display` of our errors never repeats a source.
pub fn chain(error: &(dyn Error + 'static)) -> impl fmt::Display {
    Chain(error)
}

struct Chain<'e>(&'e (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(formatter, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the record could not be read")]
    struct Outer(#[source] std::num::ParseIntError);

    #[test]
    fn a_chain_shows_every_source_once() {
        let source = "x".parse::<u8>().expect_err("no number");
        assert_eq!(
            chain(&Outer(source)).to_string(),
            "the record could not be read: invalid digit found in string"
        );
    }
}
