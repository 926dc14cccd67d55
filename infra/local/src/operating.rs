//! `ecf-local operator`: runs commands of the `operator` function against the running system of a state folder, or
//! against a deployed stack.
//!
//! | file | content |
//! |---|---|
//! | `arguments.rs` | the command line |
//! | `tasks.rs`, `members.rs` | its tasks, and the command that each becomes |
//! | `resolving.rs` | companies by RNC, receipts by e-NCF |
//! | `run.rs` | all parts of a task, exit status |
//! | `caller.rs` | the function in this process, or of a stack |
//! | `text.rs` | answers as text |

mod arguments;
mod caller;
mod members;
mod resolving;
mod run;
mod tasks;
#[cfg(test)]
mod tests;
mod text;

use std::io::Write as _;
use std::path::Path;

use ecf_runtime::Clock;
use ecf_runtime::env::Env;
use ecf_store::{Clients, local_config};
use serde_json::Value;

use crate::folder;
use crate::lapse::Lapse;
use crate::ready::environment_of;

pub use arguments::Arguments;
pub use run::operate;

/// Executes a command, in the time of the folder's system, and returns its result.
///
/// # Errors
///
/// When the command is not JSON, or no system was started with the folder.
pub async fn operator(command: &str, folder: &Path) -> Result<String, ecf_runtime::Error> {
    let command: Value = serde_json::from_str(command).map_err(|error| format!("the command is not JSON: {error}"))?;
    Ok(serde_json::to_string_pretty(
        &::operator::handle(&open(folder)?, command).await,
    )?)
}

/// The function on the system of a folder.
fn open(folder: &Path) -> Result<::operator::App, ecf_runtime::Error> {
    let variables = environment_of("operator", folder)?;
    let endpoint = variables
        .get("AWS_ENDPOINT_URL")
        .ok_or("the state folder names no endpoint")?;
    let config = local_config(endpoint);
    let clients = ecf_roles::clients_of("operator", &Clients::new(&config), &config);
    let clock = Lapse::kept(&folder::lapse(folder))?.map_or_else(Clock::system, Lapse::clock);
    Ok(::operator::App::from_env(&Env::of(variables.clone()), &clients, clock)?)
}

/// Writes a line to the error output.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "operator: {line}");
}
