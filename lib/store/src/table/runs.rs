//! Runs of the certification: a company's workbook on its way to the authority.
//!
//! The record has only what does not follow from the workbook and its receipts. The state of a row is that of its
//! receipt, so a run that was interrupted at any moment continues without a repair.
//!
//! Every write depends on the number of the step that was read, which each write increments. Two workers with the same
//! job decide the same; one of them takes the run on. A company has at most one run under way: a pointer names the
//! newest run, and a new one is begun on condition that the pointer was not moved.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{
    Query, Table,
    change::Change,
    condition::equals,
    due::SHARDS,
    item::{Bilingually, NewItem, Stored, bytes, flag, instant, number, text, texts, to_millis},
    keys::{self, DUE, SK},
    write::{Part, Transacted},
};
use crate::{
    ContentHash, StoreError, Words,
    ids::{RunId, Scope},
};

/// When housekeeping takes on a run whose worker or message was lost.
const LOOK: SignedDuration = SignedDuration::from_mins(2);

const IDEMPOTENCY_KEY: &str = "key";
/// Absent on a run of workbooks.
const KIND: &str = "kind";
const STATE: &str = "state";
const STEP: &str = "step";
const STOP_ENTRY: &str = "stop_entry";
const STOP_CAUSE: &str = "stop_cause";
const STOP_WORDS: Bilingually = ["stop_words", "stop_words_es"];
const UPLOADED: &str = "uploaded";
const TRIES: &str = "tries";
const RECEIPTS: &str = "receipts";
const APPROVALS: &str = "approvals";
const BEGUN_AT: &str = "begun_at";
const ENDED_AT: &str = "ended_at";
/// On the pointer: the newest run.
const ID: &str = "id";

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Rows are sent.
    Running,
    /// A person has to upload documents before the rest is sent.
    AwaitsUploads,
    /// A row stopped the run.
    Stopped,
    /// Every row was accepted.
    Finished,
    /// A person gave the run up, or a new run replaced it.
    Abandoned,
}

impl RunState {
    const ALL: [Self; 5] = [
        Self::Running,
        Self::AwaitsUploads,
        Self::Stopped,
        Self::Finished,
        Self::Abandoned,
    ];

    /// The name in the table and in responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::AwaitsUploads => "awaits_uploads",
            Self::Stopped => "stopped",
            Self::Finished => "finished",
            Self::Abandoned => "abandoned",
        }
    }

    /// Whether the run continues by itself or awaits a person's work in the portal.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Running | Self::AwaitsUploads)
    }
}

/// Where the rows of a run come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunKind {
    /// The authority's workbooks.
    Data,
    /// The company's own data.
    Simulation,
}

impl RunKind {
    const ALL: [Self; 2] = [Self::Data, Self::Simulation];

    /// The name in the table and in responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Simulation => "simulation",
        }
    }
}

/// What happened to the row that stopped a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// The authority rejected it.
    Rejected,
    /// It was not sent.
    NotSent,
    /// It may have arrived.
    OutcomeUnknown,
}

impl StopCause {
    const ALL: [Self; 3] = [Self::Rejected, Self::NotSent, Self::OutcomeUnknown];

    /// The name in the table and in responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::NotSent => "not_sent",
            Self::OutcomeUnknown => "outcome_unknown",
        }
    }
}

/// Why a run stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStop {
    /// The place of the row in the order of sending, from 0.
    pub entry: u32,
    pub cause: StopCause,
    /// The reason in a sentence, if the row has no record that shows it.
    pub words: Option<Words>,
}

/// The part of a run that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunProgress {
    pub state: RunState,
    /// Present while the state is [`RunState::Stopped`].
    pub stop: Option<RunStop>,
    /// Whether a person confirmed the uploads.
    pub uploaded: bool,
    /// How often a person continued the run after a row was not sent, by the place of the row.
    pub tries: BTreeMap<u32, u32>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub idempotency_key: String,
    pub kind: RunKind,
    pub progress: RunProgress,
    /// The number of writes of the record; a job of an earlier step is void.
    pub step: u32,
    /// The workbook of e-CF, or the data of a simulation.
    pub receipts: ContentHash,
    /// The workbook of approvals.
    pub approvals: Option<ContentHash>,
    pub begun_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

