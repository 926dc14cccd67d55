//! Violations of the fiscal rules, in the responses.

use ecf::rules::OnConditional;
use ecf_store::{
    FieldEdit,
    companies::{CompanyChanges, SettingsChanges},
};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{Api, payloads::invoice};

fn errors(body: &Value) -> &[Value] {
    body["detail"].as_array().unwrap()
}

#[tokio::test]
async fn a_total_that_does_not_follow_from_the_lines_is_refused_with_both_sums_before_a_number_is_taken() {
    let api = Api::start().await;
    let mut request = invoice("wrong-total");
    request["payload"]["Encabezado"]["Totales"]["MontoTotal"] = json!("11900.00");
    let body = api.issue(&request).await.expect(422);
    let error = errors(&body)
        .iter()
        .find(|error| error["loc"].as_array().unwrap().last() == Some(&json!("MontoTotal")))
        .expect("the field is named");
    assert_eq!(
        error["loc"],
        json!(["body", "payload", "Encabezado", "Totales", "MontoTotal"])
    );
    let ctx = &error["ctx"];
    assert_eq!(
        (&ctx["given"], &ctx["expected"], &ctx["difference"]),
        (&json!("11900.00"), &json!("11800.00"), &json!("-100.00"))
    );
    assert!(ctx["code"].as_str().unwrap().starts_with("TOTALES-"), "{body}");
    assert!(api.jobs().await.is_empty());
    // The key is free, and the next receipt gets the first number of the range.
    let issued = api.issue(&invoice("wrong-total")).await.expect(201);
    assert_eq!(issued["encf"], "E310005000000");
    assert_eq!(api.jobs().await.len(), 1);
}

#[tokio::test]
async fn c4_the_wrong_indicator_is_one_error_that_names_it() {
    let api = Api::start().await;
    let mut request = invoice("reversed");
    request["payload"]["Encabezado"]["IdDoc"]["IndicadorMontoGravado"] = json!(1);
    let body = api.issue(&request).await.expect(422);
    let [error] = errors(&body) else { panic!("{body}") };
    assert_eq!(
        error["loc"],
        json!(["body", "payload", "Encabezado", "IdDoc", "IndicadorMontoGravado"])
    );
    assert_eq!(error["ctx"], json!({"code": "IDDOC-14", "given": "1", "expected": "0"}));
    assert!(api.jobs().await.is_empty());
}

#[tokio::test]
async fn c5_a_refused_total_comes_after_the_notice_on_the_line_that_is_its_cause() {
    let api = Api::start().await;
    let mut request = invoice("cause");
    // 20 at 500.00 make 10,000.00; a peso more is within the tolerance of the line, and its ITBIS beyond that of the
    // total.
    request["payload"]["DetallesItems"]["Item"][0]["MontoItem"] = json!("10001.00");
    let body = api.issue(&request).await.expect(422);
    let told: Vec<_> = errors(&body)
        .iter()
        .map(|error| (&error["ctx"]["code"], &error["ctx"]["grade"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!("LINEA-02"), &json!("notice")),
            (&json!("TOTALES-05"), &json!(null))
        ],
        "{body}"
    );
}

#[tokio::test]
async fn totals_that_are_left_out_are_computed_and_told() {
    let api = Api::start().await;
    let mut request = invoice("no-totals");
    request["payload"]["Encabezado"]
        .as_object_mut()
        .unwrap()
        .remove("Totales");
    let body = api.issue(&request).await.expect(201);
    let told = body["warnings"].as_array().unwrap();
    assert!(
        told.iter().any(|warning| warning["ctx"]["code"] == "CALCULO-10"),
        "{body}"
    );
    assert_eq!(api.record(&body).await.fiscal.monto_total, "11800.00");
    api.jobs().await;
}

#[tokio::test]
async fn what_is_accepted_only_conditionally_is_refused_in_tests_unless_the_caller_takes_the_warning() {
    let api = Api::start().await;
    let mut request = invoice("conditional");
    // 20 at 500.00 make 10,000.00; a line may be off by 1.00.
    request["payload"]["DetallesItems"]["Item"][0]["MontoItem"] = json!("10005.00");
    let body = api.issue(&request).await.expect(422);
    assert!(
        errors(&body).iter().any(|error| error["loc"]
            == json!(["body", "payload", "DetallesItems", "Item", "0", "MontoItem"])
            && error["ctx"]["difference"] == "-5.00"),
        "{body}"
    );
    let body = api.post("/api/v1/ecf?on_conditional=warn", &request).await.expect(201);
    assert!(!body["warnings"].as_array().unwrap().is_empty(), "{body}");
    api.jobs().await;
}

#[tokio::test]
async fn a_company_sets_its_own_policy_and_running_instances_know_it_within_the_minute() {
    let api = Api::start().await;
    let mut request = invoice("company policy");
    request["payload"]["DetallesItems"]["Item"][0]["MontoItem"] = json!("10005.00");
    api.issue(&request).await.expect(422);
    let changes = CompanyChanges {
        settings: SettingsChanges {
            on_conditional: FieldEdit::Set(OnConditional::Warn),
            ..SettingsChanges::default()
        },
        ..CompanyChanges::default()
    };
    let (table, now) = (api.stack.table(), api.stack.clock().now());
    let changed = table.update_company(&api.company.scope.company, changes, now).await;
    assert!(changed.unwrap().is_some());

    api.issue(&request).await.expect(422);
    api.stack.clock().advance(SignedDuration::from_secs(60));
    // The request's parameter takes precedence.
    api.post("/api/v1/ecf?on_conditional=refuse", &request)
        .await
        .expect(422);
    api.issue(&request).await.expect(201);
    api.jobs().await;
}

#[tokio::test]
async fn an_unknown_policy_is_refused_by_name() {
    let api = Api::start().await;
    let body = api
        .post("/api/v1/ecf?on_conditional=perhaps", &invoice("policy"))
        .await
        .expect(422);
    assert_eq!(errors(&body)[0]["loc"], json!(["query", "on_conditional"]));
}

#[tokio::test]
async fn verbatim_amounts_are_written_to_the_letter() {
    let api = Api::start().await;
    let mut request = invoice("verbatim");
    request["payload"]["DetallesItems"]["Item"][0]["PrecioUnitarioItem"] = json!("500.0000");
    request["payload"]["Encabezado"]["Totales"]["MontoTotal"] = json!("11800");
    let body = api.post("/api/v1/ecf?amounts=verbatim", &request).await.expect(201);
    assert_eq!(api.record(&body).await.fiscal.monto_total, "11800");
    api.jobs().await;
}
