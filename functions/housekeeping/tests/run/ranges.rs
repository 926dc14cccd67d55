//! Ranges: numbers of crashed requests become free, each once; used numbers never do.

use std::collections::BTreeSet;

use ecf::{Encf, Fecha, ReceiptType};
use ecf_store::{
    WebhookJob,
    due::SHARDS,
    numbers::{NewRange, NextNumber, Numbering, Range, RangeChanges, RangeOpened},
};
use ecf_testkit::{EmittedMetrics, Fault};
use housekeeping::run;
use jiff::SignedDuration;

use crate::world::{TEN_MINUTES, World};

const T31: ReceiptType = ReceiptType::E31;
/// After this time and one run, every number that was taken before is accounted for.
const QUIET: SignedDuration = SignedDuration::from_mins(8);

impl World {
    async fn open(&self, start: u64, end: u64) {
        let new = NewRange {
            ecf_type: T31,
            start,
            end,
            valid_until: None,
            numbering: Some(Numbering::Service),
            created_at: self.now(),
        };
        let opened = self.stack.table().open_range(&self.company.scope, new).await;
        assert_eq!(opened.unwrap(), RangeOpened::New);
    }

    /// Takes a number, like a request that crashes afterwards.
    async fn take(&self) -> Encf {
        let today = Fecha::at(self.now());
        let (table, scope) = (self.stack.table(), self.company.scope);
        match table.take_next_number(&scope, T31, today, self.now()).await.unwrap() {
            NextNumber::Taken { encf, .. } => encf,
            other => panic!("no number: {other:?}"),
        }
    }

    /// Takes a number for a receipt that gets its verdict at once.
    async fn issue(&self) -> Encf {
        let encf = self.take().await;
        self.told(&encf.to_string()).await;
        encf
    }

    async fn range(&self) -> Range {
        let ranges = self.stack.table().ranges(&self.company.scope, Some(T31)).await;
        ranges.unwrap().remove(0)
    }

    async fn free(&self) -> BTreeSet<u64> {
        self.range().await.free.into_iter().collect()
    }
}

#[tokio::test]
async fn numbers_of_dead_requests_are_free_again_and_taken_first() {
    let world = World::start().await;
    world.open(1, 100).await;
    for number in 1..=40 {
        // Holes in the middle, and at the end, where no later lock reveals them.
        if [3, 17, 39, 40].contains(&number) {
            world.take().await;
        } else {
            world.issue().await;
        }
    }
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.free().await, [3, 17, 39, 40].into());
    let range = world.range().await;
    assert_eq!((range.checked, range.next_look), (41, None));

    let mut given = BTreeSet::new();
    for _ in 0..5 {
        given.insert(world.issue().await.sequence());
    }
    assert_eq!(given, [3, 17, 39, 40, 41].into());
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    let range = world.range().await;
    assert_eq!((range.free, range.retaken, range.next_look), (vec![], vec![], None));
}

#[tokio::test]
async fn a_number_that_may_still_be_used_is_left_alone() {
    let world = World::start().await;
    world.open(1, 100).await;
    run(&world.app).await.unwrap();
    world.take().await;
    world.advance(SignedDuration::from_mins(10));
    // One old number, and one that is being signed right now.
    let young = world.take().await;
    run(&world.app).await.unwrap();
    assert_eq!(world.free().await, BTreeSet::new());
    world.signed(&young.to_string()).await;
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.free().await, [1].into());
}

#[tokio::test]
async fn a_freed_number_whose_next_request_dies_too_is_freed_again() {
    let world = World::start().await;
    world.open(1, 100).await;
    world.take().await;
    for _ in 0..3 {
        world.advance(QUIET);
        run(&world.app).await.unwrap();
        assert_eq!(world.free().await, [1].into());
        assert_eq!(world.take().await.sequence(), 1);
        assert_eq!(world.free().await, BTreeSet::new());
    }
}