/// The result of beginning a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunBegun {
    New(Box<Run>),
    /// The idempotency key began this run before.
    Replay(Box<Run>),
    /// This run is under way.
    Open(Box<Run>),
}

impl Run {
    /// A run of workbooks before its first step. Its workbooks are in the bucket already.
    pub fn new(
        scope: &Scope,
        idempotency_key: String,
        receipts: ContentHash,
        approvals: Option<ContentHash>,
        begun_at: Timestamp,
    ) -> Self {
        Self {
            id: RunId::of(scope, &idempotency_key),
            idempotency_key,
            kind: RunKind::Data,
            progress: RunProgress {
                state: RunState::Running,
                stop: None,
                uploaded: false,
                tries: BTreeMap::new(),
            },
            step: 0,
            receipts,
            approvals,
            begun_at: to_millis(begun_at),
            ended_at: None,
        }
    }
}

impl Table {
    /// Begins a run, unless another one is under way. An earlier run that stopped is abandoned in the same transaction.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt; a retryable error when runs begin concurrently.
    pub async fn begin_run(&self, scope: &Scope, new: Run) -> Result<RunBegun, StoreError> {
        let operation = "begin run";
        if let Some(existing) = self.run(scope, &new.id).await? {
            return Ok(RunBegun::Replay(Box::new(existing)));
        }
        let newest = self.newest_run(scope).await?;
        if let Some(open) = newest.as_ref().filter(|run| run.progress.state.is_open()) {
            return Ok(RunBegun::Open(Box::new(open.clone())));
        }
        let pointer = Change::of(keys::newest_run(scope))
            .set(ID, text(new.id))
            .still(ID, newest.as_ref().map(|run| text(run.id)));
        let mut parts = vec![Part::PutNew(item(scope, &new)), Part::Update(pointer)];
        if let Some(stopped) = newest.filter(|run| run.progress.state == RunState::Stopped) {
            let abandoned = RunProgress {
                state: RunState::Abandoned,
                stop: None,
                ..stopped.progress.clone()
            };
            parts.push(Part::Update(change(scope, &stopped, &abandoned, new.begun_at)));
        }
        match self.transact(operation, parts).await {
            Ok(Transacted::Done) => Ok(RunBegun::New(Box::new(new))),
            // Perhaps only the answer was lost, or the same request is processed twice.
            result => match (self.run(scope, &new.id).await?, result) {
                (Some(existing), _) => Ok(RunBegun::Replay(Box::new(existing))),
                (None, Err(error)) => Err(error),
                (None, Ok(_)) => Err(StoreError::retry(operation, "another run began concurrently")),
            },
        }
    }

    /// A run.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn run(&self, scope: &Scope, id: &RunId) -> Result<Option<Run>, StoreError> {
        let stored = self.read("read run", &keys::run(scope, id)).await?;
        stored.as_ref().map(read).transpose()
    }

    /// The runs of a company, newest first. There are few: each follows a workbook of the authority.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn runs(&self, scope: &Scope) -> Result<Vec<Run>, StoreError> {
        let query = Query {
            consistent: true,
            ..Query::of(keys::runs_partition(scope))
        };
        let items = self.query("list runs", query).await?;
        let is_run = |stored: &&Stored| stored.has(STATE);
        let mut runs = items.iter().filter(is_run).map(read).collect::<Result<Vec<_>, _>>()?;
        runs.sort_by_key(|run| std::cmp::Reverse(run.begun_at));
        Ok(runs)
    }

    async fn newest_run(&self, scope: &Scope) -> Result<Option<Run>, StoreError> {
        let Some(pointer) = self.read("read newest run", &keys::newest_run(scope)).await? else {
            return Ok(None);
        };
        let newest = self.run(scope, &pointer.parse(ID)?).await?;
        let gone = || pointer.corrupt(ID, "names a run that does not exist");
        newest.ok_or_else(gone).map(Some)
    }

    /// Takes a run one step on. `None`: another worker or a person did so since it was read.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn advance_run(
        &self,
        scope: &Scope,
        seen: &Run,
        progress: RunProgress,
        now: Timestamp,
    ) -> Result<Option<Run>, StoreError> {
        let change = change(scope, seen, &progress, now);
        if !self.applied("advance run", change).await? {
            return Ok(None);
        }
        Ok(Some(Run {
            step: seen.step + 1,
            ended_at: ended_at(&progress, now).or(seen.ended_at),
            progress,
            ..seen.clone()
        }))
    }
}

