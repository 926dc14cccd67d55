//! The condition of the tax authority in an environment: its circuit breakers, its maintenance windows and the last
//! answer of its status service. One query reads all of it.
//!
//! These records do not belong to a company. Each process reads an environment's condition at most every few seconds,
//! so one partition per environment is enough.

use ecf::Environment;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    Query, Table,
    breaker::{self, Breaker, Host},
    change::Change,
    condition::{absent, at_most, equals},
    item::{Stored, instant, text},
    keys,
};
use crate::StoreError;

const STATUS: &str = "su";
const CHECKED_AT: &str = "ck";
const ATTEMPTED_AT: &str = "at";
const PROBLEM: &str = "pb";

/// The stored condition of the authority in one environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthorityCondition {
    pub ecf: Breaker,
    pub fc: Breaker,
    /// Absent until the status service was called for the first time.
    pub status: Option<AuthorityStatus>,
}

impl AuthorityCondition {
    pub fn breaker(&self, host: Host) -> &Breaker {
        match host {
            Host::Ecf => &self.ecf,
            Host::Fc => &self.fc,
        }
    }

    pub fn breaker_mut(&mut self, host: Host) -> &mut Breaker {
        match host {
            Host::Ecf => &mut self.ecf,
            Host::Fc => &mut self.fc,
        }
    }

    /// The announced windows, earliest first.
    pub fn windows(&self) -> &[MaintenanceWindow] {
        self.status.as_ref().map_or(&[], |status| &status.windows)
    }
}

/// The status service's answer about an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorityStatus {
    pub checked_at: Timestamp,
    /// Whether the environment is available; absent when the service did not answer that.
    pub available: Option<bool>,
    pub services: Vec<ServiceStatus>,
    pub windows: Vec<MaintenanceWindow>,
}

/// A service, named by the authority's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceStatus {
    pub servicio: String,
    pub estatus: String,
    pub available: bool,
}

/// A maintenance window: from `start` until before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MaintenanceWindow {
    pub start: Timestamp,
    pub end: Timestamp,
}

/// The last call of the status service, successful or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusCheck {
    pub attempted_at: Timestamp,
    /// Why the last attempt failed.
    pub problem: Option<String>,
}

/// The attribute in the table.
#[derive(Serialize, Deserialize)]
struct StatusAttribute {
    available: Option<bool>,
    services: Vec<ServiceStatus>,
    windows: Vec<MaintenanceWindow>,
}

impl Table {
    /// The authority's condition in an environment; an eventually consistent read.
    pub async fn condition(&self, environment: Environment) -> Result<AuthorityCondition, StoreError> {
        let query = Query::of(keys::authority_partition(environment));
        let mut condition = AuthorityCondition::default();
        for stored in self.query("read condition of the authority", query).await? {
            match stored.sk()? {
                keys::STATUS => condition.status = Some(read(&stored)?),
                sort => {
                    if let Some(host) = keys::host_of(sort) {
                        *condition.breaker_mut(host) = breaker::read(&stored)?;
                    }
                }
            }
        }
        Ok(condition)
    }

    /// Claims the next call of the status service. Returns `false` when another process called it within `spacing`.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn claim_status_check(&self, now: Timestamp, spacing: SignedDuration) -> Result<bool, StoreError> {
        let change = Change::of(keys::status_check())
            .set(ATTEMPTED_AT, instant(now))
            .when(absent(ATTEMPTED_AT).or(at_most(ATTEMPTED_AT, instant(now - spacing))));
        self.applied("claim status check", change).await
    }

    /// Records the result of a call; `None` means success.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_status_check(&self, attempted_at: Timestamp, problem: Option<&str>) -> Result<(), StoreError> {
        let change = Change::of(keys::status_check())
            .set_or_remove(PROBLEM, problem.map(text))
            .when(equals(ATTEMPTED_AT, instant(attempted_at)));
        // The result of a later call takes precedence.
        self.apply("record status check", change).await.map(drop)
    }

    /// The last call of the status service; `None` if there was none.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn status_check(&self) -> Result<Option<StatusCheck>, StoreError> {
        let Some(stored) = self.read_eventual("read status check", &keys::status_check()).await? else {
            return Ok(None);
        };
        Ok(Some(StatusCheck {
            attempted_at: stored.instant(ATTEMPTED_AT)?,
            problem: stored.opt_str(PROBLEM)?.map(str::to_owned),
        }))
    }

    /// Stores the status service's answer about an environment. An older answer never replaces a newer one.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_status(&self, environment: Environment, status: &AuthorityStatus) -> Result<(), StoreError> {
        let attribute = StatusAttribute {
            available: status.available,
            services: status.services.clone(),
            windows: status.windows.clone(),
        };
        let attribute = serde_json::to_string(&attribute).expect("texts and instants are JSON");
        let change = Change::of(keys::authority_status(environment))
            .set(STATUS, text(attribute))
            .set(CHECKED_AT, instant(status.checked_at))
            .when(absent(CHECKED_AT).or(at_most(CHECKED_AT, instant(status.checked_at))));
        self.apply("record status", change).await.map(drop)
    }
}

fn read(stored: &Stored) -> Result<AuthorityStatus, StoreError> {
    let attribute: StatusAttribute =
        serde_json::from_str(stored.str(STATUS)?).map_err(|error| stored.corrupt(STATUS, error))?;
    Ok(AuthorityStatus {
        checked_at: stored.instant(CHECKED_AT)?,
        available: attribute.available,
        services: attribute.services,
        windows: attribute.windows,
    })
}
