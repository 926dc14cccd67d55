//! Notices of the operator to companies.
//!
//! A notice is one record. In addition it has an entry in the stream of each audience that sees it: all, an
//! environment, a company ([`feed`] reads them). A change gives the notice the next number of a global sequence and
//! moves its entries to that number, in the transaction that changes the record; a stream that lost the notice retains
//! a `revoke` in its place. So a stream never shows outdated notices, and a reader that has read up to a number misses
//! nothing: lower numbers were committed before.

mod content;
mod feed;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use content::{Audience, NoticeCategory, NoticeContent, NoticeEdit, NoticeSeverity, NoticeState};
pub use feed::{NoticeEvent, NoticePage};

use super::{
    FieldEdit, Table,
    change::Change,
    condition::equals,
    item::{NewItem, Stored, number, text},
    keys,
    write::{Part, Transacted},
};
use crate::{
    StoreError,
    ids::{NoticeId, Scope},
};

/// How long a stream retains ended notices: longer than the lifetime of a cursor, so that no reader misses an end.
const ENDED_KEPT: SignedDuration = SignedDuration::from_hours(120 * 24);
/// Upper bound of the tries when notices change concurrently.
const ATTEMPTS: u32 = 8;

const RECORD: &str = "nt";
const REVISION: &str = "rv";
const SEQUENCE: &str = "sq";

/// A notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub id: NoticeId,
    /// The number of its changes, from 1.
    pub revision: u32,
    pub content: NoticeContent,
    pub audience: Audience,
    stage: Stage,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Its position in each stream that has shown it.
    places: BTreeMap<String, u64>,
}

/// The operator's last action; the rest follows from the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Draft,
    Published,
    Resolved { at: Timestamp, note: Option<String> },
    Withdrawn,
}

/// A change of a notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeChange {
    /// Shows a draft to its audience.
    Publish,
    Edit(Box<NoticeEdit>),
    /// Its incident is over.
    Resolve {
        note: Option<String>,
    },
    /// Hides it from everyone.
    Withdraw,
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeChanged {
    Done(Box<Notice>),
    Missing,
    /// The change is not possible in this state.
    Refused(NoticeState),
}

impl Notice {
    /// Its current state.
    pub fn state(&self, now: Timestamp) -> NoticeState {
        let started = self.content.starts_at.is_none_or(|at| at <= now);
        let ended = self.content.expires_at.is_some_and(|at| at <= now);
        match &self.stage {
            Stage::Draft => NoticeState::Draft,
            Stage::Withdrawn => NoticeState::Withdrawn,
            Stage::Resolved { .. } => NoticeState::Resolved,
            Stage::Published if ended => NoticeState::Expired,
            Stage::Published if started => NoticeState::Active,
            Stage::Published => NoticeState::Scheduled,
        }
    }

    pub fn resolved_at(&self) -> Option<Timestamp> {
        match &self.stage {
            Stage::Resolved { at, .. } => Some(*at),
            _ => None,
        }
    }

    pub fn resolution_note(&self) -> Option<&str> {
        match &self.stage {
            Stage::Resolved { note, .. } => note.as_deref(),
            _ => None,
        }
    }

    /// Whether it is visible to a company in an environment.
    pub fn is_shown_to(&self, scope: &Scope) -> bool {
        self.is_visible() && self.audience.includes(scope)
    }

    fn is_visible(&self) -> bool {
        matches!(self.stage, Stage::Published | Stage::Resolved { .. })
    }

    /// The streams that show it.
    fn streams(&self) -> BTreeSet<String> {
        if self.is_visible() {
            self.audience.streams()
        } else {
            BTreeSet::new()
        }
    }

    /// The notice after a change, or its state if the change is not possible.
    fn changed(&self, change: &NoticeChange, now: Timestamp) -> Result<Self, NoticeState> {
        let mut next = self.clone();
        match (change, &self.stage) {
            (NoticeChange::Publish, Stage::Draft) => next.stage = Stage::Published,
            (NoticeChange::Edit(edit), Stage::Draft | Stage::Published) => edit.apply(&mut next),
            (NoticeChange::Resolve { note }, Stage::Published) => {
                let note = note.clone();
                next.stage = Stage::Resolved { at: now, note };
            }
            (NoticeChange::Withdraw, Stage::Draft | Stage::Published | Stage::Resolved { .. }) => {
                next.stage = Stage::Withdrawn;
            }
            _ => return Err(self.state(now)),
        }
        next.revision += 1;
        next.updated_at = now;
        Ok(next)
    }

    /// When a stream may drop it.
    fn forgotten_at(&self) -> Option<Timestamp> {
        let end = match &self.stage {
            Stage::Resolved { at, .. } => Some(*at),
            _ => self.content.expires_at,
        };
        end.map(|end| end.max(self.updated_at) + ENDED_KEPT)
    }
}

