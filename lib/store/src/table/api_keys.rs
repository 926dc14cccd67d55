//! API keys. Only the SHA-256 of a key is stored: one item by hash for every request, one in the company's list.

mod scope;

use std::collections::HashSet;

use ecf::{Environment, Rnc};
use jiff::Timestamp;

use super::{
    Query, Sort, Table,
    change::Change,
    closing,
    condition::{absent, exists},
    item::{Item, NewItem, Stored, bytes, instant, number, text},
    keys::{self, PK, SK},
    write::{Part, Transacted},
};
use crate::{
    StoreError,
    ids::{ApiKeyId, CompanyId, Scope},
};

pub use scope::{KeyScope, UnknownKeyScope};

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
const SCOPE: &str = "scope";
const CREATED_BY: &str = "created_by";
/// The number of keys that a key created.
const CREATED: &str = "created";
const REQUESTS_PER_SECOND: &str = "rps";

/// An API key to create. It contains the hash, never the key.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    pub company: CompanyId,
    pub environment: Environment,
    pub rnc: Rnc,
    pub id: ApiKeyId,
    pub hash: [u8; 32],
    /// The visible beginning of the key.
    pub prefix: String,
    /// The owner's name for it.
    pub name: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub scope: KeyScope,
    /// The creating key; `None` for the first key of a company and for keys that the operator issues.
    pub created_by: Option<ApiKeyId>,
}

/// The result of creating a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiKeyCreated {
    New,
    /// The creating key was revoked meanwhile.
    CreatorRevoked,
    /// A key with this hash or id exists.
    Taken,
}

/// The record of a presented key. The reader validates expiry and revocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: ApiKeyId,
    pub company: CompanyId,
    pub environment: Environment,
    pub rnc: Rnc,
    pub revoked_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    pub scope: KeyScope,
    /// The key's own rate limit; `None` means the deployment's.
    pub requests_per_second: Option<u32>,
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
    pub scope: KeyScope,
    pub created_by: Option<ApiKeyId>,
    /// The key's own rate limit; `None` means the deployment's.
    pub requests_per_second: Option<u32>,
}

impl ListedApiKey {
    /// Whether it is valid now.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

impl NewApiKey {
    /// The scope of the receipts that it may access.
    pub(crate) fn owner(&self) -> Scope {
        Scope {
            company: self.company,
            environment: self.environment,
        }
    }

    /// The two items of a key, which are written together.
    pub(crate) fn items(&self) -> [Item; 2] {
        let by_hash = NewItem::new(&keys::api_key(&self.hash))
            .with(ID, text(self.id))
            .with(COMPANY, text(self.company))
            .with(ENVIRONMENT, text(self.environment.as_str()))
            .with(RNC, text(&self.rnc))
            .with_some(EXPIRES_AT, self.expires_at.map(instant))
            .with_some(SCOPE, self.scope.stored().map(text))
            .build();
        let listed = NewItem::new(&keys::listed_api_key(&self.company, &self.id))
            .with(ENVIRONMENT, text(self.environment.as_str()))
            .with(PREFIX, text(&self.prefix))
            .with_some(NAME, self.name.as_ref().map(text))
            .with(HASH, bytes(self.hash))
            .with(CREATED_AT, instant(self.created_at))
            .with_some(EXPIRES_AT, self.expires_at.map(instant))
            .with_some(SCOPE, self.scope.stored().map(text))
            .with_some(CREATED_BY, self.created_by.map(text))
            .build();
        [by_hash, listed]
    }
}

impl Table {
    /// Stores a key, unless its creating key was revoked: a revocation leaves no descendant behind.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn create_api_key(&self, new: NewApiKey) -> Result<ApiKeyCreated, StoreError> {
        self.begin_closing(&new.owner(), new.created_at + closing::FIRST_LOOK)
            .await?;
        let mut parts: Vec<_> = new.items().map(Part::PutNew).into();
        if let Some(creator) = &new.created_by {
            let change = Change::of(keys::listed_api_key(&new.company, creator))
                .add(CREATED, number(1))
                .when(exists(PK))
                .when(absent(REVOKED_AT));
            parts.push(Part::Update(change));
        }
        Ok(match self.transact("create API key", parts).await? {
            Transacted::Done => ApiKeyCreated::New,
            Transacted::Refused(refusals) if refusals.get(2).is_some_and(Option::is_some) => {
                ApiKeyCreated::CreatorRevoked
            }
            Transacted::Refused(_) => ApiKeyCreated::Taken,
        })
    }

