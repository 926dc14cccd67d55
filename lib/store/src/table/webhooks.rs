//! Webhook subscriptions of one company and environment.

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::Timestamp;

use super::{
    Query, Sort, Table,
    change::Change,
    item::{NewItem, Stored, bytes, flag, instant, number, text},
    keys::{self, SK},
    write::{Applied, Part, Transacted},
};
use crate::{
    StoreError,
    ids::{Scope, WebhookId},
};

/// How many webhooks one company has at most in one environment.
pub const WEBHOOK_LIMIT: u32 = 20;

const URL: &str = "url";
const EVENTS: &str = "events";
const ACTIVE: &str = "active";
const SECRET: &str = "secret";
const CREATED_AT: &str = "created_at";
const UPDATED_AT: &str = "updated_at";
const COUNT: &str = "hooks";

/// A subscription. Its secret is sealed by the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub url: String,
    /// As given, in the order given.
    pub events: Vec<String>,
    pub is_active: bool,
    pub sealed_secret: Vec<u8>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
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

/// What changes of a subscription; `None` leaves it.
#[derive(Debug, Clone, Default)]
pub struct WebhookChanges {
    pub url: Option<String>,
    pub events: Option<Vec<String>>,
    pub is_active: Option<bool>,
    pub sealed_secret: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookCreated {
    New(Webhook),
    /// The scope has [`WEBHOOK_LIMIT`] of them.
    LimitReached,
    IdTaken,
}

/// What a webhook's secret is sealed for: copied to another webhook it does not open.
pub fn webhook_context(scope: &Scope, id: &WebhookId) -> Vec<u8> {
    format!("webhook/{}/{}/{id}", scope.company, scope.environment).into_bytes()
}

impl Table {
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
            .when("attribute_not_exists(#hooks) OR #hooks < :limit")
            .bind(":limit", number(WEBHOOK_LIMIT));
        let parts = vec![Part::PutNew(item.clone()), Part::Update(counted)];
        match self.transact("create webhook", parts).await? {
            Transacted::Done => Ok(WebhookCreated::New(read_webhook(&Stored::new(item))?)),
            Transacted::Refused(refusals) if refusals.first().is_some_and(Option::is_some) => {
                Ok(WebhookCreated::IdTaken)
            }
            Transacted::Refused(_) => Ok(WebhookCreated::LimitReached),
        }
    }

    /// Every subscription of the scope, oldest first.
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

    pub async fn webhook(&self, scope: &Scope, id: &WebhookId) -> Result<Option<Webhook>, StoreError> {
        let stored = self.read("read webhook", &keys::webhook(scope, id)).await?;
        stored.as_ref().map(read_webhook).transpose()
    }

    /// Changes a subscription. `None`: there is no such webhook.
    pub async fn update_webhook(
        &self,
        scope: &Scope,
        id: &WebhookId,
        changes: WebhookChanges,
        now: Timestamp,
    ) -> Result<Option<Webhook>, StoreError> {
        let change = Change::of(keys::webhook(scope, id))
            .set(UPDATED_AT, instant(now))
            .set_some(URL, changes.url.map(text))
            .set_some(EVENTS, changes.events.as_deref().map(list))
            .set_some(ACTIVE, changes.is_active.map(flag))
            .set_some(SECRET, changes.sealed_secret.map(bytes))
            .when("attribute_exists(#pk)");
        match self.apply("update webhook", change).await? {
            Applied::Done(stored) => read_webhook(&stored).map(Some),
            Applied::Refused(_) => Ok(None),
        }
    }

    /// Deletes a subscription. `false`: there is no such webhook. Its deliveries stay until they expire.
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
    })
}
