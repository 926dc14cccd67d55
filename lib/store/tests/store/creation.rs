use ecf::ReceiptState;
use ecf_store::{
    ReceiptId, Table,
    receipts::{Created, Mode, SignedLater},
};

use crate::support::{app, at, encf, new_receipt, noon, signed};

#[tokio::test]
async fn a_created_receipt_reads_back_whole_by_every_way_to_it() {
    let app = app("reads back").await;
    let mut new = new_receipt(&app.scope, "order-1", "E310000000001");
    new.external_id = Some("SO#1".to_owned());
    new.mode = Mode::Deferred;
    let created = app.create(new.clone()).await;
    assert_eq!(created.fiscal.signed, new.signed);
    assert_eq!(created.external_id, new.external_id);
    assert_eq!(created.mode, Mode::Deferred);
    assert_eq!(created.next_action_at, Some(at("2026-11-27T16:10:00Z")));
    assert_eq!((created.sending.attempts, created.sending.lease_until), (0, None));
    assert_eq!(created.outbox, []);

    let read = Some(created);
    assert_eq!(app.table.receipt(&app.scope, &new.public_id).await.unwrap(), read);
    assert_eq!(
        app.table.receipt_eventual(&app.scope, &new.public_id).await.unwrap(),
        read
    );
    assert_eq!(
        app.table
            .receipt_by_encf(&app.scope, &encf("E310000000001"))
            .await
            .unwrap(),
        read
    );
    assert_eq!(
        app.table.receipt_by_external_id(&app.scope, "SO#1").await.unwrap(),
        read
    );
    assert_eq!(
        app.table
            .receipt_by_encf(&app.scope, &encf("E310000000002"))
            .await
            .unwrap(),
        None
    );
    assert_eq!(app.table.receipt_by_external_id(&app.scope, "SO#").await.unwrap(), None);
}

