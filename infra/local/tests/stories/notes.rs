//! Notes through the whole system: each reaches the authority after the receipt that it modifies.

use http::Method;
use serde_json::json;

use crate::payloads::{note, payload};
use crate::support::System;

#[tokio::test(flavor = "multi_thread")]
async fn notes_that_are_issued_with_their_invoice_are_judged_in_the_right_order() {
    let system = System::start().await;
    let caller = &system.caller;
    let today = caller.today();
    let invoice = payload(&caller.rnc, &today, "31", 1_000);
    let invoice = caller.issue("invoice", "31", &invoice).await.expect(201);
    let encf = invoice["encf"].as_str().unwrap();
    let partial = note(&caller.rnc, &today, "34", 300, encf);
    let partial = caller.issue("partial", "34", &partial).await.expect(201);
    let mut rest = note(&caller.rnc, &today, "34", 700, encf);
    rest["InformacionReferencia"]["CodigoModificacion"] = json!(1);
    let rest = caller.issue("rest", "34", &rest).await.expect(201);
    for receipt in [&invoice, &partial, &rest] {
        caller.wait_for_state(receipt, "accepted").await;
    }
    let late = note(&caller.rnc, &today, "34", 1, encf);
    caller.issue("late", "34", &late).await.expect(422);
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rejected_note_took_can_be_credited_again() {
    let system = System::start().await;
    let caller = &system.caller;
    let today = caller.today();
    let invoice = payload(&caller.rnc, &today, "31", 1_000);
    let invoice = caller.issue("invoice", "31", &invoice).await.expect(201);
    caller.wait_for_state(&invoice, "accepted").await;
    let encf = invoice["encf"].as_str().unwrap();
    let fault = json!({
        "service": "recepcion", "rnc": caller.rnc, "fault": "reject", "codigo": "614",
        "mensaje": "NCF Modificado no emitido.", "times": 1,
    });
    caller.control(Method::POST, "faults", &fault).await;
    let whole = note(&caller.rnc, &today, "34", 1_000, encf);
    let first = caller.issue("first", "34", &whole).await.expect(201);
    caller.issue("second", "34", &whole).await.expect(422);
    let rejected = caller.wait_for_state(&first, "rejected").await;
    assert_eq!(rejected["error_message"], "NCF Modificado no emitido.");
    assert_eq!(
        rejected["explanations"][0]["field"],
        "InformacionReferencia/NCFModificado"
    );
    let second = caller.issue("second", "34", &whole).await.expect(201);
    caller.wait_for_state(&second, "accepted").await;
    system.local.shutdown().await;
}
