//! The amounts that notes take from the receipt that they modify, and return.

use ecf::ReceiptState;
use ecf_store::{
    Receipt, ReceiptId,
    receipts::{Claim, Created, Failure, ModifiedReceipt, NewNote, NewReceipt, NoteCleared, Recorded, Verdict},
};
use jiff::SignedDuration;
use rust_decimal::Decimal;

use crate::support::{App, app, encf, new_receipt, noon};

const ORIGINAL: &str = "E310000000001";
const LEASE: SignedDuration = SignedDuration::from_secs(30);

impl App {
    /// An invoice of 1180.00.
    async fn original(&self) -> Receipt {
        self.receipt("invoice", ORIGINAL).await
    }

    async fn modified(&self) -> ModifiedReceipt {
        let found = self.table.modified_receipt(&self.scope, &encf(ORIGINAL)).await.unwrap();
        found.expect("the invoice has the number")
    }

    async fn balance(&self) -> String {
        self.modified().await.balance.to_string()
    }

    fn note(&self, number: &str, amount: &str, annuls: bool, on: &Receipt) -> NewReceipt {
        let amount: Decimal = amount.parse().unwrap();
        NewReceipt {
            monto_total: amount.to_string(),
            note: Some(NewNote {
                modifies: encf(ORIGINAL),
                annuls,
                awaits_invoice: false,
                amount,
                owner: on.public_id,
                monto_total: on.fiscal.monto_total.parse().unwrap(),
            }),
            ..new_receipt(&self.scope, number, number)
        }
    }

    async fn take(&self, number: &str, amount: &str, annuls: bool, on: &Receipt) -> Created {
        let new = self.note(number, amount, annuls, on);
        self.table.create_receipt(&self.scope, new).await.unwrap()
    }

    async fn judge(&self, id: &ReceiptId, state: ReceiptState) -> Recorded {
        self.table.claim_send(&self.scope, id, noon(), LEASE).await.unwrap();
        self.table
            .record_submitted(&self.scope, id, &id.to_string(), noon())
            .await
            .unwrap();
        let verdict = Verdict {
            state,
            track_id: None,
            error_code: None,
            error_message: None,
            secuencia_utilizada: Some(true),
            taxauth_response: None,
            outbox: Vec::new(),
        };
        self.table
            .record_verdict(&self.scope, id, verdict, noon())
            .await
            .unwrap()
    }
}

fn created(outcome: Created) -> Receipt {
    match outcome {
        Created::New(receipt) => receipt,
        other => panic!("not created: {other:?}"),
    }
}

#[tokio::test]
async fn credit_notes_take_what_is_left_and_no_more() {
    let app = app("note credit").await;
    let invoice = app.original().await;
    assert_eq!(app.balance().await, "1180.00");
    assert_eq!(
        app.take("E340000000001", "1180.01", false, &invoice).await,
        Created::ModifiedChanged
    );
    created(app.take("E340000000002", "1000.10", false, &invoice).await);
    assert_eq!(app.balance().await, "179.90");
    assert_eq!(
        app.take("E340000000003", "179.91", false, &invoice).await,
        Created::ModifiedChanged
    );
    created(app.take("E340000000004", "179.90", false, &invoice).await);
    assert_eq!(app.balance().await.parse(), Ok(Decimal::ZERO));
    // Nothing was stored of the rejected notes, and their numbers are free.
    for refused in ["E340000000001", "E340000000003"] {
        let found = app.table.receipt_by_encf(&app.scope, &encf(refused)).await.unwrap();
        assert_eq!(found, None);
    }
}

#[tokio::test]
async fn credit_notes_at_the_same_time_do_not_overdraw_the_receipt() {
    let app = app("note race").await;
    let invoice = app.original().await;
    let rivals = (1..=16).map(|number| {
        let new = app.note(&format!("E34{number:010}"), "500.00", false, &invoice);
        let (table, scope) = (app.table.clone(), app.scope);
        tokio::spawn(async move { table.create_receipt(&scope, new).await.unwrap() })
    });
    let mut won = 0;
    for rival in rivals.collect::<Vec<_>>() {
        won += usize::from(matches!(rival.await.unwrap(), Created::New(_)));
    }
    assert_eq!(won, 2);
    assert_eq!(app.balance().await, "180.00");
}

