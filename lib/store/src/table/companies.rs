//! Companies, owners of RNCs, and the sign-ups of the last hour.
//!
//! A self-registered company is unverified and does not own its RNC. A verified company owns it exclusively.

mod changes;
mod listing;
mod settings;
mod verification;

use ecf::{Environment, Rnc};
use jiff::{SignedDuration, Timestamp};

use super::{
    Table,
    api_keys::NewApiKey,
    certificates::{self, CertificateSummary},
    change::Change,
    closing,
    condition::{absent, at_most, equals},
    invitations,
    item::{Item, NewItem, Stored, bytes, expiry, flag, instant, text},
    keys::{self, PK, TTL},
    write::{Part, Transacted},
};
use crate::{
    StoreError,
    ids::{ApiKeyId, CompanyId},
};

pub use changes::CompanyChanges;
pub use listing::{CompaniesFilledIn, CompaniesPart, CompanyPlace, ScanPlace};
pub use settings::{CertificateOwner, CompanySettings, SettingsChanges, UnknownCertificateOwner};
pub use verification::Verification;

const RNC: &str = "rnc";
const NAME: &str = "name";
const EMAIL: &str = "email";
const TRADE_NAME: &str = "trade_name";
const ADDRESS: &str = "address";
const PHONE: &str = "phone";
const DEFAULT_ENVIRONMENT: &str = "default_environment";
pub(super) const VERIFIED: &str = "verified";
const DEACTIVATED_AT: &str = "deactivated_at";
const CREATED_AT: &str = "created_at";
pub(super) const UPDATED_AT: &str = "updated_at";
pub(super) const COMPANY: &str = "company";
const API_KEY: &str = "api_key";
const BODY_HASH: &str = "body_hash";

/// How long a sign-up may be retried with the same idempotency key.
pub(crate) const SIGNUP_REPEATABLE: SignedDuration = SignedDuration::from_hours(1);

/// A company's profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    pub id: CompanyId,
    pub rnc: Rnc,
    pub name: String,
    pub email: String,
    pub trade_name: Option<String>,
    pub address: Option<String>,
    pub phone: Option<String>,
    pub default_environment: Environment,
    pub verified: bool,
    pub certificate: Option<CertificateSummary>,
    pub settings: CompanySettings,
    /// The time at which the operator deactivated it.
    pub deactivated_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Company {
    pub fn is_active(&self) -> bool {
        self.deactivated_at.is_none()
    }
}

/// A company to create.
#[derive(Debug, Clone)]
pub struct NewCompany {
    pub id: CompanyId,
    pub rnc: Rnc,
    pub name: String,
    pub email: String,
    pub trade_name: Option<String>,
    pub address: Option<String>,
    pub phone: Option<String>,
    pub default_environment: Environment,
    pub verified: bool,
    /// The certificate, which is in the vault already.
    pub certificate: Option<CertificateSummary>,
    pub signup: Option<NewSignup>,
    /// SHA-256 of the code of its invitation.
    pub invitation: Option<[u8; 32]>,
    pub created_at: Timestamp,
}

/// The sign-up that creates a company, when the caller gave it an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSignup {
    /// SHA-256 of the idempotency key.
    pub key: [u8; 32],
    pub body_hash: [u8; 32],
    /// The first API key, which a retry replaces.
    pub api_key: ApiKeyId,
}

/// A sign-up of the last hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignupRecord {
    pub key: [u8; 32],
    pub body_hash: [u8; 32],
    pub company: CompanyId,
    /// The API key of the latest answer.
    pub api_key: ApiKeyId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompanyCreated {
    New,
    /// Another verified company has this RNC.
    RncTaken,
    /// A sign-up with this idempotency key was first: read it with [`Table::signup`].
    SignupRepeated,
    /// The invitation is used up or expired.
    InvitationSpent,
    /// A company with this id exists.
    IdTaken,
}

impl Table {
    /// Creates a company together with its entry in the list of companies, its claim on the RNC (if verified), its
    /// sign-up record, its use of an invitation and its first API key (if any).
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn create_company(
        &self,
        new: NewCompany,
        first_key: Option<NewApiKey>,
    ) -> Result<CompanyCreated, StoreError> {
        if let Some(key) = &first_key {
            self.begin_closing(&key.owner(), new.created_at + closing::FIRST_LOOK)
                .await?;
        }
        let mut parts = vec![Part::PutNew(profile_item(&new))];
        let mut outcomes = vec![CompanyCreated::IdTaken];
        if new.verified {
            let owner = NewItem::new(&keys::rnc(new.rnc.as_str()))
                .with(COMPANY, text(new.id))
                .build();
            parts.push(Part::PutNew(owner));
            outcomes.push(CompanyCreated::RncTaken);
        }
        if let Some(signup) = &new.signup {
            // DynamoDB removes expired items late, so an old record may still exist.
            let change = signup_change(signup, &new.id, new.created_at)
                .when(absent(PK).or(at_most(TTL, expiry(new.created_at))));
            parts.push(Part::Update(change));
            outcomes.push(CompanyCreated::SignupRepeated);
        }
        if let Some(hash) = &new.invitation {
            parts.push(Part::Update(invitations::take(hash, new.created_at)));
            outcomes.push(CompanyCreated::InvitationSpent);
        }
        if let Some(key) = first_key {
            parts.extend(key.items().map(Part::PutNew));
        }
        if let Some(certificate) = &new.certificate {
            parts.push(Part::Update(certificates::history(&new.id, certificate)));
        }
        parts.push(Part::PutNew(listing::entry(&new.rnc, &new.id)));
        let refusals = match self.transact("create company", parts).await {
            Ok(Transacted::Done) => return Ok(CompanyCreated::New),
            Ok(Transacted::Refused(refusals)) => refusals,
            // The id is random, so a company with this id is this one, and only the answer was lost.
            Err(error) if error.is_retryable() => {
                return match self.read("read company", &keys::company(&new.id)).await? {
                    Some(_) => Ok(CompanyCreated::New),
                    None => Err(error),
                };
            }
            Err(error) => return Err(error),
        };
        let refused = refusals.iter().position(Option::is_some).unwrap_or(0);
        Ok(outcomes.get(refused).copied().unwrap_or(CompanyCreated::IdTaken))
    }

