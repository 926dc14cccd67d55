//! Runs the program as a user starts it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::{Duration, Instant};

use aws_sdk_sqs::types::QueueAttributeName;
use serde_json::Value;

use crate::payloads::payload;
use crate::support::ApiClient;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ecf-local");

/// A running program; dropping the value kills it.
pub(crate) struct Program {
    child: Child,
    ready: String,
    data: String,
}

impl Program {
    /// Starts the program on a folder and waits until it is ready.
    pub(crate) fn start(folder: &Path) -> Self {
        Self::with(folder, &[])
    }

    pub(crate) fn with(folder: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["--port", "0", "--key-rate", "0", "--json", "--data"])
            .arg(folder)
            .args(more)
            .env_remove("RUST_LOG")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut ready)
            .unwrap();
        if ready.is_empty() {
            let output = child.wait_with_output().unwrap();
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        }
        // A full pipe would block the program, so its log is copied to a file.
        let mut logs = child.stderr.take().unwrap();
        let mut kept = OpenOptions::new()
            .create(true)
            .append(true)
            .open(log_file(folder))
            .unwrap();
        std::thread::spawn(move || std::io::copy(&mut logs, &mut kept));
        let data = folder.to_str().unwrap().to_owned();
        Self { child, ready, data }
    }

    pub(crate) fn caller(&self) -> ApiClient {
        ApiClient::of_ready_line(&self.ready)
    }

    /// A function's environment variables, as the running program sets them.
    pub(crate) fn variables(&self, function: &str) -> BTreeMap<String, String> {
        let output = run(&["env", function, "--data", &self.data]);
        let lines = text(&output.stdout);
        let variables = lines.lines().filter_map(|line| line.split_once('='));
        variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// The number of in-flight messages in the submission queue.
    pub(crate) async fn in_flight(&self) -> u32 {
        let variables = self.variables("issuing");
        let sqs = aws_sdk_sqs::Client::new(&ecf_store::local_config(&variables["AWS_ENDPOINT_URL"]));
        let name = QueueAttributeName::ApproximateNumberOfMessagesNotVisible;
        let asked = sqs.get_queue_attributes().attribute_names(name.clone());
        let asked = asked.queue_url(&variables["SUBMISSION_QUEUE_TESTECF_URL"]).send().await;
        asked.unwrap().attributes.unwrap()[&name].parse().unwrap()
    }

    /// The result of an operator's command.
    pub(crate) fn operator(&self, command: &Value) -> Value {
        let output = run(&["operator", &command.to_string(), "--data", &self.data]);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
    }

    /// Runs `ecf-local certify` against this program: its exit code, and what it prints.
    pub(crate) fn certify(&self, arguments: &[&str]) -> (Option<i32>, String) {
        self.command("certify", arguments)
    }

    /// Runs another command of `ecf-local` against this program.
    pub(crate) fn command(&self, name: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let output = run(&[&[name, "--data", &self.data], arguments].concat());
        let printed = text(&output.stdout) + &text(&output.stderr);
        (output.status.code(), printed)
    }

    /// Kills the program with SIGKILL, without a shutdown.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends Ctrl-C; returns how long the program took to end.
    pub(crate) fn interrupt(mut self) -> Duration {
        let begun = Instant::now();
        let sent = Command::new("sh")
            .arg("-c")
            .arg(format!("kill -INT {}", self.child.id()))
            .status();
        assert!(sent.unwrap().success());
        assert!(self.child.wait().unwrap().success(), "Ctrl-C is not a failure");
        begun.elapsed()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Usually it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The log of all programs on a folder.
pub(crate) fn log_file(folder: &Path) -> PathBuf {
    folder.join("program.log")
}

/// Runs the program to its end.
fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// The program with these arguments.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env_remove("RUST_LOG");
    command
}

/// Runs the program to its end, with an input.
pub(crate) fn run_with<'a>(
    arguments: impl IntoIterator<Item = &'a str>,
    input: impl FnOnce(&mut ChildStdin),
) -> Output {
    let arguments: Vec<&str> = arguments.into_iter().collect();
    let mut command = command(&arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    input(&mut child.stdin.take().unwrap());
    child.wait_with_output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn help_goes_to_standard_output() {
    let output = run(&["--help"]);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("Usage: cargo run --"));
    assert!(output.stderr.is_empty());
}

#[test]
fn an_argument_that_is_not_understood_is_named_and_fails() {
    let output = run(&["--prot", "80"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let error = text(&output.stderr);
    assert!(error.contains("--prot") && error.contains("--help"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_says_what_is_taken_and_touches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let program = Program::start(folder.path());
    let port = program.caller().base_url.rsplit(':').next().unwrap().to_owned();
    for (arguments, reason) in [
        (
            vec!["--port", &port, "--data", data, "--reset"],
            format!("cannot listen on 127.0.0.1:{port}; choose another port"),
        ),
        (
            vec!["--port", "0", "--data", data, "--reset"],
            format!("the state in {data} is in use"),
        ),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(1));
        let error = text(&output.stderr);
        assert!(error.starts_with("ecf-local: ") && error.contains(&reason), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    assert_eq!(
        program.caller().get("/ecf/states").await.status,
        200,
        "the first one goes on"
    );
    program.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_the_program_at_once_and_keeps_its_state_until_a_reset() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(folder.path());
    let first = program.caller();
    let payload = payload(&first.rnc, &first.today(), "31", 1_000);
    let issued = first.issue("kept", "31", &payload).await.expect(201);
    first.wait_for_state(&issued, "accepted").await;
    let took = program.interrupt();
    // Pollers are waiting for messages at this moment, up to ten seconds each.
    assert!(took < Duration::from_secs(4), "{took:?}");

    let program = Program::start(folder.path());
    let second = program.caller();
    assert_eq!(second.key, first.key);
    let again = second.issue("kept", "31", &payload).await.expect(200);
    assert_eq!(again["encf"], issued["encf"]);
    program.interrupt();

    let program = Program::with(folder.path(), &["--reset"]);
    let third = program.caller();
    assert_ne!(third.key, first.key);
    third.issue("kept", "31", &payload).await.expect(201);
    program.interrupt();
}

#[test]
fn a_persons_terminal_shows_the_address_the_key_and_two_lines_to_paste() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(PROGRAM)
        .args(["--port", "0", "--data"])
        .arg(folder.path())
        .env_remove("RUST_LOG")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let shown: Vec<String> = lines
        .by_ref()
        .map(Result::unwrap)
        .take_while(|line| !line.starts_with("Ctrl-C"))
        .collect();
    child.kill().unwrap();
    let mut logs = String::new();
    child.stderr.take().unwrap().read_to_string(&mut logs).unwrap();
    child.wait().unwrap();
    assert!(
        shown
            .iter()
            .any(|line| line.starts_with("API key") && line.contains("ecf_test_")),
        "{shown:#?}"
    );
    let lines: Vec<_> = shown
        .iter()
        .filter(|line| line.starts_with("curl -s http://127.0.0.1:"))
        .collect();
    assert_eq!(lines.len(), 2, "{shown:#?}");
    assert!(logs.is_empty(), "a start is quiet: {logs}");
}

#[test]
fn env_prints_a_functions_variables_and_names_the_functions_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let output = run(&["env", "issuing", "--data", data]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("start the system first"));

    let program = Program::start(folder.path());
    let output = run(&["env", "issuing", "--data", data]);
    let variables = text(&output.stdout);
    for name in [
        "TABLE_NAME=",
        "BUCKET_NAME=",
        "AWS_ENDPOINT_URL=http://127.0.0.1:",
        "AWS_REGION=",
    ] {
        assert!(
            variables.lines().any(|line| line.starts_with(name)),
            "{name}: {variables}"
        );
    }
    let output = run(&["env", "issuer", "--data", data]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(
        error.contains("`issuer`") && error.contains("submission-worker"),
        "{error}"
    );
    program.interrupt();
}
