//! `POST /api/v1/ecf/acecf/inbound` and `/outbound`.

use ecf_testkit::FOREIGN_RNC;
use serde_json::{Value, json};

use crate::{BUYER, ENCF, World, acecf};

/// A buyer's answer to the company's own receipt of RD$11,800.00.
fn inbound(key: &str, estado: &str) -> Value {
    json!({
        "idempotency_key": key, "sender_rnc": BUYER, "receiver_rnc": "130000001", "ecf_type": "31", "encf": ENCF,
        "signed_xml": acecf("130000001", BUYER, ENCF, "11800.00", estado),
    })
}

#[tokio::test]
async fn an_inbound_approval_is_kept_on_the_companys_receipt_which_stays_as_it_is() {
    let world = World::start().await;
    let receipt = world.own_receipt(ENCF).await;
    let mut body = inbound("in-1", "1");
    body["receiver_url"] = json!(world.peer.url());
    let answer = world.post("acecf/inbound", &body).await.expect(200);
    assert_eq!(
        (&answer["direction"], &answer["issuer"]["status"]),
        (&json!("inbound"), &json!("taken"))
    );
    assert_eq!(world.peer.documents("aprobacioncomercial").len(), 1);
    let table = world.stack.table();
    let scope = &world.company.scope;
    let now = table.receipt(scope, &receipt.public_id).await.unwrap().unwrap();
    assert_eq!(now.buyer.answer.as_ref().unwrap().estado.code(), "1");
    let unchanged = ecf_store::Receipt {
        buyer: ecf_store::receipts::Buyer {
            answer: None,
            ..now.buyer.clone()
        },
        ..now.clone()
    };
    assert_eq!(unchanged, receipt);

    // A retry gets the same answer, whatever its body, and changes nothing.
    let repeated = [
        body.clone(),
        {
            let mut unreadable = body.clone();
            unreadable["signed_xml"] = json!("bm8=");
            unreadable
        },
        inbound("in-1", "2"),
    ];
    for repeated in repeated {
        assert_eq!(world.post("acecf/inbound", &repeated).await.expect(200), answer);
    }
    assert_eq!(table.receipt(scope, &receipt.public_id).await.unwrap().unwrap(), now);
    assert_eq!(world.peer.documents("aprobacioncomercial").len(), 1);
    // The first answer to a receipt is final.
    let other = world.post("acecf/inbound", &inbound("in-2", "2")).await.expect(409);
    assert_eq!(other["detail"]["code"], "answered_already");
}

#[tokio::test]
async fn without_an_address_the_companys_own_receipt_is_told_to_the_authority_alone() {
    let world = World::start().await;
    world.own_receipt(ENCF).await;
    let answer = world.post("acecf/inbound", &inbound("in-1", "1")).await.expect(200);
    assert_eq!(answer["issuer"]["status"], "not_needed", "{answer}");
    // The test kit's receipt never reached the authority.
    assert_eq!(
        (&answer["status"], &answer["taxauth"]["status"]),
        (&json!("refused"), &json!("refused"))
    );
}