    /// The company with this id.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn company(&self, id: &CompanyId) -> Result<Option<Company>, StoreError> {
        let stored = self.read("read company", &keys::company(id)).await?;
        stored.map(|stored| read_company(*id, &stored)).transpose()
    }

    /// The verified company that owns an RNC.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn company_by_rnc(&self, rnc: &Rnc) -> Result<Option<CompanyId>, StoreError> {
        let stored = self.read_settled("read RNC owner", &keys::rnc(rnc.as_str())).await?;
        stored.map(|stored| stored.parse(COMPANY)).transpose()
    }

    /// The sign-up of the last hour with this idempotency key.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn signup(&self, key: &[u8; 32], now: Timestamp) -> Result<Option<SignupRecord>, StoreError> {
        let Some(stored) = self.read("read sign-up", &keys::signup(key)).await? else {
            return Ok(None);
        };
        if stored.parse::<i64>(TTL)? <= now.as_second() {
            return Ok(None);
        }
        Ok(Some(SignupRecord {
            key: *key,
            body_hash: stored.hash(BODY_HASH)?,
            company: stored.parse(COMPANY)?,
            api_key: stored.parse(API_KEY)?,
        }))
    }

    /// Retries a sign-up: revokes the API key of the earlier answer and creates a new one. Returns `false` when another
    /// retry was faster, or the key is gone.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn replace_signup_key(
        &self,
        signup: &SignupRecord,
        new: NewApiKey,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let Some(old_hash) = self.api_key_hash(&signup.company, &signup.api_key).await? else {
            return Ok(false);
        };
        let record = Change::of(keys::signup(&signup.key))
            .set(API_KEY, text(new.id))
            .when(equals(COMPANY, text(signup.company)))
            .when(equals(API_KEY, text(signup.api_key)));
        let mut parts = vec![Part::Update(record)];
        parts.extend(super::api_keys::revocation(&signup.company, &signup.api_key, &old_hash, now).map(Part::Update));
        parts.extend(new.items().map(Part::PutNew));
        Ok(matches!(
            self.transact("replace sign-up key", parts).await?,
            Transacted::Done
        ))
    }
}

fn profile_item(new: &NewCompany) -> Item {
    let created_at = instant(new.created_at);
    let mut item = NewItem::new(&keys::company(&new.id))
        .with(RNC, text(&new.rnc))
        .with(NAME, text(&new.name))
        .with(EMAIL, text(&new.email))
        .with_some(TRADE_NAME, new.trade_name.as_ref().map(text))
        .with_some(ADDRESS, new.address.as_ref().map(text))
        .with_some(PHONE, new.phone.as_ref().map(text))
        .with(DEFAULT_ENVIRONMENT, text(new.default_environment.as_str()))
        .with(VERIFIED, flag(new.verified))
        .with(CREATED_AT, created_at.clone())
        .with(UPDATED_AT, created_at);
    for (name, value) in new.certificate.iter().flat_map(certificates::attributes) {
        item = item.with(name, value);
    }
    item.build()
}

fn signup_change(signup: &NewSignup, company: &CompanyId, now: Timestamp) -> Change {
    Change::of(keys::signup(&signup.key))
        .set(BODY_HASH, bytes(signup.body_hash))
        .set(COMPANY, text(company))
        .set(API_KEY, text(signup.api_key))
        .set(TTL, expiry(now + SIGNUP_REPEATABLE))
}

fn read_company(id: CompanyId, stored: &Stored) -> Result<Company, StoreError> {
    let owned = |name| stored.opt_str(name).map(|text| text.map(str::to_owned));
    Ok(Company {
        id,
        rnc: stored.parse(RNC)?,
        name: stored.str(NAME)?.to_owned(),
        email: stored.str(EMAIL)?.to_owned(),
        trade_name: owned(TRADE_NAME)?,
        address: owned(ADDRESS)?,
        phone: owned(PHONE)?,
        default_environment: stored.parse(DEFAULT_ENVIRONMENT)?,
        verified: stored.flag(VERIFIED)?,
        certificate: certificates::read(stored)?,
        settings: settings::read(stored)?,
        deactivated_at: stored.opt_instant(DEACTIVATED_AT)?,
        created_at: stored.instant(CREATED_AT)?,
        updated_at: stored.instant(UPDATED_AT)?,
    })
}
