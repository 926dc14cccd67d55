//! `GET /api/v1/client/documents/{id}/artifacts/{type}`.

use axum::body::Body;
use ecf::{ReceiptState, ReceiptType};
use ecf_store::{
    ContentHash, Receipt, ReceiptId,
    receipts::{Created, Mode, NewReceipt, Particulars, Withdrawal},
};
use ecf_testkit::{Fault, send};
use http::{Method, Request};
use serde_json::json;
use sha2::{Digest, Sha256};
use xmldsig::{Limits, verify};

use crate::{Api, RESPONSE, path_of};

fn file_of(receipt: &Receipt, artifact: &str) -> String {
    format!("{}/artifacts/{artifact}", path_of(receipt))
}

impl Api {
    /// A stored receipt that is not signed yet.
    async fn unsigned(&self, key: &str, ecf_type: ReceiptType, monto_total: &str) -> Receipt {
        let now = self.stack.clock().now();
        let new = NewReceipt {
            public_id: ReceiptId::of_receipt(&self.company.scope, key),
            company_rnc: self.company.rnc.clone(),
            idempotency_key: key.to_owned(),
            payload_hash: [0; 32],
            ecf_type,
            external_id: None,
            mode: Mode::Immediate,
            state: ReceiptState::Received,
            created_at: now,
            scheduled_for: None,
            monto_total: monto_total.to_owned(),
            rnc_comprador: None,
            fecha_emision: "27-11-2026".parse().unwrap(),
            particulars: Particulars::default(),
            signed: None,
            payload: Some(ContentHash::of(b"{}")),
            note: None,
        };
        match self
            .stack
            .table()
            .create_receipt(&self.company.scope, new)
            .await
            .unwrap()
        {
            Created::New(receipt) => receipt,
            other => panic!("not created: {other:?}"),
        }
    }
}

#[tokio::test]
async fn each_file_comes_under_its_name_and_type_with_the_hash_of_its_bytes() {
    let api = Api::start().await;
    let receipt = api.receipt("E320000000001").await;
    api.accept(&receipt).await;
    for (artifact, content_type, name) in [
        ("signed-xml", "application/xml", "130000001E320000000001.xml"),
        (
            "generated-xml",
            "application/xml",
            "130000001E320000000001-unsigned.xml",
        ),
        ("rfce", "application/xml", "130000001E320000000001-rfce.xml"),
        ("ri", "application/pdf", "130000001E320000000001.pdf"),
        (
            "taxauth-response",
            "application/json",
            "130000001E320000000001-response.json",
        ),
        (
            "dgii-response",
            "application/json",
            "130000001E320000000001-response.json",
        ),
    ] {
        let path = file_of(&receipt, artifact);
        let answer = api.get(&path).await;
        assert_eq!(answer.status, 200, "{artifact}");
        assert_eq!(answer.header("content-type"), Some(content_type), "{artifact}");
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(
            answer.header("content-disposition"),
            Some(disposition.as_str()),
            "{artifact}"
        );
        let tag = format!("\"{}\"", hex::encode(Sha256::digest(&answer.bytes)));
        assert_eq!(answer.header("etag"), Some(tag.as_str()), "{artifact}");

        let head = api.call(Method::HEAD, &path, &api.company.api_key).await;
        assert_eq!((head.status.as_u16(), head.bytes.len()), (200, 0), "{artifact}");
        assert_eq!(head.header("etag"), Some(tag.as_str()), "{artifact}");
        let known = Request::get(&path)
            .header("X-API-Key", &api.company.api_key)
            .header("If-None-Match", &tag)
            .body(Body::empty())
            .unwrap();
        let known = send(&api.router, known).await;
        assert_eq!((known.status.as_u16(), known.bytes.len()), (304, 0), "{artifact}");
    }
}

#[tokio::test]
async fn the_xml_is_what_was_signed_and_the_generated_one_what_the_signature_covers() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let signed = api.get(&file_of(&receipt, "signed-xml")).await.bytes;
    let kept = receipt.fiscal.signed.as_ref().unwrap().signed_xml;
    assert_eq!(ContentHash::of(&signed), kept);
    let verified = verify(&signed, &Limits::default()).unwrap();
    let generated = api.get(&file_of(&receipt, "generated-xml")).await.bytes;
    assert_eq!(generated, verified.document);
}