impl Table {
    /// Stores a draft, which is not visible.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn draft_notice(
        &self,
        id: NoticeId,
        content: NoticeContent,
        audience: Audience,
        now: Timestamp,
    ) -> Result<Notice, StoreError> {
        let notice = Notice {
            id,
            revision: 1,
            content,
            audience,
            stage: Stage::Draft,
            created_at: now,
            updated_at: now,
            places: BTreeMap::new(),
        };
        let item = NewItem::new(&keys::notice(&id))
            .with(RECORD, text(written(&notice)))
            .with(REVISION, number(notice.revision))
            .build();
        if !self.put_new("draft notice", item).await? {
            return Err(StoreError::unexpected(
                "draft notice",
                "the id that was drawn is in use",
            ));
        }
        Ok(notice)
    }

    /// A notice of any audience: for the operator.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn notice(&self, id: &NoticeId) -> Result<Option<Notice>, StoreError> {
        let stored = self.read("read notice", &keys::notice(id)).await?;
        stored.as_ref().map(read).transpose()
    }

    /// A notice, if it is visible to this company in this environment.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn notice_for(&self, scope: &Scope, id: &NoticeId) -> Result<Option<Notice>, StoreError> {
        let notice = self.notice(id).await?;
        Ok(notice.filter(|notice| notice.is_shown_to(scope)))
    }

    /// Changes a notice, for its current and its previous audience.
    ///
    /// # Errors
    /// Fails when DynamoDB fails; [`StoreError::Contended`] when other writers keep changing the record.
    pub async fn change_notice(
        &self,
        id: &NoticeId,
        change: &NoticeChange,
        now: Timestamp,
    ) -> Result<NoticeChanged, StoreError> {
        let operation = "change notice";
        for attempt in 1..=ATTEMPTS {
            let Some(before) = self.notice(id).await? else {
                return Ok(NoticeChanged::Missing);
            };
            let after = match before.changed(change, now) {
                Ok(after) => after,
                Err(state) => return Ok(NoticeChanged::Refused(state)),
            };
            let seen = self.last_notice_number().await?;
            let (after, parts) = moved(&before, after, seen, now);
            match self.transact(operation, parts).await? {
                Transacted::Done => return Ok(NoticeChanged::Done(Box::new(after))),
                Transacted::Refused(_) => super::write::pause(attempt).await,
            }
        }
        Err(StoreError::Contended {
            operation,
            attempts: ATTEMPTS,
        })
    }

    /// The number of the latest change of any notice: every change up to it is committed.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn last_notice_number(&self) -> Result<u64, StoreError> {
        match self.read("read notice number", &keys::notice_number()).await? {
            Some(stored) => stored.parse(SEQUENCE),
            None => Ok(0),
        }
    }
}

/// The writes of a change that gets the number after `seen`, and the changed notice.
fn moved(before: &Notice, mut after: Notice, seen: u64, now: Timestamp) -> (Notice, Vec<Part>) {
    let place = seen + 1;
    let (shown_before, shown) = (before.streams(), after.streams());
    let mut parts = Vec::new();
    for stream in shown_before.union(&shown) {
        if let Some(old) = before.places.get(stream) {
            parts.push(Part::Drop(keys::notice_entry(stream, *old)));
        } else if !shown.contains(stream) {
            continue;
        }
        after.places.insert(stream.clone(), place);
    }
    for stream in shown_before.union(&shown) {
        parts.push(Part::PutNew(if shown.contains(stream) {
            feed::upsert(stream, place, &after, after.forgotten_at())
        } else {
            feed::revoke(stream, place, &after.id, now + ENDED_KEPT)
        }));
    }
    let number_taken = Change::of(keys::notice_number()).set(SEQUENCE, number(place));
    parts.push(Part::Update(
        number_taken.still(SEQUENCE, (seen > 0).then(|| number(seen))),
    ));
    let record = Change::of(keys::notice(&after.id))
        .set(RECORD, text(written(&after)))
        .set(REVISION, number(after.revision))
        .when(equals(REVISION, number(before.revision)));
    parts.push(Part::Update(record));
    (after, parts)
}

fn written(notice: &Notice) -> String {
    serde_json::to_string(notice).expect("texts, numbers and instants are JSON")
}

fn read(stored: &Stored) -> Result<Notice, StoreError> {
    serde_json::from_str(stored.str(RECORD)?).map_err(|error| stored.corrupt(RECORD, error))
}

impl NoticeEdit {
    fn apply(&self, notice: &mut Notice) {
        let content = &mut notice.content;
        set(&mut content.category, self.category);
        set(&mut content.severity, self.severity);
        set(&mut content.title, self.title.clone());
        set(&mut content.body, self.body.clone());
        set(&mut content.environments, self.environments.clone());
        set(&mut notice.audience, self.audience.clone());
        edit(&mut content.source, self.source.clone());
        edit(&mut content.starts_at, self.starts_at);
        edit(&mut content.expires_at, self.expires_at);
    }
}

fn set<T>(kept: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *kept = new;
    }
}

fn edit<T>(kept: &mut Option<T>, edit: FieldEdit<T>) {
    match edit {
        FieldEdit::Keep => {}
        FieldEdit::Clear => *kept = None,
        FieldEdit::Set(new) => *kept = Some(new),
    }
}
