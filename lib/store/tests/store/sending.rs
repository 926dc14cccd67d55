use ecf::ReceiptState;
use ecf_store::{
    Receipt, ReceiptId,
    receipts::{Claim, Recorded},
};
use jiff::{SignedDuration, Timestamp};

use crate::support::{App, app, at, noon};

const LEASE: SignedDuration = SignedDuration::from_secs(30);

fn after(seconds: i64) -> Timestamp {
    noon() + SignedDuration::from_secs(seconds)
}

impl App {
    async fn claim(&self, id: &ReceiptId, now: Timestamp) -> Claim {
        self.table.claim_send(&self.scope, id, now, LEASE).await.unwrap()
    }

    async fn claimed(&self, id: &ReceiptId, now: Timestamp) -> Receipt {
        match self.claim(id, now).await {
            Claim::Claimed(receipt) => receipt,
            other => panic!("not claimed: {other:?}"),
        }
    }

    async fn look_up_in_vain(&self, id: &ReceiptId, now: Timestamp) -> Receipt {
        let claim = self.table.claim_lookup(&self.scope, id, now, LEASE).await.unwrap();
        let Claim::Claimed(receipt) = claim else {
            panic!("{claim:?}")
        };
        let recorded = self
            .table
            .record_lookup_negative(&self.scope, id, receipt.sending.attempts, now)
            .await
            .unwrap();
        let Recorded::Now(receipt) = recorded else {
            panic!("{recorded:?}")
        };
        receipt
    }
}

