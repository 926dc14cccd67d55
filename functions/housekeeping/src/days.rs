//! Days that are over: their counters are compared with the list of their receipts, once, and each month is summed up.
//!
//! From then on lists believe them. A receipt of such a day that ends later asks for its day to be compared again.

use std::time::{Duration, Instant};

use ecf_store::{
    Scope, StoreError,
    closing::{Closing, DAY_SHARDS, DueDays, WRITTEN_WITHIN, last_to_close},
    fiscal_day,
};
use jiff::{SignedDuration, Timestamp, ToSpan as _, civil::Date};

use crate::App;

/// As many environments of a shard as one run takes; the rest wait for the next minute.
const PER_SHARD: usize = 50;
/// As many days of one environment as one run closes.
const DAYS: usize = 31;
/// No day is begun after so much of a run.
const TIME: Duration = Duration::from_secs(5);
/// When an environment is looked at again that could not be.
const LATER: SignedDuration = SignedDuration::from_hours(1);
/// When a late change of a day is looked at again that is not closed itself.
const NEXT_LOOK: SignedDuration = SignedDuration::from_mins(10);

/// Closes the days that are over. An environment that fails does not keep the others from their turn.
///
/// # Errors
/// The first failure, after every environment had its turn.
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
                // It must not stand first in line at every run.
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
        // Of a sign-up that failed.
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
            // A day that is compared again must not change under the sum.
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
