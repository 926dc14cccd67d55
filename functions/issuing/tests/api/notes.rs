//! Notes and the receipts that they modify.

use ecf::ReceiptState;
use ecf_store::{
    FieldEdit, Receipt,
    companies::{CompanyChanges, SettingsChanges},
    receipts::{Recorded, Verdict},
};
use futures::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{
    Api, id_of,
    payloads::{invoice, note},
};

const LEASE: SignedDuration = SignedDuration::from_secs(90);

impl Api {
    /// An accepted invoice of 11,800.00.
    pub(crate) async fn accepted_invoice(&self) -> String {
        let issued = self.issue(&invoice("invoice")).await.expect(201);
        self.judge(&issued, ReceiptState::Accepted, None).await;
        issued["encf"].as_str().unwrap().to_owned()
    }

    /// Records the authority's verdict on a receipt.
    async fn judge(&self, issued: &Value, state: ReceiptState, secuencia_utilizada: Option<bool>) -> Receipt {
        let (table, scope, id) = (self.stack.table(), self.company.scope, id_of(issued));
        let now = self.stack.clock().now();
        table.claim_send(&scope, &id, now, LEASE).await.unwrap();
        table.record_submitted(&scope, &id, &id.to_string(), now).await.unwrap();
        let verdict = Verdict {
            state,
            track_id: None,
            error_code: None,
            error_message: None,
            secuencia_utilizada,
            taxauth_response: None,
            outbox: Vec::new(),
        };
        match table.record_verdict(&scope, &id, verdict, now).await.unwrap() {
            Recorded::Now(receipt) => receipt,
            other => panic!("{other:?}"),
        }
    }
}

/// The codes of a 422.
fn codes(body: &Value) -> Vec<&str> {
    let errors = body["detail"].as_array().unwrap();
    errors
        .iter()
        .map(|error| error["ctx"]["code"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn credit_notes_add_up_to_the_invoice_and_the_one_too_many_is_told_both_sums() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    for (key, amount) in [("first", "1800.00"), ("second", "3000.50")] {
        let issued = api.issue(&note(key, "34", 3, amount, &encf)).await.expect(201);
        assert_eq!(issued["warnings"], Value::Null, "{issued}");
    }
    let refused = api.issue(&note("third", "34", 3, "7000.00", &encf)).await.expect(422);
    assert_eq!(
        refused["detail"],
        json!([{
            "loc": ["body", "payload", "Encabezado", "Totales", "MontoTotal"],
            "msg": format!("MontoTotal: the credit note exceeds what is left of {encf}: 7000.00 was given, 6999.50 is expected, the difference is -0.50"),
            "type": "value_error",
            "input": "7000.00",
            "ctx": { "code": "REFERENCIA-21", "given": "7000.00", "expected": "6999.50", "difference": "-0.50" },
        }])
    );
    // The rejection used up neither a number nor the key.
    assert_eq!(api.numbers_taken("34").await, 2);
    api.issue(&note("third", "34", 3, "6999.50", &encf)).await.expect(201);
    assert_eq!(api.numbers_taken("34").await, 3);
    api.jobs().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_credit_notes_at_the_same_time_only_as_many_are_issued_as_the_invoice_bears() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    let bodies: Vec<Value> = (0..8)
        .map(|number| note(&format!("note {number}"), "34", 3, "4000.00", &encf))
        .collect();
    let answers = join_all(bodies.iter().map(|body| api.issue(body))).await;
    let issued = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(issued, 2);
    for refused in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!(codes(&refused.expect(422)), ["REFERENCIA-21"]);
    }
    let last = api.issue(&note("rest", "34", 1, "3800.00", &encf)).await.expect(201);
    assert_eq!(last["status"], "signed");
    api.jobs().await;
}

#[tokio::test]
async fn an_annulment_is_of_the_rest_and_the_last_word() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    let partial = api.issue(&note("partial", "34", 3, "800.00", &encf)).await.expect(201);
    let whole = api.issue(&note("whole", "34", 1, "11800.00", &encf)).await.expect(422);
    assert_eq!(codes(&whole), ["REFERENCIA-20"]);
    assert_eq!(whole["detail"][0]["ctx"]["expected"], "11000.00");
    let annulled = api.issue(&note("rest", "34", 1, "11000.00", &encf)).await.expect(201);
    for (ecf_type, code, amount) in [("34", 3, "1.00"), ("34", 2, "0.00"), ("33", 3, "1.00")] {
        let refused = api
            .issue(&note("after", ecf_type, code, amount, &encf))
            .await
            .expect(422);
        assert!(
            codes(&refused).contains(&"REFERENCIA-22"),
            "{ecf_type} {code}: {refused}"
        );
    }
    // The authority counts what it accepted: the annulment waits for the earlier note.
    assert_eq!(annulled["warnings"][0]["ctx"]["code"], "REFERENCIA-27", "{annulled}");
    assert!(api.record(&annulled).await.note.unwrap().awaits_invoice);

    api.judge(&partial, ReceiptState::Rejected, Some(true)).await;
    let modified = api
        .stack
        .table()
        .modified_receipt(&api.company.scope, &encf.parse().unwrap())
        .await;
    assert_eq!(modified.unwrap().unwrap().balance.to_string(), "800.00");
    api.jobs().await;
}

#[tokio::test]
async fn a_rejected_credit_note_gives_its_amount_back() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    let first = api.issue(&note("first", "34", 1, "11800.00", &encf)).await.expect(201);
    api.issue(&note("second", "34", 3, "1.00", &encf)).await.expect(422);
    api.judge(&first, ReceiptState::Rejected, Some(true)).await;
    api.issue(&note("second", "34", 3, "11800.00", &encf)).await.expect(201);
    api.jobs().await;
}