    /// The API key with this hash, revoked or not.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
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
                    scope: stored.opt_parse(SCOPE)?.unwrap_or_default(),
                    requests_per_second: stored.opt_parse(REQUESTS_PER_SECOND)?,
                })
            })
            .transpose()
    }

    /// Revokes a key for good. Returns `false` when the company does not have it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
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

    /// The valid descendants of a key, oldest first.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn living_descendants(
        &self,
        company: &CompanyId,
        id: &ApiKeyId,
        now: Timestamp,
    ) -> Result<Vec<ListedApiKey>, StoreError> {
        let keys = self.api_keys(company).await?;
        let mut living: Vec<_> = descendants(&keys, id).into_iter().cloned().collect();
        living.retain(|key| key.is_active(now));
        living.sort_by_key(|key| (key.created_at, key.id));
        Ok(living)
    }

    /// Revokes a key for good, then its valid descendants, and returns these; `None` when the company does not have the
    /// key.
    ///
    /// Ancestors are revoked first: a revoked key cannot create another key, so the search ends.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn revoke_with_descendants(
        &self,
        company: &CompanyId,
        id: &ApiKeyId,
        now: Timestamp,
    ) -> Result<Option<Vec<ListedApiKey>>, StoreError> {
        if !self.revoke_api_key(company, id, now).await? {
            return Ok(None);
        }
        let mut revoked = Vec::new();
        loop {
            let living = self.living_descendants(company, id, now).await?;
            if living.is_empty() {
                return Ok(Some(revoked));
            }
            for key in living {
                self.revoke_api_key(company, &key.id, now).await?;
                revoked.push(key);
            }
        }
    }

    /// The highest environment of the company's valid keys. It reads the whole list, so only rare operations call it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn highest_environment(
        &self,
        company: &CompanyId,
        now: Timestamp,
    ) -> Result<Option<Environment>, StoreError> {
        let keys = self.api_keys(company).await?;
        let working = keys.iter().filter(|key| key.is_active(now));
        Ok(working.map(|key| key.environment).max())
    }

    /// Sets a key's own rate limit; `None` restores the deployment's. Returns `false` when the company does not have
    /// the key.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn limit_api_key(
        &self,
        company: &CompanyId,
        id: &ApiKeyId,
        requests_per_second: Option<u32>,
    ) -> Result<bool, StoreError> {
        let Some(hash) = self.api_key_hash(company, id).await? else {
            return Ok(false);
        };
        let parts = [keys::api_key(&hash), keys::listed_api_key(company, id)].map(|key| {
            let change = Change::of(key).set_or_remove(REQUESTS_PER_SECOND, requests_per_second.map(number));
            Part::Update(change.when(exists(PK)))
        });
        Ok(matches!(
            self.transact("limit API key", parts.into()).await?,
            Transacted::Done
        ))
    }

    /// One key of the company, revoked or not.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn api_key(&self, company: &CompanyId, id: &ApiKeyId) -> Result<Option<ListedApiKey>, StoreError> {
        let stored = self
            .read("read listed API key", &keys::listed_api_key(company, id))
            .await?;
        stored.as_ref().map(read_listed).transpose()
    }

    /// The company's keys of every environment, revoked ones included.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
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
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
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

/// Marks both items of a key as revoked; the time of the first revocation stays.
pub(crate) fn revocation(company: &CompanyId, id: &ApiKeyId, hash: &[u8; 32], now: Timestamp) -> [Change; 2] {
    [keys::api_key(hash), keys::listed_api_key(company, id)]
        .map(|key| Change::of(key).set_once(REVOKED_AT, instant(now)).when(exists(PK)))
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
        scope: stored.opt_parse(SCOPE)?.unwrap_or_default(),
        created_by: stored.opt_parse(CREATED_BY)?,
        requests_per_second: stored.opt_parse(REQUESTS_PER_SECOND)?,
    })
}

/// The keys that a key created, that those created, and so on; revoked ones included.
fn descendants<'k>(keys: &'k [ListedApiKey], ancestor: &ApiKeyId) -> Vec<&'k ListedApiKey> {
    let mut found: Vec<&ListedApiKey> = Vec::new();
    let mut known = HashSet::from([*ancestor]);
    loop {
        let next = keys
            .iter()
            .find(|key| key.created_by.is_some_and(|by| known.contains(&by)) && !known.contains(&key.id));
        let Some(key) = next else { return found };
        known.insert(key.id);
        found.push(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k1_descendants_are_found_through_revoked_keys_and_no_others() {
        let id = |number: u8| ApiKeyId::from_random([number; 20]);
        let key = |number: u8, by: Option<u8>, revoked: bool| ListedApiKey {
            id: id(number),
            environment: Environment::TesteCF,
            prefix: String::new(),
            name: None,
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            revoked_at: revoked.then_some(Timestamp::UNIX_EPOCH),
            scope: KeyScope::Full,
            created_by: by.map(id),
            requests_per_second: None,
        };
        // In any order, so a grandchild may precede its parent.
        let keys = [
            key(4, Some(3), false),
            key(1, None, false),
            key(3, Some(2), true),
            key(2, Some(1), false),
            key(6, Some(5), false),
            key(5, None, false),
        ];
        let found = |of: u8| {
            let mut found: Vec<_> = descendants(&keys, &id(of)).iter().map(|key| key.id).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(found(1), [id(2), id(3), id(4)]);
        assert_eq!(found(2), [id(3), id(4)]);
        assert_eq!(found(4), []);
        assert_eq!(found(5), [id(6)]);
    }
}
