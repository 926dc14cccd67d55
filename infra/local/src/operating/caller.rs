//! Where commands go: to the function in this process, on a state folder's system, or to a stack's function.
//!
//! A stack's function is invoked with the program `aws`, which deployments need anyway (`docs/deploy.md`): it knows every
//! kind of profile and sign-in, and no build of the local system compiles two more AWS clients for it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ecf_runtime::Error;
use serde_json::Value;

use super::arguments::Target;
use super::open;

/// The name of the output with the function's name in the stack.
const OUTPUT: &str = "OperatorFunction";
/// The function may run for 15 minutes; by default `aws` gives up after one, and invokes again.
const READ_TIMEOUT_SECONDS: &str = "910";

pub(super) enum Caller {
    Local(Box<::operator::App>),
    Stack(StackFunction),
}

/// The operator's function of a stack.
#[derive(Clone)]
pub(super) struct StackFunction {
    name: String,
    profile: Option<String>,
    region: Option<String>,
}

impl Caller {
    pub(super) async fn of(target: &Target) -> Result<Self, Error> {
        let Some(stack) = target.stack.clone() else {
            return Ok(Self::Local(Box::new(open(&target.data)?)));
        };
        let function = StackFunction {
            name: stack,
            profile: target.profile.clone(),
            region: target.region.clone(),
        };
        Ok(Self::Stack(blocking(move || function.of_stack()).await?))
    }

    pub(super) async fn call(&self, command: &Value) -> Result<Value, Error> {
        match self {
            Self::Local(app) => Ok(::operator::handle(app, command.clone()).await),
            Self::Stack(function) => {
                let (function, command) = (function.clone(), command.clone());
                blocking(move || function.invoke(&command)).await
            }
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await?
}

impl StackFunction {
    /// With the function's name in place of the stack's.
    fn of_stack(mut self) -> Result<Self, Error> {
        let query = format!("Stacks[0].Outputs[?OutputKey=='{OUTPUT}'].OutputValue");
        let mut aws = self.aws(&["cloudformation", "describe-stacks"]);
        aws.args(["--stack-name", &self.name, "--query", &query, "--output", "text"]);
        let name = String::from_utf8(run(&mut aws)?.stdout)?.trim().to_owned();
        if name.is_empty() || name == "None" {
            return Err(format!("the stack {} has no output {OUTPUT}", self.name).into());
        }
        self.name = name;
        Ok(self)
    }

    fn invoke(&self, command: &Value) -> Result<Value, Error> {
        // In files, because a command may hold personal data, and arguments are public on a machine.
        let folder = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        let (payload, answer): (PathBuf, PathBuf) = (folder.path().join("command"), folder.path().join("answer"));
        std::fs::write(&payload, command.to_string())?;
        let mut aws = self.aws(&["lambda", "invoke"]);
        aws.args([
            "--function-name",
            &self.name,
            "--cli-binary-format",
            "raw-in-base64-out",
        ])
        .args(["--cli-read-timeout", READ_TIMEOUT_SECONDS, "--output", "json"])
        .arg("--payload")
        .arg(format!("file://{}", payload.display()))
        .arg(&answer)
        // A second try would run beside the first.
        .env("AWS_MAX_ATTEMPTS", "1");
        let told: Value = serde_json::from_slice(&run(&mut aws)?.stdout)?;
        let answer = read(&answer)?;
        match told["FunctionError"].as_str() {
            None => Ok(answer),
            Some(kind) => {
                let message = answer["errorMessage"].as_str().unwrap_or("no message");
                Err(format!("{} broke ({kind}): {message}; its log says more", self.name).into())
            }
        }
    }

    fn aws(&self, service: &[&str]) -> Command {
        let mut aws = Command::new("aws");
        aws.args(service);
        for (name, value) in [("--profile", &self.profile), ("--region", &self.region)] {
            if let Some(value) = value {
                aws.args([name, value]);
            }
        }
        aws
    }
}

fn run(aws: &mut Command) -> Result<Output, Error> {
    let output = aws
        .output()
        .map_err(|error| format!("the program `aws` does not start: {error}; docs/deploy.md says how to install it"))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("aws: {}", said.trim()).into())
}

fn read(answer: &Path) -> Result<Value, Error> {
    let bytes = std::fs::read(answer)?;
    serde_json::from_slice(&bytes).map_err(|error| format!("the function's answer is not JSON: {error}").into())
}
