//! The streams of notices, and the part that a company sees.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Notice, RECORD, written};
use crate::{
    StoreError,
    ids::{NoticeId, Scope},
    table::{
        Query, Sort, Table,
        item::{Item, NewItem, Stored, expiry, text},
        keys::{self, SK, TTL},
    },
};

const ID: &str = "id";

/// A change of a notice, for its current and previous readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeEvent {
    /// The number of the change.
    pub number: u64,
    pub id: NoticeId,
    /// The current notice; `None` when it is not visible any more.
    pub notice: Option<Notice>,
}

/// Events in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticePage {
    pub events: Vec<NoticeEvent>,
    pub has_more: bool,
}

impl Table {
    /// The changes that a company sees in an environment, after one number and up to another, at most `limit`. The
    /// second number must belong to a committed change ([`Table::last_notice_number`]).
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn notice_events(
        &self,
        scope: &Scope,
        after: u64,
        until: u64,
        limit: usize,
    ) -> Result<NoticePage, StoreError> {
        if after >= until {
            return Ok(NoticePage {
                events: Vec::new(),
                has_more: false,
            });
        }
        let streams = [
            keys::notices_of_company(&scope.company),
            keys::notices_of_environment(scope.environment),
            keys::notices_of_all(),
        ];
        let [company, environment, all] = streams.map(|stream| self.stream(stream, after, until, limit + 1));
        let (company, environment, all) = tokio::try_join!(company, environment, all)?;
        let mut merged: BTreeMap<u64, NoticeEvent> = BTreeMap::new();
        for event in company.into_iter().chain(environment).chain(all) {
            // A change may move a notice from one stream to another of the same reader.
            let known = merged.entry(event.number).or_insert_with(|| event.clone());
            if known.notice.is_none() {
                *known = event;
            }
        }
        let has_more = merged.len() > limit;
        Ok(NoticePage {
            events: merged.into_values().take(limit).collect(),
            has_more,
        })
    }

    async fn stream(
        &self,
        partition: String,
        after: u64,
        until: u64,
        limit: usize,
    ) -> Result<Vec<NoticeEvent>, StoreError> {
        let query = Query {
            sort: Sort::Between(SK, keys::notice_place(after + 1), keys::notice_place(until)),
            consistent: true,
            limit: Some(limit),
            ..Query::of(partition)
        };
        let stored = self.query("read notices", query).await?;
        stored.iter().map(read).collect()
    }
}

pub(super) fn upsert(stream: &str, place: u64, notice: &Notice, forgotten_at: Option<Timestamp>) -> Item {
    entry(stream, place, &notice.id, forgotten_at)
        .with(RECORD, text(written(notice)))
        .build()
}

pub(super) fn revoke(stream: &str, place: u64, id: &NoticeId, forgotten_at: Timestamp) -> Item {
    entry(stream, place, id, Some(forgotten_at)).build()
}

fn entry(stream: &str, place: u64, id: &NoticeId, forgotten_at: Option<Timestamp>) -> NewItem {
    NewItem::new(&keys::notice_entry(stream, place))
        .with(ID, text(id))
        .with_some(TTL, forgotten_at.map(expiry))
}

fn read(stored: &Stored) -> Result<NoticeEvent, StoreError> {
    let notice = stored.opt_str(RECORD)?.map(serde_json::from_str).transpose();
    Ok(NoticeEvent {
        number: stored.parse(SK)?,
        id: stored.parse(ID)?,
        notice: notice.map_err(|error| stored.corrupt(RECORD, error))?,
    })
}
