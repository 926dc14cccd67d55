//! Notes come to the authority after the verdict on the receipt that they modify.

use ecf::ReceiptState;
use ecf_store::{Receipt, receipts::Recorded};
use ecf_testkit::send_job;
use jiff::SignedDuration;
use serde_json::json;

use crate::world::World;

const INVOICE: &str = "E310000000001";
const NOTE: &str = "E340000000001";

impl World {
    async fn note(&mut self, encf: &str, on: &Receipt, code: u8, amount: &str) -> Receipt {
        let note = self.stack.signed_note(&self.company, encf, on, code, amount).await;
        self.queue(&send_job(&note));
        note
    }

    async fn balance(&self, of: &Receipt) -> String {
        let table = self.stack.table();
        let modified = table.modified_receipt(&of.scope, of.encf().unwrap()).await.unwrap();
        modified.unwrap().balance.to_string()
    }

    async fn reject(&self, secuencia_utilizada: bool) {
        let fault = json!({
            "service": "recepcion", "fault": "reject", "codigo": "145", "mensaje": "No corresponde.",
            "secuenciaUtilizada": secuencia_utilizada, "times": 1,
        });
        self.authority.order(fault).await;
    }
}

#[tokio::test]
async fn a_note_that_comes_first_is_sent_promptly_after_the_invoices_verdict() {
    let mut world = World::start().await;
    let invoice = world.stack.signed_receipt(&world.company, INVOICE).await;
    let note = world.note(NOTE, &invoice, 3, "800.00").await;
    world.run().await;
    assert_eq!(world.receipt(&note).await.state, ReceiptState::Signed);
    assert_eq!(world.authority.submissions(NOTE).await, 0);

    let issued_at = world.now();
    world.queue(&send_job(&invoice));
    world.run().await;
    assert_eq!(world.receipt(&invoice).await.state, ReceiptState::Accepted);
    let accepted = world.receipt(&note).await;
    assert_eq!(accepted.state, ReceiptState::Accepted, "{accepted:?}");
    assert_eq!(world.authority.submissions(NOTE).await, 1);
    assert!(world.now().duration_since(issued_at) < SignedDuration::from_mins(1));
    assert_eq!(world.balance(&invoice).await, "11000.00");
}

#[tokio::test]
async fn a_note_whose_wake_up_was_lost_is_found_by_the_due_index() {
    let mut world = World::start().await;
    let invoice = world.issue(INVOICE).await;
    let note = world.note(NOTE, &invoice, 3, "800.00").await;
    for _ in 0..100 {
        if world.receipt(&invoice).await.state.is_final() {
            break;
        }
        assert!(world.step().await);
    }
    world.lose_messages();
    assert_eq!(world.receipt(&note).await.state, ReceiptState::Signed);
    let accepted = world.run_until_quiet(&note).await;
    assert_eq!(accepted.state, ReceiptState::Accepted);
    assert_eq!(world.authority.submissions(NOTE).await, 1);
}

#[tokio::test]
async fn a_note_on_a_burned_invoice_fails_unsent_with_the_reason() {
    let mut world = World::start().await;
    world.reject(true).await;
    let invoice = world.issue(INVOICE).await;
    let note = world.note(NOTE, &invoice, 3, "800.00").await;
    world.run().await;
    assert_eq!(world.receipt(&invoice).await.state, ReceiptState::Rejected);
    let failed = world.receipt(&note).await;
    assert_eq!(failed.state, ReceiptState::Failed);
    assert_eq!(failed.error_code.as_deref(), Some("modified_receipt_not_accepted"));
    assert_eq!(
        failed.error_message.as_deref(),
        Some("E310000000001 was rejected by the tax authority and its number is burned")
    );
    assert!(failed.sending.attempts == 0 && failed.waits_for_a_person());
    assert_eq!(world.authority.submissions(NOTE).await, 0);
    assert_eq!(world.balance(&invoice).await, "11800.00");
}

