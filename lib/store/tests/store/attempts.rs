//! A new attempt of the certification: numbers of an earlier attempt go to new receipts, and no record of it is lost.

use ecf::{Environment, ReceiptState};
use ecf_store::{
    Receipt, Scope,
    attempts::AttemptBegun,
    receipts::{Created, NewNote, NewReceipt, Recorded, Verdict},
};
use jiff::{SignedDuration, Timestamp};

use crate::support::{App, app, encf, new_receipt, noon};

const INVOICE: &str = "E310000000001";

/// The store in CerteCF.
async fn certifying(test: &str) -> App {
    let app = app(test).await;
    App {
        scope: Scope {
            environment: Environment::CerteCF,
            ..app.scope
        },
        ..app
    }
}

fn later(minutes: i64) -> Timestamp {
    noon() + SignedDuration::from_mins(minutes)
}

impl App {
    async fn begin(&self, key: &str, now: Timestamp) -> AttemptBegun {
        self.table.begin_attempt(&self.scope, key, now).await.unwrap()
    }

    async fn create_at(&self, key: &str, number: &str, created_at: Timestamp) -> Created {
        let new = NewReceipt {
            created_at,
            ..new_receipt(&self.scope, key, number)
        };
        self.table.create_receipt(&self.scope, new).await.unwrap()
    }

    async fn credit_of_all(&self, key: &str, number: &str, on: &Receipt, created_at: Timestamp) -> Created {
        let new = NewReceipt {
            created_at,
            note: Some(NewNote {
                modifies: encf(INVOICE),
                annuls: true,
                awaits_invoice: false,
                amount: on.fiscal.monto_total.parse().unwrap(),
                owner: on.public_id,
                monto_total: on.fiscal.monto_total.parse().unwrap(),
            }),
            ..new_receipt(&self.scope, key, number)
        };
        self.table.create_receipt(&self.scope, new).await.unwrap()
    }

    async fn decide(&self, receipt: &Receipt, state: ReceiptState) -> Receipt {
        let (id, now) = (&receipt.public_id, later(30));
        let track = id.to_string();
        self.table.record_submitted(&self.scope, id, &track, now).await.unwrap();
        let verdict = Verdict {
            state,
            track_id: None,
            error_code: None,
            error_message: None,
            secuencia_utilizada: Some(true),
            taxauth_response: None,
            outbox: Vec::new(),
        };
        match self.table.record_verdict(&self.scope, id, verdict, now).await.unwrap() {
            Recorded::Now(receipt) => receipt,
            other => panic!("{other:?}"),
        }
    }
}

fn created(outcome: Created) -> Receipt {
    match outcome {
        Created::New(receipt) => receipt,
        other => panic!("not created: {other:?}"),
    }
}

