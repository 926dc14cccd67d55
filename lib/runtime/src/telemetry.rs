//! Logs: one JSON object per line in Lambda, readable lines elsewhere. `RUST_LOG` filters by level and target, as in
//! `info,ecf_taxauth=debug`; the default is `info`.

use std::{
    error::Error,
    fmt,
    io::{IsTerminal, stderr, stdout},
};

use tracing_subscriber::{
    filter::{LevelFilter, ParseError, Targets},
    fmt::MakeWriter,
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::env::Env;

/// Set in every Lambda execution environment, and only there.
const LAMBDA_MARK: &str = "AWS_LAMBDA_RUNTIME_API";

/// Installs the log output of the process. Further calls have no effect.
pub fn init() {
    init_with("info");
}

/// Like [`init`], with another filter for the case that `RUST_LOG` is not set.
pub fn init_with(default: &str) {
    let wanted = Env::process().optional("RUST_LOG").ok().flatten();
    let (filter, misunderstood) = selected(wanted.as_deref(), default);
    let in_lambda = matches!(Env::process().optional(LAMBDA_MARK), Ok(Some(_)));
    let installed = if in_lambda {
        json_lines(filter, stdout).try_init()
    } else {
        // Colours only on a terminal; a file or a pipe gets plain text.
        let lines = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE);
        let lines = lines.with_ansi(stderr().is_terminal()).with_writer(stderr);
        lines.finish().with(filter).try_init()
    };
    if let Err(error) = installed {
        tracing::debug!(%error, "log output was already installed");
    }
    if let Some(error) = misunderstood {
        tracing::warn!(RUST_LOG = wanted, %error, expected = "levels and targets, as info,ecf_taxauth=debug", "logging as without RUST_LOG");
    }
}

/// The log output of a function in Lambda, on another writer.
pub fn json_lines<W>(filter: Targets, writer: W) -> impl tracing::Subscriber + Send + Sync + 'static
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).json();
    let lines = lines.flatten_event(true).with_current_span(true).with_span_list(false);
    lines.with_writer(writer).finish().with(filter)
}

/// The filter, and the error of a filter that does not parse. Such a filter is ignored: a typing error must not silence
/// a function.
fn selected(wanted: Option<&str>, default: &str) -> (Targets, Option<ParseError>) {
    let (wanted, misunderstood) = match wanted.map(str::parse).transpose() {
        Ok(wanted) => (wanted, None),
        Err(error) => (None, Some(error)),
    };
    let filter = wanted.or_else(|| default.parse().ok());
    let filter = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::INFO));
    (filter, misunderstood)
}

/// Formats an error with all its sources in one line. `Display` of our errors never repeats a source.
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

    #[test]
    fn what_is_logged_is_selected_by_level_and_target() {
        use tracing::Level;
        let (filter, misunderstood) = selected(Some("warn,ecf_taxauth=debug,dynoxide=off"), "info");
        assert!(misunderstood.is_none());
        for (target, level, logged) in [
            ("ecf_store", Level::WARN, true),
            ("ecf_store", Level::INFO, false),
            ("ecf_taxauth::tokens", Level::DEBUG, true),
            ("dynoxide", Level::ERROR, false),
        ] {
            assert_eq!(filter.would_enable(target, &level), logged, "{target} {level}");
        }
        for nonsense in [None, Some("ecf_store=loud"), Some("[job{x=1}]=debug")] {
            let (filter, misunderstood) = selected(nonsense, "info,s3s=off");
            assert_eq!(misunderstood.is_some(), nonsense.is_some());
            assert!(filter.would_enable("ecf_store", &Level::INFO), "{nonsense:?}");
            assert!(!filter.would_enable("s3s", &Level::ERROR), "{nonsense:?}");
        }
    }

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
