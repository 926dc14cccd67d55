//! Who kills the process, and starts it again on the same state and port.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http::Method;
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::dice::Dice;
use crate::program::Program;
use crate::support::Caller;

/// How long the authority's next answer is waited for, and how often one looks.
const LURKING: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(5);

/// The program and what it is started with.
pub(crate) struct Victim {
    program: Option<Program>,
    folder: PathBuf,
    arguments: Vec<String>,
    pub(crate) kills: u32,
    /// Files of queues that were lost.
    losses: u32,
}

impl Victim {
    pub(crate) async fn start(folder: &Path, arguments: Vec<String>) -> Self {
        let mut victim = Self {
            program: None,
            folder: folder.to_owned(),
            arguments,
            kills: 0,
            losses: 0,
        };
        victim.restart().await;
        // Callers know one address.
        let base_url = victim.program().caller().base_url;
        let port = base_url.rsplit(':').next().unwrap();
        victim.arguments.extend(["--port".to_owned(), port.to_owned()]);
        victim
    }

    pub(crate) fn program(&self) -> &Program {
        self.program.as_ref().unwrap()
    }

    /// SIGKILL, and a new start.
    pub(crate) async fn kill(&mut self) {
        self.stop().await;
        self.restart().await;
    }

    /// SIGKILL, and every queue has lost its messages when the process starts again.
    pub(crate) async fn kill_and_lose_messages(&mut self) {
        self.stop().await;
        for file in std::fs::read_dir(self.folder.join("aws")).unwrap() {
            let file = file.unwrap();
            if file.file_name().to_string_lossy().starts_with("sqs") {
                std::fs::remove_file(file.path()).unwrap();
                self.losses += 1;
            }
        }
        self.restart().await;
    }

    /// From the next start on AWS calls fail at this rate.
    pub(crate) async fn disturb(&mut self, rate: &str) {
        self.arguments.extend(["--aws-faults".to_owned(), rate.to_owned()]);
        self.kill().await;
    }

    /// A last kill; after it AWS behaves.
    pub(crate) async fn calm(&mut self) {
        let place = self
            .arguments
            .iter()
            .position(|argument| argument == "--aws-faults")
            .unwrap();
        self.arguments.drain(place..place + 2);
        self.kill().await;
    }

    async fn stop(&mut self) {
        let program = self.program.take().unwrap();
        spawn_blocking(|| program.kill()).await.unwrap();
        self.kills += 1;
    }

    async fn restart(&mut self) {
        let (folder, arguments) = (self.folder.clone(), self.arguments.clone());
        let started = spawn_blocking(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            Program::with(&folder, &arguments)
        });
        self.program = Some(started.await.unwrap());
    }
}

/// Kills so many times. At any moment of the work as a rule; every third time just after the authority answered about a
/// verdict, when all messages are lost too: whoever is to be told of it is known to the table alone then.
pub(crate) async fn rage(victim: &mut Victim, authority: &Caller, kills: u32, mut dice: Dice) {
    for kill in 0..kills {
        tokio::time::sleep(dice.millis(50, 2_500)).await;
        if kill.is_multiple_of(3) {
            a_verdict(authority).await;
            tokio::time::sleep(dice.millis(0, 150)).await;
            victim.kill_and_lose_messages().await;
        } else {
            victim.kill().await;
        }
    }
    assert!(kills == 0 || victim.losses > 0, "no message was lost");
}

/// Waits until the authority said what became of a receipt, if it does so before long.
async fn a_verdict(authority: &Caller) {
    let end = Instant::now() + LURKING;
    let before = verdicts(authority).await;
    while Instant::now() < end && verdicts(authority).await == before {
        tokio::time::sleep(LOOK).await;
    }
}

/// How often the authority answered where verdicts are told.
async fn verdicts(authority: &Caller) -> u64 {
    let url = format!("{}/_control/counters", authority.simulator_url);
    let counters = authority.send(Method::GET, &url, None, None).await.expect(200);
    let told = |counter: &&Value| {
        let service = counter["service"].as_str().unwrap();
        counter["status"] == 200 && ["consultaresultado", "recepcionfc"].contains(&service)
    };
    let counters = counters.as_array().unwrap().iter().filter(told);
    counters.map(|counter| counter["times"].as_u64().unwrap()).sum()
}
