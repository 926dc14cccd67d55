//! Number ranges: frees numbers whose request died, and warns companies of ranges that run low or expire.
//!
//! A range is due some minutes after a number was taken from it, and again until every number is accounted for. For a
//! range that the caller numbers, the count of used numbers is compared with the locks. A type is due every day while
//! one of its ranges has an expiry. This work never delays a receipt, and each run is bounded: the range records how
//! far it was checked and which warnings were published.

use ecf::Fecha;
use ecf_runtime::Metric;
use ecf_store::{
    Scope, StoreError,
    companies::Company,
    numbers::{DueNumbers, DueRange, DueType, RANGE_SHARDS, Range, RangeAlert, Thresholds},
};
use ecf_webhooks::{News, announce};
use jiff::{SignedDuration, Timestamp};

use crate::App;

/// Upper bound of the ranges of a shard in one run; the rest waits for the next minute.
const PER_SHARD: usize = 50;
/// Upper bound of the stretches of one range's numbers in one run.
const STRETCHES: usize = 5;
/// A certificate with fewer days left is named in the log. The alarm uses the same number.
const CERTIFICATE_DAYS: u64 = 15;
/// Days left at which a company gets an event about its certificate, once for each.
const CERTIFICATE_NEWS: [u64; 4] = [1, 7, 15, 30];
/// Three times the time limit of the slowest function that takes numbers: no request uses a number any more after that.
const DEAD_AFTER: SignedDuration = SignedDuration::from_mins(3);
/// The next look at a range whose newest numbers are too young to decide.
const NEXT_LOOK: SignedDuration = DEAD_AFTER;
/// The next look at a range whose list of free numbers is full: only issuing makes room in it.
const WHEN_FULL: SignedDuration = SignedDuration::from_hours(1);
/// The next look at a range that failed.
const AFTER_FAILURE: SignedDuration = SignedDuration::from_hours(1);