#[tokio::test]
async fn one_worker_of_many_sends_a_receipt() {
    let app = app("one sender").await;
    let id = app.receipt("order-1", "E310000000001").await.public_id;
    let workers = (0..8).map(|_| {
        let (table, scope) = (app.table.clone(), app.scope);
        tokio::spawn(async move { table.claim_send(&scope, &id, noon(), LEASE).await.unwrap() })
    });
    let mut claimed = 0;
    for worker in workers.collect::<Vec<_>>() {
        match worker.await.unwrap() {
            Claim::Claimed(receipt) => {
                claimed += 1;
                assert_eq!(
                    (receipt.sending.attempts, receipt.sending.started_at),
                    (1, Some(noon()))
                );
                assert_eq!(receipt.sending.lease_until, Some(after(30)));
            }
            Claim::Leased(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(claimed, 1);
}

#[tokio::test]
async fn a_send_that_did_not_arrive_is_given_back_and_claimed_again() {
    let app = app("given back").await;
    let id = app.receipt("order-1", "E310000000001").await.public_id;
    app.claimed(&id, noon()).await;
    let recorded = app.table.release_send(&app.scope, &id, 1).await.unwrap();
    assert!(matches!(recorded, Recorded::Now(receipt) if receipt.sending.lease_until.is_none()));
    assert_eq!(app.claimed(&id, after(1)).await.sending.attempts, 2);
    // A late worker of the first attempt cannot release the claim of the second.
    let recorded = app.table.release_send(&app.scope, &id, 1).await.unwrap();
    assert!(matches!(recorded, Recorded::Already(_)));
    assert!(matches!(app.claim(&id, after(2)).await, Claim::Leased(_)));
}

#[tokio::test]
async fn a_crashed_send_is_looked_up_twice_a_minute_apart_before_the_next() {
    let app = app("crashed").await;
    let id = app.receipt("order-1", "E310000000001").await.public_id;
    app.claimed(&id, noon()).await;

    // No other worker while the lease runs, and none without a look-up after it expired.
    let lookup = app.table.claim_lookup(&app.scope, &id, after(29), LEASE).await.unwrap();
    assert!(matches!(lookup, Claim::Leased(_)), "{lookup:?}");
    let lost = app.claim(&id, after(31)).await;
    assert!(
        matches!(&lost, Claim::LeaseExpired(receipt) if receipt.sending.attempts == 1),
        "{lost:?}"
    );
    let resend = app.table.claim_resend(&app.scope, &id, after(31), LEASE).await.unwrap();
    assert!(matches!(resend, Claim::LeaseExpired(_)), "{resend:?}");

    assert_eq!(app.look_up_in_vain(&id, after(31)).await.sending.lookup_negatives, 1);
    // Too soon: it does not count.
    let receipt = app.look_up_in_vain(&id, after(80)).await;
    assert_eq!(
        (receipt.sending.lookup_negatives, receipt.sending.looked_up_at),
        (1, Some(after(31)))
    );
    let resend = app.table.claim_resend(&app.scope, &id, after(80), LEASE).await.unwrap();
    assert!(matches!(resend, Claim::LeaseExpired(_)), "{resend:?}");

    assert_eq!(app.look_up_in_vain(&id, after(91)).await.sending.lookup_negatives, 2);
    let resend = app.table.claim_resend(&app.scope, &id, after(91), LEASE).await.unwrap();
    let Claim::Claimed(receipt) = resend else {
        panic!("{resend:?}")
    };
    assert_eq!((receipt.sending.attempts, receipt.sending.lookup_negatives), (2, 0));
    assert_eq!(receipt.sending.lease_until, Some(after(121)));
    assert!(matches!(app.claim(&id, after(92)).await, Claim::Leased(_)));
}

#[tokio::test]
async fn a_lost_answer_leads_to_a_look_up_at_once() {
    let app = app("lost answer").await;
    let id = app.receipt("order-1", "E310000000001").await.public_id;
    app.claimed(&id, noon()).await;
    let recorded = app
        .table
        .record_answer_lost(&app.scope, &id, 1, after(5))
        .await
        .unwrap();
    assert!(matches!(recorded, Recorded::Now(_)), "{recorded:?}");
    assert!(matches!(app.claim(&id, after(5)).await, Claim::LeaseExpired(_)));
    assert_eq!(app.look_up_in_vain(&id, after(6)).await.sending.lookup_negatives, 1);
}

#[tokio::test]
async fn without_a_lost_send_there_is_nothing_to_look_up() {
    let app = app("nothing lost").await;
    let id = app.receipt("order-1", "E310000000001").await.public_id;
    let lookup = app.table.claim_lookup(&app.scope, &id, noon(), LEASE).await.unwrap();
    assert!(matches!(lookup, Claim::NotSendable(_)), "{lookup:?}");
    for scope in app.foreign_scopes() {
        assert_eq!(
            app.table.claim_send(&scope, &id, noon(), LEASE).await.unwrap(),
            Claim::Missing
        );
    }
}

#[tokio::test]
async fn a_track_id_ends_the_claim_and_is_written_once() {
    let app = app("track id").await;
    let id = app.receipt("order-1", "E310000000001").await.public_id;
    app.claimed(&id, noon()).await;
    let recorded = app
        .table
        .record_submitted(&app.scope, &id, "track#1", after(1))
        .await
        .unwrap();
    let Recorded::Now(receipt) = recorded else {
        panic!("{recorded:?}")
    };
    assert_eq!(receipt.state, ReceiptState::Submitted);
    assert_eq!(receipt.sending.track_id.as_deref(), Some("track#1"));
    assert_eq!(
        (receipt.sending.submitted_at, receipt.sending.lease_until),
        (Some(after(1)), None)
    );
    let found = app.table.receipt_by_track_id(&app.scope, "track#1").await.unwrap();
    assert_eq!(found.as_ref(), Some(&receipt));

    let again = app
        .table
        .record_submitted(&app.scope, &id, "track#2", after(2))
        .await
        .unwrap();
    assert_eq!(again, Recorded::Already(receipt.clone()));
    assert_eq!(app.claim(&id, after(3)).await, Claim::NotSendable(receipt));
}

#[tokio::test]
async fn an_outcome_nobody_can_look_up_waits_for_the_operator_and_may_still_learn_its_track_id() {
    let app = app("unknown outcome").await;
    let id = app.receipt("order-1", "E310000000001").await.public_id;
    app.claimed(&id, noon()).await;
    let recorded = app
        .table
        .record_outcome_unknown(&app.scope, &id, 1, "the answer was lost", after(40))
        .await
        .unwrap();
    let Recorded::Now(receipt) = recorded else {
        panic!("{recorded:?}")
    };
    assert_eq!(receipt.state, ReceiptState::Submitted);
    assert_eq!(receipt.error_code.as_deref(), Some("outcome_unknown"));
    assert_eq!(
        (receipt.next_action_at, receipt.sending.track_id.as_deref()),
        (Some(after(40) + SignedDuration::from_hours(1)), None)
    );
    assert!(receipt.waits_for_a_person());
    assert!(matches!(
        app.claim(&id, at("2026-11-28T16:00:00Z")).await,
        Claim::NotSendable(_)
    ));

    let recorded = app
        .table
        .record_submitted(&app.scope, &id, "track-1", after(99))
        .await
        .unwrap();
    let Recorded::Now(receipt) = recorded else {
        panic!("{recorded:?}")
    };
    assert_eq!(
        (receipt.sending.track_id.as_deref(), receipt.error_code),
        (Some("track-1"), None)
    );
}
