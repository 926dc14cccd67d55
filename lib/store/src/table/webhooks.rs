//! Webhook subscriptions of one company and environment.

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::Timestamp;

use super::{
    Query, Sort, Table,
    announcements::{self, Announcement},
    change::Change,
    condition::{absent, at_most, below, equals, exists},
    item::{Bilingually, NewItem, Stored, bytes, flag, instant, number, text},
    keys::{self, DUE, PK, SK},
    undelivered::{due_at, shard_partition},
    write::{Applied, Part, Transacted},
};
use crate::{
    StoreError, Words,
    ids::{Scope, WebhookId},
};

/// Upper bound of the webhooks of a company in one environment.
pub const WEBHOOK_LIMIT: u32 = 20;

const URL: &str = "url";
const EVENTS: &str = "events";
const ACTIVE: &str = "active";
const SECRET: &str = "secret";
const CREATED_AT: &str = "created_at";
const UPDATED_AT: &str = "updated_at";
const COUNT: &str = "hooks";
const PAUSED_AT: &str = "paused_at";
const PAUSED_REASON: Bilingually = ["paused_reason", "paused_reason_es"];
const FAILING_SINCE: &str = "fs";
const SLOW_SINCE: &str = "slow";
const PARKED: &str = "parked";
/// The end of a dry run's lock on the webhook.
const TEST_UNTIL: &str = "tu";

/// A subscription. Its secret is encrypted by the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub url: String,
    /// The event names, in the caller's order.
    pub events: Vec<String>,
    pub is_active: bool,
    pub sealed_secret: Vec<u8>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// When and why the service switched it off; removed when it is switched on again.
    pub paused: Option<Pause>,
    /// The first failure since the last success; absent while it works.
    pub failing_since: Option<Timestamp>,
    /// The first timeout since the last answer in time. While it is present, events go to the slow lane.
    pub slow_since: Option<Timestamp>,
    /// When housekeeping next looks at its parked events.
    pub probe_at: Option<Timestamp>,
    /// Incremented for each parked event, so that a process that found none can detect that one was parked meanwhile.
    pub parked: u64,
}

/// A webhook switched off by the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub at: Timestamp,
    pub reason: Words,
}

/// A subscription to create.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    pub id: WebhookId,
    pub url: String,
    pub events: Vec<String>,
    pub is_active: bool,
    pub sealed_secret: Vec<u8>,
    pub created_at: Timestamp,
}

/// The changes of a subscription; `None` leaves a value.
#[derive(Debug, Clone, Default)]
pub struct WebhookChanges {
    pub url: Option<String>,
    pub events: Option<Vec<String>>,
    pub is_active: Option<bool>,
    pub sealed_secret: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookCreated {
    New(Box<Webhook>),
    /// The scope has [`WEBHOOK_LIMIT`] webhooks.
    LimitReached,
    IdTaken,
}

/// The encryption context of a webhook's secret: it cannot be decrypted for another webhook.
pub fn webhook_context(scope: &Scope, id: &WebhookId) -> Vec<u8> {
    format!("webhook/{}/{}/{id}", scope.company, scope.environment).into_bytes()
}

impl Table {
    /// Creates a subscription, up to [`WEBHOOK_LIMIT`] per scope.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn create_webhook(&self, scope: &Scope, new: NewWebhook) -> Result<WebhookCreated, StoreError> {
        let item = NewItem::new(&keys::webhook(scope, &new.id))
            .with(URL, text(&new.url))
            .with(EVENTS, list(&new.events))
            .with(ACTIVE, flag(new.is_active))
            .with(SECRET, bytes(&new.sealed_secret))
            .with(CREATED_AT, instant(new.created_at))
            .with(UPDATED_AT, instant(new.created_at))
            .build();
        let counted = Change::of(keys::webhook_count(scope))
            .add(COUNT, number(1))
            .when(absent(COUNT).or(below(COUNT, number(WEBHOOK_LIMIT))));
        let parts = vec![Part::PutNew(item.clone()), Part::Update(counted)];
        match self.transact("create webhook", parts).await? {
            Transacted::Done => Ok(WebhookCreated::New(Box::new(read_webhook(&Stored::new(item))?))),
            Transacted::Refused(refusals) if refusals.first().is_some_and(Option::is_some) => {
                Ok(WebhookCreated::IdTaken)
            }
            Transacted::Refused(_) => Ok(WebhookCreated::LimitReached),
        }
    }