#[tokio::test]
async fn an_annulment_takes_exactly_the_rest_and_nothing_follows() {
    let app = app("note annul").await;
    let invoice = app.original().await;
    created(app.take("E340000000001", "180.00", false, &invoice).await);
    for wrong in ["1180.00", "999.99"] {
        assert_eq!(
            app.take("E340000000002", wrong, true, &invoice).await,
            Created::ModifiedChanged
        );
    }
    let annulment = created(app.take("E340000000003", "1000.00", true, &invoice).await);
    assert_eq!(app.modified().await.annulled_by, Some(annulment.public_id));
    for number in ["E340000000004", "E330000000004"] {
        assert_eq!(
            app.take(number, "0.01", false, &invoice).await,
            Created::ModifiedChanged
        );
    }
    // A rejected annulment has no effect.
    app.judge(&annulment.public_id, ReceiptState::Rejected).await;
    let modified = app.modified().await;
    assert_eq!(
        (modified.annulled_by, modified.balance.to_string()),
        (None, "1000.00".to_owned())
    );
    created(app.take("E340000000005", "1000.00", true, &invoice).await);
}

#[tokio::test]
async fn a_debit_note_counts_once_it_is_accepted() {
    let app = app("note debit").await;
    let invoice = app.original().await;
    for (number, state, balance) in [
        ("E330000000001", ReceiptState::Rejected, "1180.00"),
        ("E330000000002", ReceiptState::Accepted, "1280.00"),
    ] {
        let debit = created(app.take(number, "100.00", false, &invoice).await);
        let modified = app.modified().await;
        assert_eq!(modified.open_debits, [debit.public_id]);
        assert_eq!(modified.balance.to_string(), "1180.00");
        // The amount that it adds is not known yet, so neither is the total.
        assert_eq!(
            app.take("E340000000001", "1180.00", true, &invoice).await,
            Created::ModifiedChanged
        );
        app.judge(&debit.public_id, state).await;
        assert_eq!(app.balance().await, balance);
        assert_eq!(app.modified().await.open_debits, []);
    }
    created(app.take("E340000000002", "1280.00", true, &invoice).await);
}

#[tokio::test]
async fn the_end_of_a_note_is_settled_once_whoever_brings_it() {
    for (state, balance) in [
        (ReceiptState::Accepted, "680.00"),
        (ReceiptState::ConditionallyAccepted, "680.00"),
        (ReceiptState::Rejected, "1180.00"),
    ] {
        let app = app(&format!("settled {state}")).await;
        let invoice = app.original().await;
        let note = created(app.take("E340000000001", "500.00", false, &invoice).await);
        assert!(note.note.unwrap().reserved);
        let open = async || {
            let modified = app.modified().await;
            app.table
                .open_credit(&app.scope, &modified, &invoice.public_id)
                .await
                .unwrap()
        };
        assert_eq!(open().await, Some(note.public_id));
        let Recorded::Now(ended) = app.judge(&note.public_id, state).await else {
            panic!("it had no verdict")
        };
        assert_eq!(ended.state, state);
        assert_eq!(ended.note.unwrap().reserved, state != ReceiptState::Rejected);
        for late in [state, ReceiptState::Rejected, ReceiptState::Accepted] {
            app.judge(&note.public_id, late).await;
        }
        assert_eq!(app.balance().await, balance);
        assert_eq!(open().await, None);
    }
}

