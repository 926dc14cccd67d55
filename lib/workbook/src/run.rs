//! What happens next in a run: the whole machine, without its calls.
//!
//! [`decide`] gets the state of the run and of its rows, and names the next step. The states of rows are read from their
//! receipts each time, and [`Next::Send`] creates a receipt under [`Entry::key`], which is the same after every restart.
//! So a run that is killed at any moment sends nothing twice and needs no record of what it was doing.
//!
//! One row is sent at a time: a rejection resets the whole step of the certification, so nothing is sent while a verdict
//! that may be one is still open.

use std::fmt;

use ecf::{Encf, ReceiptType};
use thiserror::Error;

use crate::order::Phase;

/// The beginning of the idempotency keys of rows.
pub const KEY_PREFIX: &str = "certification/";

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Rows are sent.
    Running,
    /// A person has to upload the full invoices below RD$250,000.00 before the approvals are sent.
    AwaitsUploads,
    /// A row stopped the run.
    Stopped(Stop),
    /// Every row was accepted.
    Finished,
    /// A person gave the run up.
    Abandoned,
}

/// Why a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The place of the row among the entries.
    pub entry: usize,
    /// What happened to it.
    pub cause: Cause,
}

/// What happened to the row that stopped a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The authority rejected it and resets the step.
    Rejected,
    /// It was not sent, for a reason that a person can remove, such as a missing certificate.
    NotSent,
    /// It may have arrived, and nobody can find out; the operator decides.
    OutcomeUnknown,
}

/// The state of a row, as its receipt or approval shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    /// It has no receipt, or its receipts were not sent and a person continued the run.
    Waiting,
    /// It has a receipt without a verdict.
    Sent,
    /// The authority accepted it, perhaps conditionally.
    Accepted,
    /// The authority rejected it.
    Rejected,
    /// It failed and was certainly not sent.
    NotSent,
    /// It failed and may have arrived.
    OutcomeUnknown,
}

/// Which document a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Which {
    /// The row of a workbook, which prescribes the number.
    Prescribed(Encf),
    /// A receipt of the simulation, which gets its number when it is signed: its place, counted from 1, and its type.
    Simulated(u32, ReceiptType),
}

impl Which {
    /// The type of the document.
    pub fn receipt_type(self) -> ReceiptType {
        match self {
            Self::Prescribed(encf) => encf.receipt_type(),
            Self::Simulated(_, receipt_type) => receipt_type,
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prescribed(encf) => encf.fmt(f),
            Self::Simulated(place, _) => place.fmt(f),
        }
    }
}

/// A row of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The part of the run.
    pub phase: Phase,
    /// The document.
    pub which: Which,
    /// How often a person continued the run after the row was not sent.
    pub tries: u32,
    /// What became of it.
    pub state: RowState,
    /// Whether its receipt has the number: then only that receipt can be sent again.
    pub is_numbered: bool,
}

impl Entry {
    /// The idempotency key of the row's current try.
    pub fn key(&self, run: &str) -> String {
        let kind = match self.phase {
            Phase::Receipts | Phase::Notes => "ecf",
            Phase::Summaries if self.which.receipt_type().is_note() => "ecf",
            Phase::Summaries => "rfce",
            Phase::Uploads => "upload",
            Phase::Approvals => "acecf",
        };
        format!("{KEY_PREFIX}{run}/{kind}/{}/{}", self.which, self.tries)
    }
}

/// The next step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Create and send the row at this place, under its key.
    Send(usize),
    /// Look again when the row that is under way has its verdict.
    Await(usize),
    /// Record this state, if the run is still running.
    Record(RunState),
    /// Nothing, until a person acts.
    Rest,
}

