//! `GET /api/v1/client/company`.

use ecf_store::{NewRange, Numbering};
use ecf_testkit::TestStack;
use jiff::SignedDuration;
use serde_json::json;

use crate::{Api, COMPANY};

#[tokio::test]
async fn a_new_company_has_no_certificate_no_types_and_every_default() {
    let api = Api::start().await;
    let shown = api.get(COMPANY).await.expect(200);
    let expected = json!({
        "public_id": api.company.scope.company.to_string(), "rnc": "130000001",
        "name": "Ferretería de Prueba SRL", "trade_name": null, "address": null,
        "email": "facturas@ferreteria.example", "phone": null,
        "default_environment": "TesteCF", "is_active": true, "certificate": null, "active_ncf_types": [],
        "settings": {
            "on_conditional": null, "hold_notes": true, "hold_notes_hours": 72, "certificate_owner": "warn",
            "sequence_alert_remaining": 100, "sequence_alert_days": 30, "reception_token": false, "deliver_45": false, "approve_accepted_only": true,
        },
    });
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn the_certificate_counts_its_days_and_ends() {
    let stack = TestStack::start().await;
    let company = stack.company_builder().without_ranges().build().await;
    let api = Api::of(stack, company);
    let shown = api.get(COMPANY).await.expect(200);
    let serial = shown["certificate"]["serial_number"].clone();
    assert!(!serial.as_str().unwrap().is_empty());
    // From 27 November 2026, 16:00 UTC, to 1 January 2029, 04:00 UTC.
    let expected = json!({
        "active": true, "environment": "TesteCF", "expires_at": "2029-01-01T04:00:00.000Z", "days_until_expiry": 765,
        "subject_cn": "PRUEBA DEL SISTEMA", "serial_number": serial,
    });
    assert_eq!(shown["certificate"], expected);

    api.stack.clock().advance(SignedDuration::from_hours(766 * 24));
    let shown = api.get(COMPANY).await.expect(200);
    let certificate = &shown["certificate"];
    assert_eq!(
        (&certificate["active"], &certificate["days_until_expiry"]),
        (&json!(false), &json!(-1))
    );
}

#[tokio::test]
async fn only_types_that_still_have_numbers_are_active() {
    let api = Api::start().await;
    let now = api.stack.clock().now();
    let table = api.stack.table();
    for (ecf_type, start, end, valid_until) in [
        ("31", 1, 1, Some("31-12-2026")),
        ("31", 2, 2, Some("31-12-2027")),
        ("32", 1, 1, None),
        ("33", 1, 9, Some("26-11-2026")),
    ] {
        let range = NewRange {
            ecf_type: ecf_type.parse().unwrap(),
            start,
            end,
            valid_until: valid_until.map(|day| day.parse().unwrap()),
            numbering: Some(Numbering::Service),
            created_at: now,
        };
        table.open_range(&api.company.scope, range).await.unwrap();
    }
    let active = async || api.get(COMPANY).await.expect(200)["active_ncf_types"].clone();
    assert_eq!(active().await, json!(["31", "32"]));

    let today = ecf::Fecha::at(now);
    let scope = &api.company.scope;
    table
        .take_next_number(scope, "32".parse().unwrap(), today, now)
        .await
        .unwrap();
    assert_eq!(active().await, json!(["31"]));
}