#[tokio::test]
async fn a_note_on_a_freed_number_waits_for_the_successor_and_then_fails() {
    let mut world = World::start().await;
    world.reject(false).await;
    let invoice = world.issue(INVOICE).await;
    let note = world.note(NOTE, &invoice, 3, "800.00").await;
    world.run().await;
    let rejected = world.receipt(&invoice).await;
    assert_eq!(rejected.state, ReceiptState::Rejected);
    assert_eq!(world.receipt(&note).await.state, ReceiptState::Signed);
    let failed = world.run_until_quiet(&note).await;
    assert_eq!(failed.state, ReceiptState::Failed);
    assert_eq!(failed.error_code.as_deref(), Some("modified_receipt_not_accepted"));
    let waited = world.now().duration_since(rejected.updated_at);
    assert!(waited >= SignedDuration::from_hours(72), "{waited}");
    assert!(waited < SignedDuration::from_hours(73), "{waited}");
    assert_eq!(world.authority.submissions(NOTE).await, 0);
}

#[tokio::test]
async fn an_annulment_is_sent_after_the_earlier_note_whatever_comes_of_that() {
    for (is_rejected, state) in [(false, ReceiptState::Accepted), (true, ReceiptState::Failed)] {
        let mut world = World::start().await;
        let invoice = world.issue(INVOICE).await;
        world.run().await;
        if is_rejected {
            world.reject(true).await;
        }
        let partial = world
            .stack
            .signed_note(&world.company, NOTE, &invoice, 3, "800.00")
            .await;
        let annulment = world.note("E340000000002", &invoice, 1, "11000.00").await;
        world.run().await;
        assert_eq!(world.authority.submissions("E340000000002").await, 0);
        world.queue(&send_job(&partial));
        world.run().await;
        let ended = world.receipt(&annulment).await;
        assert_eq!(ended.state, state, "{ended:?}");
        if is_rejected {
            assert_eq!(ended.error_code.as_deref(), Some("modified_receipt_balance"));
            assert_eq!(world.balance(&invoice).await, "11800.00");
        }
    }
}

#[tokio::test]
async fn a_rejected_note_gives_its_amount_back_and_another_may_take_it() {
    let mut world = World::start().await;
    let invoice = world.issue(INVOICE).await;
    world.run().await;
    world.reject(true).await;
    let first = world.note(NOTE, &invoice, 1, "11800.00").await;
    assert_eq!(world.balance(&invoice).await, "0.00");
    world.run().await;
    assert_eq!(world.receipt(&first).await.state, ReceiptState::Rejected);
    assert_eq!(world.balance(&invoice).await, "11800.00");
    let second = world.note("E340000000002", &invoice, 1, "11800.00").await;
    world.run().await;
    assert_eq!(world.receipt(&second).await.state, ReceiptState::Accepted);
    assert_eq!(world.events_of(&first) + world.events_of(&second), 2);
}

#[tokio::test]
async fn a_failed_note_that_an_operator_retries_takes_its_amount_again_if_there_is_enough() {
    for (others, ends) in [("11000.00", ReceiptState::Accepted), ("11500.00", ReceiptState::Failed)] {
        let mut world = World::start().await;
        let invoice = world.issue(INVOICE).await;
        world.run().await;
        let fault = json!({ "service": "recepcion", "fault": "mensaje", "mensaje": "No delegado.", "times": 1 });
        world.authority.order(fault).await;
        let note = world.note(NOTE, &invoice, 3, "800.00").await;
        world.run().await;
        let failed = world.receipt(&note).await;
        assert_eq!(failed.state, ReceiptState::Failed);
        assert_eq!(world.balance(&invoice).await, "11800.00", "a failure gives it back");
        world.note("E340000000002", &invoice, 3, others).await;
        world.run().await;

        let retried = world
            .stack
            .table()
            .retry_failed(&failed.scope, &failed, world.now())
            .await;
        assert!(matches!(retried.unwrap(), Recorded::Now(_)));
        world.queue(&send_job(&failed));
        world.run().await;
        let ended = world.receipt(&note).await;
        assert_eq!(ended.state, ends, "{ended:?}");
        if ends == ReceiptState::Accepted {
            assert_eq!(world.balance(&invoice).await, "0.00");
        } else {
            assert_eq!(ended.error_code.as_deref(), Some("modified_receipt_balance"));
            assert_eq!(world.balance(&invoice).await, "300.00");
        }
    }
}
