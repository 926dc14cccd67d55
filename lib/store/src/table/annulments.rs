//! Annulments of numbers that will never be used (ANECF).
//!
//! An annulment first takes the locks of its numbers, so that no receipt gets them afterwards; then it is sent to the
//! authority. A rejected annulment releases its numbers. The lock of an annulled number names the annulment and the
//! last number of its stretch; the number of a receipt that was never sent retains its owner too.

use std::collections::BTreeMap;

use ecf::{Encf, ReceiptState};
use jiff::{SignedDuration, Timestamp};

use super::{
    Query, Sort, Table,
    change::Change,
    condition::{absent, at_most, equals, exists},
    due::SHARDS,
    item::{Bilingually, NewItem, Stored, bytes, flag, instant, number, text},
    keys::{self, DUE, LOCK_PARTITIONS, SK},
    receipts::{LOCK_OWNER, LOCK_TAKEN_AT},
    write::{Part, Transacted},
};
use crate::{
    ContentHash, StoreError, Words,
    ids::{AnnulmentId, ReceiptId, Scope},
};

/// When housekeeping first looks at an annulment whose request died.
const FIRST_LOOK: SignedDuration = SignedDuration::from_mins(2);
/// Upper bound of the numbers that one transaction locks.
const PER_TRANSACTION: usize = 100;
/// Upper bound of the attempts when numbers are taken concurrently.
const ROUNDS: u32 = 4;

/// On the lock of a number: its annulment, and the last number of the stretch.
pub(super) const ANNULMENT: &str = "an";
const ANNULLED_TO: &str = "at";

const IDEMPOTENCY_KEY: &str = "key";
const RANGES: &str = "ranges";
const ANECF: &str = "anecf";
const CREATED_AT: &str = "created_at";
const COMPLETED_AT: &str = "completed_at";
const STATE: &str = "state";
const WORDS: Bilingually = ["words", "words_es"];
const ANSWER: &str = "answer";
const ATTEMPTS: &str = "attempts";
const LOST: &str = "lost";
const LEASE: &str = "lu";

/// The state of an annulment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnulmentState {
    /// The authority has not answered yet.
    Pending,
    Accepted,
    /// The authority rejected it, or a number was used after all. The numbers are unchanged.
    Refused,
    /// The authority could not be reached for days; the numbers stay locked.
    GivenUp,
}

impl AnnulmentState {
    const ALL: [Self; 4] = [Self::Pending, Self::Accepted, Self::Refused, Self::GivenUp];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::GivenUp => "given_up",
        }
    }
}

/// First and last number of a range of one type.
pub type NumberRange = (Encf, Encf);

/// An annulment and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annulment {
    pub id: AnnulmentId,
    pub idempotency_key: String,
    pub ranges: Vec<NumberRange>,
    /// The signed message.
    pub anecf: ContentHash,
    pub created_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    pub state: AnnulmentState,
    /// The authority's message, or the reason why there is none yet.
    pub words: Option<Words>,
    /// The authority's answer as JSON text.
    pub answer: Option<String>,
    /// The number of attempts that were started.
    pub attempts: u32,
    /// Whether the answer of an attempt was lost: the authority may have the annulment.
    pub has_lost_answer: bool,
    pub next_action_at: Option<Timestamp>,
}

/// The result of storing an annulment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnnulmentCreated {
    New,
    /// The idempotency key already has this annulment.
    Replay(Box<Annulment>),
}

/// The holder of a number's lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberHolder {
    Receipt(ReceiptId),
    /// The number was annulled and belongs to no receipt.
    Annulled,
}

/// The result of locking the numbers of an annulment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NumbersTaken {
    Done,
    /// The first numbers that are already used or annulled.
    Used(Vec<Encf>),
}

impl Annulment {
    /// The count of its numbers.
    pub fn quantity(&self) -> u64 {
        quantity(&self.ranges)
    }
}

/// The count of the numbers in these ranges.
pub fn quantity(ranges: &[NumberRange]) -> u64 {
    ranges
        .iter()
        .map(|(from, to)| to.sequence() - from.sequence() + 1)
        .sum()
}

