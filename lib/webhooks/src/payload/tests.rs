//! The bodies of events as receivers get them.

use ecf_store::{
    CompanyId, ContentHash, ReceiptId, Scope,
    receipts::{Mode, OutboxEntry, Signed},
};

use super::*;

fn receipt(state: ReceiptState) -> Receipt {
    let company = CompanyId::from_random([1; 20]);
    let environment = ecf::Environment::TesteCF;
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    Receipt {
        public_id: ReceiptId::of(ReceiptId::RECEIPT, &company, environment, "order-1"),
        scope: Scope { company, environment },
        idempotency_key: "order-1".into(),
        payload_hash: [2; 32],
        external_id: Some("SO-1".into()),
        mode: Mode::Immediate,
        state,
        created_at: at("2026-11-27T12:00:00Z"),
        updated_at: at("2026-11-27T12:00:09Z"),
        scheduled_for: None,
        payload: None,
        completed_at: Some(at("2026-11-27T12:00:03.987Z")),
        error_code: None,
        error_message: None,
        secuencia_utilizada: Some(true),
        taxauth_response: Some(r#"{"codigo":1,"estado":"Aceptado","mensajes":[{"valor":"ñ"}]}"#.into()),
        predecessor: None,
        note: None,
        waiting_notes: Vec::new(),
        outbox: vec![OutboxEntry::Webhook],
        operator_decision: None,
        notified_at: None,
        next_action_at: None,
        fiscal: ecf_store::receipts::Fiscal {
            company_rnc: "101672919".parse().unwrap(),
            ecf_type: "31".parse().unwrap(),
            monto_total: "11800.00".into(),
            rnc_comprador: Some("130000002".into()),
            fecha_emision: "27-11-2026".parse().unwrap(),
            particulars: None,
            signed: Some(Signed {
                encf: "E310000000001".parse().unwrap(),
                sign_date: "27-11-2026 08:00:00".into(),
                security_code: "a+/b=c".into(),
                signed_xml: ContentHash::of(b"xml"),
                rfce: None,
            }),
        },
        sending: ecf_store::receipts::Sending {
            attempts: 1,
            started_at: None,
            has_lost_send: false,
            resent_at: None,
            lease_until: None,
            lookup_negatives: 0,
            looked_up_at: None,
            track_id: Some("d2b6e27c-3908-46f3-afaa-2207b9501b4b".into()),
            submitted_at: Some(at("2026-11-27T12:00:01Z")),
            held_at: None,
            earlier_track_ids: Vec::new(),
            lost_track_ids: Vec::new(),
        },
        alarms: ecf_store::receipts::Alarms {
            delivery_hours: None,
            state: None,
        },
        buyer: ecf_store::receipts::Buyer {
            delivery: None,
            answer: None,
        },
    }
}

fn text(receipt: &Receipt) -> String {
    String::from_utf8(event_body(receipt, &StampHosts::default()).unwrap().1).unwrap()
}

#[test]
fn the_body_is_flat_and_in_the_order_of_the_specification() {
    let (event, body) = event_body(&receipt(ReceiptState::Accepted), &StampHosts::default()).unwrap();
    assert_eq!(event, EventName::Accepted);
    insta::assert_snapshot!(String::from_utf8(body).unwrap().replace(",\"", ",\n\""), @r#"
    {"event":"accepted",
    "public_id":"5f75fzh08rqpf0gnfhx8zw6x4tfqbs2m",
    "company_rnc":"101672919",
    "ecf_type":"31",
    "encf":"E310000000001",
    "status":"accepted",
    "track_id":"d2b6e27c-3908-46f3-afaa-2207b9501b4b",
    "track_number":"d2b6e27c-3908-46f3-afaa-2207b9501b4b",
    "security_code":"a+/b=c",
    "taxauth_security_code":"a+/b=c",
    "dgii_security_code":"a+/b=c",
    "timestamp":"2026-11-27T12:00:03",
    "taxauth_response":{"codigo":1,
    "estado":"Aceptado",
    "mensajes":[{"valor":"ñ"}]},
    "dgii_response":{"codigo":1,
    "estado":"Aceptado",
    "mensajes":[{"valor":"ñ"}]},
    "electronic_stamp":"https://ecf.dgii.gov.do/testecf/consultatimbre?rncemisor=101672919&rnccomprador=130000002&encf=E310000000001&fechaemision=27%2D11%2D2026&montototal=11800%2E00&fechafirma=27%2D11%2D2026%2008%3A00%3A00&codigoseguridad=a%2B%2Fb%3Dc",
    "sign_date":"27-11-2026 08:00:00"}
    "#);
}

#[test]
fn what_is_absent_is_left_out() {
    let receipt = Receipt {
        taxauth_response: None,
        sending: ecf_store::receipts::Sending {
            track_id: None,
            ..receipt(ReceiptState::Rejected).sending
        },
        fiscal: ecf_store::receipts::Fiscal {
            signed: None,
            ..receipt(ReceiptState::Rejected).fiscal
        },
        ..receipt(ReceiptState::Rejected)
    };
    insta::assert_snapshot!(text(&receipt).replace(",\"", ",\n\""), @r#"
    {"event":"rejected",
    "public_id":"5f75fzh08rqpf0gnfhx8zw6x4tfqbs2m",
    "company_rnc":"101672919",
    "ecf_type":"31",
    "status":"rejected",
    "timestamp":"2026-11-27T12:00:03"}
    "#);
}

#[test]
fn the_same_receipt_gives_the_same_bytes_whatever_happens_after_the_verdict() {
    let first = receipt(ReceiptState::ConditionallyAccepted);
    let later = Receipt {
        updated_at: first.updated_at + jiff::SignedDuration::from_hours(20),
        outbox: Vec::new(),
        next_action_at: Some(first.updated_at),
        ..first.clone()
    };
    assert_eq!(text(&first), text(&later));
}

#[test]
fn an_answer_that_is_no_object_is_left_out() {
    for answer in ["[1]", "\"x\"", "{broken", "", "null"] {
        let receipt = Receipt {
            taxauth_response: Some(answer.into()),
            ..receipt(ReceiptState::Accepted)
        };
        assert!(!text(&receipt).contains("_response"), "{answer}");
    }
}

#[test]
fn a_receipt_without_a_fiscal_state_has_no_event() {
    for state in [
        ReceiptState::Signed,
        ReceiptState::Submitted,
        ReceiptState::Failed,
        ReceiptState::Cancelled,
    ] {
        assert_eq!(
            event_body(&receipt(state), &StampHosts::default()),
            Err(NotFinal { state })
        );
    }
}

#[test]
fn the_dry_run_has_the_same_shape_and_nothing_of_a_receipt() {
    let webhook = WebhookId::from_random([3; 20]);
    let body = test_event_body(&webhook, "101672919", "2026-11-27T12:00:00.5Z".parse().unwrap());
    insta::assert_snapshot!(String::from_utf8(body).unwrap(), @r#"{"event":"webhook.test","public_id":"0c1g60r30c1g60r30c1g60r30c1g60r3","company_rnc":"101672919","timestamp":"2026-11-27T12:00:00"}"#);
}
