//! `GET /api/v1/client/documents/{id}` and its artifact summary.

use ecf::ReceiptState;
use ecf_store::{
    ArtifactKind,
    receipts::{Created, Failure, NewReceipt, Recorded},
};
use ecf_testkit::seeded_receipt;
use http::Method;
use jiff::{SignedDuration, ToSpan as _};
use serde_json::{Value, json};

use crate::{Api, RESPONSE, path_of};

#[tokio::test]
async fn a_record_shows_everything_that_is_known_of_a_receipt() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    api.accept(&receipt).await;
    let signed = receipt.fiscal.signed.as_ref().unwrap();
    let response: Value = serde_json::from_str(RESPONSE).unwrap();
    let path = path_of(&receipt);
    let link = |file: &str| format!("{path}/artifacts/{file}");
    let shown = api.get(&path).await.expect(200);
    let stamp = shown["electronic_stamp"].as_str().unwrap();
    assert!(stamp.starts_with("https://ecf.dgii.gov.do/testecf/consultatimbre?rncemisor=130000001&"));
    let expected = json!({
        "public_id": receipt.public_id.to_string(),
        "idempotency_key": "E310000000001",
        "external_id": null,
        "ecf_type": "31",
        "environment": "TesteCF",
        "encf": "E310000000001",
        "status": "accepted",
        "rnc_comprador": "131880681",
        "razon_social_comprador": "Constructora del Cibao SRL",
        "monto_total": "11800.00",
        "total_itbis": "1800.00",
        "fecha_emision": "27-11-2026",
        "created_at": "2026-11-27T16:00:00.000Z",
        "updated_at": "2026-11-27T16:00:00.000Z",
        "scheduled_for": null,
        "track_id": "track-1",
        "taxauth_track_id": "track-1",
        "dgii_track_id": "track-1",
        "security_code": signed.security_code,
        "taxauth_security_code": signed.security_code,
        "dgii_security_code": signed.security_code,
        "electronic_stamp": stamp,
        "sign_date": "27-11-2026 12:00:00",
        "submitted_at": "2026-11-27T16:00:00.000Z",
        "completed_at": "2026-11-27T16:00:00.000Z",
        "error_code": null,
        "error_message": null,
        "taxauth_response": response,
        "dgii_response": response,
        "artifacts": {
            "generated_xml": true,
            "signed_xml": true,
            "rfce": false,
            "ri": true,
            "taxauth_response": true,
            "dgii_response": true,
            "links": {
                "generated_xml": link("generated-xml"),
                "signed_xml": link("signed-xml"),
                "ri": link("ri"),
                "taxauth_response": link("taxauth-response"),
                "dgii_response": link("dgii-response"),
            },
            "retention_years": 10,
        },
        "delivery_alarm_hours": null,
        "stages": [],
        "history": [
            { "at": "2026-11-27T16:00:00.000Z", "state": "signed", "note": null },
            { "at": "2026-11-27T16:00:00.000Z", "state": "submitted", "note": null },
            { "at": "2026-11-27T16:00:00.000Z", "state": "accepted", "note": null },
        ],
        "payload": null,
    });
    assert_eq!(shown, expected);
    let summary = api.get(&format!("{path}/artifacts")).await.expect(200);
    assert_eq!(summary, expected["artifacts"]);
}

#[tokio::test]
async fn what_is_not_there_yet_is_null_or_false() {
    let api = Api::start().await;
    let receipt = api.receipt("E320000000001").await;
    let shown = api.get(&path_of(&receipt)).await.expect(200);
    for name in [
        "submitted_at",
        "completed_at",
        "dgii_response",
        "taxauth_response",
        "track_id",
    ] {
        assert_eq!(shown[name], Value::Null, "{name}");
    }
    let artifacts = &shown["artifacts"];
    for (name, is_there) in [("signed_xml", true), ("rfce", true), ("dgii_response", false)] {
        assert_eq!(artifacts[name], is_there, "{name}");
        assert_eq!(artifacts["links"][name].is_string(), is_there, "{name}");
    }
}

#[tokio::test]
async fn the_content_of_a_signed_receipt_is_shown_as_a_payload() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let path = path_of(&receipt);
    let payload = api.get(&format!("{path}?payload=true")).await.expect(200)["payload"].clone();
    assert_eq!(payload["Encabezado"]["IdDoc"]["eNCF"], "E310000000001");
    assert_eq!(payload["Encabezado"]["Comprador"]["RNCComprador"], "131880681");
    assert_eq!(payload["Encabezado"]["Totales"]["MontoTotal"], "11800.00");
    assert_eq!(payload["DetallesItems"]["Item"].as_array().map(Vec::len), Some(1));
    assert_eq!((payload.get("Signature"), payload.get("FechaHoraFirma")), (None, None));
    // Lists stay small.
    let listed = api.get("/api/v1/client/documents").await.expect(200);
    assert_eq!(
        (listed["items"][0].get("payload"), listed["items"][0].get("history")),
        (None, None)
    );
    api.get(&format!("{path}?payload=perhaps")).await.expect(422);
}