#[tokio::test]
async fn a_failed_note_gives_back_and_is_not_sent_again_without_taking_again() {
    let app = app("note failed").await;
    let invoice = app.original().await;
    let note = created(app.take("E340000000001", "800.00", false, &invoice).await);
    let failure = Failure {
        code: "refused",
        message: "no",
        taxauth_response: None,
    };
    for _ in 0..2 {
        app.table
            .record_failed(&app.scope, &note, failure, noon())
            .await
            .unwrap();
        assert_eq!(app.balance().await, "1180.00");
    }
    let failed = app.table.receipt(&app.scope, &note.public_id).await.unwrap().unwrap();
    assert_eq!(failed.state, ReceiptState::Failed);
    let reference = failed.note.unwrap();
    assert_eq!((reference.reserved, reference.awaits_invoice), (false, true));

    // Meanwhile another note takes the returned amount.
    created(app.take("E340000000002", "500.00", false, &invoice).await);
    assert!(!app.modified().await.covers(&failed).unwrap());
}

#[tokio::test]
async fn a_held_note_is_claimed_only_after_it_was_let_go() {
    let app = app("note held").await;
    let invoice = app.original().await;
    let mut new = app.note("E340000000001", "800.00", false, &invoice);
    new.note.as_mut().unwrap().awaits_invoice = true;
    let note = app.create(new).await;
    let claim = || app.table.claim_send(&app.scope, &note.public_id, noon(), LEASE);
    let Claim::AwaitsInvoice(held) = claim().await.unwrap() else {
        panic!("nobody let it go")
    };
    assert_eq!(held, note);
    let modified = app.modified().await;
    let clear = || app.table.clear_note(&app.scope, &note, &modified, noon());
    let NoteCleared::Now(free) = clear().await.unwrap() else {
        panic!("it is held")
    };
    assert!(free.note.unwrap().reserved);
    assert!(matches!(clear().await.unwrap(), NoteCleared::Already(_)));
    assert!(matches!(claim().await.unwrap(), Claim::Claimed(_)));
    assert_eq!(app.balance().await, "380.00");
}

#[tokio::test]
async fn a_receipt_tells_with_its_verdict_who_waits_for_it() {
    let app = app("note waiting").await;
    let invoice = app.original().await;
    let note = created(app.take("E340000000001", "800.00", false, &invoice).await);
    let awaits = || app.table.await_verdict(&app.scope, &invoice.public_id, &note.public_id);
    assert!(awaits().await.unwrap());
    assert!(awaits().await.unwrap());
    let Recorded::Now(accepted) = app.judge(&invoice.public_id, ReceiptState::Accepted).await else {
        panic!("it had no verdict")
    };
    assert_eq!(accepted.waiting_notes, [note.public_id]);
    assert!(!awaits().await.unwrap());
}

#[tokio::test]
async fn amounts_stay_exact_whatever_their_digits() {
    let app = app("note exact").await;
    let mut new = new_receipt(&app.scope, "invoice", ORIGINAL);
    new.monto_total = "9999999999999999.99".to_owned();
    let invoice = app.create(new).await;
    created(app.take("E340000000001", "0.01", false, &invoice).await);
    assert_eq!(app.balance().await, "9999999999999999.98");
    assert_eq!(
        app.take("E340000000002", "9999999999999999.99", false, &invoice).await,
        Created::ModifiedChanged
    );
    created(app.take("E340000000003", "9999999999999999.98", true, &invoice).await);
}

#[tokio::test]
async fn another_company_or_environment_has_no_part_in_it() {
    let app = app("foreign note").await;
    let invoice = app.original().await;
    for scope in app.foreign_scopes() {
        assert_eq!(app.table.modified_receipt(&scope, &encf(ORIGINAL)).await.unwrap(), None);
        let new = app.note("E340000000001", "1.00", false, &invoice);
        let outcome = app.table.create_receipt(&scope, new).await.unwrap();
        assert_eq!(outcome, Created::ModifiedChanged);
        assert!(
            !app.table
                .await_verdict(&scope, &invoice.public_id, &invoice.public_id)
                .await
                .unwrap()
        );
    }
    assert_eq!(app.balance().await, "1180.00");
}
