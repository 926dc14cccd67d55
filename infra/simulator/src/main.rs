//! `ecf-simulator [--port PORT] [--data FOLDER]`: the simulated tax authority as a program of its own.

use std::{
    env,
    io::{IsTerminal, stderr},
    path::PathBuf,
    process::ExitCode,
};

use ecf_simulator::{Options, Simulator};

const USAGE: &str = "usage: ecf-simulator [--port PORT] [--data FOLDER]";
const DEFAULT_PORT: u16 = 8600;

/// Why the arguments are rejected.
#[derive(Debug, thiserror::Error)]
enum ArgumentError {
    #[error("{0} needs a value; {USAGE}")]
    MissingValue(String),
    #[error("{0} is not a port; {USAGE}")]
    Port(String),
    #[error("{0} is not an option; {USAGE}")]
    Unknown(String),
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, ArgumentError> {
    let mut options = Options {
        port: DEFAULT_PORT,
        ..Options::default()
    };
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| ArgumentError::MissingValue(argument.clone()))
        };
        match argument.as_str() {
            "--port" => {
                let port = value()?;
                options.port = port.parse().map_err(|_| ArgumentError::Port(port))?;
            }
            "--data" => options.data = Some(PathBuf::from(value()?)),
            _ => return Err(ArgumentError::Unknown(argument)),
        }
    }
    Ok(options)
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let simulator = Simulator::start(options(env::args().skip(1))?).await?;
    tracing::info!(
        address = simulator.base_url(),
        "the simulated tax authority is listening"
    );
    tokio::signal::ctrl_c().await?;
    simulator.shutdown().await;
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let to_terminal = stderr().is_terminal();
    tracing_subscriber::fmt()
        .with_writer(stderr)
        .with_ansi(to_terminal)
        .with_target(false)
        .init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error, "the simulated tax authority stops");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, ArgumentError> {
        options(arguments.iter().map(|one| (*one).to_owned()))
    }

    #[test]
    fn options_are_read_and_mistakes_are_named() {
        let options = parse(&["--port", "0", "--data", "somewhere"]).unwrap();
        assert_eq!((options.port, options.data), (0, Some(PathBuf::from("somewhere"))));
        assert_eq!(parse(&[]).unwrap().port, DEFAULT_PORT);
        for (arguments, word) in [
            (vec!["--port"], "--port"),
            (vec!["--port", "x"], "x"),
            (vec!["--prot"], "--prot"),
        ] {
            assert!(parse(&arguments).unwrap_err().to_string().starts_with(word));
        }
    }
}
