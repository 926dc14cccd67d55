//! Several receipts in one request, and `validate_only`.

use serde_json::{Value, json};

use crate::{
    Api,
    payloads::{invoice, note, numbered_invoice},
};

const BATCH: &str = "/api/v1/ecf/batch";

fn items(body: &Value) -> &[Value] {
    body["items"].as_array().unwrap()
}

#[tokio::test]
async fn each_receipt_of_a_batch_has_the_result_it_would_have_alone() {
    let api = Api::start().await;
    let mut wrong = invoice("second");
    wrong["payload"]["Encabezado"]["Totales"]["MontoTotal"] = json!("1.00");
    let batch = json!({ "items": [invoice("first"), wrong, invoice("first"), { "ecf_type": "31" }, 7] });
    let body = api.post(BATCH, &batch).await.expect(200);
    assert_eq!(
        items(&body)[0]["body"]["public_id"],
        items(&body)[2]["body"]["public_id"]
    );
    assert_eq!(codes(&body), [201, 422, 200, 422, 422]);
    let loc = &items(&body)[3]["body"]["detail"][0]["loc"];
    assert_eq!(loc, &json!(["body", "idempotency_key"]));
    assert_eq!(api.jobs().await.len(), 1);
    let again = api.post(BATCH, &batch).await.expect(200);
    assert_eq!(items(&again)[0]["status_code"], 200);
    assert!(api.jobs().await.is_empty());
}

fn codes(body: &Value) -> Vec<u64> {
    let codes = items(body).iter().map(|item| item["status_code"].as_u64());
    codes.map(Option::unwrap).collect()
}

#[tokio::test]
async fn a9_a_key_that_comes_again_in_a_batch_is_answered_with_the_first_of_its_items() {
    let api = Api::start().await;
    let keys = ["a", "a", "b", "c", "b", "a", "d", "d", "c", "e", "e", "e"];
    let body = api
        .post(BATCH, &json!({ "items": keys.map(invoice) }))
        .await
        .expect(200);
    assert_eq!(
        codes(&body),
        [201, 200, 201, 201, 200, 200, 201, 200, 200, 201, 200, 200]
    );
    for (place, key) in keys.iter().enumerate() {
        let first = keys.iter().position(|other| other == key).unwrap();
        assert_eq!(
            items(&body)[place]["body"]["public_id"],
            items(&body)[first]["body"]["public_id"]
        );
    }
    assert_eq!(api.jobs().await.len(), 5);
}

#[tokio::test]
async fn a9_a_number_that_comes_again_in_a_batch_belongs_to_the_first_of_its_items() {
    let api = Api::start().await;
    let encf = "E310000000042";
    let batch = json!({ "items": [
        invoice("other"), numbered_invoice("a", encf), numbered_invoice("b", encf), numbered_invoice("c", encf),
    ] });
    let body = api.post(BATCH, &batch).await.expect(200);
    assert_eq!(codes(&body), [201, 201, 409, 409]);
    assert_eq!(items(&body)[2]["body"]["detail"]["code"], "encf_already_used");
    assert_eq!(api.jobs().await.len(), 2);
}

#[tokio::test]
async fn a9_a_note_in_a_batch_is_held_against_the_invoice_before_it() {
    let api = Api::start().await;
    let encf = "E310000000042";
    let batch = json!({ "items": [
        numbered_invoice("invoice", encf),
        note("fits", "34", 3, "11000.00", encf),
        note("exceeds", "34", 3, "900.00", encf),
    ] });
    let body = api.post(BATCH, &batch).await.expect(200);
    assert_eq!(codes(&body), [201, 201, 422], "{body}");
    let refused = &items(&body)[2]["body"]["detail"][0];
    assert_eq!(refused["ctx"]["code"], "REFERENCIA-21");
    assert_eq!(refused["ctx"]["expected"], "800.00");
    api.jobs().await;
}

#[tokio::test]
async fn a10_the_findings_of_a_batch_are_counted_and_its_answer_stays_small() {
    let api = Api::start().await;
    let wrong = |key: &str| {
        let mut request = invoice(key);
        let mut line = request["payload"]["DetallesItems"]["Item"][0].clone();
        line["NombreItem"] = json!("x".repeat(900));
        request["payload"]["DetallesItems"]["Item"] = json!(vec![line; 150]);
        request
    };
    let alone = api.post("/api/v1/ecf", &wrong("alone")).await.expect(422);
    let detail = alone["detail"].as_array().unwrap();
    assert_eq!(detail.len(), 101);
    assert_eq!(detail[100]["type"], "too_many_errors");
    let total = detail[100]["ctx"]["total"].clone();
    assert!(total.as_u64() >= Some(150), "{total}");
    let requests: Vec<Value> = (0..20).map(|number| wrong(&number.to_string())).collect();
    let body = api.post(BATCH, &json!({ "items": requests })).await.expect(200);
    for item in items(&body) {
        let detail = item["body"]["detail"].as_array().unwrap();
        assert_eq!(detail.len(), 26);
        assert_eq!(
            detail[25]["ctx"],
            json!({ "code": "too_many_errors", "shown": 25, "total": total })
        );
    }
    assert!(body.to_string().len() < 1024 * 1024);
}

