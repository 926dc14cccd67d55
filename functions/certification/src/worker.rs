//! Takes a run on, one job after the other.
//!
//! A job names the step of the run that it was enqueued for and is void once the run is past it. Everything that a job
//! does is safe to do twice, and it moves the run to the next step at its end. So an interrupted job is repeated by SQS
//! with the same decision, and a lost job is replaced by housekeeping.

use std::time::Duration;

use ecf_language::say;
use ecf_runtime::{Message, Outcome};
use ecf_store::{
    CertificationJob, StoreError,
    runs::{Run, RunProgress, RunState as StoredState, RunStop, StopCause},
    waits,
};
use ecf_webhooks::{News, announce};
use ecf_workbook::Phase;
use ecf_workbook::run::{self, Next, RowState, RunState, Stop};

use crate::Worker;
use crate::rows::{Record, Row, entries, name_of, rows, stored};
use crate::sending::Sender;

/// Upper bound of the decisions in one job: a row is sent, then its verdict is awaited.
const DECISIONS: u32 = 3;

/// Runs one job.
pub async fn handle(worker: &Worker, job: CertificationJob, _message: Message) -> Outcome<CertificationJob> {
    take_on(worker, &job).await.unwrap_or_else(|error| {
        let CertificationJob::Run { run, waits, .. } = &job;
        tracing::warn!(run.id = %run, error = %ecf_runtime::telemetry::chain(&error), "a step of the run failed; trying again");
        match waits::STEP.after(*waits) {
            Some(after) => Outcome::Again {
                job: waited(&job),
                after,
            },
            // The due index brings the run back.
            None => Outcome::Done,
        }
    })
}

async fn take_on(worker: &Worker, job: &CertificationJob) -> Result<Outcome<CertificationJob>, StoreError> {
    let CertificationJob::Run {
        scope,
        run,
        step,
        waits,
    } = job;
    let store = &worker.store;
    let Some(run) = store.table.run(scope, run).await? else {
        return Ok(missing("the run does not exist"));
    };
    if run.step != *step || run.progress.state != StoredState::Running {
        return Ok(Outcome::Done);
    }
    let Some(company) = store.table.company(&scope.company).await? else {
        return Ok(missing("the company does not exist"));
    };
    let now = worker.clock.now();
    let book = store.books.of(&store.artifacts, scope, &company.rnc, &run, now).await?;
    let sender = Sender {
        worker,
        scope,
        company: &company,
        run: &run,
        book: &book,
    };
    let mut has_sent = false;
    for _ in 0..DECISIONS {
        let rows = rows(&store.table, scope, &run, &book).await?;
        match run::decide(RunState::Running, &entries(&rows), run.progress.uploaded) {
            Next::Send(place) => {
                if let Some(before) = last_sent(&rows[..place]) {
                    announce_row(&sender, &rows, before).await?;
                }
                let prepared = if !company.is_active() {
                    Err(say!(
                        "the company was deactivated; its operator knows why",
                        "la empresa fue desactivada; su operador sabe por qué"
                    ))
                } else if rows.iter().any(|row| row.record.is_some()) {
                    Ok(())
                } else {
                    sender.prepare().await?
                };
                let sent = match prepared {
                    Ok(()) => sender.send(&rows, place).await?,
                    Err(words) => Err(words),
                };
                if let Err(words) = sent {
                    let cause = StopCause::NotSent;
                    let entry = u32::try_from(place).unwrap_or(u32::MAX);
                    let stop = RunStop {
                        entry,
                        cause,
                        words: Some(words.into()),
                    };
                    return record(&sender, &rows, StoredState::Stopped, Some(stop)).await;
                }
                has_sent = true;
            }
            Next::Await(place) => {
                if !has_sent && *waits == 0 {
                    enqueue_again(&sender, &rows[place]).await;
                }
                let progress = run.progress.clone();
                let Some(run) = store.table.advance_run(scope, &run, progress, sender.now()).await? else {
                    return Ok(Outcome::Done);
                };
                let waits = if has_sent { 0 } else { *waits };
                let after = waits::RUN.after(waits).unwrap_or(LONGEST_WAIT);
                return Ok(Outcome::Again {
                    job: CertificationJob::Run {
                        scope: *scope,
                        run: run.id,
                        step: run.step,
                        waits: waits.saturating_add(1),
                    },
                    after,
                });
            }
            Next::Record(state) => {
                let place = match state {
                    RunState::Stopped(Stop { entry, .. }) => Some(entry),
                    _ => last_accepted(&rows),
                };
                if let Some(place) = place {
                    announce_row(&sender, &rows, place).await?;
                }
                let (state, stop) = stored(state);
                let stop = stop.map(|(entry, cause)| RunStop {
                    entry,
                    cause,
                    words: None,
                });
                return record(&sender, &rows, state, stop).await;
            }
            Next::Rest => return Ok(Outcome::Done),
        }
    }
    // The row is not visible yet: reads are eventually consistent.
    Ok(Outcome::Again {
        job: waited(job),
        after: Duration::from_secs(1),
    })
}

