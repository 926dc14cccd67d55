//! Why nothing goes out: webhooks that fail, the condition of the tax authority, and one company as a whole.

use ecf::{Environment, ReceiptState};
use ecf_store::{
    CompanyId, Scope, StoreError,
    breaker::Host,
    companies::{Company, CompanyPlace},
    numbers::RangeState,
    webhooks::Webhook,
};
use ecf_taxauth::outage;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::walk::{AT_ONCE, Bounds, ENVIRONMENTS, Owner, Part, scopes};
use crate::{App, OperatorError, companies, ending};

/// Three queries a company.
const WEBHOOKS: Bounds = Bounds { usual: 100, most: 200 };
/// A certificate that ends within this time is a finding.
const CERTIFICATE_ENDS: SignedDuration = SignedDuration::from_hours(24 * 15);

/// The webhooks to list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListWebhooks {
    /// All companies, if left out.
    company: Option<CompanyId>,
    /// Only webhooks that fail, are slow, or were switched off by the service.
    #[serde(default)]
    failing: bool,
    /// Where the part begins: `next` of the last answer.
    at: Option<CompanyPlace>,
    limit: Option<usize>,
}

pub(crate) async fn webhooks(app: &App, command: ListWebhooks) -> Result<Value, OperatorError> {
    let part = Part::of(app, command.company, command.at, command.limit, WEBHOOKS).await?;
    let reads: Vec<_> = part
        .companies
        .iter()
        .map(|company| webhooks_of(app, company, command.failing))
        .collect();
    let found: Vec<Vec<Value>> = stream::iter(reads).buffered(AT_ONCE).try_collect().await?;
    Ok(json!({ "webhooks": found.concat(), "companies": part.companies.len(), "next": part.next }))
}

async fn webhooks_of(app: &App, company: &Company, failing: bool) -> Result<Vec<Value>, StoreError> {
    let owner = Owner::of(company);
    let mut rows = Vec::new();
    for scope in scopes(company, None) {
        let webhooks = app.table.webhooks(&scope).await?;
        let shown = webhooks.iter().filter(|webhook| !failing || fails(webhook));
        rows.extend(shown.map(|webhook| owner.row(&webhook_view(webhook, scope.environment))));
    }
    Ok(rows)
}

fn fails(webhook: &Webhook) -> bool {
    webhook.failing_since.is_some() || webhook.slow_since.is_some() || webhook.paused.is_some()
}

fn webhook_view(webhook: &Webhook, environment: Environment) -> Value {
    json!({
        "environment": environment, "webhook": webhook.id, "url": webhook.url, "is_active": webhook.is_active,
        "failing_since": webhook.failing_since, "slow_since": webhook.slow_since,
        "paused_at": webhook.paused.as_ref().map(|pause| pause.at),
        "paused_reason": webhook.paused.as_ref().map(|pause| &pause.reason.en), "probe_at": webhook.probe_at,
    })
}

/// The circuit breakers of the tax authority's hosts, and what its status service says.
pub(crate) async fn authority(app: &App) -> Result<Value, OperatorError> {
    let mut breakers = Vec::new();
    let mut statuses = Vec::new();
    let mut agrees = true;
    for environment in ENVIRONMENTS {
        let condition = app.table.condition(environment).await?;
        for host in Host::ALL {
            let breaker = condition.breaker(host);
            let failures: u32 = breaker.failures.values().map(|failures| failures.count).sum();
            breakers.push(json!({
                "environment": environment, "host": host.as_str(), "open": breaker.open.is_some(),
                "since": breaker.open.as_ref().map(|open| open.since),
                "cause": breaker.open.as_ref().map(|open| open.cause),
                "probe_at": breaker.open.as_ref().map(|open| open.probe_at),
                "parties": breaker.failures.len(), "failures": failures,
            }));
        }
        let (status, held) = (condition.status.as_ref(), outage(&condition, app.clock.now()));
        agrees &= held.is_none();
        statuses.push(json!({
            "environment": environment, "available": status.and_then(|status| status.available),
            "checked_at": status.map(|status| status.checked_at), "windows": condition.windows(),
            "held_since": held.map(|outage| outage.since), "held_because": held.map(|outage| outage.reason.as_str()),
        }));
    }
    Ok(json!({ "agrees": agrees, "breakers": breakers, "status": statuses }))
}