#[tokio::test]
async fn more_holes_than_the_list_holds_are_freed_as_room_comes() {
    let world = World::start().await;
    world.open(1, 1_000).await;
    for _ in 0..130 {
        world.take().await;
    }
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.free().await, (1..=100).collect());
    let mut used = BTreeSet::new();
    for _ in 0..100 {
        used.insert(world.issue().await.sequence());
    }
    assert_eq!(used, (1..=100).collect());
    world.advance(SignedDuration::from_mins(70));
    run(&world.app).await.unwrap();
    assert_eq!(world.free().await, (101..=130).collect());
}

#[tokio::test]
async fn a_range_without_takes_costs_one_look_and_then_nothing() {
    let world = World::start().await;
    world.open(1, 100).await;
    world.issue().await;
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    let range = world.range().await;
    assert_eq!((range.checked, range.next_look), (2, None));
    world.advance(SignedDuration::from_mins(1));
    world.stack.calls().reset();
    run(&world.app).await.unwrap();
    assert_eq!(world.stack.calls().count("UpdateItem"), 0);
    assert_eq!(world.stack.calls().count("GetItem"), 0);
}

#[tokio::test]
async fn a_run_that_dies_anywhere_is_made_good_by_the_next() {
    let world = World::start().await;
    world.open(1, 1_000).await;
    for fault in [Fault::NotSent, Fault::DiesAfter] {
        // The first calls of a run concern receipts.
        for nth in u32::from(SHARDS) + 1..=22 {
            let dead = world.take().await.sequence();
            let used = world.issue().await;
            world.advance(QUIET);
            world.stack.calls().inject("*", nth, fault);
            for _ in 0..2 {
                // A failure or a crash: in both cases another process makes the next run.
                let app = world.app.clone();
                let _ = tokio::spawn(async move { run(&app).await }).await;
                world.advance(SignedDuration::from_hours(2));
            }
            assert_eq!(world.stack.calls().faults_to_come(), 0);
            let range = world.range().await;
            assert_eq!(range.free, [dead], "{fault:?} of call {nth}");
            assert!(
                range.is_settled() && range.checked > used.sequence(),
                "{fault:?} of call {nth}"
            );
        }
    }
}

impl World {
    /// The published announcements: takes the messages, then reads and delivers their announcements.
    pub(crate) async fn announced(&self) -> Vec<serde_json::Value> {
        let mut bodies = Vec::new();
        for job in self.events().await {
            let WebhookJob::Announce { announcement, .. } = job else {
                panic!("{job:?}")
            };
            let table = self.stack.table();
            let kept = table
                .announcement(&self.company.scope, &announcement)
                .await
                .unwrap()
                .unwrap();
            table
                .record_announcement_delivered(&self.company.scope, &announcement)
                .await
                .unwrap();
            bodies.push(serde_json::from_slice(&kept.body).unwrap());
        }
        bodies
    }

    async fn open_until(&self, end: u64, valid_until: &str) {
        let new = NewRange {
            ecf_type: T31,
            start: 1,
            end,
            valid_until: Some(valid_until.parse().unwrap()),
            numbering: Some(Numbering::Service),
            created_at: self.now(),
        };
        let opened = self.stack.table().open_range(&self.company.scope, new).await;
        assert_eq!(opened.unwrap(), RangeOpened::New);
    }
}

#[tokio::test]
async fn a_range_that_runs_low_is_told_once_and_again_when_it_grew_and_runs_low_again() {
    let world = World::start().await;
    world.open(1, 10).await;
    for _ in 0..7 {
        world.issue().await;
    }
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.announced().await, [serde_json::Value::Null; 0]);
    for _ in 0..2 {
        world.issue().await;
        world.advance(QUIET);
        run(&world.app).await.unwrap();
    }
    let told = world.announced().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (&told[0]["event"], &told[0]["remaining"]),
        (&"sequence.low".into(), &2.into())
    );

    let grown = RangeChanges {
        end: Some(20),
        ..RangeChanges::default()
    };
    let (table, scope) = (world.stack.table(), world.company.scope);
    table
        .change_range(&scope, "31-1".parse().unwrap(), grown, world.now())
        .await
        .unwrap();
    for _ in 0..8 {
        world.issue().await;
        world.advance(QUIET);
        run(&world.app).await.unwrap();
    }
    let told = world.announced().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["range_end"], &told[0]["remaining"]), (&20.into(), &4.into()));
}

