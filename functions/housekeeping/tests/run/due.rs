//! Entries that are due, and entries that are not.

use ecf::ReceiptState;
use ecf_store::{
    AnnouncementId, IssuingJob, SubmissionJob, WebhookId, WebhookJob, announcements::Announcement, closing::DAY_SHARDS,
    due::SHARDS, numbers::RANGE_SHARDS, webhooks::NewWebhook,
};
use ecf_testkit::send_job;
use housekeeping::run;
use jiff::SignedDuration;

use crate::world::{TEN_MINUTES, World};

#[tokio::test]
async fn nothing_due_means_a_few_queries_and_nothing_written_or_queued() {
    let world = World::start().await;
    // One in progress, one complete, one that awaits a person.
    world.signed("E310000000001").await;
    world.told("E310000000002").await;
    world.failed("E310000000003").await;
    // The failure is reported once.
    run(&world.app).await.unwrap();
    assert_eq!(world.announced().await.len(), 1);
    world.advance(TEN_MINUTES - SignedDuration::from_secs(1));
    world.stack.calls().reset();
    run(&world.app).await.unwrap();
    let counts: Vec<(String, usize)> = world.stack.calls().counts().into_iter().collect();
    // One query for each shard, and two for each environment: the state of the authority, and companies with held receipts.
    let queries = usize::from(SHARDS + RANGE_SHARDS + DAY_SHARDS) + 6;
    // The key for the status service is looked up once in some minutes.
    let looks = ("Secrets Manager GetSecretValue".to_owned(), 1);
    assert_eq!(counts, [("DynamoDB Query".to_owned(), queries), looks]);
    assert_eq!(world.stack.calls().units().write, 0.0);
}

#[tokio::test]
async fn what_is_done_or_waits_for_a_person_is_never_due() {
    let world = World::start().await;
    world.told("E310000000001").await;
    world.failed("E310000000002").await;
    run(&world.app).await.unwrap();
    assert_eq!(world.announced().await.len(), 1);
    world.advance(SignedDuration::from_hours(100));
    run(&world.app).await.unwrap();
    assert_eq!((world.submissions().await.len(), world.events().await.len()), (0, 0));
}

#[tokio::test]
async fn each_overdue_receipt_gets_the_job_of_its_step() {
    let world = World::start().await;
    let signed = world.signed("E310000000001").await;
    let submitted = world.submitted("E310000000002").await;
    let accepted = world.accepted("E310000000003").await;
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    let jobs = world.submissions().await;
    let poll = SubmissionJob::Poll(submitted.job());
    assert_eq!(jobs.len(), 2, "{jobs:?}");
    assert!(jobs.contains(&send_job(&signed)) && jobs.contains(&poll), "{jobs:?}");
    let event = WebhookJob::Event(accepted.job());
    assert_eq!(world.events().await, [event]);
}

#[tokio::test]
async fn a_lost_send_is_queued_like_any_other_and_left_to_the_worker_to_look_up() {
    let world = World::start().await;
    let signed = world.signed("E310000000001").await;
    let lease = SignedDuration::from_secs(90);
    let table = world.stack.table();
    table
        .claim_send(&signed.scope, &signed.public_id, world.now(), lease)
        .await
        .unwrap();
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    assert_eq!(world.submissions().await, [send_job(&signed)]);
    let receipt = world.receipt(&signed).await;
    assert_eq!(
        (receipt.sending.attempts, receipt.sending.lease_until.is_some()),
        (1, true)
    );
}

#[tokio::test]
async fn the_older_a_receipt_the_less_often_it_is_queued() {
    let world = World::start().await;
    let signed = world.signed("E310000000001").await;
    let mut ages = Vec::new();
    for _ in 0..3 * 60 {
        world.advance(SignedDuration::from_mins(1));
        run(&world.app).await.unwrap();
        let jobs = world.submissions().await.len();
        assert!(jobs <= 1);
        if jobs == 1 {
            ages.push(world.now().duration_since(signed.created_at).as_mins());
        }
    }
    assert_eq!(ages, [10, 20, 30, 45, 68, 102, 153]);
}

