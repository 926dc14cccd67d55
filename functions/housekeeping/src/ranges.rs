//! Ranges of numbers: numbers whose request died are freed.
//!
//! A range is due some minutes after a number was taken from it, and again until all of them are accounted for. Nothing here
//! is on the way of a receipt, and each run does a bounded part of the work: the range remembers how far it was checked.

use ecf_store::{DueRange, MOST_FREE, RANGE_SHARDS, StoreError};
use jiff::{SignedDuration, Timestamp};

use crate::App;

/// As many ranges of a shard as one run takes; the rest wait for the next minute.
const PER_SHARD: usize = 50;
/// As many stretches of one range's numbers as one run looks at.
const STRETCHES: usize = 5;
/// Three times the time limit of the slowest function that takes numbers: nobody is at work on a number after that.
const DEAD_AFTER: SignedDuration = SignedDuration::from_mins(3);
/// When a range is looked at again whose newest numbers are too young to judge.
const NEXT_LOOK: SignedDuration = DEAD_AFTER;
/// The same for a range whose list of free numbers is full: only takes make room.
const WHEN_FULL: SignedDuration = SignedDuration::from_hours(1);
/// The same for one that could not be looked at.
const AFTER_FAILURE: SignedDuration = SignedDuration::from_hours(1);

/// Looks after every range that is due. One that fails does not keep the others from their turn.
///
/// # Errors
/// The first failure, after every range had its turn.
pub(crate) async fn look_after_all(app: &App) -> Result<(), StoreError> {
    let now = app.clock.now();
    let mut failure = None;
    for shard in 0..RANGE_SHARDS {
        let due = match app.table.due_ranges(shard, now, PER_SHARD).await {
            Ok(due) => due,
            Err(error) => {
                tracing::error!(shard, error = %ecf_runtime::telemetry::chain(&error), "ranges that are due could not be read");
                failure.get_or_insert(error);
                continue;
            }
        };
        for entry in due {
            if let Err(error) = look_after(app, &entry, now).await {
                tracing::error!(company.id = %entry.scope.company, range = %entry.id, error = %ecf_runtime::telemetry::chain(&error), "a range could not be looked after");
                // It must not stand first in line at every run.
                let put_off = app.table.give_up_look(&entry, now + AFTER_FAILURE).await;
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
    let mut more = true;
    for _ in 0..STRETCHES {
        let reviewed = app.table.free_dead_numbers(entry, range, DEAD_AFTER, now).await?;
        range = reviewed.range;
        more = reviewed.more;
        if reviewed.freed > 0 {
            tracing::warn!(company.id = %entry.scope.company, range = %entry.id, freed = reviewed.freed, "numbers of dead requests are free again");
        }
        if !more {
            break;
        }
    }
    if !more && range.is_settled() && app.table.put_off_range(entry, &range, None).await? {
        return Ok(());
    }
    let wait = match range.free.len() {
        _ if more => SignedDuration::ZERO,
        MOST_FREE.. => WHEN_FULL,
        _ => NEXT_LOOK,
    };
    app.table.look_again(entry, &range, now + wait).await
}