impl Table {
    /// Stores an annulment before it is sent. Its message is in the bucket already.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn create_annulment(&self, scope: &Scope, new: &Annulment) -> Result<AnnulmentCreated, StoreError> {
        let created = self.put_new("create annulment", item(scope, new)).await;
        match created {
            Ok(true) => Ok(AnnulmentCreated::New),
            Ok(false) => self.whose_annulment(scope, new, None).await,
            Err(error) if error.is_retryable() => self.whose_annulment(scope, new, Some(error)).await,
            Err(error) => Err(error),
        }
    }

    async fn whose_annulment(
        &self,
        scope: &Scope,
        new: &Annulment,
        error: Option<StoreError>,
    ) -> Result<AnnulmentCreated, StoreError> {
        match self.annulment(scope, &new.id).await? {
            Some(existing) if existing.anecf == new.anecf => Ok(AnnulmentCreated::New),
            Some(existing) => Ok(AnnulmentCreated::Replay(Box::new(existing))),
            None => Err(error.unwrap_or_else(|| StoreError::retry("create annulment", "what was in the way is gone"))),
        }
    }

    /// The annulment with this id.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn annulment(&self, scope: &Scope, id: &AnnulmentId) -> Result<Option<Annulment>, StoreError> {
        let stored = self.read("read annulment", &keys::annulment(scope, id)).await?;
        stored.as_ref().map(|stored| read(*id, stored)).transpose()
    }

    /// Claims the next attempt. Returns `false` when another worker has it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn claim_annulment(
        &self,
        scope: &Scope,
        seen: &Annulment,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::annulment(scope, &seen.id))
            .set(ATTEMPTS, number(seen.attempts.saturating_add(1)))
            .set(LEASE, instant(until))
            .set(DUE.sk, text(keys::due_sort(until)))
            .when(exists(DUE.sk))
            .when(equals(ATTEMPTS, number(seen.attempts)))
            .when(absent(LEASE).or(at_most(LEASE, instant(now))));
        self.applied("claim annulment", change).await
    }

    /// Records the result of an attempt and the time of the next one; `None` means that it was the last. Returns
    /// `false` when a later attempt has started.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_annulment(
        &self,
        scope: &Scope,
        annulment: &Annulment,
        next: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::annulment(scope, &annulment.id))
            .remove(&[LEASE])
            .set(STATE, text(annulment.state.as_str()))
            .set_words(WORDS, annulment.words.as_ref())
            .set_or_remove(ANSWER, annulment.answer.as_ref().map(text))
            .set_some(COMPLETED_AT, annulment.completed_at.map(instant))
            .set_some(LOST, annulment.has_lost_answer.then(|| flag(true)))
            .due_at(next)
            .when(equals(ATTEMPTS, number(annulment.attempts)));
        self.applied("record annulment", change).await
    }

    /// The numbers of these ranges that cannot be annulled, at most `limit`, because a receipt or another annulment has
    /// them.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn used_numbers(
        &self,
        scope: &Scope,
        annulment: &AnnulmentId,
        ranges: &[NumberRange],
        limit: usize,
    ) -> Result<Vec<Encf>, StoreError> {
        let mut used = Vec::new();
        for (from, to) in ranges {
            for (sequence, lock) in self.locks_of(scope, from, to).await? {
                if used.len() < limit && !self.may_be_annulled(scope, annulment, &lock).await? {
                    let encf = Encf::new(from.receipt_type(), sequence);
                    used.push(encf.map_err(|error| lock.corrupt(SK, error))?);
                }
            }
        }
        Ok(used)
    }

    /// Takes the locks of an annulment's numbers that it does not have yet. It stops at numbers that were used
    /// meanwhile; the locks that it has remain until [`Table::give_numbers_back`].
    ///
    /// # Errors
    /// Fails when DynamoDB fails; [`StoreError::Contended`] when other writers keep changing the record.
    pub async fn take_annulled_numbers(
        &self,
        scope: &Scope,
        annulment: &Annulment,
        now: Timestamp,
    ) -> Result<NumbersTaken, StoreError> {
        for round in 1.. {
            let used = self.used_numbers(scope, &annulment.id, &annulment.ranges, 10).await?;
            if !used.is_empty() {
                return Ok(NumbersTaken::Used(used));
            }
            if self.take_free_ones(scope, annulment, now).await? {
                break;
            }
            if round >= ROUNDS {
                return Err(StoreError::Contended {
                    operation: "annul numbers",
                    attempts: ROUNDS,
                });
            }
        }
        for (from, to) in &annulment.ranges {
            self.pass_annulled(scope, from, to.sequence()).await?;
        }
        self.recount_annulled(scope, annulment, now).await?;
        Ok(NumbersTaken::Done)
    }

    /// Schedules a recount of the ranges that the caller numbers, because annulled numbers count as used.
    async fn recount_annulled(&self, scope: &Scope, annulment: &Annulment, now: Timestamp) -> Result<(), StoreError> {
        for (from, to) in &annulment.ranges {
            let numbers = from.sequence()..=to.sequence();
            self.recount_soon(scope, from.receipt_type(), numbers, now).await?;
        }
        Ok(())
    }

    /// Returns `false` when a number was taken concurrently.
    async fn take_free_ones(&self, scope: &Scope, annulment: &Annulment, now: Timestamp) -> Result<bool, StoreError> {
        for (from, to) in &annulment.ranges {
            let mut locks = self.locks_of(scope, from, to).await?;
            let mut parts = Vec::new();
            for sequence in from.sequence()..=to.sequence() {
                let encf = Encf::new(from.receipt_type(), sequence)
                    .map_err(|error| StoreError::unexpected("annul numbers", error))?;
                let key = keys::encf_lock(scope, &encf);
                match locks.remove(&sequence) {
                    Some(lock) if lock.has(ANNULMENT) => {}
                    Some(lock) => {
                        let owner: ReceiptId = lock.parse(LOCK_OWNER)?;
                        let change = Change::of(key)
                            .set(ANNULMENT, text(annulment.id))
                            .set(ANNULLED_TO, number(to.sequence()))
                            .when(equals(LOCK_OWNER, text(owner)))
                            .when(absent(ANNULMENT));
                        parts.push(Part::Update(change));
                    }
                    None => {
                        let lock = NewItem::new(&key)
                            .with(ANNULMENT, text(annulment.id))
                            .with(ANNULLED_TO, number(to.sequence()))
                            .with(LOCK_TAKEN_AT, instant(now));
                        parts.push(Part::PutNew(lock.build()));
                    }
                }
            }
            for parts in parts.chunks(PER_TRANSACTION) {
                if let Transacted::Refused(_) = self.transact("annul numbers", parts.to_vec()).await? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Releases the numbers of a rejected annulment: they are as before.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn give_numbers_back(
        &self,
        scope: &Scope,
        annulment: &Annulment,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        for (from, to) in &annulment.ranges {
            for (sequence, lock) in self.locks_of(scope, from, to).await? {
                if lock.opt_str(ANNULMENT)? != Some(annulment.id.to_string().as_str()) {
                    continue;
                }
                let encf = Encf::new(from.receipt_type(), sequence).map_err(|error| lock.corrupt(SK, error))?;
                let key = keys::encf_lock(scope, &encf);
                let ours = text(annulment.id);
                if lock.has(LOCK_OWNER) {
                    let change = Change::of(key).remove(&[ANNULMENT, ANNULLED_TO]);
                    let change = change.when(equals(ANNULMENT, ours));
                    self.apply("give number back", change).await?;
                } else {
                    self.delete_when("give number back", &key, equals(ANNULMENT, ours))
                        .await?;
                }
            }
        }
        self.recount_annulled(scope, annulment, now).await
    }

    /// Advances a range that the service numbers past a stretch of annulled numbers that it has reached.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn pass_annulled(&self, scope: &Scope, from: &Encf, to: u64) -> Result<(), StoreError> {
        let stretch = from.sequence()..=to;
        for range in self.ranges(scope, Some(from.receipt_type())).await? {
            if stretch.contains(&range.next) && range.contains(range.next) {
                self.move_next(scope, &range, to.min(range.end) + 1).await?;
            }
        }
        Ok(())
    }

    /// Advances a range past this number, if it was annulled.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn pass_if_annulled(&self, scope: &Scope, encf: &Encf) -> Result<(), StoreError> {
        let lock = self.read("read e-NCF lock", &keys::encf_lock(scope, encf)).await?;
        let to = lock.map(|lock| lock.opt_parse(ANNULLED_TO)).transpose()?.flatten();
        match to {
            Some(to) => self.pass_annulled(scope, encf, to).await,
            None => Ok(()),
        }
    }

    async fn may_be_annulled(&self, scope: &Scope, ours: &AnnulmentId, lock: &Stored) -> Result<bool, StoreError> {
        if let Some(annulment) = lock.opt_parse::<AnnulmentId>(ANNULMENT)? {
            return Ok(annulment == *ours);
        }
        let owner = self.receipt(scope, &lock.parse(LOCK_OWNER)?).await?;
        Ok(owner.is_some_and(|receipt| match receipt.state {
            // Signed, but never sent: the authority does not know the number.
            ReceiptState::Cancelled | ReceiptState::Incapacity => true,
            ReceiptState::Failed => receipt.sending.started_at.is_none() && !receipt.sending.has_lost_send,
            _ => receipt.left_its_number(),
        }))
    }

    async fn locks_of(&self, scope: &Scope, from: &Encf, to: &Encf) -> Result<BTreeMap<u64, Stored>, StoreError> {
        let mut locks = BTreeMap::new();
        let (first, last) = (from.sequence(), to.sequence());
        for sequence in (first..=last).take(usize::try_from(LOCK_PARTITIONS).unwrap_or(usize::MAX)) {
            // Every sixteenth number is in the same partition.
            let query = Query {
                sort: Sort::Between(SK, keys::lock_sort(first), keys::lock_sort(last)),
                consistent: true,
                ..Query::of(keys::lock_partition(scope, from.receipt_type(), sequence))
            };
            for lock in self.query("read locks", query).await? {
                let number = lock.sk()?.parse().map_err(|error| lock.corrupt(SK, error))?;
                locks.insert(number, lock);
            }
        }
        Ok(locks)
    }
}