/// A later version that was rolled back leaves entries that this one does not know.
#[tokio::test]
async fn entries_of_a_later_version_are_reported_and_hide_no_receipt() {
    let world = World::start().await;
    for shard in 0..SHARDS {
        world.stack.write_unknown_due(shard, world.now(), 2).await;
    }
    world.advance(SignedDuration::from_secs(1));
    let signed = world.signed("E310000000001").await;
    world.advance(TEN_MINUTES);
    let mut readable = 0;
    for shard in 0..SHARDS {
        let due = world.stack.table().due_now(shard, world.now(), 1).await.unwrap();
        readable += due.entries.len();
    }
    assert_eq!(readable, 1);
    let reported = run(&world.app).await.unwrap_err().to_string();
    assert!(reported.contains("novelty#"), "{reported}");
    assert_eq!(world.submissions().await, [send_job(&signed)]);
    // The next runs fail too, until an alarm rings.
    run(&world.app).await.unwrap_err();
    assert_eq!(world.submissions().await, []);
}

#[tokio::test]
async fn each_environment_has_its_queue() {
    for environment in [ecf::Environment::CerteCF, ecf::Environment::Ecf] {
        let mut world = World::start().await;
        world.company = world
            .stack
            .company_builder()
            .environment(environment)
            .without_ranges()
            .build()
            .await;
        let signed = world.signed("E310000000001").await;
        world.advance(TEN_MINUTES);
        run(&world.app).await.unwrap();
        let queue = ecf_testkit::Queue::submission(environment);
        let bodies = world.stack.take_messages(queue).await;
        let jobs: Vec<SubmissionJob> = bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
        assert_eq!(jobs, [send_job(&signed)]);
        assert_eq!(world.submissions().await, []);
    }
}

#[tokio::test]
async fn an_announcement_whose_message_was_lost_is_queued_again_until_it_was_told() {
    let world = World::start().await;
    let (table, scope) = (world.stack.table(), world.company.scope);
    let new = Announcement {
        id: AnnouncementId::of(&scope, "sequence.low", "31/1/100"),
        event: "sequence.low".to_owned(),
        body: b"{}".to_vec(),
        at: world.now(),
    };
    assert!(table.create_announcement(&scope, &new).await.unwrap());
    let job = WebhookJob::Announce {
        scope,
        announcement: new.id,
        attempt: 0,
    };
    for _ in 0..2 {
        run(&world.app).await.unwrap();
        assert_eq!(world.events().await, []);
        world.advance(TEN_MINUTES);
        run(&world.app).await.unwrap();
        assert_eq!(world.events().await, std::slice::from_ref(&job));
    }
    assert!(table.record_announcement_delivered(&scope, &new.id).await.unwrap());
    assert!(!table.record_announcement_delivered(&scope, &new.id).await.unwrap());
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    assert_eq!(world.events().await, []);
}

#[tokio::test]
async fn a_webhook_behind_which_events_wait_is_looked_after_when_its_time_has_come() {
    let world = World::start().await;
    let (table, scope, probe_at) = (world.stack.table(), world.company.scope, world.now() + TEN_MINUTES);
    let new = NewWebhook {
        id: WebhookId::from_random([7; 20]),
        url: "https://erp.example.com/".to_owned(),
        events: vec!["*".to_owned()],
        is_active: true,
        sealed_secret: vec![1],
        created_at: world.now(),
    };
    table.create_webhook(&scope, new.clone()).await.unwrap();
    assert!(table.count_parked(&scope, &new.id, probe_at).await.unwrap());
    run(&world.app).await.unwrap();
    assert_eq!(world.events().await, []);
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    let job = WebhookJob::Unpark {
        scope,
        webhook: new.id,
        slow: false,
    };
    assert_eq!(world.events().await, [job]);
    // It was claimed, so the next run skips it.
    run(&world.app).await.unwrap();
    assert_eq!(world.events().await, []);
}

#[tokio::test]
async fn a_receipt_that_was_kept_goes_to_the_worker_that_issues_when_it_is_due_and_not_before() {
    let world = World::start().await;
    let at = world.now() + SignedDuration::from_mins(3);
    let deferred = world.kept("order-1", ReceiptState::Deferred, Some(at)).await;
    let received = world.kept("order-2", ReceiptState::Received, None).await;
    for (after, due) in [(179, vec![]), (1, vec![&deferred]), (420, vec![&received])] {
        world.advance(SignedDuration::from_secs(after));
        run(&world.app).await.unwrap();
        let expected: Vec<_> = due
            .into_iter()
            .map(|receipt| IssuingJob::Issue(receipt.job()))
            .collect();
        assert_eq!(world.kept_jobs().await, expected, "{after}");
    }
    assert_eq!((world.submissions().await.len(), world.events().await.len()), (0, 0));
}