    /// Every subscription of the scope, oldest first.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn webhooks(&self, scope: &Scope) -> Result<Vec<Webhook>, StoreError> {
        let query = Query {
            sort: Sort::BeginsWith(SK, keys::WEBHOOK.to_owned()),
            consistent: true,
            ..Query::of(keys::webhooks_partition(scope))
        };
        let items = self.query("list webhooks", query).await?;
        let mut webhooks = items.iter().map(read_webhook).collect::<Result<Vec<_>, _>>()?;
        webhooks.sort_by_key(|webhook| (webhook.created_at, webhook.id));
        Ok(webhooks)
    }

    /// The subscription with this id.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn webhook(&self, scope: &Scope, id: &WebhookId) -> Result<Option<Webhook>, StoreError> {
        let stored = self.read("read webhook", &keys::webhook(scope, id)).await?;
        stored.as_ref().map(read_webhook).transpose()
    }

    /// Changes a subscription; `None` when it does not exist. When it is switched on, its parked events are scheduled;
    /// a new address resets its failures.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn update_webhook(
        &self,
        scope: &Scope,
        id: &WebhookId,
        changes: WebhookChanges,
        now: Timestamp,
    ) -> Result<Option<Webhook>, StoreError> {
        let (switched, moved) = (changes.is_active, changes.url.is_some());
        let change = Change::of(keys::webhook(scope, id))
            .set(UPDATED_AT, instant(now))
            .set_some(URL, changes.url.map(text))
            .set_some(EVENTS, changes.events.as_deref().map(list))
            .set_some(ACTIVE, changes.is_active.map(flag))
            .set_some(SECRET, changes.sealed_secret.map(bytes))
            .when(exists(PK));
        let change = match switched {
            Some(true) => due_at(
                change
                    .set_words(PAUSED_REASON, None)
                    .remove(&[PAUSED_AT, FAILING_SINCE, SLOW_SINCE]),
                id,
                now,
            ),
            Some(false) => change.remove(&[DUE.pk, DUE.sk]),
            None if moved => change.remove(&[FAILING_SINCE, SLOW_SINCE]),
            None => change,
        };
        match self.apply("update webhook", change).await? {
            Applied::Done(stored) => read_webhook(&stored).map(Some),
            Applied::Refused(_) => Ok(None),
        }
    }

    /// Locks a webhook for a dry run, until `until` at most. Returns `false` when another dry run has the lock, or the
    /// webhook does not exist.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn begin_webhook_test(
        &self,
        scope: &Scope,
        id: &WebhookId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::webhook(scope, id))
            .set(TEST_UNTIL, instant(until))
            .when(exists(PK))
            .when(absent(TEST_UNTIL).or(at_most(TEST_UNTIL, instant(now))));
        self.applied("begin webhook test", change).await
    }

    /// Releases the lock of a dry run, unless another run has it by now.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn end_webhook_test(&self, scope: &Scope, id: &WebhookId, until: Timestamp) -> Result<(), StoreError> {
        let change = Change::of(keys::webhook(scope, id))
            .remove(&[TEST_UNTIL])
            .when(equals(TEST_UNTIL, instant(until)));
        self.apply("end webhook test", change).await.map(|_| ())
    }

    /// Records that a delivery failed. Only the first failure sets the time.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn webhook_failed(&self, scope: &Scope, id: &WebhookId, now: Timestamp) -> Result<(), StoreError> {
        let change = Change::of(keys::webhook(scope, id))
            .set_once(FAILING_SINCE, instant(now))
            .when(exists(PK));
        self.apply("webhook failed", change).await.map(|_| ())
    }

    /// Records that a delivery succeeded after failures.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn webhook_recovered(&self, scope: &Scope, id: &WebhookId) -> Result<(), StoreError> {
        let change = Change::of(keys::webhook(scope, id))
            .remove(&[FAILING_SINCE])
            .when(exists(FAILING_SINCE));
        self.apply("webhook recovered", change).await.map(|_| ())
    }

    /// Records that an attempt timed out. Returns `false` when the webhook was slow before, or does not exist.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn webhook_timed_out(&self, scope: &Scope, id: &WebhookId, now: Timestamp) -> Result<bool, StoreError> {
        let change = Change::of(keys::webhook(scope, id))
            .set(SLOW_SINCE, instant(now))
            .when(exists(PK))
            .when(absent(SLOW_SINCE));
        self.applied("webhook timed out", change).await
    }

    /// Records that a slow webhook answered in time. Returns `false` when it was recorded before.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn webhook_in_time(&self, scope: &Scope, id: &WebhookId) -> Result<bool, StoreError> {
        let change = Change::of(keys::webhook(scope, id))
            .remove(&[SLOW_SINCE])
            .when(exists(SLOW_SINCE));
        self.applied("webhook in time", change).await
    }

    /// Counts a parked event of an active webhook, and schedules housekeeping's look at `probe_at`, unless one is
    /// scheduled. Returns `false` when the webhook was deleted or switched off.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn count_parked(&self, scope: &Scope, id: &WebhookId, probe_at: Timestamp) -> Result<bool, StoreError> {
        let change = Change::of(keys::webhook(scope, id))
            .add(PARKED, number(1))
            .set_once(DUE.pk, text(shard_partition(id)))
            .set_once(DUE.sk, text(keys::due_sort(probe_at)))
            .when(equals(ACTIVE, flag(true)));
        self.applied("count parked", change).await
    }

    /// Sets housekeeping's next look at the parked events. Returns `false` when none is scheduled.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn postpone_probe(&self, scope: &Scope, id: &WebhookId, next: Timestamp) -> Result<bool, StoreError> {
        let change = Change::of(keys::webhook(scope, id))
            .set(DUE.sk, text(keys::due_sort(next)))
            .when(exists(DUE.sk));
        self.applied("postpone probe", change).await
    }

    /// Ends the looks at a webhook without parked events. Returns `false` when an event was parked since `seen` was
    /// read.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn end_probe(&self, scope: &Scope, seen: &Webhook) -> Result<bool, StoreError> {
        let as_seen = match seen.parked {
            0 => exists(PK).and(absent(PARKED)),
            parked => equals(PARKED, number(parked)),
        };
        let change = Change::of(keys::webhook(scope, &seen.id))
            .remove(&[DUE.pk, DUE.sk])
            .when(as_seen);
        self.applied("end probe", change).await
    }

    /// Switches off a webhook that failed for too long, and stores the announcement in the same write. Returns `false`
    /// when it is off already, or a delivery succeeded meanwhile.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn pause_webhook(
        &self,
        scope: &Scope,
        id: &WebhookId,
        failing_since: Timestamp,
        pause: &Pause,
        news: &Announcement,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::webhook(scope, id))
            .set(ACTIVE, flag(false))
            .set(PAUSED_AT, instant(pause.at))
            .set_words(PAUSED_REASON, Some(&pause.reason))
            .set(UPDATED_AT, instant(pause.at))
            .remove(&[DUE.pk, DUE.sk])
            .when(equals(ACTIVE, flag(true)))
            .when(equals(FAILING_SINCE, instant(failing_since)));
        let parts = vec![Part::Update(change), Part::PutNew(announcements::item(scope, news))];
        Ok(matches!(self.transact("pause webhook", parts).await?, Transacted::Done))
    }

    /// Deletes a subscription. Its recorded deliveries remain until they expire. Returns `false` when it does not
    /// exist.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn delete_webhook(&self, scope: &Scope, id: &WebhookId) -> Result<bool, StoreError> {
        let counted = Change::of(keys::webhook_count(scope)).add(COUNT, number(-1));
        let parts = vec![Part::Delete(keys::webhook(scope, id)), Part::Update(counted)];
        Ok(matches!(
            self.transact("delete webhook", parts).await?,
            Transacted::Done
        ))
    }
}

