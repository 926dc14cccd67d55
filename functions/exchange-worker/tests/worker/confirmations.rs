//! The tax authority's answer about a received receipt.

use ecf_store::{
    ExchangeJob,
    due::{DueRecord, SHARDS},
    inbox::{AuthorityState, InboxFilter, InboxItem},
};
use ecf_testkit::foreign_receipt;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::{ENCF, World};

impl World {
    /// A receipt of an issuer that the authority does not know.
    async fn planted(&self) -> InboxItem {
        let xml = foreign_receipt(self.company.rnc.as_str(), ENCF, self.stack.clock().now());
        self.stack.received(&self.company, ENCF, None, &xml, b"<ARECF/>").await
    }

    fn confirm(&self, item: &InboxItem, attempt: u32) -> ExchangeJob {
        ExchangeJob::Confirm {
            scope: self.company.scope,
            inbox: item.id,
            attempt,
        }
    }

    async fn item(&self, item: &InboxItem) -> InboxItem {
        let found = self.stack.table().inbox_item(&self.company.scope, &item.id).await;
        found.unwrap().unwrap()
    }

    /// Asks every eight hours until the answer is final.
    async fn ask_until_final(&self, item: &InboxItem) -> InboxItem {
        for _ in 0..40 {
            let now = self.item(item).await;
            if now.authority != Some(AuthorityState::Pending) {
                return now;
            }
            self.stack.clock().advance(SignedDuration::from_hours(8));
            self.run(self.confirm(item, now.asked)).await;
        }
        panic!("the question never ends");
    }

    /// The questions that are due at that time.
    async fn due(&self, at: Timestamp) -> Vec<DueRecord> {
        let mut due = Vec::new();
        for shard in 0..SHARDS {
            let entries = self.stack.table().due_now(shard, at, 10).await.unwrap().entries;
            let records = entries.into_iter().map(|entry| entry.record);
            due.extend(records.filter(|record| matches!(record, DueRecord::Inbox(_))));
        }
        due
    }
}

#[tokio::test]
async fn s1_what_the_authority_never_had_is_not_found_after_three_days() {
    let world = World::start().await;
    // The announcement is a job of `webhook-worker`.
    world.stack.leave_messages();
    let item = world.planted().await;
    let (clock, begin) = (world.stack.clock().clone(), world.stack.clock().now());
    // A lost first question is on the due index.
    let due = world.due(begin + SignedDuration::from_mins(3)).await;
    assert_eq!(due, [DueRecord::Inbox(item.id)]);
    world.stack.calls().reset();
    world.run(world.confirm(&item, 0)).await;
    // The test kit's queue ignores delays, so several questions are asked at once. docs/cost.md has these figures.
    let (units, questions) = (world.stack.calls().units(), f64::from(world.item(&item).await.asked));
    assert!(
        units.write <= 4.0 * questions && units.read <= 4.0 * questions,
        "{questions} questions: {units:?}"
    );
    // A repeated message asks no question.
    let asked = world.item(&item).await.asked;
    world.run(world.confirm(&item, 0)).await;
    assert_eq!(world.item(&item).await.asked, asked);
    let now = world.ask_until_final(&item).await;
    assert_eq!(now.authority, Some(AuthorityState::NotFound));
    let days = now.authority_at.unwrap().duration_since(begin).as_hours() / 24;
    assert!((2..=4).contains(&days), "{days}");
    assert_eq!(world.due(clock.now() + SignedDuration::from_hours(240)).await, []);
    // The copy in the list has the same state.
    let unfound = InboxFilter {
        acked: Some(false),
        authority: Some(AuthorityState::NotFound),
        ..InboxFilter::default()
    };
    let (listed, total) = world
        .stack
        .table()
        .inbox(&world.company.scope, &unfound, 10, 0)
        .await
        .unwrap();
    let listed: Vec<_> = listed.iter().map(|item| (item.id, item.authority_at)).collect();
    assert_eq!((listed, total), (vec![(now.id, now.authority_at)], 1));
}

/// A question is claimed by its number, and the next one is on the due index from then on, so a crash loses none.
#[tokio::test]
async fn s1_a_question_that_died_is_asked_again() {
    let world = World::start().await;
    let item = world.planted().await;
    let (table, scope) = (world.stack.table(), &world.company.scope);
    let next = world.stack.clock().now() + SignedDuration::from_mins(11);
    assert!(table.claim_confirmation(scope, &item, next).await.unwrap());
    assert!(!table.claim_confirmation(scope, &item, next).await.unwrap());
    assert_eq!(world.due(next).await, [DueRecord::Inbox(item.id)]);
}

#[tokio::test]
async fn s1_an_acknowledged_receipt_is_asked_about_too() {
    let world = World::start().await;
    world.stack.leave_messages();
    let item = world.planted().await;
    let (table, scope, now) = (world.stack.table(), &world.company.scope, world.stack.clock().now());
    table.ack_inbox_item(scope, &item.id, now).await.unwrap().unwrap();
    world.ask_until_final(&item).await;
    let acked = InboxFilter {
        acked: Some(true),
        ..InboxFilter::default()
    };
    let (listed, _) = table.inbox(scope, &acked, 10, 0).await.unwrap();
    let [listed] = listed.as_slice() else {
        panic!("{listed:?}")
    };
    assert_eq!(listed.authority, Some(AuthorityState::NotFound));
    assert!(listed.acked_at.is_some());
}

#[tokio::test]
async fn s1_only_an_answer_with_the_documents_own_code_confirms_it() {
    for (code, expected) in [
        ("", AuthorityState::Pending),
        (r#","codigoSeguridad":"otro99""#, AuthorityState::Pending),
        (r#","codigoSeguridad":"aBc123""#, AuthorityState::Accepted),
    ] {
        let world = World::start().await;
        world.stack.leave_messages();
        let item = world.planted().await;
        world
            .order(&json!({
                "service": "consultaestado", "fault": "status", "status": 200,
                "body": format!(r#"{{"codigo":1,"estado":"Aceptado"{code}}}"#),
            }))
            .await;
        world.run(world.confirm(&item, 0)).await;
        let now = world.item(&item).await;
        assert!(now.asked > 0, "{code}");
        assert_eq!(now.authority, Some(expected), "{code}");
    }
}
