//! Companies, their keys and their ranges.

use std::collections::BTreeSet;

use ecf::{Environment, Fecha};
use ecf_api::ApiKeySecret;
use ecf_store::{
    ApiKeyId, CompanyId, Scope,
    api_keys::{ApiKeyCreated, KeyScope, ListedApiKey, NewApiKey},
    companies::{Company, CompanyCreated, Verification},
    numbers::{Numbering, RangeOpened},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::command::{NewCompany, NewRange, NumberedBy};
use crate::{App, OperatorError};

/// Upper bound of a key's rate limit, far above what one company issues.
const MOST_REQUESTS_PER_SECOND: u32 = 10_000;

/// Creates a company with a first key, which is shown in the answer only.
pub(crate) async fn create(app: &App, new: NewCompany) -> Result<Value, OperatorError> {
    let now = app.clock.now();
    let id = CompanyId::from_random(ecf_runtime::random());
    let profile = ecf_store::companies::NewCompany {
        id,
        rnc: new.rnc,
        name: new.name,
        email: new.email,
        trade_name: new.trade_name,
        address: new.address,
        phone: new.phone,
        default_environment: new.environment,
        verified: new.verified,
        certificate: None,
        signup: None,
        invitation: None,
        created_at: now,
    };
    if !new.verified && new.environment != Environment::TesteCF {
        return Err(OperatorError::refused(
            "not_verified",
            format!("{} needs a verified company: say verified, or TesteCF", new.environment),
        ));
    }
    let rnc = profile.rnc.clone();
    let (secret, key) = new_key(id, new.environment, rnc.clone(), KeyScope::Full, None, now);
    let shown = show_key(&key, &secret);
    match app.table.create_company(profile, Some(key)).await? {
        CompanyCreated::New => {
            let mut answer = show(app, &id).await?;
            answer["api_key"] = shown;
            Ok(answer)
        }
        CompanyCreated::RncTaken => Err(rnc_taken(&rnc.to_string())),
        CompanyCreated::IdTaken | CompanyCreated::SignupRepeated | CompanyCreated::InvitationSpent => {
            Err(OperatorError::refused("try_again", "the id that was drawn is in use"))
        }
    }
}

pub(crate) async fn show(app: &App, id: &CompanyId) -> Result<Value, OperatorError> {
    Ok(json!({ "company": view(&company(app, id).await?) }))
}

/// Reactivates a company.
pub(crate) async fn activate(app: &App, id: &CompanyId) -> Result<Value, OperatorError> {
    let company = app.table.activate_company(id, app.clock.now()).await?;
    Ok(json!({ "company": view(&company.ok_or_else(|| unknown(id))?) }))
}

/// Deactivates a company: within a minute it cannot issue. Its issued receipts continue to their verdict, and it can
/// still read.
pub(crate) async fn deactivate(app: &App, id: &CompanyId) -> Result<Value, OperatorError> {
    let company = app.table.deactivate_company(id, app.clock.now()).await?;
    Ok(json!({ "company": view(&company.ok_or_else(|| unknown(id))?) }))
}

/// Verifies that the company is the taxpayer. From then on no other company can have the RNC.
pub(crate) async fn verify(app: &App, id: &CompanyId) -> Result<Value, OperatorError> {
    let known = company(app, id).await?;
    match app.table.verify_company(id, &known.rnc, app.clock.now()).await? {
        Verification::Done => show(app, id).await,
        Verification::RncTaken => Err(rnc_taken(&known.rnc.to_string())),
        Verification::Missing => Err(unknown(id)),
    }
}

/// Creates a key, which is shown in the answer only.
pub(crate) async fn issue_key(
    app: &App,
    id: &CompanyId,
    environment: Environment,
    scope: KeyScope,
    expires_at: Option<Timestamp>,
) -> Result<Value, OperatorError> {
    let company = company(app, id).await?;
    let now = app.clock.now();
    if let Some(past) = expires_at.filter(|when| *when <= now) {
        return Err(OperatorError::refused(
            "bad_expiry",
            format!("expires_at is {past}; it must be after {now}"),
        ));
    }
    if !company.verified && environment != Environment::TesteCF {
        return Err(OperatorError::refused(
            "not_verified",
            format!("{environment} needs a verified company: verify it first"),
        ));
    }
    let (secret, key) = new_key(*id, environment, company.rnc, scope, expires_at, now);
    let shown = show_key(&key, &secret);
    match app.table.create_api_key(key).await? {
        ApiKeyCreated::New => Ok(json!({ "api_key": shown })),
        ApiKeyCreated::Taken | ApiKeyCreated::CreatorRevoked => {
            Err(OperatorError::refused("try_again", "the key that was drawn is in use"))
        }
    }
}

pub(crate) async fn list_keys(app: &App, id: &CompanyId) -> Result<Value, OperatorError> {
    company(app, id).await?;
    let (keys, now) = (app.table.api_keys(id).await?, app.clock.now());
    let mut uses = Vec::new();
    let environments: BTreeSet<Environment> = keys.iter().map(|key| key.environment).collect();
    for environment in environments {
        let scope = Scope {
            company: *id,
            environment,
        };
        uses.push(app.table.key_uses(&scope, now).await?);
    }
    let keys: Vec<Value> = keys
        .iter()
        .map(|key| {
            let last_used_at = uses.iter().filter_map(|uses| uses.last(&key.id)).max();
            json!({
                "id": key.id, "environment": key.environment, "prefix": key.prefix, "created_at": key.created_at,
                "expires_at": key.expires_at, "revoked_at": key.revoked_at, "scope": key.scope,
                "created_by": key.created_by, "requests_per_second": key.requests_per_second,
                "name": key.name, "last_used_at": last_used_at,
            })
        })
        .collect();
    Ok(json!({ "api_keys": keys }))
}

/// Whose key this is, by its hash: the key itself is not to be sent around.
pub(crate) async fn find_key(app: &App, sha256: &str) -> Result<Value, OperatorError> {
    let mut hash = [0; 32];
    hex::decode_to_slice(sha256.trim(), &mut hash).map_err(|_| {
        OperatorError::refused(
            "bad_hash",
            "sha256 is the SHA-256 of the API key: 64 hexadecimal digits",
        )
    })?;
    let key = app.table.api_key_by_hash(&hash).await?;
    let key = key.ok_or_else(|| OperatorError::refused("not_found", "no company has a key with this hash"))?;
    let owner = company(app, &key.company).await?;
    let scope = Scope {
        company: key.company,
        environment: key.environment,
    };
    let uses = app.table.key_uses(&scope, app.clock.now()).await?;
    Ok(json!({
        "company": view(&owner),
        "api_key": {
            "id": key.id, "environment": key.environment, "scope": key.scope, "expires_at": key.expires_at,
            "revoked_at": key.revoked_at, "last_used_at": uses.last(&key.id),
        },
    }))
}

/// Revokes a key for good, optionally with its descendants. It takes effect within a minute.
pub(crate) async fn revoke_key(
    app: &App,
    id: &CompanyId,
    key: &ApiKeyId,
    descendants: bool,
) -> Result<Value, OperatorError> {
    let now = app.clock.now();
    let ids = |keys: Vec<ListedApiKey>| -> Vec<ApiKeyId> { keys.into_iter().map(|key| key.id).collect() };
    let revoked = if descendants {
        app.table.revoke_with_descendants(id, key, now).await?
    } else {
        let is_known = app.table.revoke_api_key(id, key, now).await?;
        is_known.then(Vec::new)
    };
    let revoked = revoked.ok_or_else(unknown_key)?;
    let living = app.table.living_descendants(id, key, now).await?;
    Ok(json!({ "revoked": key, "revoked_descendants": ids(revoked), "living_descendants": ids(living) }))
}

/// Sets a key's rate limit in requests per second, or restores the deployment's limit.
pub(crate) async fn limit_key(
    app: &App,
    id: &CompanyId,
    key: &ApiKeyId,
    requests_per_second: Option<u32>,
) -> Result<Value, OperatorError> {
    if requests_per_second.is_some_and(|rate| !(1..=MOST_REQUESTS_PER_SECOND).contains(&rate)) {
        return Err(OperatorError::refused(
            "bad_limit",
            format!("requests_per_second may be 1 to {MOST_REQUESTS_PER_SECOND}, or null for the deployment's limit"),
        ));
    }
    if app.table.limit_api_key(id, key, requests_per_second).await? {
        Ok(json!({ "api_key": { "id": key, "requests_per_second": requests_per_second } }))
    } else {
        Err(unknown_key())
    }
}

fn unknown_key() -> OperatorError {
    OperatorError::refused("not_found", "the company has no such key")
}

/// Opens a range that the tax authority granted.
pub(crate) async fn open_range(app: &App, new: NewRange) -> Result<Value, OperatorError> {
    company(app, &new.company).await?;
    let largest = 9_999_999_999;
    if new.range_start == 0 || new.range_start > new.range_end || new.range_end > largest {
        return Err(OperatorError::refused(
            "bad_range",
            format!(
                "the range is {} to {}; numbers are 1 to {largest}, the first no higher than the last",
                new.range_start, new.range_end
            ),
        ));
    }
    let valid_until = new
        .valid_until
        .map(Fecha::try_from)
        .transpose()
        .map_err(|error| OperatorError::refused("bad_date", error.to_string()))?;
    if new.ecf_type.carries_expiry() && valid_until.is_none() {
        return Err(OperatorError::refused(
            "no_expiry",
            format!(
                "a range of type {} has an expiry: give valid_until, such as 2028-12-31",
                new.ecf_type
            ),
        ));
    }
    let scope = Scope {
        company: new.company,
        environment: new.environment,
    };
    let range = ecf_store::numbers::NewRange {
        ecf_type: new.ecf_type,
        start: new.range_start,
        end: new.range_end,
        valid_until,
        numbering: new.numbering.map(|by| match by {
            NumberedBy::Service => Numbering::Service,
            NumberedBy::Caller => Numbering::Caller,
        }),
        created_at: app.clock.now(),
    };
    match app.table.open_range(&scope, range).await? {
        RangeOpened::New | RangeOpened::Already(_) => Ok(json!({
            "range": { "ecf_type": new.ecf_type, "range_start": new.range_start, "range_end": new.range_end },
        })),
        RangeOpened::TooMany => Err(OperatorError::refused(
            "too_many_ranges",
            format!("the company has as many ranges of type {} as it may", new.ecf_type),
        )),
        RangeOpened::Overlaps(other) => Err(OperatorError::refused(
            "range_overlaps",
            format!("the range {} to {} holds some of these numbers", other.start, other.end),
        )),
    }
}

pub(crate) async fn company(app: &App, id: &CompanyId) -> Result<Company, OperatorError> {
    app.table.company(id).await?.ok_or_else(|| unknown(id))
}

fn unknown(id: &CompanyId) -> OperatorError {
    OperatorError::refused("not_found", format!("there is no company {id}"))
}

fn rnc_taken(rnc: &str) -> OperatorError {
    OperatorError::refused("rnc_taken", format!("another verified company has the RNC {rnc}"))
}

pub(crate) fn view(company: &Company) -> Value {
    json!({
        "public_id": company.id, "rnc": company.rnc, "name": company.name, "email": company.email,
        "default_environment": company.default_environment, "verified": company.verified,
        "is_active": company.is_active(), "created_at": company.created_at,
        "certificate_until": company.certificate.as_ref().map(|certificate| certificate.not_after),
    })
}

fn new_key(
    company: CompanyId,
    environment: Environment,
    rnc: ecf::Rnc,
    scope: KeyScope,
    expires_at: Option<Timestamp>,
    now: Timestamp,
) -> (ApiKeySecret, NewApiKey) {
    let secret = ApiKeySecret::generate(environment, ecf_runtime::random());
    let key = NewApiKey {
        company,
        environment,
        rnc,
        id: ApiKeyId::from_random(ecf_runtime::random()),
        hash: secret.hash(),
        prefix: secret.prefix().to_owned(),
        name: None,
        created_at: now,
        expires_at,
        scope,
        created_by: None,
    };
    (secret, key)
}

fn show_key(key: &NewApiKey, secret: &ApiKeySecret) -> Value {
    json!({
        "id": key.id, "key": secret.text(), "prefix": key.prefix, "environment": key.environment,
        "scope": key.scope, "expires_at": key.expires_at, "only_shown_once": true,
    })
}
