//! API keys. Only the SHA-256 of a key is stored: one item by hash for every request, one in the company's list.

use ecf::{Environment, Rnc};
use jiff::Timestamp;

use super::{
    Query, Sort, Table,
    change::Change,
    item::{Item, NewItem, Stored, bytes, instant, text},
    keys::{self, SK},
    write::{Part, Transacted},
};
use crate::{
    StoreError,
    ids::{ApiKeyId, CompanyId},
};

const ID: &str = "id";
const COMPANY: &str = "company";
const ENVIRONMENT: &str = "environment";
const RNC: &str = "rnc";
const HASH: &str = "hash";
const PREFIX: &str = "prefix";
const NAME: &str = "name";
const CREATED_AT: &str = "created_at";
const EXPIRES_AT: &str = "expires_at";
const REVOKED_AT: &str = "revoked_at";

/// An API key to create. The key itself never comes here.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    pub company: CompanyId,
    pub environment: Environment,
    pub rnc: Rnc,
    pub id: ApiKeyId,
    pub hash: [u8; 32],
    /// The visible beginning of the key.
    pub prefix: String,
    /// What its owner calls it.
    pub name: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

/// What a presented key stands for. Expiry and revocation are the reader's to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: ApiKeyId,
    pub company: CompanyId,
    pub environment: Environment,
    pub rnc: Rnc,
    pub revoked_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
}

/// A key as its company's list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedApiKey {
    pub id: ApiKeyId,
    pub environment: Environment,
    pub prefix: String,
    pub name: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

impl ListedApiKey {
    /// Whether it opens anything now.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

impl NewApiKey {
    /// The two items of a key, which live and die together.
    pub(crate) fn items(&self) -> [Item; 2] {
        let by_hash = NewItem::new(&keys::api_key(&self.hash))
            .with(ID, text(self.id))
            .with(COMPANY, text(self.company))
            .with(ENVIRONMENT, text(self.environment.as_str()))
            .with(RNC, text(&self.rnc))
            .with_some(EXPIRES_AT, self.expires_at.map(instant))
            .build();
        let listed = NewItem::new(&keys::listed_api_key(&self.company, &self.id))
            .with(ENVIRONMENT, text(self.environment.as_str()))
            .with(PREFIX, text(&self.prefix))
            .with_some(NAME, self.name.as_ref().map(text))
            .with(HASH, bytes(self.hash))
            .with(CREATED_AT, instant(self.created_at))
            .with_some(EXPIRES_AT, self.expires_at.map(instant))
            .build();
        [by_hash, listed]
    }
}

impl Table {
    /// Stores a key. `false`: a key with this hash or id exists.
    pub async fn create_api_key(&self, new: NewApiKey) -> Result<bool, StoreError> {
        let parts = new.items().map(Part::PutNew).into();
        Ok(matches!(
            self.transact("create API key", parts).await?,
            Transacted::Done
        ))
    }

    pub async fn api_key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<ApiKey>, StoreError> {
        let stored = self.read_settled("read API key", &keys::api_key(hash)).await?;
        stored
            .map(|stored| {
                Ok(ApiKey {
                    id: stored.parse(ID)?,
                    company: stored.parse(COMPANY)?,
                    environment: stored.parse(ENVIRONMENT)?,
                    rnc: stored.parse(RNC)?,
                    revoked_at: stored.opt_instant(REVOKED_AT)?,
                    expires_at: stored.opt_instant(EXPIRES_AT)?,
                })
            })
            .transpose()
    }

    /// Revokes a key for good. `false`: the company has no such key.
    pub async fn revoke_api_key(&self, company: &CompanyId, id: &ApiKeyId, now: Timestamp) -> Result<bool, StoreError> {
        let Some(hash) = self.api_key_hash(company, id).await? else {
            return Ok(false);
        };
        let parts = revocation(company, id, &hash, now).map(Part::Update).into();
        Ok(matches!(
            self.transact("revoke API key", parts).await?,
            Transacted::Done
        ))
    }

    /// One key of the company, revoked or not.
    pub async fn api_key(&self, company: &CompanyId, id: &ApiKeyId) -> Result<Option<ListedApiKey>, StoreError> {
        let stored = self
            .read("read listed API key", &keys::listed_api_key(company, id))
            .await?;
        stored.as_ref().map(read_listed).transpose()
    }

    /// The company's keys of every environment, revoked ones included.
    pub async fn api_keys(&self, company: &CompanyId) -> Result<Vec<ListedApiKey>, StoreError> {
        let query = Query {
            sort: Sort::BeginsWith(SK, keys::LISTED_API_KEYS.to_owned()),
            consistent: true,
            ..Query::of(keys::company_partition(company))
        };
        self.query("list API keys", query)
            .await?
            .iter()
            .map(read_listed)
            .collect()
    }

    /// Whether the company has a key of this environment, or had one.
    pub async fn has_had_key(&self, company: &CompanyId, environment: Environment) -> Result<bool, StoreError> {
        let keys = self.api_keys(company).await?;
        Ok(keys.iter().any(|key| key.environment == environment))
    }

    pub(crate) async fn api_key_hash(
        &self,
        company: &CompanyId,
        id: &ApiKeyId,
    ) -> Result<Option<[u8; 32]>, StoreError> {
        let stored = self
            .read("read listed API key", &keys::listed_api_key(company, id))
            .await?;
        stored.map(|stored| stored.hash(HASH)).transpose()
    }
}

/// Both items of a key marked revoked; the first revocation's time stays.
pub(crate) fn revocation(company: &CompanyId, id: &ApiKeyId, hash: &[u8; 32], now: Timestamp) -> [Change; 2] {
    [keys::api_key(hash), keys::listed_api_key(company, id)].map(|key| {
        Change::of(key)
            .set_once(REVOKED_AT, instant(now))
            .when("attribute_exists(#pk)")
    })
}

fn read_listed(stored: &Stored) -> Result<ListedApiKey, StoreError> {
    let id = stored.sk()?.strip_prefix(keys::LISTED_API_KEYS).unwrap_or_default();
    Ok(ListedApiKey {
        id: id.parse().map_err(|error| stored.corrupt(SK, error))?,
        environment: stored.parse(ENVIRONMENT)?,
        prefix: stored.str(PREFIX)?.to_owned(),
        name: stored.opt_str(NAME)?.map(str::to_owned),
        created_at: stored.instant(CREATED_AT)?,
        expires_at: stored.opt_instant(EXPIRES_AT)?,
        revoked_at: stored.opt_instant(REVOKED_AT)?,
    })
}