/// Names the next step. `uploaded` says whether a person confirmed the uploads. Entries are in the order of sending.
pub fn decide(state: RunState, entries: &[Entry], uploaded: bool) -> Next {
    if state != RunState::Running {
        return Next::Rest;
    }
    let sent = || {
        entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.phase != Phase::Uploads)
    };
    let mut open = None;
    for (place, entry) in sent() {
        let cause = match entry.state {
            RowState::Rejected => Cause::Rejected,
            RowState::NotSent => Cause::NotSent,
            RowState::OutcomeUnknown => Cause::OutcomeUnknown,
            RowState::Sent => {
                open = open.or(Some(place));
                continue;
            }
            RowState::Waiting | RowState::Accepted => continue,
        };
        return Next::Record(RunState::Stopped(Stop { entry: place, cause }));
    }
    if let Some(place) = open {
        return Next::Await(place);
    }
    let Some((place, next)) = sent().find(|(_, entry)| entry.state == RowState::Waiting) else {
        return Next::Record(RunState::Finished);
    };
    let has_uploads = entries.iter().any(|entry| entry.phase == Phase::Uploads);
    if next.phase == Phase::Approvals && has_uploads && !uploaded {
        return Next::Record(RunState::AwaitsUploads);
    }
    Next::Send(place)
}

/// What a person asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Go on after the cause of a stop was removed.
    Continue,
    /// The full invoices were uploaded in the portal.
    ConfirmUploads,
    /// Send nothing more. A row that is under way still gets its verdict.
    Abandon,
}

/// What a command changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The new state of the run.
    pub state: RunState,
    /// The row whose next try begins.
    pub retry: Option<usize>,
    /// Whether the uploads count as done.
    pub uploaded: bool,
}

/// Why a command is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Refused {
    /// The authority reset the step.
    #[error("the authority rejected a row, which resets the step: download a new workbook and begin a new run with it")]
    Reset,
    /// The row may have arrived.
    #[error("the row may have arrived at the authority: the operator has to find out before the run goes on")]
    OutcomeUnknown,
    /// The row was not sent, and its receipt has the number that the workbook prescribes.
    #[error("the row's receipt has its number already: the operator has to retry it before the run goes on")]
    Numbered,
    /// The command does not fit the state.
    #[error("the run is not in a state in which this can be done")]
    WrongState,
}

/// Judges a command. Entries show the rows as they are now, which may differ from when the run stopped.
///
/// # Errors
///
/// When the command does not fit the state of the run.
pub fn command(state: RunState, entries: &[Entry], uploaded: bool, command: Command) -> Result<Change, Refused> {
    let to = |state, retry, uploaded| Change { state, retry, uploaded };
    match (command, state) {
        (Command::Abandon, RunState::Running | RunState::AwaitsUploads | RunState::Stopped(_)) => {
            Ok(to(RunState::Abandoned, None, uploaded))
        }
        (Command::ConfirmUploads, RunState::AwaitsUploads) => Ok(to(RunState::Running, None, true)),
        (Command::Continue, RunState::Stopped(stop)) => {
            // The operator may have resolved the row since.
            let entry = entries.get(stop.entry);
            match entry.map(|entry| entry.state) {
                Some(RowState::NotSent) if entry.is_some_and(|entry| entry.is_numbered) => Err(Refused::Numbered),
                Some(RowState::NotSent) => Ok(to(RunState::Running, Some(stop.entry), uploaded)),
                Some(RowState::OutcomeUnknown) => Err(Refused::OutcomeUnknown),
                Some(RowState::Rejected) | None => Err(Refused::Reset),
                Some(RowState::Waiting | RowState::Sent | RowState::Accepted) => {
                    Ok(to(RunState::Running, None, uploaded))
                }
            }
        }
        _ => Err(Refused::WrongState),
    }
}

