//! Periodic checks of the status service, whose answers are stored in the shared table for all processes.
//!
//! A lease on the time of the last attempt limits the rate, for schedules and callers alike. The service's answers open
//! and close breakers; announced windows close the gates directly.

use ecf::Environment;
use ecf_store::{
    CachedSecret, OperatorSecret, StoreError, Table, Vault,
    authority::{AuthorityCondition, AuthorityStatus, MaintenanceWindow, ServiceStatus},
    breaker::Host,
};
use jiff::{SignedDuration, Timestamp};

use crate::body::plain;
use crate::client::TaxAuth;
use crate::gates::{Gates, current_window};
use crate::status::{Listed, StatusError, StatusService};

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// The service was called.
    Now,
    /// Another caller checked within the spacing.
    Recently,
    /// No key is configured.
    NotConfigured,
}

/// Stores the authority's status in the shared table.
#[derive(Debug)]
pub struct StatusWatch {
    taxauth: TaxAuth,
    key: CachedSecret,
    table: Table,
}

/// The answers of one check.
struct Answers {
    services: Result<Vec<Listed>, StatusError>,
    windows: Result<Vec<(Environment, MaintenanceWindow)>, StatusError>,
    available: [(Environment, Result<bool, StatusError>); Environment::ALL.len()],
}

impl StatusWatch {
    /// A watch that calls the status host of the client's endpoints, once a key is configured.
    #[must_use]
    pub fn new(taxauth: TaxAuth, vault: Vault, table: Table) -> Self {
        Self {
            taxauth,
            key: CachedSecret::new(vault, OperatorSecret::TaxauthStatusKey),
            table,
        }
    }

    /// Whether a key is configured.
    ///
    /// # Errors
    /// When Secrets Manager cannot be read.
    pub async fn is_configured(&self, now: Timestamp) -> Result<bool, StoreError> {
        Ok(self.key.text(now).await?.is_some())
    }

    /// Calls the service unless it was called within `spacing`, and stores its answers. When the service does not
    /// answer, the stored status stays. When it refuses (401, 404), the status becomes unknown, never down. Announced
    /// windows stay in both cases.
    ///
    /// # Errors
    /// When the table or Secrets Manager fails.
    pub async fn check(&self, gates: &Gates, now: Timestamp, spacing: SignedDuration) -> Result<Checked, StoreError> {
        let Some(key) = self.key.text(now).await? else {
            return Ok(Checked::NotConfigured);
        };
        if !self.table.claim_status_check(now, spacing).await? {
            return Ok(Checked::Recently);
        }
        let answers = ask(&StatusService::new(self.taxauth.clone(), key)).await;
        let problem = answers.problem();
        if let Some(problem) = &problem {
            tracing::warn!(%problem, "the status service did not answer every question");
        }
        self.table.record_status_check(now, problem.as_deref()).await?;
        for environment in Environment::ALL {
            self.record(gates, environment, &answers, now).await?;
        }
        Ok(Checked::Now)
    }

    async fn record(
        &self,
        gates: &Gates,
        environment: Environment,
        answers: &Answers,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if answers.are_empty() && !answers.are_withdrawn() {
            return Ok(());
        }
        let before = self.table.condition(environment).await?;
        let status = answers.status(environment, before.status.as_ref(), now);
        self.table.record_status(environment, &status).await?;
        let condition = AuthorityCondition {
            status: Some(status),
            ..before
        };
        // During an announced window the gates are closed already, and open exactly at its end.
        if current_window(&condition, now).is_none() {
            for host in Host::ALL {
                if let Some(available) = answers.said(environment, host, now) {
                    gates.record_status(environment, host, available).await;
                }
            }
        }
        Ok(())
    }
}

async fn ask(service: &StatusService) -> Answers {
    let available = |environment| async move { (environment, service.is_available(environment).await) };
    let [one, two, three] = Environment::ALL;
    let (services, windows, one, two, three) = tokio::join!(
        service.services(),
        service.windows(),
        available(one),
        available(two),
        available(three)
    );
    Answers {
        services,
        windows,
        available: [one, two, three],
    }
}

impl Answers {
    /// Whether no query was answered.
    fn are_empty(&self) -> bool {
        self.services.is_err() && self.windows.is_err() && self.available.iter().all(|(_, answer)| answer.is_err())
    }

    /// Whether the service refuses all queries.
    fn are_withdrawn(&self) -> bool {
        self.are_empty() && self.errors().all(|error| matches!(error, StatusError::Withdrawn(_)))
    }

    /// The first query that failed, and why.
    fn problem(&self) -> Option<String> {
        self.errors().next().map(ToString::to_string)
    }