#[tokio::test]
async fn an_outbound_approval_is_the_companys_answer() {
    let world = World::start().await;
    let body = |key: &str, estado: &str| {
        json!({
            "idempotency_key": key, "sender_rnc": "130000001", "receiver_rnc": FOREIGN_RNC, "ecf_type": "31", "encf": ENCF,
            "signed_xml": acecf(FOREIGN_RNC, "130000001", ENCF, "1000.00", estado), "environment": "TesteCF",
        })
    };
    world.receive(ENCF, true).await;
    let answer = world.post("acecf/outbound", &body("out-1", "1")).await.expect(200);
    assert_eq!(
        (&answer["status"], &answer["direction"]),
        (&json!("completed"), &json!("outbound")),
        "{answer}"
    );
    assert_eq!(world.peer.documents("aprobacioncomercial").len(), 1);
    let other = world.post("acecf/outbound", &body("out-2", "2")).await.expect(409);
    assert_eq!(other["detail"]["code"], "answered_already");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_at_its_field_and_leaves_nothing() {
    let world = World::start().await;
    let receipt = world.own_receipt(ENCF).await;
    let changed = |field: &str, value: Value| {
        let mut body = inbound("x", "1");
        body[field] = value;
        body
    };
    for (field, body) in [
        ("signed_xml", changed("signed_xml", json!("bm8="))),
        ("signed_xml", changed("signed_xml", json!("%"))),
        ("encf", changed("encf", json!("E310000000002"))),
        ("sender_rnc", changed("sender_rnc", json!("101672919"))),
        ("ecf_type", changed("ecf_type", json!("99"))),
        ("environment", changed("environment", json!("ecf"))),
        (
            "receiver_url",
            changed("receiver_url", json!("http://169.254.169.254/")),
        ),
        ("receiver_url", changed("receiver_url", json!("file:///etc/passwd"))),
        ("idempotency_key", changed("idempotency_key", json!(""))),
    ] {
        let refused = world.post("acecf/inbound", &body).await.expect(422);
        assert_eq!(refused["detail"][0]["loc"][1], field, "{refused}");
    }
    let mut foreign = inbound("x", "1");
    foreign["receiver_rnc"] = json!(FOREIGN_RNC);
    foreign["signed_xml"] = json!(acecf(FOREIGN_RNC, BUYER, ENCF, "11800.00", "1"));
    let refused = world.post("acecf/inbound", &foreign).await.expect(422);
    assert_eq!(refused["detail"][0]["loc"][1], "receiver_rnc", "{refused}");
    let outbound = world.post("acecf/outbound", &inbound("x", "1")).await.expect(422);
    assert_eq!(outbound["detail"][0]["loc"][1], "sender_rnc", "{outbound}");
    for (code, xml, encf) in [
        (
            "differs_from_receipt",
            acecf("130000001", BUYER, ENCF, "11800.01", "1"),
            ENCF,
        ),
        (
            "type_not_approved",
            acecf("130000001", BUYER, "E320000000002", "11800.00", "1"),
            "E320000000002",
        ),
    ] {
        let mut body = changed("signed_xml", json!(xml));
        body["encf"] = json!(encf);
        body["ecf_type"] = json!(&encf[1..3]);
        let refused = world.post("acecf/inbound", &body).await.expect(409);
        assert_eq!(refused["detail"]["code"], code, "{refused}");
    }
    let table = world.stack.table();
    let now = table.receipt(&world.company.scope, &receipt.public_id).await.unwrap();
    assert_eq!(now, Some(receipt));
    assert_eq!(world.peer.received().len(), 0);
}

#[tokio::test]
async fn b7_an_approval_of_a_receipt_that_was_issued_elsewhere_is_taken_and_forwarded() {
    let world = World::start().await;
    let encf = "E310000000002";
    let mut body = inbound("in-1", "1");
    body["encf"] = json!(encf);
    body["signed_xml"] = json!(acecf("130000001", BUYER, encf, "11800.00", "1"));
    body["receiver_url"] = json!(world.peer.url());
    let answer = world.post("acecf/inbound", &body).await.expect(200);
    assert_eq!(
        (
            &answer["receipt_unknown"],
            &answer["direction"],
            &answer["issuer"]["status"]
        ),
        (&json!(true), &json!("inbound"), &json!("taken")),
        "{answer}"
    );
    assert_eq!(world.peer.documents("aprobacioncomercial").len(), 1);
    // The simulated authority does not know the receipt either; the test only requires that it was asked.
    assert_eq!(answer["taxauth"]["status"], "refused");
    assert_eq!(world.post("acecf/inbound", &body).await.expect(200), answer);
    let listed = world.get("acecf").await.expect(200);
    assert_eq!((&listed["total"], &listed["items"][0]), (&json!(1), &answer));

    // An approval of a receipt that is known here is not `receipt_unknown`.
    world.own_receipt(ENCF).await;
    let known = world.post("acecf/inbound", &inbound("in-2", "1")).await.expect(200);
    assert_eq!(known["receipt_unknown"], false);
}

#[tokio::test]
async fn d2_an_outbound_answer_that_the_authority_refused_may_be_given_again() {
    let world = World::start().await;
    let body = |key: &str, estado: &str| {
        json!({
            "idempotency_key": key, "sender_rnc": "130000001", "receiver_rnc": FOREIGN_RNC, "ecf_type": "31", "encf": ENCF,
            "signed_xml": acecf(FOREIGN_RNC, "130000001", ENCF, "1000.00", estado),
        })
    };
    // The authority gets the receipt only afterwards.
    let refused = world.post("acecf/outbound", &body("out-1", "1")).await.expect(200);
    assert_eq!(refused["taxauth"]["status"], "refused", "{refused}");
    world.receive(ENCF, true).await;
    let again = world.post("acecf/outbound", &body("out-2", "1")).await.expect(200);
    assert_eq!(again["taxauth"]["status"], "taken", "{again}");
    let third = world.post("acecf/outbound", &body("out-3", "1")).await.expect(409);
    assert_eq!(third["detail"]["code"], "answered_already");
}
