//! `cargo run`: the whole service on this machine, with a simulated tax authority.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use ecf_local::{
    Arguments, CERTIFICATE_PIN, Command, Local, OperatorArguments, RunOptions, certificate, certify, check_reception,
    operate, variables,
};
use ecf_runtime::telemetry;

/// The default log filter: only our own lines. The emulators log every rejected request, and rejected conditional
/// writes are normal here.
const LOGS: &str = "info,dynoxide=error,s3s=off";

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(status) => status,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "ecf-local: {}", telemetry::chain(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<ExitCode, ecf_runtime::Error> {
    // Help and wrong arguments end here, with status 0 and 2.
    let Arguments { options, json, command } = Arguments::parse();
    match command {
        None => serve(&options, json).await,
        Some(Command::Env { function }) => print(&variables(&function, &options.data)?),
        Some(Command::Operator { mut arguments }) => {
            // A later --data counts.
            arguments.splice(0..0, ["--data".into(), options.data.into()]);
            match OperatorArguments::read(&arguments) {
                Ok(arguments) => return Ok(operate(&arguments).await?.into()),
                Err(usage) => usage.exit(),
            }
        }
        Some(Command::Certificate { rnc, file }) => {
            std::fs::write(&file, certificate(&rnc, &options.data)?)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            print(&format!(
                "{}: a test P12 of {rnc}, PIN {CERTIFICATE_PIN}",
                file.display()
            ))
        }
        Some(Command::Certify(run)) => return certify(&run, &options.data).await,
        Some(Command::CheckReception(check)) => return check_reception(&check, &options.data).await,
        Some(Command::Openapi { check: true }) => ecf_openapi::check().map_err(Into::into),
        Some(Command::Openapi { check: false }) => ecf_openapi::write().map_err(Into::into),
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(options: &RunOptions, json: bool) -> Result<(), ecf_runtime::Error> {
    telemetry::init_with(LOGS);
    let local = Local::start(options).await?;
    print(&if json { local.ready_json() } else { local.ready_text() })?;
    stop_signal().await?;
    if std::io::stderr().is_terminal() {
        let _ = writeln!(
            std::io::stderr(),
            "\nstopping; state is kept in {} (Ctrl-C again stops at once)",
            options.data.display()
        );
    }
    tokio::select! {
        () = local.shutdown() => Ok(()),
        again = stop_signal() => Ok(again?),
    }
}

/// Waits for Ctrl-C or SIGTERM.
async fn stop_signal() -> Result<(), std::io::Error> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

fn print(text: &str) -> Result<(), ecf_runtime::Error> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", text.trim_end())?;
    Ok(out.flush()?)
}