#[tokio::test]
async fn a_range_that_expires_is_told_on_the_first_day_of_warning_without_any_receipt() {
    let world = World::start().await;
    // Thirty days before the last day is 2026-12-01.
    world.open_until(1_000, "31-12-2026").await;
    let mut days = Vec::new();
    for _ in 0..40 {
        run(&world.app).await.unwrap();
        for told in world.announced().await {
            assert_eq!(told["event"], "sequence.expiring");
            assert_eq!(told["valid_until"], "2026-12-31");
            days.push((Fecha::at(world.now()).to_string(), told["days_left"].as_i64().unwrap()));
        }
        world.advance(SignedDuration::from_hours(24));
    }
    assert_eq!(days, [("01-12-2026".to_owned(), 30)]);
    // A range past its last day is not checked any more. (The day before is closed first.)
    run(&world.app).await.unwrap();
    world.stack.calls().reset();
    run(&world.app).await.unwrap();
    assert_eq!(world.stack.calls().count("UpdateItem"), 0);
}

#[tokio::test]
async fn the_operator_is_told_every_day_how_long_a_certificate_serves() {
    let mut world = World::start().await;
    let (metrics, told) = EmittedMetrics::metrics();
    world.app.metrics = metrics;
    world.open_until(1_000, "31-12-2026").await;
    let company = world.stack.table().company(&world.company.scope.company).await.unwrap();
    let not_after = company.unwrap().certificate.unwrap().not_after;
    for _ in 0..3 {
        run(&world.app).await.unwrap();
        let days = not_after.duration_since(world.now()).as_hours() / 24;
        assert_eq!(told.take(), [format!("CertificateDaysLeft of TesteCF: {days}")]);
        world.advance(SignedDuration::from_hours(24));
    }
    world.announced().await;
}

#[tokio::test]
async fn p14_a_range_that_runs_low_is_told_by_the_run_after_the_request_that_crossed_the_line() {
    let world = World::start().await;
    world.open(1, 100).await;
    for _ in 0..79 {
        world.take().await;
    }
    run(&world.app).await.unwrap();
    assert_eq!(world.announced().await, [serde_json::Value::Null; 0]);
    world.take().await;
    run(&world.app).await.unwrap();
    let told = world.announced().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (&told[0]["event"], &told[0]["remaining"]),
        (&"sequence.low".into(), &20.into())
    );
    // Reported once; the numbers that nobody used are found in their own time.
    world.take().await;
    run(&world.app).await.unwrap();
    assert_eq!(world.announced().await, [serde_json::Value::Null; 0]);
}

#[tokio::test]
async fn p2_a_certificate_that_expires_is_told_at_each_threshold_once() {
    let world = World::start().await;
    world.open_until(1_000, "31-12-2090").await;
    let company = world.stack.table().company(&world.company.scope.company).await.unwrap();
    let not_after = company.unwrap().certificate.unwrap().not_after;
    let early = not_after.duration_since(world.now()) - SignedDuration::from_hours(33 * 24);
    world.advance(early);
    let mut told = Vec::new();
    for _ in 0..40 {
        run(&world.app).await.unwrap();
        for event in world.announced().await {
            assert_eq!(event["event"], "certificate.expiring");
            assert_eq!(event["environment"], "TesteCF");
            told.push(event["days_left"].as_u64().unwrap());
        }
        world.advance(SignedDuration::from_hours(24));
    }
    assert_eq!(told, [30, 15, 7, 1]);
}

#[tokio::test]
async fn an_alert_is_told_whatever_dies_on_the_way() {
    for fault in [Fault::NotSent, Fault::DiesAfter] {
        for operation in ["PutItem", "SendMessage", "UpdateItem"] {
            let world = World::start().await;
            world.open_until(1_000, "28-11-2026").await;
            world.stack.calls().inject(operation, 1, fault);
            for _ in 0..3 {
                let app = world.app.clone();
                let _ = tokio::spawn(async move { run(&app).await }).await;
                world.advance(SignedDuration::from_hours(2));
            }
            let told = world.announced().await;
            assert!(!told.is_empty(), "{operation} {fault:?}");
            assert!(
                told.iter().all(|body| *body == told[0]),
                "{operation} {fault:?}: {told:?}"
            );
        }
    }
}

