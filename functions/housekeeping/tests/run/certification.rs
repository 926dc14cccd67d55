//! Certification runs are taken on when their worker or message was lost.

use ecf_store::{
    CertificationJob, ContentHash,
    runs::{Run, RunBegun, RunProgress, RunState},
};
use ecf_testkit::Queue;
use housekeeping::run;

use crate::world::{TEN_MINUTES, World};

impl World {
    async fn certification_jobs(&self) -> Vec<CertificationJob> {
        let messages = self.stack.take_messages(Queue::Certification).await;
        messages
            .iter()
            .map(|body| serde_json::from_str(body).unwrap())
            .collect()
    }
}

#[tokio::test]
async fn a_run_whose_worker_died_is_queued_with_its_current_step_until_it_stands() {
    let world = World::start().await;
    let (table, scope, now) = (world.stack.table(), world.company.scope, world.now());
    let new = Run::new(&scope, "run-1".to_owned(), ContentHash::of(b"workbook"), None, now);
    let RunBegun::New(begun) = table.begin_run(&scope, new).await.unwrap() else {
        panic!("the run begins")
    };
    run(&world.app).await.unwrap();
    assert_eq!(
        world.certification_jobs().await,
        [],
        "its message may still be on its way"
    );
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    let job = |step| CertificationJob::Run {
        scope,
        run: begun.id,
        step,
        waits: 0,
    };
    assert_eq!(world.certification_jobs().await, [job(0)]);
    run(&world.app).await.unwrap();
    assert_eq!(world.certification_jobs().await, [], "it was claimed");

    let progress = begun.progress.clone();
    let next = table.advance_run(&scope, &begun, progress.clone(), world.now()).await;
    let next = next.unwrap().unwrap();
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    assert_eq!(world.certification_jobs().await, [job(1)]);

    let finished = RunProgress {
        state: RunState::Finished,
        ..progress
    };
    assert!(
        table
            .advance_run(&scope, &next, finished, world.now())
            .await
            .unwrap()
            .is_some()
    );
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    assert_eq!(world.certification_jobs().await, []);
}