#[tokio::test]
async fn a_receipt_that_was_never_signed_shows_its_request_and_its_history() {
    let api = Api::start().await;
    let (table, scope, now) = (api.stack.table(), &api.company.scope, api.stack.clock().now());
    let template = seeded_receipt(&api.company, "E310000000001", ReceiptState::Accepted, now);
    let requested = json!({ "payload": { "Encabezado": { "IdDoc": { "TipoeCF": "31" } } }, "amounts": null });
    let artifacts = api.stack.artifacts();
    let stored = artifacts.put(
        scope,
        now,
        &template.public_id,
        ArtifactKind::Payload,
        requested.to_string().into_bytes(),
    );
    let new = NewReceipt {
        state: ReceiptState::Deferred,
        scheduled_for: Some(now + 2.hours()),
        signed: None,
        payload: Some(stored.await.unwrap()),
        ..template
    };
    let Created::New(receipt) = table.create_receipt(scope, new).await.unwrap() else {
        panic!("it is new");
    };
    let path = format!("{}?payload=true", path_of(&receipt));
    let shown = api.get(&path).await.expect(200);
    assert_eq!(shown["payload"], requested["payload"]);
    let created = json!({ "at": "2026-11-27T16:00:00.000Z", "state": "deferred", "note": null });
    assert_eq!(shown["history"], json!([created]));
    api.stack.clock().advance(SignedDuration::from_hours(2));
    let failure = Failure {
        code: "no_range",
        message: "the company has no range for type 31",
        taxauth_response: None,
    };
    let failed = table
        .record_failed(scope, &receipt, failure, api.stack.clock().now())
        .await;
    assert!(matches!(failed.unwrap(), Recorded::Now(_)));
    let shown = api.get(&path).await.expect(200);
    assert_eq!(shown["payload"], requested["payload"]);
    let failed = json!({ "at": "2026-11-27T18:00:00.000Z", "state": "failed", "note": "no_range" });
    assert_eq!(shown["history"], json!([created, failed]));
    assert_eq!(shown["completed_at"], Value::Null);
    assert_eq!(shown["explanations"][0]["codigo"], "no_range");
}

#[tokio::test]
async fn the_history_says_since_when_a_receipt_was_held() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let (table, scope) = (api.stack.table(), &api.company.scope);
    api.stack.clock().advance(SignedDuration::from_mins(1));
    let now = api.stack.clock().now();
    assert!(table.hold(scope, &receipt, now + 10.minutes(), now).await.unwrap());
    api.stack.clock().advance(SignedDuration::from_mins(30));
    api.accept(&receipt).await;
    let history = api.get(&path_of(&receipt)).await.expect(200)["history"].clone();
    let step =
        |at: &str, state: &str| json!({ "at": format!("2026-11-27T16:{at}:00.000Z"), "state": state, "note": null });
    let expected = [
        step("00", "signed"),
        step("01", "contingency"),
        step("31", "submitted"),
        step("31", "accepted"),
    ];
    assert_eq!(history, json!(expected));
}

#[tokio::test]
async fn what_is_anothers_unknown_or_no_id_is_not_found() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let stranger = api.stack.company_builder().rnc("131880681").build().await;
    let path = path_of(&receipt);
    for below in ["", "/artifacts", "/artifacts/signed-xml"] {
        let foreign = api
            .call(Method::GET, &format!("{path}{below}"), &stranger.api_key)
            .await;
        assert_eq!(foreign.expect(404)["detail"]["code"], "not_found", "{below}");
        for id in ["00000000000000000000000000000000", "1", "%ff"] {
            let unknown = api.get(&format!("/api/v1/client/documents/{id}{below}")).await;
            assert_eq!(unknown.status.as_u16() / 100, 4, "{id}{below}");
            assert!(unknown.json()["detail"]["code"].is_string(), "{id}{below}");
        }
    }
    assert_eq!(
        api.call(Method::POST, &path, &api.company.api_key).await.expect(405)["detail"]["code"],
        "method_not_allowed"
    );
}

#[tokio::test]
async fn b5_the_years_of_retention_are_those_of_the_deployment() {
    let api = Api::retaining("4383").await;
    let receipt = api.receipt("E310000000001").await;
    let path = path_of(&receipt);
    assert_eq!(api.get(&path).await.expect(200)["artifacts"]["retention_years"], 12);
    let summary = api.get(&format!("{path}/artifacts")).await.expect(200);
    assert_eq!(summary["retention_years"], 12);
    let listed = api.get("/api/v1/client/documents").await.expect(200);
    assert_eq!(listed["items"][0]["artifacts"]["retention_years"], 12);
}