#[tokio::test]
async fn another_company_or_environment_finds_nothing() {
    let app = app("tenancy").await;
    let mut new = new_receipt(&app.scope, "order-1", "E310000000001");
    new.external_id = Some("SO-1".to_owned());
    let id = app.create(new).await.public_id;
    app.table
        .record_submitted(&app.scope, &id, "track-1", noon())
        .await
        .unwrap();
    for scope in app.foreign_scopes() {
        assert_eq!(app.table.receipt(&scope, &id).await.unwrap(), None);
        assert_eq!(
            app.table.receipt_by_encf(&scope, &encf("E310000000001")).await.unwrap(),
            None
        );
        assert_eq!(app.table.receipt_by_external_id(&scope, "SO-1").await.unwrap(), None);
        assert_eq!(app.table.receipt_by_track_id(&scope, "track-1").await.unwrap(), None);
        assert_eq!(
            app.table
                .receipts_newest(&scope, ecf_store::fiscal_day(noon()), 10)
                .await
                .unwrap(),
            []
        );
    }
    assert!(
        app.table
            .receipt_by_track_id(&app.scope, "track-1")
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn a_known_key_answers_with_the_first_receipt_whatever_the_number() {
    let app = app("replay").await;
    let first = app.receipt("order-1", "E310000000001").await;
    let again = new_receipt(&app.scope, "order-1", "E310000000002");
    let replay = app.table.create_receipt(&app.scope, again).await.unwrap();
    assert_eq!(replay, Created::Replay(first));
    // The number of the second attempt was not used up.
    app.receipt("order-2", "E310000000002").await;
}

#[tokio::test]
async fn two_requests_with_the_same_bytes_are_told_apart() {
    let app = app("same bytes").await;
    let first = app.receipt("order-1", "E310000000001").await;
    let same = new_receipt(&app.scope, "order-1", "E310000000001");
    assert_eq!(
        app.table.create_receipt(&app.scope, same).await.unwrap(),
        Created::Replay(first)
    );
}

#[tokio::test]
async fn a_number_that_is_locked_goes_to_nobody_else_and_leaves_no_record() {
    let app = app("locked").await;
    app.receipt("order-1", "E310000000001").await;
    let second = new_receipt(&app.scope, "order-2", "E310000000001");
    let id = second.public_id;
    assert_eq!(
        app.table.create_receipt(&app.scope, second).await.unwrap(),
        Created::NumberTaken
    );
    assert_eq!(app.table.receipt(&app.scope, &id).await.unwrap(), None);
}

#[tokio::test]
async fn of_many_attempts_with_one_key_exactly_one_wins() {
    let app = app("key race").await;
    let attempts = (1..=16).map(|number| {
        let table: Table = app.table.clone();
        let new = new_receipt(&app.scope, "order-1", &format!("E31{number:010}"));
        let scope = app.scope;
        tokio::spawn(async move { table.create_receipt(&scope, new).await.unwrap() })
    });
    let mut winners = Vec::new();
    let mut seen = Vec::new();
    for attempt in attempts.collect::<Vec<_>>() {
        match attempt.await.unwrap() {
            Created::New(receipt) => winners.push(receipt),
            Created::Replay(receipt) => seen.push(receipt),
            Created::NumberTaken | Created::ModifiedChanged => panic!("each attempt has its own number"),
        }
    }
    assert_eq!(winners.len(), 1);
    assert!(seen.iter().all(|receipt| *receipt == winners[0]));
}

#[tokio::test]
async fn of_many_receipts_with_one_number_exactly_one_wins() {
    let app = app("number race").await;
    let attempts = (1..=16).map(|order| {
        let table: Table = app.table.clone();
        let new = new_receipt(&app.scope, &format!("order-{order}"), "E310000000001");
        let scope = app.scope;
        tokio::spawn(async move { table.create_receipt(&scope, new).await.unwrap() })
    });
    let mut winners = 0;
    for attempt in attempts.collect::<Vec<_>>() {
        match attempt.await.unwrap() {
            Created::New(_) => winners += 1,
            Created::NumberTaken => {}
            other => panic!("no key came twice: {other:?}"),
        }
    }
    assert_eq!(winners, 1);
}

#[tokio::test]
async fn a_schedule_that_has_passed_does_not_make_a_receipt_due_at_once() {
    let app = app("past schedule").await;
    let mut new = new_receipt(&app.scope, "order-1", "E310000000001");
    new.scheduled_for = Some(new.created_at);
    let created = app.create(new).await;
    assert_eq!(created.next_action_at, Some(at("2026-11-27T16:10:00Z")));
}

#[tokio::test]
async fn a_receipt_without_a_number_gets_number_and_signature_later_and_once() {
    let app = app("signed later").await;
    let mut new = new_receipt(&app.scope, "order-1", "E310000000001");
    new.state = ReceiptState::Deferred;
    new.signed = None;
    new.scheduled_for = Some(at("2026-11-30T12:00:00Z"));
    let waiting = app.create(new.clone()).await;
    assert_eq!(waiting.next_action_at, new.scheduled_for);
    assert_eq!(
        app.table
            .receipt_by_encf(&app.scope, &encf("E310000000001"))
            .await
            .unwrap(),
        None
    );

    app.receipt("order-2", "E310000000007").await;
    let taken = signed("order-1", "E310000000007");
    let id = waiting.public_id;
    let outcome = app
        .table
        .sign_receipt(&app.scope, &id, &taken, "118.00", noon())
        .await
        .unwrap();
    assert_eq!(outcome, SignedLater::NumberTaken);

    let first = signed("order-1", "E310000000001");
    let outcome = app
        .table
        .sign_receipt(&app.scope, &id, &first, "118.00", noon())
        .await
        .unwrap();
    let SignedLater::Now(receipt) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (receipt.state, receipt.fiscal.signed.as_ref()),
        (ReceiptState::Signed, Some(&first))
    );
    assert_eq!(
        app.table.receipt_by_encf(&app.scope, &first.encf).await.unwrap(),
        Some(receipt.clone())
    );

    let second = signed("order-1", "E310000000008");
    let outcome = app
        .table
        .sign_receipt(&app.scope, &id, &second, "118.00", noon())
        .await
        .unwrap();
    assert_eq!(outcome, SignedLater::NotSignable(receipt));
    assert_eq!(app.table.receipt_by_encf(&app.scope, &second.encf).await.unwrap(), None);

    let unknown = ReceiptId::of("receipt", &app.scope.company, app.scope.environment, "unknown");
    let outcome = app
        .table
        .sign_receipt(&app.scope, &unknown, &second, "118.00", noon())
        .await
        .unwrap();
    assert_eq!(outcome, SignedLater::Missing);
}
