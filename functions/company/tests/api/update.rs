//! `PATCH /api/v1/client/company`.

use ecf_testkit::TestStack;
use http::Method;
use serde_json::{Value, json};

use crate::{Api, COMPANY, faults};

async fn patch(api: &Api, body: &Value) -> ecf_testkit::Answer {
    api.call(Method::PATCH, COMPANY, Some(body)).await
}

#[tokio::test]
async fn each_field_changes_alone_and_null_clears_what_may_be_empty() {
    let api = Api::start().await;
    let before = api.get(COMPANY).await.expect(200);
    let body = json!({
        "email": "nueva@ferreteria.example", "trade_name": "Ferretería Ñ", "address": "Calle 1", "phone": "809-555-0100",
        "settings": {
            "on_conditional": "warn", "hold_notes": false, "hold_notes_hours": 24, "certificate_owner": "refuse",
            "sequence_alert_remaining": 5, "sequence_alert_days": 0, "reception_token": true, "deliver_45": true, "approve_accepted_only": false,
        },
    });
    let changed = patch(&api, &body).await.expect(200);
    let mut expected = before.clone();
    for (name, value) in body.as_object().unwrap() {
        expected[name] = value.clone();
    }
    assert_eq!(changed, expected);
    assert_eq!(api.get(COMPANY).await.expect(200), expected);

    let cleared =
        json!({ "trade_name": null, "phone": null, "settings": { "on_conditional": null, "hold_notes": null } });
    let cleared = patch(&api, &cleared).await.expect(200);
    expected["trade_name"] = Value::Null;
    expected["phone"] = Value::Null;
    expected["settings"]["on_conditional"] = Value::Null;
    expected["settings"]["hold_notes"] = json!(true);
    assert_eq!(cleared, expected);
    assert_eq!(patch(&api, &json!({})).await.expect(200), expected);
}

#[tokio::test]
async fn unknown_fields_are_refused_by_name_with_the_nearest_known_and_nothing_changes() {
    let api = Api::start().await;
    let before = api.get(COMPANY).await.expect(200);
    let body = json!({ "phone": "1", "adress": "Calle 1", "rnc": "131880681", "settings": { "hold_note": true } });
    let refused = patch(&api, &body).await.expect(422);
    let told: Vec<_> = refused["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["loc"].clone(), error["msg"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            (
                json!(["body", "adress"]),
                "adress: Extra inputs are not permitted; did you mean address?"
            ),
            (json!(["body", "rnc"]), "rnc: Extra inputs are not permitted"),
            (
                json!(["body", "settings", "hold_note"]),
                "hold_note: Extra inputs are not permitted; did you mean hold_notes?"
            ),
        ]
    );
    assert_eq!(api.get(COMPANY).await.expect(200), before);
}

#[tokio::test]
async fn a7_an_unknown_field_shows_what_came() {
    let api = Api::start().await;
    let body = json!({ "zzz": "val", "settings": { "x": [1, "a"] }, "web_hook_secret": "whsec_1" });
    let refused = patch(&api, &body).await.expect(422);
    let inputs: Vec<_> = refused["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| {
            (
                error["loc"].as_array().unwrap().last().unwrap().clone(),
                error["input"].clone(),
            )
        })
        .collect();
    assert_eq!(
        inputs,
        [
            (json!("web_hook_secret"), json!(null)),
            (json!("zzz"), json!("val")),
            (json!("x"), json!([1, "a"])),
        ]
    );
}

#[tokio::test]
async fn a10_sixty_thousand_unknown_fields_are_counted() {
    let api = Api::start().await;
    let members = (0..60_000).map(|number| (format!("campo{number}"), json!(1)));
    let refused = patch(&api, &Value::Object(members.collect())).await.expect(422);
    let detail = refused["detail"].as_array().unwrap();
    assert_eq!(detail.len(), 101);
    assert_eq!(
        detail[100]["ctx"],
        json!({ "code": "too_many_errors", "shown": 100, "total": 60_000 })
    );
    assert!(refused.to_string().len() < 100_000);
}

#[tokio::test]
async fn bad_values_are_told_in_their_places_all_at_once() {
    let api = Api::start().await;
    let body = json!({
        "email": null, "trade_name": "", "address": "x".repeat(101), "phone": 809, "default_environment": "prod",
        "settings": {
            "on_conditional": "ignore", "hold_notes": "perhaps", "hold_notes_hours": 745, "certificate_owner": "ask",
            "sequence_alert_remaining": -1, "sequence_alert_days": 1.5,
        },
    });
    let told = faults(&patch(&api, &body).await.expect(422));
    let told: Vec<_> = told.iter().map(|(loc, kind)| (loc.as_str(), kind.as_str())).collect();
    assert_eq!(
        told,
        [
            ("body/email", "null_forbidden"),
            ("body/trade_name", "string_too_short"),
            ("body/address", "string_too_long"),
            ("body/phone", "string_type"),
            ("body/default_environment", "enum"),
            ("body/settings/on_conditional", "enum"),
            ("body/settings/hold_notes", "bool_parsing"),
            ("body/settings/hold_notes_hours", "less_than_equal"),
            ("body/settings/certificate_owner", "enum"),
            ("body/settings/sequence_alert_remaining", "greater_than_equal"),
            ("body/settings/sequence_alert_days", "int_from_float"),
        ]
    );
    for settings in [json!(null), json!([]), json!("all")] {
        let refused = patch(&api, &json!({ "settings": settings })).await.expect(422);
        assert_eq!(refused["detail"][0]["loc"], json!(["body", "settings"]));
    }
}

#[tokio::test]
async fn only_a_verified_company_leaves_the_test_environment() {
    let api = Api::start().await;
    let body = json!({ "default_environment": "ecf" });
    let refused = patch(&api, &body).await.expect(422);
    assert_eq!(
        faults(&refused),
        [("body/default_environment".to_owned(), "value_error".to_owned())]
    );
    patch(&api, &json!({ "default_environment": "TesteCF" }))
        .await
        .expect(200);

    let stack = TestStack::start().await;
    let company = stack
        .company_builder()
        .verified()
        .without_ranges()
        .without_certificate();
    let company = company.build().await;
    let api = Api::of(stack, company);
    let changed = patch(&api, &body).await.expect(200);
    assert_eq!(changed["default_environment"], "ecf");
}

#[tokio::test]
async fn two_changes_of_different_fields_at_the_same_time_both_last() {
    let api = Api::start().await;
    let (phone, settings) = (json!({ "phone": "1" }), json!({ "settings": { "hold_notes": false } }));
    let (one, two) = tokio::join!(patch(&api, &phone), patch(&api, &settings));
    one.expect(200);
    two.expect(200);
    let shown = api.get(COMPANY).await.expect(200);
    assert_eq!(
        (&shown["phone"], &shown["settings"]["hold_notes"]),
        (&json!("1"), &json!(false))
    );
}