#[tokio::test]
async fn a_debit_note_can_be_credited_once_it_is_accepted() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    let debit = api.issue(&note("debit", "33", 3, "200.00", &encf)).await.expect(201);
    let credit = note("credit", "34", 1, "12000.00", &encf);
    assert_eq!(codes(&api.issue(&credit).await.expect(422)), ["REFERENCIA-26"]);
    api.judge(&debit, ReceiptState::Accepted, None).await;
    api.issue(&credit).await.expect(201);
    api.jobs().await;
}

#[tokio::test]
async fn a_note_before_the_verdict_is_signed_and_held_and_the_caller_is_told() {
    let api = Api::start().await;
    let invoice = api.issue(&invoice("invoice")).await.expect(201);
    let encf = invoice["encf"].as_str().unwrap();
    let issued = api.issue(&note("early", "34", 3, "800.00", encf)).await.expect(201);
    assert_eq!(issued["status"], "signed");
    assert_eq!(
        issued["warnings"],
        json!([{
            "loc": ["body", "payload", "InformacionReferencia", "NCFModificado"],
            "msg": format!("NCFModificado: the note is sent once {encf}, and every earlier note that it builds on, has its verdict"),
            "type": "held",
            "input": encf,
            "ctx": { "code": "REFERENCIA-27", "given": encf },
        }])
    );
    assert!(api.record(&issued).await.note.unwrap().awaits_invoice);
    api.jobs().await;
}

#[tokio::test]
async fn a_company_may_have_its_notes_sent_at_once() {
    let api = Api::start().await;
    let changes = CompanyChanges {
        settings: SettingsChanges {
            hold_notes: FieldEdit::Set(false),
            ..SettingsChanges::default()
        },
        ..CompanyChanges::default()
    };
    let (table, now) = (api.stack.table(), api.stack.clock().now());
    let changed = table.update_company(&api.company.scope.company, changes, now).await;
    assert!(changed.unwrap().is_some());
    let invoice = api.issue(&invoice("invoice")).await.expect(201);
    let encf = invoice["encf"].as_str().unwrap();
    let issued = api.issue(&note("early", "34", 3, "800.00", encf)).await.expect(201);
    assert_eq!(issued["warnings"], Value::Null);
    let reference = api.record(&issued).await.note.unwrap();
    assert_eq!((reference.awaits_invoice, reference.reserved), (false, true));
    api.jobs().await;
}

#[tokio::test]
async fn a_note_on_a_receipt_that_cannot_become_valid_is_refused_with_its_state() {
    let api = Api::start().await;
    let invoice = api.issue(&invoice("invoice")).await.expect(201);
    let encf = invoice["encf"].as_str().unwrap();
    api.judge(&invoice, ReceiptState::Rejected, Some(true)).await;
    let refused = api.issue(&note("note", "34", 3, "800.00", encf)).await.expect(422);
    assert_eq!(codes(&refused), ["REFERENCIA-23"]);
    let error = &refused["detail"][0];
    assert_eq!(
        error["loc"],
        json!(["body", "payload", "InformacionReferencia", "NCFModificado"])
    );
    assert_eq!(error["ctx"]["given"], "rejected");
    assert_eq!(
        error["msg"],
        format!(
            "NCFModificado: {encf} was rejected by the tax authority and its number is burned: a note modifies a receipt that is accepted"
        )
    );
    assert_eq!(api.numbers_taken("34").await, 0);
    api.jobs().await;
}

#[tokio::test]
async fn buyer_and_day_are_those_of_the_invoice() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    let mut body = note("note", "34", 3, "800.00", &encf);
    body["payload"]["Encabezado"]["Comprador"]["RNCComprador"] = json!("101672919");
    body["payload"]["InformacionReferencia"]["FechaNCFModificado"] = json!("26-11-2026");
    let refused = api.issue(&body).await.expect(422);
    assert_eq!(codes(&refused), ["REFERENCIA-24", "REFERENCIA-25"]);
    api.jobs().await;
}

#[tokio::test]
async fn a_dry_run_and_a_batch_judge_the_balance_too() {
    let api = Api::start().await;
    let encf = api.accepted_invoice().await;
    let over = note("over", "34", 3, "11800.01", &encf);
    let dry = api.post("/api/v1/ecf?validate_only=true", &over).await.expect(422);
    assert_eq!(codes(&dry), ["REFERENCIA-21"]);
    let fits = note("fits", "34", 3, "11800.00", &encf);
    for _ in 0..2 {
        // A forecast reserves nothing.
        api.post("/api/v1/ecf?validate_only=true", &fits).await.expect(200);
    }
    let batch = json!({ "items": [over, fits.clone(), note("too late", "34", 3, "11800.00", &encf)] });
    let body = api.post("/api/v1/ecf/batch", &batch).await.expect(200);
    let mut statuses: Vec<u64> = body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["status_code"].as_u64().unwrap())
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 422, 422]);
    api.jobs().await;
}

#[tokio::test]
async fn a_note_on_a_receipt_that_is_not_known_here_is_issued_and_sent_at_once() {
    let api = Api::start().await;
    let issued = api
        .issue(&note("unknown", "34", 3, "800.00", "E310000000777"))
        .await
        .expect(201);
    assert_eq!(api.record(&issued).await.note, None);
    // Paper receipts are never known here.
    let paper = api
        .issue(&note("paper", "34", 3, "800.00", "B0100000001"))
        .await
        .expect(201);
    assert_eq!(api.record(&paper).await.note, None);
    api.jobs().await;
}