#[tokio::test]
async fn the_authoritys_answer_comes_as_it_was_given() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let waiting = api.get(&file_of(&receipt, "taxauth-response")).await.expect(409);
    assert_eq!(waiting["detail"]["code"], "artifact_not_ready");
    assert_eq!(
        waiting["detail"]["message"],
        "the receipt is signed: the tax authority has not answered yet"
    );
    api.accept(&receipt).await;
    assert_eq!(
        api.get(&file_of(&receipt, "dgii-response")).await.bytes,
        RESPONSE.as_bytes()
    );
}

#[tokio::test]
async fn a_summary_is_of_small_consumer_invoices_alone() {
    let api = Api::start().await;
    let credit = api.receipt("E310000000001").await;
    let refused = api.get(&file_of(&credit, "rfce")).await.expect(404);
    assert_eq!(
        (&refused["detail"]["code"], &refused["detail"]["message"]),
        (
            &json!("artifact_not_applicable"),
            &json!("an RFCE is of a type 32 below RD$250,000.00; this is a type 31 of RD$11800.00")
        )
    );
    for (key, monto_total, status) in [("a", "249999.99", 409), ("b", "250000.00", 404)] {
        let receipt = api.unsigned(key, ReceiptType::E32, monto_total).await;
        api.get(&file_of(&receipt, "rfce")).await.expect(status);
    }
}

#[tokio::test]
async fn what_is_not_signed_yet_can_be_asked_for_again_and_what_never_will_be_cannot() {
    let api = Api::start().await;
    let receipt = api.unsigned("a", ReceiptType::E31, "1180.00").await;
    for artifact in ["signed-xml", "generated-xml", "ri"] {
        let waiting = api.get(&file_of(&receipt, artifact)).await.expect(409);
        assert_eq!(waiting["detail"]["code"], "artifact_not_ready", "{artifact}");
    }
    let (scope, now) = (&api.company.scope, api.stack.clock().now());
    let table = api.stack.table();
    table.withdraw(scope, &receipt, Withdrawal::Cancel, now).await.unwrap();
    for artifact in ["signed-xml", "generated-xml", "ri", "taxauth-response"] {
        let never = api.get(&file_of(&receipt, artifact)).await.expect(404);
        assert_eq!(never["detail"]["code"], "artifact_not_applicable", "{artifact}");
    }
}

#[tokio::test]
async fn a_type_or_switch_that_there_is_not_is_told() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    for artifact in ["payload", "SIGNED-XML", "pdf"] {
        let refused = api.get(&file_of(&receipt, artifact)).await.expect(422);
        let error = &refused["detail"][0];
        assert_eq!(
            (&error["loc"], &error["type"], &error["input"]),
            (&json!(["path", "artifact_type"]), &json!("enum"), &json!(artifact))
        );
    }
    let path = file_of(&receipt, "signed-xml");
    let refused = api.get(&format!("{path}?refresh=maybe")).await.expect(422);
    assert_eq!(refused["detail"][0]["loc"], json!(["query", "refresh"]));
    let refused = api.get(&format!("{path}?format=a5")).await.expect(422);
    let papers = ecf_ri::Format::ALL.map(|format| format!("'{format}'"));
    let (last, others) = papers.split_last().unwrap();
    assert_eq!(
        (&refused["detail"][0]["loc"], &refused["detail"][0]["msg"]),
        (
            &json!(["query", "format"]),
            &json!(format!("format: Input should be {} or {last}", others.join(", ")))
        )
    );
    for (refresh, status) in [("true", 200), ("false", 200), ("", 422)] {
        assert_eq!(
            api.get(&format!("{path}?refresh={refresh}")).await.status,
            status,
            "{refresh}"
        );
    }
}

#[tokio::test]
async fn a_bucket_that_does_not_answer_is_asked_again_later() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    api.stack.calls().inject("GetObject", 1, Fault::NotSent);
    let path = file_of(&receipt, "signed-xml");
    let answer = api.get(&path).await;
    assert_eq!(answer.expect(503)["detail"]["code"], "unavailable");
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(api.get(&path).await.status, 200);
}