    fn errors(&self) -> impl Iterator<Item = &StatusError> {
        let errors = [self.services.as_ref().err(), self.windows.as_ref().err()];
        let available = self.available.iter().map(|(_, answer)| answer.as_ref().err());
        errors.into_iter().chain(available).flatten()
    }

    /// What this check says about a host, if anything. Answers of earlier checks do not hold calls.
    fn said(&self, environment: Environment, host: Host, now: Timestamp) -> Option<bool> {
        if self.are_withdrawn() {
            // Closes breakers that the service itself opened; those that our calls opened stay.
            return Some(true);
        }
        says(&self.status(environment, None, now), host)
    }

    /// The status of an environment after this check. Values without an answer keep their previous state.
    fn status(&self, environment: Environment, before: Option<&AuthorityStatus>, now: Timestamp) -> AuthorityStatus {
        let services = match &self.services {
            Ok(services) => of(
                environment,
                services.iter().map(|one| (one.environment, one.service.clone())),
            ),
            // A withdrawn service's old list would be shown as if it were current.
            Err(StatusError::Withdrawn(_)) => Vec::new(),
            Err(_) => before.map(|before| before.services.clone()).unwrap_or_default(),
        };
        let mut windows = match &self.windows {
            Ok(windows) => of(environment, windows.iter().copied()),
            Err(_) => before.map(|before| before.windows.clone()).unwrap_or_default(),
        };
        windows.retain(|window| window.end > now);
        windows.sort_unstable();
        let available = self.available.iter().find(|(of, _)| *of == environment);
        AuthorityStatus {
            checked_at: now,
            available: available.and_then(|(_, answer)| answer.as_ref().ok().copied()),
            services,
            windows,
        }
    }
}

fn of<T>(environment: Environment, all: impl Iterator<Item = (Environment, T)>) -> Vec<T> {
    all.filter(|(of, _)| *of == environment).map(|(_, one)| one).collect()
}

/// What a status says about a host, if anything: by the environment, and by the services that submission needs.
fn says(status: &AuthorityStatus, host: Host) -> Option<bool> {
    let needed = |service: &&ServiceStatus| {
        let name = plain(&service.servicio);
        match host {
            Host::Ecf => name == "autenticacion" || name == "recepcion",
            Host::Fc => name == "recepcionfc",
        }
    };
    let services = status.services.iter().filter(needed).map(|service| service.available);
    services.chain(status.available).reduce(|all, one| all && one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(available: Option<bool>, services: &[(&str, bool)]) -> AuthorityStatus {
        let service = |(name, available): &(&str, bool)| ServiceStatus {
            servicio: (*name).to_owned(),
            estatus: String::new(),
            available: *available,
        };
        AuthorityStatus {
            checked_at: Timestamp::UNIX_EPOCH,
            available,
            services: services.iter().map(service).collect(),
            windows: Vec::new(),
        }
    }

    #[test]
    fn a_host_is_away_when_its_environment_or_a_service_that_sends_is() {
        let cases = [
            (None, vec![], [None, None]),
            (Some(true), vec![], [Some(true), Some(true)]),
            (Some(false), vec![("Recepción", true)], [Some(false), Some(false)]),
            (
                Some(true),
                vec![("Recepción", false), ("Recepción FC", true)],
                [Some(false), Some(true)],
            ),
            (None, vec![("Recepción FC", false)], [None, Some(false)]),
            (
                Some(true),
                vec![("Consulta Directorio", false)],
                [Some(true), Some(true)],
            ),
        ];
        for (available, services, expected) in cases {
            let status = status(available, &services);
            assert_eq!(Host::ALL.map(|host| says(&status, host)), expected, "{status:?}");
        }
    }

    fn answers(
        services: Result<Vec<Listed>, StatusError>,
        available: impl Fn() -> Result<bool, StatusError>,
    ) -> Answers {
        Answers {
            services,
            windows: Err(StatusError::Withdrawn(404)),
            available: Environment::ALL.map(|environment| (environment, available())),
        }
    }

    #[test]
    fn c14_only_what_is_said_now_holds_calls() {
        let before = status(Some(false), &[("Recepción FC", false)]);
        let (environment, now) = (Environment::TesteCF, Timestamp::UNIX_EPOCH);
        for (answers, fc, services) in [
            // The list fails but the environment is up: the old list is shown and holds no calls.
            (answers(Err(StatusError::Status(500)), || Ok(true)), Some(true), 1),
            (
                answers(Err(StatusError::Status(500)), || Err(StatusError::Status(500))),
                None,
                1,
            ),
            (
                answers(Err(StatusError::Withdrawn(401)), || Err(StatusError::Withdrawn(401))),
                Some(true),
                0,
            ),
        ] {
            assert_eq!(answers.said(environment, Host::Fc, now), fc);
            assert_eq!(answers.status(environment, Some(&before), now).services.len(), services);
        }
    }
}
