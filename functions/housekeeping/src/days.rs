//! Closes past days: compares their counters with the list of their receipts, once, and sums up each month.
//!
//! Lists rely on the counters of closed days. When a receipt of a closed day reaches its final state later, the day is
//! compared again.

use std::time::{Duration, Instant};

use ecf_store::{
    Scope, StoreError,
    closing::{Closing, DAY_SHARDS, DueDays, WRITTEN_WITHIN, last_to_close},
    fiscal_day,
};
use jiff::{SignedDuration, Timestamp, ToSpan as _, civil::Date};

use crate::App;

/// Upper bound of the environments of a shard in one run; the rest waits for the next minute.
const PER_SHARD: usize = 50;
/// Upper bound of the days of one environment in one run.
const DAYS: usize = 31;
/// A run starts no further day after this time.
const TIME: Duration = Duration::from_secs(5);
/// The next attempt for an environment that failed.
const LATER: SignedDuration = SignedDuration::from_hours(1);
/// The next attempt for a late change of a day that is not closed yet.
const NEXT_LOOK: SignedDuration = SignedDuration::from_mins(10);

/// Closes all past days. A failing environment does not stop the others.
///
/// # Errors
/// The first failure, after every environment was processed.
pub(crate) async fn close_all(app: &App) -> Result<(), StoreError> {
    let (now, began) = (app.clock.now(), Instant::now());
    let mut failure = None;
    for shard in 0..DAY_SHARDS {
        let due = match app.table.due_days(shard, now, PER_SHARD).await {
            Ok(due) => due,
            Err(error) => {
                tracing::error!(shard, error = %ecf_runtime::telemetry::chain(&error), "days that are due could not be read");
                failure.get_or_insert(error);
                continue;
            }
        };
        for entry in due {
            if began.elapsed() > TIME {
                return failure.map_or(Ok(()), Err);
            }
            let closed = match entry.late {
                None => close(app, &entry, now, began).await,
                Some(day) => compare_again(app, &entry, day, now).await,
            };
            if let Err(error) = closed {
                tracing::error!(?entry, error = %ecf_runtime::telemetry::chain(&error), "a day could not be closed");
                // A failing entry must not stay the first in every run.
                let put_off = app.table.put_off_days(&entry, now + LATER).await;
                failure.get_or_insert(put_off.err().unwrap_or(error));
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Closes the next days of an environment.
async fn close(app: &App, entry: &DueDays, now: Timestamp, began: Instant) -> Result<(), StoreError> {
    let scope = &entry.scope;
    let Some(company) = app.table.company(&scope.company).await? else {
        // The company does not exist: its sign-up failed.
        app.table.forget_closing(scope).await?;
        return Ok(());
    };
    let closing = app.table.closing(scope).await?;
    let before = fiscal_day(company.created_at).saturating_sub(1.day());
    let mut until = closing.until.unwrap_or(before);
    for _ in 0..DAYS {
        let day = until.saturating_add(1.day());
        if day > last_to_close(now) || began.elapsed() > TIME {
            break;
        }
        compare(app, scope, day, &closing).await?;
        if day == day.last_of_month() {
            let first = day.first_of_month();
            // A day that must be compared again may still change, so its month is not summed up yet.
            if closing.late.range(first..=until).next().is_some() {
                break;
            }
            app.table.sum_up_month(scope, first).await?;
        }
        until = day;
    }
    app.table.days_closed(entry, until, now).await?;
    Ok(())
}

/// Compares a closed day again after a late change.
async fn compare_again(app: &App, entry: &DueDays, day: Date, now: Timestamp) -> Result<(), StoreError> {
    let scope = &entry.scope;
    let Some(changed_at) = app.table.late_change(scope, day).await? else {
        return Ok(());
    };
    let closing = app.table.closing(scope).await?;
    if !closing.is_begun {
        app.table.begin_closing(scope, now).await?;
    }
    let is_closed = closing.until.is_some_and(|until| day <= until);
    if changed_at + WRITTEN_WITHIN > now || !is_closed {
        let next = (changed_at + WRITTEN_WITHIN).max(now + NEXT_LOOK);
        app.table.put_off_days(entry, next).await?;
        return Ok(());
    }
    compare(app, scope, day, &closing).await?;
    app.table.late_change_is_counted(scope, day, changed_at).await?;
    Ok(())
}

async fn compare(app: &App, scope: &Scope, day: Date, closing: &Closing) -> Result<(), StoreError> {
    if let Some(before) = app.table.recount_day(scope, day, closing).await? {
        tracing::warn!(company.id = %scope.company, environment = %scope.environment, %day, %before, "the counters of a day were corrected");
    }
    Ok(())
}