/// The wait between two looks at a row that has waited for long.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Enqueues the row's job again, in case the step that stored the row died before it did.
async fn enqueue_again(sender: &Sender<'_>, row: &Row) {
    match &row.record {
        Some(Record::Receipt(receipt)) => sender.enqueue_issuing(receipt).await,
        Some(Record::Approval(approval)) => sender.enqueue_approval(approval).await,
        None => {}
    }
}

/// Announces that the run stopped, ended or awaits uploads, then records it. An interruption in between repeats both;
/// the same announcement is made once.
async fn record(
    sender: &Sender<'_>,
    rows: &[Row],
    state: StoredState,
    stop: Option<RunStop>,
) -> Result<Outcome<CertificationJob>, StoreError> {
    let Sender { worker, scope, run, .. } = *sender;
    let sent = || rows.iter().filter(|row| row.entry.phase != Phase::Uploads);
    let news = News::CertificationFinished {
        run: &run.id.to_string(),
        step: run.step,
        status: state.as_str(),
        accepted: sent().filter(|row| row.entry.state == RowState::Accepted).count(),
        rows: sent().count(),
    };
    publish(sender, news).await?;
    let progress = RunProgress {
        state,
        stop,
        ..run.progress.clone()
    };
    let recorded = worker
        .store
        .table
        .advance_run(scope, run, progress, sender.now())
        .await?;
    if recorded.is_some() {
        tracing::info!(run.id = %run.id, company.id = %scope.company, state = state.as_str(), "the state of a certification run was recorded");
    }
    Ok(Outcome::Done)
}

async fn announce_row(sender: &Sender<'_>, rows: &[Row], place: usize) -> Result<(), StoreError> {
    let (Some(row), Some(document)) = (rows.get(place), sender.book.documents().get(place)) else {
        return Ok(());
    };
    let run: &Run = sender.run;
    let id = run.id.to_string();
    let news = News::CertificationRow {
        run: &id,
        key: &row.entry.key(&id),
        document: document.kind(),
        encf: row.encf(),
        row: document.row,
        state: name_of(row.entry.state),
    };
    publish(sender, news).await
}

async fn publish(sender: &Sender<'_>, news: News<'_>) -> Result<(), StoreError> {
    let Sender {
        worker, scope, company, ..
    } = *sender;
    let announcement = news.announcement(scope, company.rnc.as_str(), sender.now());
    announce(&worker.store.table, &worker.queues, scope, &announcement).await?;
    Ok(())
}

/// The last row before this place that the run sends.
fn last_sent(rows: &[Row]) -> Option<usize> {
    rows.iter().rposition(|row| row.entry.phase != Phase::Uploads)
}

fn last_accepted(rows: &[Row]) -> Option<usize> {
    rows.iter().rposition(|row| row.entry.state == RowState::Accepted)
}

fn waited(job: &CertificationJob) -> CertificationJob {
    let CertificationJob::Run {
        scope,
        run,
        step,
        waits,
    } = job;
    CertificationJob::Run {
        scope: *scope,
        run: *run,
        step: *step,
        waits: waits.saturating_add(1),
    }
}

fn missing(reason: &str) -> Outcome<CertificationJob> {
    Outcome::GiveUp {
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_wait_repeats() {
        let mut all = (0..).map_while(|waits| waits::RUN.after(waits));
        assert_eq!(all.next(), Some(Duration::from_secs(1)));
        assert_eq!(all.last(), Some(LONGEST_WAIT));
    }
}