/// The holder of a number, from its lock.
pub(super) fn holder(lock: &Stored) -> Result<NumberHolder, StoreError> {
    match lock.opt_parse(LOCK_OWNER)? {
        Some(receipt) => Ok(NumberHolder::Receipt(receipt)),
        None if lock.has(ANNULMENT) => Ok(NumberHolder::Annulled),
        None => Err(lock.corrupt(LOCK_OWNER, "is missing, and the number is not annulled")),
    }
}

fn item(scope: &Scope, new: &Annulment) -> super::item::Item {
    let ranges: Vec<String> = new.ranges.iter().map(|(from, to)| format!("{from}-{to}")).collect();
    NewItem::new(&keys::annulment(scope, &new.id))
        .with(IDEMPOTENCY_KEY, text(&new.idempotency_key))
        .with(RANGES, text(ranges.join(" ")))
        .with(ANECF, bytes(new.anecf))
        .with(CREATED_AT, instant(new.created_at))
        .with(STATE, text(new.state.as_str()))
        .with(ATTEMPTS, number(new.attempts))
        .with(DUE.pk, text(keys::due_partition(new.id.spread() % SHARDS)))
        .with(DUE.sk, text(keys::due_sort(new.created_at + FIRST_LOOK)))
        .build()
}

fn read(id: AnnulmentId, stored: &Stored) -> Result<Annulment, StoreError> {
    let owned = |name| stored.opt_str(name).map(|text| text.map(str::to_owned));
    let range = |text: &str| {
        let (from, to) = text.split_once('-')?;
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    let ranges = stored.str(RANGES)?.split(' ').map(range).collect::<Option<_>>();
    Ok(Annulment {
        id,
        idempotency_key: stored.str(IDEMPOTENCY_KEY)?.to_owned(),
        ranges: ranges.ok_or_else(|| stored.corrupt(RANGES, "is not a list of ranges"))?,
        anecf: ContentHash::from_bytes(stored.hash(ANECF)?),
        created_at: stored.instant(CREATED_AT)?,
        completed_at: stored.opt_instant(COMPLETED_AT)?,
        state: stored.one_of(STATE, &AnnulmentState::ALL, AnnulmentState::as_str)?,
        words: stored.opt_words(WORDS)?,
        answer: owned(ANSWER)?,
        attempts: stored.parse(ATTEMPTS)?,
        // A claim that was never released: its worker crashed, perhaps after the authority received the message.
        has_lost_answer: stored.flag(LOST)? || stored.has(LEASE),
        next_action_at: stored.opt_parse(DUE.sk)?,
    })
}
