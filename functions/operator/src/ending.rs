//! What ends: ranges and certificates, of one company or of all.

use ecf::{Environment, Fecha};
use ecf_store::{
    CompanyId, StoreError,
    companies::{Company, CompanyPlace},
    fiscal_day,
    numbers::{Numbering, Range, RangeState, Thresholds},
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::walk::{AT_ONCE, Bounds, Owner, Part, scopes};
use crate::{App, OperatorError};

/// Up to three queries a company.
const RANGES: Bounds = Bounds { usual: 100, most: 200 };
const CERTIFICATES: Bounds = Bounds { usual: 200, most: 500 };
const MOST_DAYS: u16 = 3_660;

/// The ranges to list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListRanges {
    /// All companies, if left out.
    company: Option<CompanyId>,
    environment: Option<Environment>,
    /// Only ranges in use that run low or expire, by the company's own thresholds.
    #[serde(default)]
    ending: bool,
    /// Where the part begins: `next` of the last answer.
    at: Option<CompanyPlace>,
    limit: Option<usize>,
}

pub(crate) async fn ranges(app: &App, command: ListRanges) -> Result<Value, OperatorError> {
    let part = Part::of(app, command.company, command.at, command.limit, RANGES).await?;
    let reads: Vec<_> = part
        .companies
        .iter()
        .map(|company| ranges_of(app, company, command.environment, command.ending))
        .collect();
    let found: Vec<Vec<Value>> = stream::iter(reads).buffered(AT_ONCE).try_collect().await?;
    Ok(json!({ "ranges": found.concat(), "companies": part.companies.len(), "next": part.next }))
}

async fn ranges_of(
    app: &App,
    company: &Company,
    environment: Option<Environment>,
    ending: bool,
) -> Result<Vec<Value>, StoreError> {
    let today = today(app);
    let owner = Owner::of(company);
    let mut rows = Vec::new();
    for scope in scopes(company, environment) {
        let ranges = app.table.ranges(&scope, None).await?;
        let shown = ranges
            .iter()
            .filter(|range| !ending || ends(range, &ranges, company, today));
        rows.extend(shown.map(|range| owner.row(&range_view(range, scope.environment, today))));
    }
    Ok(rows)
}

/// Whether the range runs low or expires, and no other one continues its type.
fn ends(range: &Range, all: &[Range], company: &Company, today: Fecha) -> bool {
    let thresholds = Thresholds {
        remaining: u64::from(company.settings.sequence_alert_remaining),
        days: company.settings.sequence_alert_days,
    };
    let warns = |range: &Range| !range.alerts(thresholds, today).is_empty();
    let continues = |other: &Range| {
        let same = other.ecf_type == range.ecf_type && other.is_callers() == range.is_callers();
        same && other.start != range.start && other.state(today) == RangeState::Active && !warns(other)
    };
    warns(range) && !all.iter().any(continues)
}

pub(crate) fn range_view(range: &Range, environment: Environment, today: Fecha) -> Value {
    json!({
        "environment": environment, "ecf_type": range.ecf_type, "range_start": range.start, "range_end": range.end,
        "available": range.available(), "total": range.total(), "valid_until": range.valid_until.map(Fecha::date),
        "state": range.state(today).as_str(),
        "numbering": range.numbering.map(|by| match by {
            Numbering::Service => "service",
            Numbering::Caller => "caller",
        }),
    })
}

pub(crate) fn today(app: &App) -> Fecha {
    Fecha::at(app.clock.now())
}

/// The certificates to list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListCertificates {
    /// All companies, if left out.
    company: Option<CompanyId>,
    /// Only certificates that end within this number of days, or have ended.
    expiring_days: Option<u16>,
    /// Where the part begins: `next` of the last answer.
    at: Option<CompanyPlace>,
    limit: Option<usize>,
}

/// The active certificate of each company.
pub(crate) async fn certificates(app: &App, command: ListCertificates) -> Result<Value, OperatorError> {
    if command.expiring_days.is_some_and(|days| days > MOST_DAYS) {
        let message = format!("expiring_days may be 0 to {MOST_DAYS}");
        return Err(OperatorError::refused("bad_part", message));
    }
    let part = Part::of(app, command.company, command.at, command.limit, CERTIFICATES).await?;
    let now = app.clock.now();
    let until = command
        .expiring_days
        .map(|days| now + SignedDuration::from_hours(24 * i64::from(days)));
    let rows = part
        .companies
        .iter()
        .filter_map(|company| certificate(company, now, until));
    let rows: Vec<Value> = rows.collect();
    let without = part
        .companies
        .iter()
        .filter(|company| company.certificate.is_none())
        .count();
    Ok(json!({
        "certificates": rows, "companies": part.companies.len(), "companies_without_certificate": without,
        "next": part.next,
    }))
}

fn certificate(company: &Company, now: Timestamp, until: Option<Timestamp>) -> Option<Value> {
    let certificate = company.certificate.as_ref()?;
    if until.is_some_and(|until| certificate.not_after > until) {
        return None;
    }
    let days_left = fiscal_days(now, certificate.not_after);
    Some(Owner::of(company).row(&json!({
        "is_active": company.is_active(), "alias": certificate.alias, "subject": certificate.subject,
        "issuer": certificate.issuer, "not_after": certificate.not_after, "days_left": days_left,
        "email": company.email,
    })))
}

/// Whole days in Santo Domingo; negative in the past.
fn fiscal_days(now: Timestamp, then: Timestamp) -> i32 {
    let days = fiscal_day(then) - fiscal_day(now);
    days.get_days()
}
