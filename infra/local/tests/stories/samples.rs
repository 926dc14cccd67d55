//! The sample receipts of the documentation: each is issued and accepted with the total that their table shows.

use std::collections::BTreeSet;

use ecf::ReceiptType;
use serde_json::{Value, json};

use crate::support::System;

/// Codes of findings that a sample may have: what the service computed, and what is known of its case.
const EXPECTED: [&str; 5] = [
    "AVISO-06",
    "CALCULO-10",
    "REFERENCIA-08",
    "REFERENCIA-15",
    "REFERENCIA-27",
];

#[tokio::test(flavor = "multi_thread")]
async fn p10_every_sample_receipt_is_issued_and_accepted_with_its_total() {
    let system = System::start().await;
    let caller = &system.caller;
    let samples = ecf_openapi::samples().unwrap();
    assert!(samples.len() >= 25, "{} samples", samples.len());
    let mut types = BTreeSet::new();
    let mut issued = Vec::new();
    for sample in &samples {
        let request = sample.of_day(&caller.today()).unwrap();
        let receipt = caller.post("/ecf", &request).await.expect(201);
        let name = &sample.name;
        assert_eq!(request["idempotency_key"], json!(format!("muestra-{name}")));
        assert_eq!(&name[..2], request["ecf_type"].as_str().unwrap());
        assert_eq!(receipt["monto_total"], json!(sample.total), "{name}");
        for warning in receipt["warnings"].as_array().into_iter().flatten() {
            let code = warning["ctx"]["code"].as_str().unwrap();
            assert!(EXPECTED.contains(&code), "{name}: {warning}");
        }
        types.insert(name[..2].to_owned());
        issued.push(receipt);
    }
    assert_eq!(types, BTreeSet::from(ReceiptType::ALL.map(|one| one.to_string())));
    for receipt in &issued {
        let accepted = caller.wait_for_state(receipt, "accepted").await;
        let documents = caller.documents(receipt).await;
        let [document] = documents.as_slice() else {
            panic!("{accepted}: {documents:?}")
        };
        // No notice of the authority either.
        assert_eq!(document["mensajes"], Value::Array(Vec::new()), "{accepted}");
    }
    system.local.shutdown().await;
}