/// A company with everything that keeps it from issuing, in one environment.
pub(crate) async fn examine(
    app: &App,
    id: &CompanyId,
    environment: Option<Environment>,
) -> Result<Value, OperatorError> {
    let company = companies::company(app, id).await?;
    let now = app.clock.now();
    let environment = environment.unwrap_or(company.default_environment);
    let scope = Scope {
        company: company.id,
        environment,
    };
    let mut findings = of_the_company(&company, environment, now);
    let keys = app.table.api_keys(id).await?;
    let uses = app.table.key_uses(&scope, now).await?;
    let here = keys.iter().filter(|key| key.environment == environment);
    let working = here.filter(|key| key.is_active(now)).count();
    if working == 0 {
        findings.push(finding("no_key", "it has no working API key in this environment"));
    }
    let last_use = keys.iter().filter_map(|key| uses.last(&key.id)).max();

    let today = ending::today(app);
    let ranges = app.table.ranges(&scope, None).await?;
    if !ranges.iter().any(|range| range.state(today) == RangeState::Active) {
        findings.push(finding("no_range", "no range has numbers left"));
    }
    let open = app.table.open_receipts(&scope, now).await?;
    for (state, count) in &open.states {
        match state {
            ReceiptState::Failed => findings.push(finding("failed", format!("{count} receipts wait for a person"))),
            ReceiptState::Contingency => {
                findings.push(finding(
                    "held",
                    format!("{count} receipts are held until the authority is back"),
                ));
            }
            _ => {}
        }
    }
    let condition = app.table.condition(environment).await?;
    if let Some(outage) = outage(&condition, now) {
        let (since, reason) = (outage.since, outage.reason.as_str());
        findings.push(finding(
            "authority_away",
            format!("calls to the tax authority are held since {since}: {reason}"),
        ));
    }
    let webhooks = app.table.webhooks(&scope).await?;
    for webhook in webhooks.iter().filter(|webhook| fails(webhook)) {
        findings.push(finding(
            "webhook_fails",
            format!("webhook {} to {}", webhook.id, webhook.url),
        ));
    }
    Ok(json!({
        "company": companies::view(&company), "environment": environment, "agrees": findings.is_empty(),
        "findings": findings,
        "api_keys": { "working": working, "last_used_at": last_use },
        "open_receipts": { "states": open.states, "is_complete": open.is_complete },
        "ranges": ranges.iter().map(|range| ending::range_view(range, environment, today)).collect::<Vec<_>>(),
        "webhooks": webhooks.iter().map(|webhook| webhook_view(webhook, environment)).collect::<Vec<_>>(),
    }))
}

fn of_the_company(company: &Company, environment: Environment, now: Timestamp) -> Vec<Value> {
    let mut findings = Vec::new();
    if let Some(at) = company.deactivated_at {
        findings.push(finding(
            "inactive",
            format!("it was deactivated at {at}: activate_company"),
        ));
    }
    if !company.verified && environment != Environment::TesteCF {
        findings.push(finding(
            "not_verified",
            format!("{environment} needs a verified company"),
        ));
    }
    match &company.certificate {
        None => findings.push(finding("no_certificate", "it has not uploaded a certificate")),
        Some(certificate) if certificate.not_after <= now => {
            findings.push(finding(
                "certificate_expired",
                format!("its certificate ended at {}", certificate.not_after),
            ));
        }
        Some(certificate) if certificate.not_after <= now + CERTIFICATE_ENDS => {
            findings.push(finding(
                "certificate_expires",
                format!("its certificate ends at {}", certificate.not_after),
            ));
        }
        Some(_) => {}
    }
    findings
}

fn finding(code: &str, detail: impl Into<String>) -> Value {
    json!({ "finding": code, "detail": detail.into() })
}
