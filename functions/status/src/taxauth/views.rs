//! The responses of the status routes.

use ecf::Environment;
use ecf_api::Instant;
use ecf_store::{
    authority::{AuthorityCondition, MaintenanceWindow, ServiceStatus, StatusCheck},
    breaker::{Cause, Host},
};
use ecf_taxauth::{held_until, outage};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// How old the status service's last answer is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Age {
    /// `status_service`, or `none` when this deployment has no key for it: then only our own calls show how the authority is.
    source: &'static str,
    /// When the status service answered last.
    #[schema(value_type = Option<String>, format = DateTime)]
    checked_at: Option<Instant>,
    age_seconds: Option<i64>,
    /// Why the last attempt to ask it brought nothing, or not everything.
    problem: Option<String>,
}

impl Age {
    pub(super) fn of(
        conditions: &[(Environment, AuthorityCondition)],
        check: Option<StatusCheck>,
        is_configured: bool,
        now: Timestamp,
    ) -> Self {
        let statuses = conditions.iter().filter_map(|(_, condition)| condition.status.as_ref());
        let checked_at = statuses.map(|status| status.checked_at).max();
        Self {
            source: if is_configured { "status_service" } else { "none" },
            checked_at: checked_at.map(Instant),
            age_seconds: checked_at.map(|at| now.duration_since(at).as_secs().max(0)),
            problem: check.and_then(|check| check.problem),
        }
    }
}

/// The authority, environment by environment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatusView {
    /// Whether receipts of every environment go out.
    operational: bool,
    #[serde(flatten)]
    age: Age,
    environments: Vec<EnvironmentView>,
}

impl StatusView {
    pub(super) fn of(conditions: &[(Environment, AuthorityCondition)], age: Age, now: Timestamp) -> Self {
        let view = |(environment, condition): &(Environment, AuthorityCondition)| {
            EnvironmentView::of(*environment, condition, now)
        };
        let environments: Vec<_> = conditions.iter().map(view).collect();
        Self {
            operational: environments.iter().all(|environment| environment.operational),
            age,
            environments,
        }
    }
}

/// The same after a refresh.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RefreshView {
    /// Whether the status service was asked for this answer; `false` when its answer is at most half a minute old.
    pub(super) refreshed: bool,
    #[serde(flatten)]
    pub(super) status: StatusView,
}

/// One environment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EnvironmentView {
    environment: &'static str,
    /// Whether receipts go out now.
    operational: bool,
    /// Whether the environment is available according to the status service; `null` when it was not asked.
    available: Option<bool>,
    hosts: Vec<HostView>,
    services: Vec<ServiceView>,
    /// Current and announced maintenance windows.
    windows: Vec<WindowView>,
}

impl EnvironmentView {
    pub(super) fn of(environment: Environment, condition: &AuthorityCondition, now: Timestamp) -> Self {
        let status = condition.status.as_ref();
        let services = status.map_or(&[][..], |status| &status.services);
        Self {
            environment: environment.as_str(),
            operational: ImpactView::of(environment, condition, now).impact == Impact::None,
            available: status.and_then(|status| status.available),
            hosts: Host::ALL.map(|host| HostView::of(host, condition)).into(),
            services: services
                .iter()
                .map(|service| ServiceView::of(environment, service))
                .collect(),
            windows: windows(environment, condition, now).collect(),
        }
    }
}

/// A host of the authority, as our own calls and its status service show it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HostView {
    /// `ecf`: everything but summaries; `fc`: summaries of consumer invoices.
    host: &'static str,
    /// `up`, or `away` while calls to it are held.
    state: &'static str,
    #[schema(value_type = Option<String>, format = DateTime)]
    since: Option<Instant>,
    /// `failures` of our calls, or an answer of the `status_service`.
    cause: Option<&'static str>,
    /// When a call will find out whether it is back.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_probe_at: Option<Instant>,
}

impl HostView {
    fn of(host: Host, condition: &AuthorityCondition) -> Self {
        let open = condition.breaker(host).open.as_ref();
        Self {
            host: host.as_str(),
            state: if open.is_some() { "away" } else { "up" },
            since: open.map(|open| Instant(open.since)),
            cause: open.map(|open| match open.cause {
                Cause::Failures => "failures",
                Cause::Status => "status_service",
            }),
            next_probe_at: open.map(|open| Instant(open.probe_at)),
        }
    }
}

/// A service, as the tax authority describes it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServiceView {
    environment: &'static str,
    servicio: String,
    estatus: String,
    available: bool,
}

