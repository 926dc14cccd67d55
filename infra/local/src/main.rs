//! `cargo run`: the whole service on this machine, with a simulated tax authority.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use ecf_local::{
    CERTIFICATE_PIN, CERTIFY_USAGE, Command, Local, OperatorArguments, RunOptions, USAGE, certificate, certify,
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
    let command =
        Command::parse(std::env::args_os().skip(1)).map_err(|error| format!("{error}; --help shows the usage"))?;
    match command {
        Command::Run { options, json } => serve(&options, json).await,
        Command::Env { function, options } => print(&variables(&function, &options.data)?),
        Command::Operator { arguments } => match OperatorArguments::read(&arguments) {
            Ok(arguments) => return Ok(operate(&arguments).await?.into()),
            // Help goes to the output, with status 0; wrong arguments to the error output, with status 2.
            Err(usage) => usage.exit(),
        },
        Command::Certificate { rnc, file, options } => {
            std::fs::write(&file, certificate(&rnc, &options.data)?)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            print(&format!(
                "{}: a test P12 of {rnc}, PIN {CERTIFICATE_PIN}",
                file.display()
            ))
        }
        Command::Certify(options) => return certify(&options).await,
        Command::CertifyHelp => print(CERTIFY_USAGE),
        Command::Openapi { check: true } => ecf_openapi::check().map_err(Into::into),
        Command::Openapi { check: false } => ecf_openapi::write().map_err(Into::into),
        Command::Help => print(USAGE),
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
