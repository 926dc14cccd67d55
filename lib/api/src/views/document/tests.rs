use ecf::{Environment, ReceiptState, ReceiptType};
use ecf_store::{
    CompanyId, ContentHash, ReceiptId, Scope,
    receipts::{BuyerAnswer, Mode, Signed},
};
use serde_json::{Value, json};

use super::*;

const STAMP: &str = "https://ecf.dgii.gov.do/testecf/consultatimbre?rncemisor=131880681&encf=E310000000001\
    &fechaemision=27%2D11%2D2026&montototal=1180%2E00&fechafirma=27%2D11%2D2026%2010%3A00%3A00&codigoseguridad=abc%2B%2F9";

fn received() -> Receipt {
    let company = CompanyId::from_random([7; 20]);
    let environment = Environment::TesteCF;
    Receipt {
        public_id: ReceiptId::of(ReceiptId::RECEIPT, &company, environment, "factura-1"),
        scope: Scope { company, environment },
        idempotency_key: "factura-1".to_owned(),
        payload_hash: [0; 32],
        external_id: None,
        mode: Mode::Immediate,
        state: ReceiptState::Received,
        created_at: "2026-11-27T14:00:00.123Z".parse().unwrap(),
        updated_at: "2026-11-27T14:00:00.123Z".parse().unwrap(),
        scheduled_for: None,
        payload: None,
        completed_at: None,
        error_code: None,
        error_message: None,
        secuencia_utilizada: None,
        taxauth_response: None,
        outbox: Vec::new(),
        predecessor: None,
        note: None,
        waiting_notes: Vec::new(),
        operator_decision: None,
        notified_at: None,
        next_action_at: None,
        fiscal: ecf_store::receipts::Fiscal {
            company_rnc: "131880681".parse().unwrap(),
            ecf_type: ReceiptType::ALL[0],
            monto_total: "1180.00".to_owned(),
            rnc_comprador: None,
            fecha_emision: "27-11-2026".parse().unwrap(),
            particulars: None,
            signed: None,
        },
        sending: ecf_store::receipts::Sending {
            attempts: 0,
            started_at: None,
            has_lost_send: false,
            resent_at: None,
            lease_until: None,
            lookup_negatives: 0,
            looked_up_at: None,
            track_id: None,
            submitted_at: None,
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

fn accepted() -> Receipt {
    Receipt {
        state: ReceiptState::Accepted,
        completed_at: Some("2026-11-27T14:00:03Z".parse().unwrap()),
        taxauth_response: Some(r#"{"estado":"Aceptado"}"#.to_owned()),
        fiscal: ecf_store::receipts::Fiscal {
            signed: Some(Signed {
                encf: "E310000000001".parse().unwrap(),
                sign_date: "27-11-2026 10:00:00".to_owned(),
                security_code: "abc+/9".to_owned(),
                signed_xml: ContentHash::from_bytes([1; 32]),
                rfce: None,
            }),
            ..received().fiscal
        },
        sending: ecf_store::receipts::Sending {
            track_id: Some("d8ccca33".to_owned()),
            ..received().sending
        },
        ..received()
    }
}

#[test]
fn a_receipt_without_signature_shows_every_field_that_will_come() {
    let receipt = received();
    let view = serde_json::to_value(DocumentView::of(&receipt, &StampHosts::default())).unwrap();
    assert_eq!(
        view,
        json!({
            "public_id": receipt.public_id.to_string(),
            "idempotency_key": "factura-1",
            "external_id": null,
            "ecf_type": "31",
            "environment": "TesteCF",
            "encf": null,
            "status": "received",
            "rnc_comprador": null,
            "razon_social_comprador": null,
            "monto_total": "1180.00",
            "total_itbis": null,
            "fecha_emision": "27-11-2026",
            "created_at": "2026-11-27T14:00:00.123Z",
            "updated_at": "2026-11-27T14:00:00.123Z",
            "scheduled_for": null,
            "track_id": null, "taxauth_track_id": null, "dgii_track_id": null,
            "security_code": null, "taxauth_security_code": null, "dgii_security_code": null,
            "electronic_stamp": null,
            "sign_date": null,
            "submitted_at": null,
            "completed_at": null,
            "error_code": null,
            "error_message": null,
            "stages": [],
        })
    );
}

#[test]
fn a_full_record_has_the_answer_and_the_files_under_both_names() {
    let receipt = accepted();
    let view = serde_json::to_value(FullDocumentView::of(&receipt, &StampHosts::default(), 12)).unwrap();
    let expected = [
        ("encf", json!("E310000000001")),
        ("status", json!("accepted")),
        ("dgii_track_id", json!("d8ccca33")),
        ("dgii_security_code", json!("abc+/9")),
        ("electronic_stamp", json!(STAMP)),
        ("sign_date", json!("27-11-2026 10:00:00")),
        ("completed_at", json!("2026-11-27T14:00:03.000Z")),
        ("dgii_response", json!({"estado": "Aceptado"})),
        ("taxauth_response", json!({"estado": "Aceptado"})),
    ];
    for (name, value) in expected {
        assert_eq!(view[name], value, "{name}");
    }
    let artifacts = &view["artifacts"];
    for (name, is_there) in [
        ("generated_xml", true),
        ("signed_xml", true),
        ("rfce", false),
        ("ri", true),
    ] {
        assert_eq!(artifacts[name], is_there, "{name}");
    }
    assert_eq!(artifacts["dgii_response"], true);
    assert_eq!(artifacts["taxauth_response"], true);
    assert_eq!(artifacts["retention_years"], 12);
    assert_eq!(artifacts["links"]["rfce"], Value::Null);
    assert_eq!(
        artifacts["links"]["signed_xml"],
        json!(format!(
            "/api/v1/client/documents/{}/artifacts/signed-xml",
            receipt.public_id
        ))
    );
}

#[test]
fn a_rejection_is_explained_beside_the_authoritys_own_words() {
    let said = "TablaSubDescuento / DescuentoMonto de la línea 3 no es válido.";
    let answer = json!({ "estado": "Rechazado", "mensajes": [{ "valor": said, "codigo": "2020" }, { "valor": "?", "codigo": "9" }] });
    let receipt = Receipt {
        state: ReceiptState::Rejected,
        error_code: Some("2020".to_owned()),
        error_message: Some(said.to_owned()),
        taxauth_response: Some(answer.to_string()),
        ..accepted()
    };
    let view = serde_json::to_value(FullDocumentView::of(&receipt, &StampHosts::default(), 12)).unwrap();
    assert_eq!(view["error_message"], said);
    assert_eq!(view["dgii_response"], answer);
    assert_eq!(
        view["explanations"],
        json!([{
            "codigo": "2020",
            "mensaje": said,
            "field": "DetallesItems/Item/TablaSubDescuento",
            "line": 3,
            "tipo_impuesto": null,
            "cause": "the discounts of the line do not add up to its DescuentoMonto, or one of the two is not there",
            "fix": "make DescuentoMonto the sum of the MontoSubDescuento of the line",
            "rules": ["LINEA-03", "LINEA-04", "LINEA-05", "LINEA-06"],
        }])
    );
}

#[test]
fn a_failed_receipt_says_why_and_what_to_do() {
    let explained = |code: &str, answer: Option<&str>| {
        let receipt = Receipt {
            state: ReceiptState::Failed,
            error_code: Some(code.to_owned()),
            error_message: Some("in words".to_owned()),
            taxauth_response: answer.map(str::to_owned),
            ..received()
        };
        let view = serde_json::to_value(DocumentView::of(&receipt, &StampHosts::default())).unwrap();
        let explanations = view["explanations"].as_array().unwrap().clone();
        assert_eq!(explanations.len(), 1, "{code}");
        (
            explanations[0]["codigo"].clone(),
            explanations[0]["cause"].clone(),
            explanations[0]["fix"].clone(),
        )
    };
    let (codigo, cause, fix) = explained("no_range", None);
    assert_eq!(codigo, "no_range");
    assert_eq!(
        cause,
        "the company had no range for the type when the receipt was to be numbered"
    );
    assert_eq!(
        fix,
        "register a range, then send it with a new idempotency_key or have the operator retry it"
    );
    assert_eq!(
        explained("IDDOC-14", None).1,
        "the stored document no longer passes this rule"
    );
    let refused = "the tax authority did not take the document and gave no verdict";
    assert_eq!(explained("9999", None).1, refused);
    // A message that is known is explained by itself.
    let answer = r#"{"mensajes":[{"codigo":"614","valor":"NCF Modificado no emitido."}]}"#;
    assert_eq!(explained("614", Some(answer)).0, "614");
    assert_ne!(explained("614", Some(answer)).1, refused);
    for reason in ecf::FailReason::ALL {
        assert_eq!(explained(reason.as_str(), None).1, *reason.cause().en);
    }
}

#[test]
fn a_summarised_receipt_is_stamped_at_the_other_host() {
    let mut receipt = accepted();
    receipt.fiscal.signed.as_mut().unwrap().rfce = Some(ContentHash::from_bytes([2; 32]));
    let view = FullDocumentView::of(&receipt, &StampHosts::default(), 12);
    let stamp = view.document.electronic_stamp.unwrap();
    assert!(
        stamp.starts_with("https://fc.dgii.gov.do/testecf/consultatimbrefc?"),
        "{stamp}"
    );
    assert!(view.artifacts.rfce);
}

#[test]
fn b4_a_document_shows_the_stages_that_it_reached_in_order_of_time() {
    let answer = |estado| BuyerAnswer {
        estado,
        reason: None,
        acecf: ContentHash::from_bytes([3; 32]),
        received_at: "2026-11-27T15:00:00Z".parse().unwrap(),
        signer: "CN=buyer".into(),
        signer_trusted: true,
    };
    let stages = |receipt: Receipt| {
        serde_json::to_value(DocumentView::of(&receipt, &StampHosts::default())).unwrap()["stages"].clone()
    };
    assert_eq!(stages(accepted()), json!([]));
    let notified_at = Some("2026-11-27T14:00:05Z".parse().unwrap());
    let approved = Receipt {
        notified_at,
        buyer: ecf_store::receipts::Buyer {
            answer: Some(answer(EstadoAprobacion::Aceptado)),
            ..accepted().buyer
        },
        ..accepted()
    };
    let notified = json!({ "name": "notified", "event": "accepted", "at": "2026-11-27T14:00:05.000Z" });
    let buyer = |name| json!({ "name": name, "event": "approval.received", "at": "2026-11-27T15:00:00.000Z" });
    assert_eq!(stages(approved.clone()), json!([notified, buyer("buyer_approved")]));
    // The webhook accepted the verdict after the buyer's answer.
    let late = Receipt {
        notified_at: Some("2026-11-27T16:00:00Z".parse().unwrap()),
        buyer: ecf_store::receipts::Buyer {
            answer: Some(answer(EstadoAprobacion::Rechazado)),
            ..approved.buyer
        },
        ..approved
    };
    assert_eq!(stages(late.clone())[0], buyer("buyer_rejected"));
    assert_eq!(stages(late)[1]["name"], "notified");
    // Every stage in a view is one of the published contract.
    let rejected = Receipt {
        state: ReceiptState::Rejected,
        notified_at,
        ..accepted()
    };
    assert_eq!(stages(rejected)[0]["event"], "rejected");
}