/// A list, not a set: the order is the caller's.
fn list(texts: &[String]) -> AttributeValue {
    AttributeValue::L(texts.iter().map(text).collect())
}

fn read_webhook(stored: &Stored) -> Result<Webhook, StoreError> {
    let id = stored.sk()?.strip_prefix(keys::WEBHOOK).unwrap_or_default();
    Ok(Webhook {
        id: id.parse().map_err(|error| stored.corrupt(SK, error))?,
        url: stored.str(URL)?.to_owned(),
        events: stored.list(EVENTS)?,
        is_active: stored.flag(ACTIVE)?,
        sealed_secret: stored.bytes(SECRET)?.to_vec(),
        created_at: stored.instant(CREATED_AT)?,
        updated_at: stored.instant(UPDATED_AT)?,
        paused: match (stored.opt_instant(PAUSED_AT)?, stored.opt_words(PAUSED_REASON)?) {
            (Some(at), Some(reason)) => Some(Pause { at, reason }),
            _ => None,
        },
        failing_since: stored.opt_instant(FAILING_SINCE)?,
        slow_since: stored.opt_instant(SLOW_SINCE)?,
        probe_at: stored.opt_parse(DUE.sk)?,
        parked: stored.opt_parse(PARKED)?.unwrap_or(0),
    })
}