#[tokio::test]
async fn d1_a_number_of_an_earlier_attempt_goes_to_a_new_receipt_whatever_became_of_the_first() {
    let app = certifying("attempt pass").await;
    for (place, state) in [
        ReceiptState::Accepted,
        ReceiptState::Rejected,
        ReceiptState::ConditionallyAccepted,
    ]
    .into_iter()
    .enumerate()
    {
        let number = format!("E31{:010}", 100 + place);
        let first = created(app.create_at(&format!("first {place}"), &number, noon()).await);
        app.decide(&first, state).await;
    }
    created(app.create_at("pending", "E310000000103", noon()).await);
    assert_eq!(
        app.create_at("too early", "E310000000100", later(1)).await,
        Created::NumberTaken
    );

    app.begin("reset", later(2)).await;
    for place in 0..4 {
        let number = format!("E31{:010}", 100 + place);
        let earlier = app
            .table
            .receipt_by_encf(&app.scope, &encf(&number))
            .await
            .unwrap()
            .unwrap();
        let again = created(app.create_at(&format!("again {place}"), &number, later(3)).await);
        assert_eq!(again.predecessor, Some(earlier.public_id));
        let owner = app.table.receipt_by_encf(&app.scope, &encf(&number)).await.unwrap();
        assert_eq!(owner.unwrap().public_id, again.public_id);
        // The first receipt is unchanged.
        let found = app.table.receipt(&app.scope, &earlier.public_id).await.unwrap();
        assert_eq!(found, Some(earlier));
        // Within an attempt a number is used once.
        let twice = app.create_at(&format!("twice {place}"), &number, later(4)).await;
        assert_eq!(twice, Created::NumberTaken);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d1_of_many_that_name_a_number_of_an_earlier_attempt_one_gets_it() {
    let app = std::sync::Arc::new(certifying("attempt race").await);
    created(app.create_at("first", INVOICE, noon()).await);
    app.begin("reset", later(1)).await;
    let rivals = (0..8).map(|place| {
        let app = std::sync::Arc::clone(&app);
        tokio::spawn(async move { app.create_at(&format!("again {place}"), INVOICE, later(2)).await })
    });
    let mut won = 0;
    for rival in rivals.collect::<Vec<_>>() {
        won += usize::from(matches!(rival.await.unwrap(), Created::New(_)));
    }
    assert_eq!(won, 1);
}

#[tokio::test]
async fn d1_notes_of_an_earlier_attempt_leave_the_new_invoice_whole() {
    let app = certifying("attempt notes").await;
    let first = created(app.create_at("first", INVOICE, noon()).await);
    let credit = created(app.credit_of_all("credit", "E340000000001", &first, noon()).await);
    let modified = app.table.modified_receipt(&app.scope, &encf(INVOICE)).await.unwrap();
    assert_eq!(modified.unwrap().annulled_by, Some(credit.public_id));

    app.begin("reset", later(1)).await;
    // Until the invoice is sent again, a note modifies a receipt that is not known here.
    assert_eq!(
        app.table.modified_receipt(&app.scope, &encf(INVOICE)).await.unwrap(),
        None
    );
    let second = created(app.create_at("second", INVOICE, later(2)).await);
    let modified = app.table.modified_receipt(&app.scope, &encf(INVOICE)).await.unwrap();
    let modified = modified.unwrap();
    assert_eq!(
        (modified.receipt.public_id, modified.annulled_by),
        (second.public_id, None)
    );
    assert_eq!(modified.balance, modified.monto_total);

    // The late verdict on the abandoned note returns no amount to the new invoice.
    let judged = app.decide(&credit, ReceiptState::Rejected).await;
    assert!(judged.note.is_some_and(|note| !note.reserved));
    let again = app.credit_of_all("again", "E340000000001", &second, later(3)).await;
    let again = created(again);
    let modified = app.table.modified_receipt(&app.scope, &encf(INVOICE)).await.unwrap();
    let modified = modified.unwrap();
    assert!(modified.balance.is_zero(), "{modified:?}");
    assert_eq!(modified.annulled_by, Some(again.public_id));
}

#[tokio::test]
async fn d1_a_key_begins_one_attempt_and_each_has_the_next_number() {
    let app = certifying("attempt keys").await;
    assert_eq!(app.table.attempts(&app.scope).await.unwrap(), []);
    let AttemptBegun::New(second) = app.begin("a", noon()).await else {
        panic!("it is the first of its key")
    };
    assert_eq!((second.number, second.begun_at), (2, noon()));
    assert_eq!(app.begin("a", later(1)).await, AttemptBegun::Replay(second.clone()));
    let AttemptBegun::New(third) = app.begin("b", later(2)).await else {
        panic!("it is the first of its key")
    };
    assert_eq!(third.number, 3);
    assert_eq!(app.begin("a", later(3)).await, AttemptBegun::Replay(second.clone()));
    assert_eq!(app.table.attempts(&app.scope).await.unwrap(), [third, second]);
}

#[tokio::test]
async fn d1_outside_certecf_no_number_is_passed_on() {
    let app = app("attempt elsewhere").await;
    created(app.create_at("first", INVOICE, noon()).await);
    // Not even with a record, although no route writes one there.
    app.begin("reset", later(1)).await;
    assert_eq!(app.create_at("again", INVOICE, later(2)).await, Created::NumberTaken);
    assert!(!app.table.is_of_earlier_attempt(&app.scope, noon()).await.unwrap());
}