fn change(scope: &Scope, seen: &Run, progress: &RunProgress, now: Timestamp) -> Change {
    let stop = progress.stop.as_ref();
    let words = stop.and_then(|stop| stop.words.as_ref());
    let change = Change::of(keys::run(scope, &seen.id))
        .set(STATE, text(progress.state.as_str()))
        .set(STEP, number(seen.step + 1))
        .set_or_remove(STOP_ENTRY, stop.map(|stop| number(stop.entry)))
        .set_or_remove(STOP_CAUSE, stop.map(|stop| text(stop.cause.as_str())))
        .set_words(STOP_WORDS, words)
        .set(UPLOADED, flag(progress.uploaded))
        .set_or_remove(TRIES, tries(progress))
        .set_some(ENDED_AT, ended_at(progress, now).map(instant))
        .when(equals(STEP, number(seen.step)));
    match progress.state {
        RunState::Running => change
            .set(DUE.pk, text(keys::due_partition(shard_of(&seen.id))))
            .set(DUE.sk, text(keys::due_sort(now + LOOK))),
        _ => change.remove(&[DUE.pk, DUE.sk]),
    }
}

fn ended_at(progress: &RunProgress, now: Timestamp) -> Option<Timestamp> {
    let has_ended = matches!(progress.state, RunState::Finished | RunState::Abandoned);
    has_ended.then(|| to_millis(now))
}

fn shard_of(id: &RunId) -> u8 {
    id.spread() % SHARDS
}

fn tries(progress: &RunProgress) -> Option<aws_sdk_dynamodb::types::AttributeValue> {
    // DynamoDB has no empty set.
    let tries = &progress.tries;
    (!tries.is_empty()).then(|| texts(tries.iter().map(|(entry, count)| format!("{entry}/{count}"))))
}

fn item(scope: &Scope, new: &Run) -> super::item::Item {
    NewItem::new(&keys::run(scope, &new.id))
        .with(IDEMPOTENCY_KEY, text(&new.idempotency_key))
        .with_some(KIND, (new.kind != RunKind::Data).then(|| text(new.kind.as_str())))
        .with(STATE, text(new.progress.state.as_str()))
        .with(STEP, number(new.step))
        .with(UPLOADED, flag(new.progress.uploaded))
        .with(RECEIPTS, bytes(new.receipts))
        .with_some(APPROVALS, new.approvals.map(bytes))
        .with(BEGUN_AT, instant(new.begun_at))
        .with(DUE.pk, text(keys::due_partition(shard_of(&new.id))))
        .with(DUE.sk, text(keys::due_sort(new.begun_at + LOOK)))
        .build()
}

fn read(stored: &Stored) -> Result<Run, StoreError> {
    let cause = stored.opt_one_of(STOP_CAUSE, &StopCause::ALL, StopCause::as_str)?;
    let stop = match (stored.opt_parse(STOP_ENTRY)?, cause) {
        (Some(entry), Some(cause)) => Some(RunStop {
            entry,
            cause,
            words: stored.opt_words(STOP_WORDS)?,
        }),
        _ => None,
    };
    let mut tries = BTreeMap::new();
    for pair in stored.texts(TRIES)? {
        let numbers = pair
            .split_once('/')
            .map(|(entry, count)| (entry.parse(), count.parse()));
        let Some((Ok(entry), Ok(count))) = numbers else {
            return Err(stored.corrupt(TRIES, format!("has {pair}")));
        };
        tries.insert(entry, count);
    }
    Ok(Run {
        id: stored.parse(SK)?,
        idempotency_key: stored.str(IDEMPOTENCY_KEY)?.to_owned(),
        kind: stored
            .opt_one_of(KIND, &RunKind::ALL, RunKind::as_str)?
            .unwrap_or(RunKind::Data),
        progress: RunProgress {
            state: stored.one_of(STATE, &RunState::ALL, RunState::as_str)?,
            stop,
            uploaded: stored.flag(UPLOADED)?,
            tries,
        },
        step: stored.parse(STEP)?,
        receipts: ContentHash::from_bytes(stored.hash(RECEIPTS)?),
        approvals: stored.opt_hash(APPROVALS)?.map(ContentHash::from_bytes),
        begun_at: stored.instant(BEGUN_AT)?,
        ended_at: stored.opt_instant(ENDED_AT)?,
    })
}
