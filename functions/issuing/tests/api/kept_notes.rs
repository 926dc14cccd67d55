//! Notes that are issued later: they reserve their amount when they are stored, and take their number when they are
//! due.

use ecf::ReceiptState;
use ecf_testkit::Fault;
use jiff::SignedDuration;
use serde_json::Value;

use crate::{
    Api,
    later::{TOMORROW, scheduled},
    payloads::{note, numbered_invoice},
};

/// Long enough for a receipt that is due tomorrow.
const A_DAY: SignedDuration = SignedDuration::from_hours(24);

impl Api {
    /// The amount of a receipt that can still be credited.
    async fn left(&self, encf: &str) -> String {
        let (table, scope) = (self.stack.table(), &self.company.scope);
        let found = table.modified_receipt(scope, &encf.parse().unwrap()).await;
        found.unwrap().unwrap().balance.to_string()
    }
}

fn tomorrow(key: &str, amount: &str, encf: &str) -> Value {
    let mut body = scheduled(note(key, "34", 3, amount, encf), TOMORROW);
    body["payload"]["Encabezado"]["Emisor"]["FechaEmision"] = "28-11-2026".into();
    body
}

#[tokio::test]
async fn a_note_for_tomorrow_takes_its_amount_now_and_its_number_when_it_is_due() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    let kept = api.issue(&tomorrow("later", "800.00", &encf)).await.expect(201);
    assert_eq!((&kept["status"], &kept["encf"]), (&"deferred".into(), &Value::Null));
    assert_eq!(api.left(&encf).await, "11000.00");
    assert_eq!(api.numbers_taken("34").await, 0);
    // A note in between is rejected with the remaining amount.
    api.issue(&note("greedy", "34", 3, "11000.01", &encf)).await.expect(422);
    api.issue(&note("rest", "34", 3, "11000.00", &encf)).await.expect(201);

    api.stack.clock().advance(A_DAY);
    let issued = api.issue_kept(&api.record(&kept).await).await;
    assert_eq!(issued.state, ReceiptState::Signed);
    let reference = issued.note.unwrap();
    assert!(
        reference.reserved && reference.awaits_invoice,
        "whoever sends it looks at the invoice again: {reference:?}"
    );
    let xml = api.xml(&issued).await;
    assert!(xml.contains(&format!("<NCFModificado>{encf}</NCFModificado>")), "{xml}");
    assert_eq!(api.left(&encf).await, "0.00");
    api.jobs().await;
}

#[tokio::test]
async fn a_kept_note_that_is_cancelled_or_fails_gives_its_amount_back() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    let kept = api.issue(&tomorrow("cancelled", "800.00", &encf)).await.expect(201);
    api.cancel(&kept).await.expect(200);
    assert_eq!(api.left(&encf).await, "11800.00");

    let mut typed = tomorrow("fails", "900.00", &encf);
    typed["payload"]["Encabezado"]["IdDoc"]["eNCF"] = "E340000000007".into();
    let kept = api.issue(&typed).await.expect(201);
    assert_eq!(api.left(&encf).await, "10900.00");
    let mut rival = note("rival", "34", 3, "100.00", &encf);
    rival["payload"]["Encabezado"]["IdDoc"]["eNCF"] = "E340000000007".into();
    api.issue(&rival).await.expect(201);
    api.stack.clock().advance(A_DAY);
    let failed = api.issue_kept(&api.record(&kept).await).await;
    assert_eq!(failed.error_code.as_deref(), Some("encf_already_used"));
    assert_eq!(api.left(&encf).await, "11700.00");
    api.jobs().await;
}

#[tokio::test]
async fn a_note_is_kept_too_when_the_vault_does_not_answer() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    // A new instance, with an empty cache.
    let api = Api::of(api.stack, api.company);
    api.stack.calls().inject("GetSecretValue", 1, Fault::NotSent);
    let kept = api.issue(&note("vault", "34", 3, "800.00", &encf)).await.expect(201);
    assert_eq!(kept["status"], "received");
    assert_eq!(api.left(&encf).await, "11000.00");
    api.work().await;
    assert_eq!(api.record(&kept).await.state, ReceiptState::Signed);
    api.jobs().await;
}

#[tokio::test]
async fn a_kept_note_whose_invoice_was_issued_here_only_afterwards_fails_and_says_so() {
    let api = Api::start().await;
    let number = "E310000000007";
    let kept = api.issue(&tomorrow("stranger", "800.00", number)).await.expect(201);
    api.issue(&numbered_invoice("invoice", number)).await.expect(201);
    api.stack.clock().advance(A_DAY);
    let failed = api.issue_kept(&api.record(&kept).await).await;
    assert_eq!(failed.state, ReceiptState::Failed);
    assert_eq!(failed.error_code.as_deref(), Some("note_not_kept"));
    assert_eq!(api.left(number).await, "11800.00");
    api.jobs().await;
}