/// How much of a run is done, in percent; 100 only when every row was accepted.
pub fn progress(entries: &[Entry]) -> u8 {
    let sent = entries.iter().filter(|entry| entry.phase != Phase::Uploads);
    let accepted = sent.clone().filter(|entry| entry.state == RowState::Accepted).count();
    let percent = accepted * 100 / sent.count().max(1);
    u8::try_from(percent).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use ecf::ReceiptType;
    use proptest::prelude::*;

    use super::*;

    fn entry(phase: Phase, receipt_type: ReceiptType, number: u64) -> Entry {
        Entry {
            phase,
            which: Which::Prescribed(Encf::new(receipt_type, number).unwrap()),
            tries: 0,
            state: RowState::Waiting,
            is_numbered: false,
        }
    }

    fn entries() -> Vec<Entry> {
        let mut entries: Vec<Entry> = (1..=6)
            .map(|number| entry(Phase::Receipts, ReceiptType::E31, number))
            .collect();
        entries.push(entry(Phase::Notes, ReceiptType::E34, 1));
        entries.push(entry(Phase::Summaries, ReceiptType::E32, 1));
        entries.push(entry(Phase::Uploads, ReceiptType::E32, 1));
        entries.push(entry(Phase::Approvals, ReceiptType::E31, 1));
        entries
    }

    /// What the authority and our store would know, whatever dies in between.
    #[derive(Debug, Default)]
    struct World {
        /// Receipts by key. A second request with the same key finds the first.
        receipts: HashMap<String, RowState>,
        /// How often the authority got each number of each kind.
        arrived: HashMap<String, u32>,
        state: Option<RunState>,
        tries: HashMap<usize, u32>,
        uploaded: bool,
    }

    impl World {
        fn entries(&self) -> Vec<Entry> {
            let mut entries = entries();
            for (place, entry) in entries.iter_mut().enumerate() {
                entry.tries = self.tries.get(&place).copied().unwrap_or_default();
                entry.state = self
                    .receipts
                    .get(&entry.key("r1"))
                    .copied()
                    .unwrap_or(RowState::Waiting);
            }
            entries
        }

        /// One step, which may be cut off before or after its effect.
        fn step(&mut self, cut_off: bool) -> Next {
            let state = self.state.unwrap_or(RunState::Running);
            let entries = self.entries();
            let next = decide(state, &entries, self.uploaded);
            if cut_off {
                return next;
            }
            match next {
                Next::Send(place) => {
                    let key = entries[place].key("r1");
                    let row = key.rsplit_once('/').unwrap().0.to_owned();
                    if !self.receipts.contains_key(&key) {
                        *self.arrived.entry(row).or_default() += 1;
                    }
                    self.receipts.entry(key).or_insert(RowState::Sent);
                }
                Next::Record(state) => self.state = Some(state),
                Next::Await(_) | Next::Rest => {}
            }
            next
        }

        /// The verdict on what is under way.
        fn verdict(&mut self, state: RowState) {
            for receipt in self.receipts.values_mut() {
                if *receipt == RowState::Sent {
                    *receipt = state;
                }
            }
        }

        fn ask(&mut self, asked: Command) -> Result<(), Refused> {
            let change = command(
                self.state.unwrap_or(RunState::Running),
                &self.entries(),
                self.uploaded,
                asked,
            )?;
            self.state = Some(change.state);
            self.uploaded = change.uploaded;
            if let Some(place) = change.retry {
                *self.tries.entry(place).or_default() += 1;
            }
            Ok(())
        }
    }

    #[test]
    fn a_run_sends_one_row_at_a_time_and_waits_for_the_uploads() {
        let mut world = World::default();
        let mut sent = 0;
        while world.state != Some(RunState::AwaitsUploads) {
            if let Next::Send(_) = world.step(false) {
                sent += 1;
                assert!(matches!(world.step(false), Next::Await(_)));
                world.verdict(RowState::Accepted);
            }
        }
        assert_eq!((sent, progress(&world.entries())), (8, 88));
        assert_eq!(world.step(false), Next::Rest);
        assert_eq!(world.ask(Command::Continue), Err(Refused::WrongState));
        world.ask(Command::ConfirmUploads).unwrap();
        assert_eq!(world.step(false), Next::Send(9));
        world.verdict(RowState::Accepted);
        assert_eq!(world.step(false), Next::Record(RunState::Finished));
        assert_eq!(progress(&world.entries()), 100);
        assert_eq!(world.ask(Command::Abandon), Err(Refused::WrongState));
    }

    #[test]
    fn a_rejection_stops_the_run_for_good() {
        let mut world = World::default();
        world.step(false);
        world.verdict(RowState::Rejected);
        let stop = Stop {
            entry: 0,
            cause: Cause::Rejected,
        };
        assert_eq!(world.step(false), Next::Record(RunState::Stopped(stop)));
        assert_eq!(world.step(false), Next::Rest);
        assert_eq!(world.ask(Command::Continue), Err(Refused::Reset));
        world.ask(Command::Abandon).unwrap();
        assert_eq!(world.step(false), Next::Rest);
        assert_eq!(world.arrived.len(), 1);
    }

    #[test]
    fn a_row_that_was_not_sent_gets_another_try_and_one_that_may_have_arrived_does_not() {
        let mut world = World::default();
        world.step(false);
        world.verdict(RowState::NotSent);
        world.step(false);
        world.ask(Command::Continue).unwrap();
        assert_eq!(world.step(false), Next::Send(0));
        world.verdict(RowState::OutcomeUnknown);
        world.step(false);
        assert_eq!(world.ask(Command::Continue), Err(Refused::OutcomeUnknown));
        // The operator found out that it was accepted.
        for receipt in world
            .receipts
            .values_mut()
            .filter(|receipt| **receipt == RowState::OutcomeUnknown)
        {
            *receipt = RowState::Accepted;
        }
        world.ask(Command::Continue).unwrap();
        assert_eq!(world.step(false), Next::Send(1));
    }

    #[test]
    fn a_row_whose_receipt_is_numbered_waits_for_the_operator() {
        let mut entries = entries();
        let stopped = RunState::Stopped(Stop {
            entry: 0,
            cause: Cause::NotSent,
        });
        entries[0].state = RowState::NotSent;
        entries[0].is_numbered = true;
        assert_eq!(
            command(stopped, &entries, false, Command::Continue),
            Err(Refused::Numbered)
        );
        // The operator retried the receipt.
        entries[0].state = RowState::Sent;
        let change = command(stopped, &entries, false, Command::Continue).unwrap();
        assert_eq!((change.state, change.retry), (RunState::Running, None));
    }

    proptest! {
        #[test]
        fn killed_at_any_moment_nothing_is_sent_twice(cuts in proptest::collection::vec((any::<bool>(), any::<bool>()), 0..80)) {
            let mut world = World::default();
            for (cut_off, verdict) in cuts {
                world.step(cut_off);
                if verdict {
                    world.verdict(RowState::Accepted);
                }
            }
            for _ in 0..60 {
                world.step(false);
                world.verdict(RowState::Accepted);
                let _ = world.ask(Command::ConfirmUploads);
            }
            prop_assert_eq!(world.state, Some(RunState::Finished));
            prop_assert_eq!(world.arrived.len(), 9);
            prop_assert!(world.arrived.values().all(|count| *count == 1), "{:?}", world.arrived);
        }

        #[test]
        fn nothing_is_sent_after_a_rejection(accepted in 0_usize..9, cuts in proptest::collection::vec(any::<bool>(), 0..40)) {
            let mut world = World { uploaded: true, ..World::default() };
            for _ in 0..accepted {
                world.step(false);
                world.verdict(RowState::Accepted);
            }
            world.step(false);
            world.verdict(RowState::Rejected);
            for cut_off in cuts {
                world.step(cut_off);
                prop_assert_eq!(world.ask(Command::ConfirmUploads).is_ok(), false);
            }
            prop_assert_eq!(world.arrived.len(), accepted + 1);
        }
    }
}