impl ServiceView {
    fn of(environment: Environment, service: &ServiceStatus) -> Self {
        Self {
            environment: environment.as_str(),
            servicio: service.servicio.clone(),
            estatus: service.estatus.clone(),
            available: service.available,
        }
    }
}

/// All services.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServiceListView {
    #[serde(flatten)]
    age: Age,
    services: Vec<ServiceView>,
}

impl ServiceListView {
    pub(super) fn of(conditions: &[(Environment, AuthorityCondition)], age: Age) -> Self {
        let services = conditions.iter().flat_map(|(environment, condition)| {
            let services = condition.status.as_ref().map_or(&[][..], |status| &status.services);
            services.iter().map(|service| ServiceView::of(*environment, service))
        });
        Self {
            age,
            services: services.collect(),
        }
    }
}

/// A maintenance window.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WindowView {
    environment: &'static str,
    #[schema(value_type = String, format = DateTime)]
    starts_at: Instant,
    #[schema(value_type = String, format = DateTime)]
    ends_at: Instant,
    /// Whether it lasts now.
    active: bool,
}

fn windows(
    environment: Environment,
    condition: &AuthorityCondition,
    now: Timestamp,
) -> impl Iterator<Item = WindowView> {
    let ahead = condition.windows().iter().filter(move |window| window.end > now);
    ahead.map(move |MaintenanceWindow { start, end }| WindowView {
        environment: environment.as_str(),
        starts_at: Instant(*start),
        ends_at: Instant(*end),
        active: *start <= now,
    })
}

/// All windows, and what to do now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MaintenanceView {
    /// The current and announced maintenance windows of every environment.
    windows: Vec<WindowView>,
    /// Whether receipts of the key's environment are held now, so that they are issued in contingency.
    recommend_contingency: bool,
    #[serde(flatten)]
    age: Age,
}

impl MaintenanceView {
    pub(super) fn of(
        conditions: &[(Environment, AuthorityCondition)],
        of: Environment,
        age: Age,
        now: Timestamp,
    ) -> Self {
        let mut recommend_contingency = false;
        let mut all = Vec::new();
        for (environment, condition) in conditions {
            all.extend(windows(*environment, condition, now));
            if *environment == of {
                recommend_contingency = ImpactView::of(of, condition, now).recommend_contingency;
            }
        }
        all.sort_by_key(|window| window.starts_at.0);
        Self {
            windows: all,
            recommend_contingency,
            age,
        }
    }
}

/// What happens to receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Impact {
    /// They go out.
    None,
    /// Summaries alone are held.
    Partial,
    /// All are held.
    Held,
}

/// What the authority's condition means for receipts of an environment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImpactView {
    environment: &'static str,
    impact: Impact,
    /// Receipts are signed and can be printed whatever the impact is.
    issuing: &'static str,
    /// `sent` or `held`: receipts in full, and the questions for their verdicts.
    receipts: &'static str,
    /// `sent` or `held`: summaries of consumer invoices. They are held with the receipts, since their token comes from the same host.
    summaries: &'static str,
    recommend_contingency: bool,
    /// `maintenance` (announced), `unreachable` (our calls fail) or `reported` (the status service says so).
    reason: Option<&'static str>,
    /// Until when at least.
    #[schema(value_type = Option<String>, format = DateTime)]
    held_until: Option<Instant>,
}

impl ImpactView {
    pub(super) fn of(environment: Environment, condition: &AuthorityCondition, now: Timestamp) -> Self {
        let [receipts, summaries] = held_until(condition, now);
        let impact = match (receipts, summaries) {
            (None, None) => Impact::None,
            (Some(_), Some(_)) => Impact::Held,
            _ => Impact::Partial,
        };
        let told = |until: Option<Timestamp>| if until.is_some() { "held" } else { "sent" };
        Self {
            environment: environment.as_str(),
            impact,
            issuing: "available",
            receipts: told(receipts),
            summaries: told(summaries),
            recommend_contingency: impact != Impact::None,
            reason: outage(condition, now).map(|outage| outage.reason.as_str()),
            held_until: receipts.max(summaries).map(Instant),
        }
    }
}

/// The same of every environment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImpactListView {
    items: Vec<ImpactView>,
}

impl ImpactListView {
    pub(super) fn of(conditions: &[(Environment, AuthorityCondition)], now: Timestamp) -> Self {
        let items = conditions
            .iter()
            .map(|(environment, condition)| ImpactView::of(*environment, condition, now));
        Self { items: items.collect() }
    }
}
