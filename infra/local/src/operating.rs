//! `ecf-local operator`: runs one command of the `operator` function against the running system of a state folder.

use std::path::Path;

use ecf_runtime::Clock;
use ecf_runtime::env::Env;
use ecf_store::{Clients, local_config};
use serde_json::Value;

use crate::folder;
use crate::lapse::Lapse;
use crate::ready::environment_of;

/// Executes a command, in the time of the folder's system, and returns its result.
///
/// # Errors
///
/// When the command is not JSON, or no system was started with the folder.
pub async fn operator(command: &str, folder: &Path) -> Result<String, ecf_runtime::Error> {
    // Windows editors write a byte order mark at the start of a file, also before a command.
    let command = command.trim_start_matches('\u{feff}');
    let command: Value = serde_json::from_str(command).map_err(|error| format!("the command is not JSON: {error}"))?;
    let variables = environment_of("operator", folder)?;
    let endpoint = variables
        .get("AWS_ENDPOINT_URL")
        .ok_or("the state folder names no endpoint")?;
    let config = local_config(endpoint);
    let clients = ecf_roles::clients_of("operator", &Clients::new(&config), &config);
    let clock = Lapse::kept(&folder::lapse(folder))?.map_or_else(Clock::system, Lapse::clock);
    let app = ::operator::App::from_env(&Env::of(variables.clone()), &clients, clock)?;
    Ok(serde_json::to_string_pretty(&::operator::handle(&app, command).await)?)
}