/// Processes every range that is due. A failing range does not stop the others.
///
/// # Errors
/// The first failure, after every range was processed.
pub(crate) async fn look_after_all(app: &App) -> Result<(), StoreError> {
    let now = app.clock.now();
    let mut failure = None;
    for shard in 0..RANGE_SHARDS {
        let due = match app.table.due_numbers(shard, now, PER_SHARD).await {
            Ok(due) => due,
            Err(error) => {
                tracing::error!(shard, error = %ecf_runtime::telemetry::chain(&error), "ranges that are due could not be read");
                failure.get_or_insert(error);
                continue;
            }
        };
        for entry in due {
            let looked = match &entry {
                DueNumbers::Range(entry) => look_after(app, entry, now).await,
                DueNumbers::Type(entry) => look_over(app, entry, now).await,
            };
            if let Err(error) = looked {
                tracing::error!(?entry, error = %ecf_runtime::telemetry::chain(&error), "a range could not be checked");
                // A failing range must not stay the first in every run.
                let later = now + AFTER_FAILURE;
                let put_off = match &entry {
                    DueNumbers::Range(entry) => app.table.give_up_look(entry, later).await,
                    DueNumbers::Type(entry) => app.table.put_off_type(entry, Some(later)).await,
                };
                failure.get_or_insert(put_off.err().unwrap_or(error));
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

async fn look_after(app: &App, entry: &DueRange, now: Timestamp) -> Result<(), StoreError> {
    let Some(mut range) = app.table.range(&entry.scope, entry.id).await? else {
        return Ok(());
    };
    if range.is_callers() {
        return look_after_callers(app, entry, range, now).await;
    }
    let mut more = true;
    for _ in 0..STRETCHES {
        let reviewed = app.table.free_dead_numbers(entry, range, DEAD_AFTER, now).await?;
        range = reviewed.range;
        more = reviewed.more;
        if reviewed.freed > 0 {
            tracing::warn!(company.id = %entry.scope.company, range = %entry.id, freed = reviewed.freed, "numbers of failed requests were freed");
        }
        if !more {
            break;
        }
    }
    warn(app, &entry.scope, std::slice::from_ref(&range), now).await?;
    if !more && range.is_settled() && app.table.put_off_range(entry, &range, None).await? {
        return Ok(());
    }
    let wait = match range.is_full() {
        _ if more => SignedDuration::ZERO,
        true => WHEN_FULL,
        false => NEXT_LOOK,
    };
    app.table.look_again(entry, &range, now + wait).await
}

/// Compares the count of a range that the caller numbers with the locks, once no request uses a number any more.
async fn look_after_callers(app: &App, entry: &DueRange, range: Range, now: Timestamp) -> Result<(), StoreError> {
    let scope = &entry.scope;
    let Some(from) = range.verifiable_from(DEAD_AFTER) else {
        warn(app, scope, std::slice::from_ref(&range), now).await?;
        app.table.put_off_range(entry, &range, None).await?;
        return Ok(());
    };
    if from > now {
        warn(app, scope, std::slice::from_ref(&range), now).await?;
        return app.table.look_again(entry, &range, from).await;
    }
    let counted = app.table.used_numbers_of(scope, &range).await?;
    if !range.agrees(counted) {
        tracing::warn!(company.id = %scope.company, range = %entry.id, used = range.used, counted = counted.used, "the count of used numbers was corrected");
    }
    // When this is refused, a number was used concurrently, and the range stays due.
    if app
        .table
        .correct_used_numbers(scope, &range, counted, Some(entry), now)
        .await?
    {
        let range = Range {
            used: counted.used,
            next: counted.next,
            ..range
        };
        warn(app, scope, std::slice::from_ref(&range), now).await?;
    }
    Ok(())
}

/// Checks a type's ranges for warnings that depend on the date alone.
async fn look_over(app: &App, entry: &DueType, now: Timestamp) -> Result<(), StoreError> {
    let ranges = app.table.ranges(&entry.scope, Some(entry.ecf_type)).await?;
    let Some(company) = warn(app, &entry.scope, &ranges, now).await? else {
        return app.table.put_off_type(entry, None).await;
    };
    report_certificate(app, &entry.scope, &company, now).await?;
    let thresholds = thresholds(&company);
    let next = ranges
        .iter()
        .filter_map(|range| range.next_change(thresholds, now))
        .min();
    app.table.put_off_type(entry, next).await
}

/// Publishes each warning about the ranges once. Returns the company; `None` if it does not exist.
async fn warn(app: &App, scope: &Scope, ranges: &[Range], now: Timestamp) -> Result<Option<Company>, StoreError> {
    let Some(company) = app.table.company(&scope.company).await? else {
        return Ok(None);
    };
    let thresholds = thresholds(&company);
    for range in ranges {
        for alert in range.alerts(thresholds, Fecha::at(now)) {
            if range.is_published(alert) {
                continue;
            }
            let announcement = news(range, alert).announcement(scope, company.rnc.as_str(), now);
            announce(&app.table, &app.queues, scope, &announcement).await?;
            app.table.record_alert_published(scope, range, alert).await?;
            report_alert(app, scope, range, alert, now);
        }
    }
    Ok(Some(company))
}

fn thresholds(company: &Company) -> Thresholds {
    Thresholds {
        remaining: u64::from(company.settings.sequence_alert_remaining),
        days: company.settings.sequence_alert_days,
    }
}

fn news(range: &Range, alert: RangeAlert) -> News<'static> {
    let (ecf_type, range_start, range_end) = (range.ecf_type, range.start, range.end);
    match alert {
        RangeAlert::Low { remaining, threshold } => News::SequenceLow {
            ecf_type,
            range_start,
            range_end,
            remaining,
            threshold,
        },
        RangeAlert::Expiring {
            valid_until,
            days_left,
            threshold_days,
        } => News::SequenceExpiring {
            ecf_type,
            range_start,
            range_end,
            remaining: range.available(),
            valid_until: valid_until.date(),
            days_left: days_left.into(),
            threshold_days: threshold_days.into(),
        },
    }
}

/// Reports a warning to the operator: in the log, and as a metric of the environment.
fn report_alert(app: &App, scope: &Scope, range: &Range, alert: RangeAlert, now: Timestamp) {
    let (company, environment, id) = (&scope.company, scope.environment, range.id());
    let metric = match alert {
        RangeAlert::Low { remaining, .. } => {
            tracing::warn!(company.id = %company, %environment, range = %id, remaining, "a range runs low");
            Metric::RangesLow
        }
        RangeAlert::Expiring { days_left, .. } => {
            tracing::warn!(company.id = %company, %environment, range = %id, days_left, "a range expires soon");
            Metric::RangesExpiring
        }
    };
    app.metrics.emit(environment.as_str(), &[(metric, 1)], now);
}

/// Reports to the operator, and to webhooks that subscribed to it, how many days the company's certificate is still valid. Without a certificate the company
/// cannot issue.
async fn report_certificate(app: &App, scope: &Scope, company: &Company, now: Timestamp) -> Result<(), StoreError> {
    let Some(certificate) = &company.certificate else {
        return Ok(());
    };
    let days = certificate.not_after.duration_since(now).as_hours() / 24;
    let days = u64::try_from(days).unwrap_or(0);
    if days < CERTIFICATE_DAYS {
        tracing::warn!(company.id = %scope.company, days, "a certificate expires soon");
    }
    app.metrics
        .emit(scope.environment.as_str(), &[(Metric::CertificateDaysLeft, days)], now);
    let reached = CERTIFICATE_NEWS.into_iter().find(|threshold| days <= *threshold);
    if let Some(threshold_days) = reached.filter(|_| certificate.not_after > now) {
        let news = News::CertificateExpiring {
            certificate,
            days_left: days,
            threshold_days,
        };
        let announcement = news.announcement(scope, company.rnc.as_str(), now);
        announce(&app.table, &app.queues, scope, &announcement).await?;
    }
    Ok(())
}