impl World {
    async fn open_callers(&self, start: u64, end: u64) {
        let new = NewRange {
            ecf_type: T31,
            start,
            end,
            valid_until: None,
            numbering: Some(Numbering::Caller),
            created_at: self.now(),
        };
        let opened = self.stack.table().open_range(&self.company.scope, new).await;
        assert_eq!(opened.unwrap(), RangeOpened::New);
    }

    /// A receipt with a number of the caller's, counted, whose verdict was published.
    async fn use_number(&self, encf: &str) {
        let receipt = self.told(encf).await;
        let (table, range) = (self.stack.table(), self.range().await);
        let counted = table.count_callers_number(&receipt.scope, &range, &receipt, self.now());
        counted.await.unwrap();
    }

    async fn count(&self) -> (u64, u64) {
        let range = self.range().await;
        (range.used, range.next)
    }
}

#[tokio::test]
async fn a4_a_count_that_was_lost_with_its_request_is_made_good() {
    let world = World::start().await;
    world.open_callers(1, 100).await;
    // The opened range is checked, and found unused.
    run(&world.app).await.unwrap();
    assert_eq!(world.range().await.next_look, None);
    // The request died after its receipt was stored.
    world.signed("E310000000009").await;
    assert_eq!(world.count().await, (0, 1));
    world.advance(TEN_MINUTES);
    run(&world.app).await.unwrap();
    assert_eq!(world.submissions().await.len(), 1);
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.count().await, (1, 10));
    assert_eq!(world.range().await.next_look, None);
    world.submissions().await;
}

#[tokio::test]
async fn a4_a_range_in_use_is_left_alone_until_it_is_quiet_and_then_costs_nothing() {
    let world = World::start().await;
    world.open_callers(1, 100).await;
    world.use_number("E310000000001").await;
    // This receipt is stored and not counted yet: its request is still running.
    world.told("E310000000002").await;
    run(&world.app).await.unwrap();
    assert_eq!(world.count().await, (1, 2));
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.count().await, (2, 3));
    assert_eq!(world.range().await.next_look, None);
    world.advance(SignedDuration::from_mins(1));
    world.stack.calls().reset();
    run(&world.app).await.unwrap();
    assert_eq!(world.stack.calls().count("UpdateItem"), 0);
}

#[tokio::test]
async fn a4_a_company_is_warned_of_a_range_that_it_numbers_by_itself() {
    let world = World::start().await;
    world.open_callers(1, 10).await;
    for number in 1..=8 {
        world.use_number(&format!("E31{number:010}")).await;
    }
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    let range = world.range().await;
    assert_eq!((range.available(), range.published_low), (2, Some(10)));
    let events = world.events().await;
    assert!(matches!(events.as_slice(), [WebhookJob::Announce { .. }]), "{events:?}");
}

#[tokio::test]
async fn a4_annulled_numbers_of_a_callers_range_count_as_used_until_they_are_given_back() {
    let world = World::start().await;
    world.open_callers(1, 100).await;
    world.use_number("E310000000001").await;
    let (table, scope) = (world.stack.table(), world.company.scope);
    let annulment = ecf_store::annulments::Annulment {
        id: ecf_store::AnnulmentId::of(&scope, "void"),
        idempotency_key: "void".to_owned(),
        ranges: vec![("E310000000010".parse().unwrap(), "E310000000019".parse().unwrap())],
        anecf: ecf_store::ContentHash::of(b"<ANECF/>"),
        created_at: world.now(),
        completed_at: None,
        state: ecf_store::annulments::AnnulmentState::Pending,
        words: None,
        answer: None,
        attempts: 1,
        has_lost_answer: false,
        next_action_at: None,
    };
    table
        .take_annulled_numbers(&scope, &annulment, world.now())
        .await
        .unwrap();
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.count().await, (11, 20));
    table.give_numbers_back(&scope, &annulment, world.now()).await.unwrap();
    world.advance(QUIET);
    run(&world.app).await.unwrap();
    assert_eq!(world.count().await, (1, 2));
}
