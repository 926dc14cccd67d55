//! The operator's command line: how it is read, and which system it operates. `tasks.rs` has the tasks.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser};

use super::tasks::Task;

const AFTER: &str = "\
A company is named by --rnc or --company (its public id), a receipt by --encf or --receipt.
Lists and checks go on until their end by themselves; --at continues one that was stopped.
A JSON object in place of a task is sent as it is: operator '{\"command\": \"show_company\", \"company\": \"…\"}'.

Exit status: 0 done, 1 refused or failed, 2 wrong arguments, 3 something was found that needs a person
(check, check-secrets, examine, authority, stuck, and lists with --expiring, --ending or --failing).

docs/operator.md explains each command, and which task answers which question.";

/// Runs an operator's command, on the local system that is running or on a deployed stack.
#[derive(Debug, Parser)]
#[command(name = "operator", bin_name = "cargo run -- operator", after_help = AFTER, max_term_width = 100, args_override_self = true)]
pub struct Arguments {
    #[command(flatten)]
    pub target: Target,
    #[command(subcommand)]
    pub task: Task,
}

/// The system to operate.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// State folder of the local system
    #[arg(long, global = true, help_heading = SYSTEM, value_name = "DIR", default_value = ".local")]
    pub data: PathBuf,
    /// Operate this deployed stack instead, with the program `aws`
    #[arg(long, global = true, help_heading = SYSTEM, value_name = "NAME")]
    pub stack: Option<String>,
    /// Profile of the AWS configuration, with --stack
    #[arg(long, global = true, help_heading = SYSTEM)]
    pub profile: Option<String>,
    /// AWS region, with --stack
    #[arg(long, global = true, help_heading = SYSTEM)]
    pub region: Option<String>,
    /// Print the answer as JSON, for scripts
    #[arg(long, global = true, help_heading = SYSTEM)]
    pub json: bool,
}

/// Heading of these options in the help.
const SYSTEM: &str = "System and output";

impl Arguments {
    /// Reads the arguments after `operator`.
    ///
    /// # Errors
    /// The usage, or the help that was asked for.
    pub fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let is_json = |word: &OsString| {
            // Windows editors write a byte order mark at the start of a file, also before a command.
            let text = word.to_string_lossy();
            text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
        };
        let mut line = vec!["operator".into()];
        let raw = arguments.iter().position(is_json).filter(|at| {
            let before = at.checked_sub(1).and_then(|before| arguments.get(before));
            before.is_none_or(|before| before != "--at" && before != "--columns" && before != "--audience")
        });
        for (place, argument) in arguments.iter().enumerate() {
            if raw == Some(place) {
                line.push("raw".into());
            }
            line.push(argument.clone());
        }
        let read = Self::try_parse_from(line)?;
        let target = &read.target;
        if target.stack.is_none() && (target.profile.is_some() || target.region.is_some()) {
            let message = "--profile and --region need --stack: without it the command goes to the local system";
            return Err(Self::command().error(ErrorKind::MissingRequiredArgument, message));
        }
        Ok(read)
    }
}
