//! Runs of the certification: one is under way at a time, and each step is taken once.

use std::collections::BTreeMap;

use ecf_language::say;
use ecf_store::{
    ContentHash,
    runs::{Run, RunBegun, RunProgress, RunState, RunStop, StopCause},
};
use jiff::SignedDuration;

use crate::support::{App, app, noon};

fn new(app: &App, key: &str) -> Run {
    let hash = ContentHash::of(b"workbook");
    Run::new(
        &app.scope,
        key.to_owned(),
        hash,
        Some(ContentHash::of(b"approvals")),
        noon(),
    )
}

async fn begin(app: &App, key: &str) -> RunBegun {
    app.table.begin_run(&app.scope, new(app, key)).await.unwrap()
}

fn stopped(cause: StopCause) -> RunProgress {
    RunProgress {
        state: RunState::Stopped,
        stop: Some(RunStop {
            entry: 16,
            cause,
            words: Some(say!("no certificate", "sin certificado").into()),
        }),
        uploaded: false,
        tries: BTreeMap::from([(3, 1), (16, 2)]),
    }
}

#[tokio::test]
async fn a_run_is_begun_once_and_a_second_one_waits_for_its_end() {
    let app = app("runs-begin").await;
    let RunBegun::New(first) = begin(&app, "run-1").await else {
        panic!("the first run begins")
    };
    assert_eq!(begin(&app, "run-1").await, RunBegun::Replay(first.clone()));
    assert_eq!(begin(&app, "run-2").await, RunBegun::Open(first.clone()));
    let (table, scope) = (&app.table, &app.scope);
    assert_eq!(table.run(scope, &first.id).await.unwrap(), Some(*first.clone()));

    let progress = stopped(StopCause::Rejected);
    let now = noon() + SignedDuration::from_mins(5);
    let run = table
        .advance_run(scope, &first, progress.clone(), now)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((run.step, &run.progress), (1, &progress));
    assert_eq!(table.run(scope, &first.id).await.unwrap(), Some(run.clone()));
    // A step that was taken already is not taken again.
    assert_eq!(table.advance_run(scope, &first, progress, now).await.unwrap(), None);

    // A new run abandons the one that stopped.
    let RunBegun::New(second) = begin(&app, "run-2").await else {
        panic!("the second run begins")
    };
    let runs = table.runs(scope).await.unwrap();
    let mut states: Vec<_> = runs.iter().map(|run| (run.id, run.progress.state)).collect();
    states.sort_by_key(|(id, _)| *id != second.id);
    assert_eq!(
        states,
        [(second.id, RunState::Running), (first.id, RunState::Abandoned)]
    );
    let continued = RunProgress {
        state: RunState::Running,
        stop: None,
        ..run.progress.clone()
    };
    assert_eq!(
        table.advance_run(scope, &run, continued, now).await.unwrap(),
        None,
        "it was abandoned"
    );
}

#[tokio::test]
async fn of_two_runs_that_begin_at_once_one_begins() {
    let app = app("runs-race").await;
    let keys = ["a", "b", "c", "d"];
    let begun = futures::future::join_all(keys.map(|key| app.table.begin_run(&app.scope, new(&app, key)))).await;
    let new = begun
        .iter()
        .filter(|result| matches!(result, Ok(RunBegun::New(_))))
        .count();
    assert_eq!(new, 1, "{begun:?}");
    assert_eq!(app.table.runs(&app.scope).await.unwrap().len(), 1);
}
