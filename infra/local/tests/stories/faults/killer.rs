//! Kills the process and restarts it with the same state and port.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http::Method;
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::board::{Board, Phase, Tally};
use super::counters::{self, Damage};
use super::desk::Desk;
use super::rng::Rng;
use crate::program::Program;
use crate::support::ApiClient;

/// How long the killer waits for an operation of the chosen kind, and how often it looks.
const LURKING: Duration = Duration::from_secs(8);
/// The last wait in a long run, for a kind that no kill has hit: without other kills, such an operation appears.
const LURKING_AT_LAST: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(5);

/// The program and its arguments.
pub(crate) struct Victim {
    program: Option<Program>,
    folder: PathBuf,
    arguments: Vec<String>,
    pub(crate) kills: u32,
    /// Queue files that were deleted.
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
        // Callers know one URL, so restarts reuse the port.
        let base_url = victim.program().caller().base_url;
        let port = base_url.rsplit(':').next().unwrap();
        victim.arguments.extend(["--port".to_owned(), port.to_owned()]);
        victim
    }

    pub(crate) fn program(&self) -> &Program {
        self.program.as_ref().unwrap()
    }

    /// Kills the process with SIGKILL, runs `meanwhile`, and restarts it.
    pub(crate) async fn kill_and(&mut self, meanwhile: impl FnOnce()) {
        self.stop().await;
        meanwhile();
        self.restart().await;
    }

    /// Kills the process with SIGKILL, and deletes all queued messages before the restart.
    async fn kill_and_lose_messages(&mut self) {
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

    /// Injects faults into AWS calls from the next start on.
    pub(crate) async fn disturb(&mut self, rate: &str) {
        self.arguments.extend(["--aws-faults".to_owned(), rate.to_owned()]);
        self.kill_and(|| ()).await;
    }

    /// A last kill; after it AWS calls succeed.
    pub(crate) async fn calm(&mut self) {
        let place = self.arguments.iter().position(|argument| argument == "--aws-faults");
        let place = place.unwrap();
        self.arguments.drain(place..place + 2);
        self.kill_and(|| ()).await;
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

/// Kills the process `kills` times, each time during another kind of operation. A kill just after a verdict also loses
/// all messages: only the table then knows who must be notified. Counters are damaged between the kills.
pub(crate) async fn rage(victim: &mut Victim, desk: &Desk, company: &str, kills: u32, mut rng: Rng) -> Tally {
    let (mut tally, mut tried) = (Tally::default(), Tally::default());
    for kill in 0..kills {
        tokio::time::sleep(rng.millis(50, 2_000)).await;
        let damage = Damage::ALL[usize::try_from(kill).unwrap() % Damage::ALL.len()];
        if counters::damage(victim.program(), company, damage, &desk.clock, &mut rng).await {
            tally.add(damage.name(), 1);
        }
        let phase = next_phase(kill, &tally, &tried);
        tried.add(phase.kill(), 1);
        strike(victim, desk, phase, LURKING, &mut rng, &mut tally).await;
    }
    if kills >= super::LONG.1 {
        for phase in Phase::ALL {
            if tally.times(&phase.kill()) == 0 {
                strike(victim, desk, phase, LURKING_AT_LAST, &mut rng, &mut tally).await;
            }
        }
    }
    assert!(kills == 0 || victim.losses > 0, "no message was lost");
    tally
}

/// Kills the process once, during an operation of this kind if one starts in time.
async fn strike(victim: &mut Victim, desk: &Desk, phase: Phase, lurking: Duration, rng: &mut Rng, tally: &mut Tally) {
    let is_met = lurk(&desk.board, &desk.caller, phase, lurking).await;
    // A random point of the operation.
    tokio::time::sleep(rng.millis(0, 60)).await;
    let mut hit = desk.board.under_way();
    if is_met && !hit.contains(&phase) {
        // It was answered just now; the work that it started continues.
        hit.push(phase);
    }
    for phase in hit {
        tally.add(phase.kill(), 1);
    }
    if phase == Phase::Verdict {
        victim.kill_and_lose_messages().await;
    } else {
        victim.kill_and(|| ()).await;
    }
}

/// Every third kill hits a verdict; the others hit the kind with the fewest hits and attempts.
fn next_phase(kill: u32, tally: &Tally, tried: &Tally) -> Phase {
    if kill.is_multiple_of(3) {
        return Phase::Verdict;
    }
    let others = Phase::ALL.into_iter().filter(|phase| *phase != Phase::Verdict);
    others
        .min_by_key(|phase| tally.times(&phase.kill()) + tried.times(&phase.kill()))
        .unwrap()
}

/// Waits until an operation of this kind is open; `false` if none starts in time.
async fn lurk(board: &Board, authority: &ApiClient, phase: Phase, lurking: Duration) -> bool {
    let end = Instant::now() + lurking;
    let before = verdicts(authority).await;
    while Instant::now() < end {
        let is_met = match phase {
            Phase::Verdict => verdicts(authority).await != before,
            _ => board.under_way().contains(&phase),
        };
        if is_met {
            return true;
        }
        tokio::time::sleep(LOOK).await;
    }
    false
}

/// The number of the authority's responses that report verdicts.
async fn verdicts(authority: &ApiClient) -> u64 {
    let url = format!("{}/_control/counters", authority.simulator_url);
    let counters = authority.send(Method::GET, &url, None, None).await.expect(200);
    let told = |counter: &&Value| {
        let service = counter["service"].as_str().unwrap();
        counter["status"] == 200 && ["consultaresultado", "recepcionfc"].contains(&service)
    };
    let counters = counters.as_array().unwrap().iter().filter(told);
    counters.map(|counter| counter["times"].as_u64().unwrap()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r9_thirty_kills_strike_every_kind_of_operation() {
        let mut tally = Tally::default();
        for kill in 0..30 {
            tally.add(next_phase(kill, &tally, &Tally::default()).kill(), 1);
        }
        for phase in Phase::ALL {
            assert!(tally.times(&phase.kill()) > 0, "{phase:?}");
        }
    }
}