#[tokio::test]
async fn a_batch_holds_one_to_twenty_five_receipts() {
    let api = Api::start().await;
    for count in [0, 26] {
        let batch = json!({ "items": vec![invoice("same"); count] });
        let body = api.post(BATCH, &batch).await.expect(422);
        assert_eq!(body["detail"][0]["loc"], json!(["body", "items"]), "{body}");
    }
    assert!(api.jobs().await.is_empty());
}

#[tokio::test]
async fn a_dry_run_tells_everything_and_keeps_nothing() {
    let api = Api::start().await;
    let mut request = invoice("dry");
    request["payload"]["Encabezado"]
        .as_object_mut()
        .unwrap()
        .remove("Totales");
    let body = api.post("/api/v1/ecf?validate_only=true", &request).await.expect(200);
    assert_eq!(body["verdict_forecast"], "accepted");
    assert_eq!(body["encf"], "E310005000000");
    assert_eq!(
        body["totals"],
        json!({
            "MontoGravadoTotal": "10000.00", "MontoGravadoI1": "10000.00",
            "TotalITBIS": "1800.00", "TotalITBIS1": "1800.00", "MontoTotal": "11800.00",
        })
    );
    let xml = body["xml"].as_str().unwrap();
    assert!(
        xml.starts_with("<ECF>") && xml.contains("<MontoTotal>11800.00</MontoTotal>"),
        "{xml}"
    );
    assert!(api.jobs().await.is_empty());
    // Neither the key nor the number is used up.
    let issued = api.issue(&request).await.expect(201);
    assert_eq!(issued["encf"], "E310005000000");
    assert_eq!(api.jobs().await.len(), 1);
}

#[tokio::test]
async fn a_dry_run_forecasts_a_conditional_verdict_and_refuses_what_would_be_rejected() {
    let api = Api::start().await;
    let mut request = invoice("dry");
    request["payload"]["DetallesItems"]["Item"][0]["MontoItem"] = json!("10005.00");
    let path = "/api/v1/ecf?validate_only=true&on_conditional=warn";
    let body = api.post(path, &request).await.expect(200);
    assert_eq!(body["verdict_forecast"], "conditionally_accepted");
    api.post("/api/v1/ecf?validate_only=true", &request).await.expect(422);
    request["payload"]["DetallesItems"]["Item"][0]["IndicadorFacturacion"] = json!("9");
    api.post(path, &request).await.expect(422);
}

#[tokio::test]
async fn a_dry_run_misses_the_range_that_issuing_would_miss() {
    let api = Api::without_ranges().await;
    let body = api
        .post("/api/v1/ecf?validate_only=true", &invoice("dry"))
        .await
        .expect(422);
    assert_eq!(body["detail"][0]["type"], "no_range");
}

#[tokio::test]
async fn a1_a_member_beside_the_payload_that_nothing_reads_is_refused_and_nothing_is_issued() {
    let api = Api::start().await;
    for (name, told) in [
        (
            "scheduledFor",
            "scheduledFor: Extra inputs are not permitted; did you mean scheduled_for?",
        ),
        (
            "externalId",
            "externalId: Extra inputs are not permitted; did you mean external_id?",
        ),
        ("dry_run", "dry_run: Extra inputs are not permitted"),
        (
            "validate_only",
            "Extra inputs are not permitted here: validate_only is a parameter of the query, ?validate_only=",
        ),
    ] {
        let mut request = invoice("misspelt");
        request[name] = json!(true);
        let body = api.post("/api/v1/ecf", &request).await.expect(422);
        assert_eq!(body["detail"][0]["loc"], json!(["body", name]), "{body}");
        assert_eq!(body["detail"][0]["msg"], told, "{body}");
        let batch = json!({ "items": [request] });
        let body = api.post(BATCH, &batch).await.expect(200);
        assert_eq!(items(&body)[0]["status_code"], 422, "{body}");
    }
    assert!(api.jobs().await.is_empty());
    api.post("/api/v1/ecf", &invoice("misspelt")).await.expect(201);
    assert_eq!(api.jobs().await.len(), 1);
}

#[tokio::test]
async fn a1_the_parameters_of_a_batch_apply_to_each_receipt() {
    let api = Api::start().await;
    let batch = json!({ "items": [invoice("first"), invoice("second")] });
    let body = api
        .post(&format!("{BATCH}?validate_only=true"), &batch)
        .await
        .expect(200);
    for item in items(&body) {
        assert_eq!(item["body"]["verdict_forecast"], "accepted", "{item}");
    }
    assert!(api.jobs().await.is_empty());
}
