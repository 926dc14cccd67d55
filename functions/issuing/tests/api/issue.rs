//! `POST /api/v1/ecf` without failures, and its retry.

use ecf::Environment;
use ecf_testkit::{EmittedMetrics, send_job};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{
    Api, id_of,
    later::scheduled,
    payloads::{invoice, large_consumer_invoice, small_consumer_invoice},
};

#[tokio::test]
async fn the_operator_is_told_of_each_receipt_that_is_signed_once() {
    let mut api = Api::start().await;
    let (metrics, told) = EmittedMetrics::metrics();
    api.app.metrics = metrics;
    api.router = issuing::router(api.app.clone());
    api.issue(&invoice("invoice-1")).await.expect(201);
    api.issue(&invoice("invoice-1")).await.expect(200);
    let mut wrong = invoice("invoice-2");
    wrong["payload"] = json!({});
    api.issue(&wrong).await.expect(422);
    assert_eq!(told.take(), ["ReceiptsIssued of TesteCF: 1"]);
    assert_eq!(api.jobs().await.len(), 1);
}

#[tokio::test]
async fn a_receipt_is_numbered_signed_kept_and_queued() {
    let api = Api::start().await;
    let mut body = invoice("invoice-1");
    body["external_id"] = json!("order 4711");
    let answer = api.issue(&body).await;
    let issued = answer.expect(201);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("Idempotency-Replayed"), None);
    insta::assert_json_snapshot!(issued, {
        ".public_id" => "[id]",
        ".security_code" => "[code]",
        ".taxauth_security_code" => "[code]",
        ".dgii_security_code" => "[code]",
        ".electronic_stamp" => "[stamp]",
    }, @r#"
    {
      "completed_at": null,
      "created_at": "2026-11-27T16:00:00.000Z",
      "dgii_security_code": "[code]",
      "dgii_track_id": null,
      "ecf_type": "31",
      "electronic_stamp": "[stamp]",
      "encf": "E310005000000",
      "environment": "TesteCF",
      "error_code": null,
      "error_message": null,
      "external_id": "order 4711",
      "fecha_emision": "27-11-2026",
      "idempotency_key": "invoice-1",
      "monto_total": "11800.00",
      "public_id": "[id]",
      "razon_social_comprador": "Constructora del Cibao SRL",
      "rnc_comprador": "131880681",
      "scheduled_for": null,
      "security_code": "[code]",
      "sign_date": "27-11-2026 12:00:00",
      "stages": [],
      "status": "signed",
      "submitted_at": null,
      "taxauth_security_code": "[code]",
      "taxauth_track_id": null,
      "total_itbis": "1800.00",
      "track_id": null,
      "updated_at": "2026-11-27T16:00:00.000Z"
    }
    "#);

    let kept = api.record(&issued).await;
    assert_eq!(api.jobs().await, [send_job(&kept)]);
    assert_eq!(kept.encf().unwrap().to_string(), "E310005000000");
    assert_eq!(kept.fiscal.monto_total, "11800.00");
}

#[tokio::test]
async fn the_stamp_carries_the_values_of_the_signed_document() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("invoice-1")).await.expect(201);
    let code = issued["security_code"].as_str().unwrap();
    assert_eq!(code.len(), 6);
    let stamp = issued["electronic_stamp"].as_str().unwrap();
    let expected = "https://ecf.dgii.gov.do/testecf/consultatimbre?rncemisor=130000001&rnccomprador=131880681\
        &encf=E310005000000&fechaemision=27%2D11%2D2026&montototal=11800%2E00&fechafirma=27%2D11%2D2026%2012%3A00%3A00&codigoseguridad=";
    let encoded = stamp.strip_prefix(expected).unwrap_or_else(|| panic!("{stamp}"));
    assert_eq!(decoded(encoded), code);
    api.jobs().await;
}

#[tokio::test]
async fn a_repeated_key_answers_with_the_first_receipt_whatever_the_payload() {
    let api = Api::start().await;
    let first = api.issue(&invoice("invoice-1")).await.expect(201);
    api.stack.clock().advance(SignedDuration::from_hours(30 * 24));

    let mut other = invoice("invoice-1");
    other["payload"]["DetallesItems"]["Item"][0]["NombreItem"] = json!("Otra cosa");
    other["external_id"] = json!("another");
    let answer = api.issue(&other).await;
    assert_eq!(without_warnings(answer.expect(200)), first);
    assert_eq!(answer.header("Idempotency-Replayed"), Some("true"));
    assert_eq!(answer.header("Idempotency-Payload-Differs"), Some("true"));

    // Even an invalid payload or another type makes no second receipt for the key.
    let answer = api
        .issue(&json!({ "idempotency_key": "invoice-1", "ecf_type": "32", "payload": {} }))
        .await;
    assert_eq!(without_warnings(answer.expect(200)), first);
    assert_eq!(answer.header("Idempotency-Payload-Differs"), Some("true"));

    let answer = api.issue(&invoice("invoice-1")).await;
    assert_eq!(answer.expect(200), first);
    assert_eq!(answer.header("Idempotency-Replayed"), Some("true"));
    assert_eq!(answer.header("Idempotency-Payload-Differs"), Some("false"));

    assert_eq!(api.numbers_taken("31").await, 1);
    assert_eq!(api.jobs().await.len(), 1);
}

fn without_warnings(mut body: Value) -> Value {
    body.as_object_mut().unwrap().remove("warnings");
    body
}

#[tokio::test]
async fn p4_a_repeated_key_says_in_the_body_what_differs() {
    let mut api = Api::start().await;
    let (metrics, told) = EmittedMetrics::metrics();
    api.app.metrics = metrics;
    api.router = issuing::router(api.app.clone());
    let first = api.issue(&invoice("invoice-1")).await.expect(201);
    told.take();
    let same = api.issue(&invoice("invoice-1")).await.expect(200);
    assert_eq!(same.get("warnings"), None);
    assert_eq!(told.take(), [""; 0]);

    let differing = |body: Value, expected: Value| {
        let (api, told) = (&api, &told);
        async move {
            let answer = api.issue(&body).await;
            let replayed = answer.expect(200);
            let [warning] = replayed["warnings"].as_array().unwrap().as_slice() else {
                panic!("{replayed}")
            };
            assert_eq!(warning["loc"], json!(["body", "idempotency_key"]));
            assert_eq!(warning["ctx"], expected);
            assert_eq!(told.take(), ["ReplaysDiffering of TesteCF: 1"]);
            warning["msg"].as_str().unwrap().to_owned()
        }
    };
    // Another type, buyer, total and day.
    let mut other = large_consumer_invoice("invoice-1");
    other["payload"]["Encabezado"]["Comprador"]["RNCComprador"] = json!("101672919");
    other["payload"]["Encabezado"]["Emisor"]["FechaEmision"] = json!("26-11-2026");
    let expected = json!({
        "code": "REPETICION-01",
        "differs": ["ecf_type", "payload", "MontoTotal", "RNCComprador", "FechaEmision"],
        "expected": { "ecf_type": "31", "MontoTotal": "11800.00", "RNCComprador": "131880681", "FechaEmision": "27-11-2026" },
        "given": { "ecf_type": "32", "MontoTotal": "300000.00", "RNCComprador": "101672919", "FechaEmision": "26-11-2026" },
    });
    assert_eq!(
        differing(other, expected).await,
        "this idempotency_key already has receipt E310005000000, and no other was issued; this request differs in \
         ecf_type (there 31, here 32), payload, MontoTotal (there 11800.00, here 300000.00), RNCComprador (there 131880681, \
         here 101672919), FechaEmision (there 27-11-2026, here 26-11-2026); use a new key for another document"
    );
    // The same header with another line.
    let mut other = invoice("invoice-1");
    other["payload"]["DetallesItems"]["Item"][0]["NombreItem"] = json!("Otra cosa");
    let expected = json!({ "code": "REPETICION-01", "differs": ["payload"], "expected": {}, "given": {} });
    differing(other, expected).await;
    // Another type with the same payload.
    let mut other = invoice("invoice-1");
    other["ecf_type"] = json!("44");
    let expected = json!({
        "code": "REPETICION-01", "differs": ["ecf_type"], "expected": { "ecf_type": "31" }, "given": { "ecf_type": "44" },
    });
    differing(other, expected).await;
    // A payload that cannot be read.
    let mut other = invoice("invoice-1");
    other["payload"] = json!({ "Encabezado": { "Nada": 1 } });
    let expected = json!({ "code": "REPETICION-01", "differs": ["payload"], "expected": {}, "given": {} });
    differing(other, expected).await;

    assert_eq!(api.issue(&invoice("invoice-1")).await.expect(200), first);
    assert_eq!(api.numbers_taken("31").await, 1);
    assert_eq!(api.jobs().await.len(), 1);
}

#[tokio::test]
async fn p4_a_batch_says_it_of_each_receipt() {
    let api = Api::start().await;
    let mut other = invoice("invoice-1");
    other["payload"]["DetallesItems"]["Item"][0]["NombreItem"] = json!("Otra cosa");
    let items = json!({ "items": [invoice("invoice-1"), other, invoice("invoice-1")] });
    let answer = api.post("/api/v1/ecf/batch", &items).await.expect(200);
    let codes = ["0", "1", "2"].map(|place| {
        let item = answer.pointer(&format!("/items/{place}")).unwrap();
        let warning = item.pointer("/body/warnings/0/ctx/code").cloned();
        (item["status_code"].as_u64().unwrap(), warning.unwrap_or_default())
    });
    assert_eq!(
        codes,
        [(201, json!(null)), (200, json!("REPETICION-01")), (200, json!(null))]
    );
    assert_eq!(api.jobs().await.len(), 1);
}

#[tokio::test]
async fn p4_a_caller_may_have_a_differing_replay_refused() {
    let api = Api::start().await;
    let first = api.issue(&invoice("invoice-1")).await.expect(201);
    let mut other = invoice("invoice-1");
    other["payload"]["Encabezado"]["Comprador"]["RNCComprador"] = json!("101672919");
    let refusing = "/api/v1/ecf?on_replay=refuse";
    let refused = api.post(refusing, &other).await.expect(409);
    assert_eq!(refused["detail"]["code"], "replay_differs");
    let message = refused["detail"]["message"].as_str().unwrap();
    assert!(
        message.contains("RNCComprador (there 131880681, here 101672919)"),
        "{message}"
    );
    // The same request is a retry, which is answered.
    assert_eq!(api.post(refusing, &invoice("invoice-1")).await.expect(200), first);
    assert_eq!(
        api.post(refusing, &invoice("invoice-2")).await.expect(201)["encf"],
        "E310005000001"
    );
    api.post("/api/v1/ecf?on_replay=answer", &other).await.expect(200);
    let fault = api.post("/api/v1/ecf?on_replay=no", &other).await.expect(422);
    assert_eq!(
        crate::faults(&fault),
        [("query/on_replay".to_owned(), "enum".to_owned())]
    );
    assert_eq!(api.jobs().await.len(), 2);
}

#[tokio::test]
async fn a_repeated_key_answers_with_the_receipt_as_it_stands_now() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("invoice-1")).await.expect(201);
    let (table, scope, id) = (api.stack.table(), api.company.scope, id_of(&issued));
    let now = api.stack.clock().now();
    let lease = SignedDuration::from_mins(1);
    table.claim_send(&scope, &id, now, lease).await.unwrap();
    table.record_submitted(&scope, &id, "track-1", now).await.unwrap();
    let replayed = api.issue(&invoice("invoice-1")).await.expect(200);
    assert_eq!(replayed["status"], "submitted");
    for twin in ["track_id", "taxauth_track_id", "dgii_track_id"] {
        assert_eq!(replayed[twin], "track-1", "{twin}");
    }
    assert_eq!(replayed["submitted_at"], "2026-11-27T16:00:00.000Z");
    api.jobs().await;
}

#[tokio::test]
async fn a_key_belongs_to_one_company_and_environment() {
    let api = Api::start().await;
    let first = api.issue(&invoice("invoice-1")).await.expect(201);
    let neighbour = api.stack.company_builder().rnc("131880681").build().await;
    let neighbour = Api::of(api.stack, neighbour);
    let mut body = invoice("invoice-1");
    body["payload"]["Encabezado"]["Emisor"]["RNCEmisor"] = json!("131880681");
    let second = neighbour.issue(&body).await.expect(201);
    assert_ne!(first["public_id"], second["public_id"]);
    assert_eq!(neighbour.jobs().await.len(), 2);
}

#[tokio::test]
async fn each_environment_has_its_own_queue() {
    let mut api = Api::start().await;
    for environment in Environment::ALL {
        let company = api.stack.company_builder().environment(environment).build().await;
        api = Api::of(api.stack, company);
        let issued = api.issue(&invoice("now")).await.expect(201);
        assert_eq!(api.jobs_of(environment).await, [send_job(&api.record(&issued).await)]);
        let soon = api.stack.clock().now() + SignedDuration::from_mins(1);
        let kept = api
            .issue(&scheduled(invoice("later"), &soon.to_string()))
            .await
            .expect(201);
        let record = api.record(&kept).await;
        api.stack.clock().advance(SignedDuration::from_mins(1));
        api.issue_kept(&record).await;
        assert_eq!(api.jobs_of(environment).await, [send_job(&record)]);
    }
}

#[tokio::test]
async fn a_deferred_receipt_is_signed_now_and_left_to_housekeeping() {
    let api = Api::start().await;
    let issued = api
        .post("/api/v1/ecf?mode=deferred", &invoice("invoice-1"))
        .await
        .expect(201);
    assert_eq!(issued["status"], "signed");
    assert_eq!(issued["encf"], "E310005000000");
    assert_eq!(api.jobs().await, []);
    assert_eq!(due(&api).await, []);
    api.stack.clock().advance(SignedDuration::from_mins(10));
    assert_eq!(due(&api).await, [id_of(&issued)]);
}

#[tokio::test]
async fn both_spellings_of_the_path_issue() {
    let api = Api::start().await;
    let issued = api
        .post("/api/v1/eCF?mode=online", &invoice("invoice-1"))
        .await
        .expect(201);
    assert_eq!(api.issue(&invoice("invoice-1")).await.expect(200), issued);
    api.jobs().await;
}

#[tokio::test]
async fn what_was_put_right_is_told_in_warnings() {
    let api = Api::start().await;
    let mut body = invoice("invoice-1");
    body["payload"]["Encabezado"]["Emisor"]["TablaTelefonoEmisor"] =
        json!({ "Telefono": [{ "Telefono": "809-555-0100" }] });
    let issued = api.issue(&body).await.expect(201);
    insta::assert_json_snapshot!(issued["warnings"], @r#"
    [
      {
        "ctx": {
          "code": "AVISO-02",
          "expected": "TelefonoEmisor"
        },
        "input": null,
        "loc": [
          "body",
          "payload",
          "Encabezado",
          "Emisor",
          "TablaTelefonoEmisor",
          "TelefonoEmisor"
        ],
        "msg": "Telefono was taken as TelefonoEmisor",
        "type": "alias"
      },
      {
        "ctx": {
          "code": "AVISO-02",
          "given": "809-555-0100"
        },
        "input": "809-555-0100",
        "loc": [
          "body",
          "payload",
          "Encabezado",
          "Emisor",
          "TablaTelefonoEmisor",
          "TelefonoEmisor",
          "0"
        ],
        "msg": "entry 1: TelefonoEmisor is a value, not an object; its member Telefono was taken",
        "type": "alias"
      }
    ]
    "#);

    let issued = api.issue(&small_consumer_invoice("till-1")).await.expect(201);
    insta::assert_json_snapshot!(issued["warnings"], @r#"
    [
      {
        "ctx": {
          "code": "AVISO-06"
        },
        "input": null,
        "loc": [
          "body",
          "payload",
          "Encabezado",
          "Comprador"
        ],
        "msg": "Comprador: a consumer invoice names a buyer: CONSUMIDOR FINAL was filled in",
        "type": "value_added"
      }
    ]
    "#);
    api.jobs().await;
}

#[tokio::test]
async fn the_published_clients_way_of_writing_a_payload_is_taken() {
    let api = Api::start().await;
    // Blocks out of order, amounts as floats, codes and rates as numbers, the type after the number.
    let body = json!({
        "ecf_type": 31,
        "payload": {
            "Encabezado": {
                "IdDoc": { "eNCF": "E310000000001", "TipoeCF": 31, "TipoPago": "1", "TipoIngresos": "01", "IndicadorMontoGravado": 0 },
                "Emisor": {
                    "RNCEmisor": "130000001", "RazonSocialEmisor": "Ferretería de Prueba SRL",
                    "DireccionEmisor": "Avenida Winston Churchill 1099", "FechaEmision": "27-11-2026",
                },
                "Totales": {
                    "MontoTotal": 11800.0, "TotalITBIS": 1800.0, "TotalITBIS1": 1800.0, "ITBIS1": 18,
                    "MontoGravadoTotal": 10000.0, "MontoGravadoI1": 10000.0,
                },
                "Comprador": { "RNCComprador": "131880681", "RazonSocialComprador": "Constructora del Cibao SRL" },
                "Version": "1.0",
            },
            "DetallesItems": { "Item": [{
                "NumeroLinea": 1, "NombreItem": "Cemento gris", "IndicadorFacturacion": 1, "IndicadorBienoServicio": 1,
                "CantidadItem": 20, "PrecioUnitarioItem": 500.0, "MontoItem": 10000.0,
            }]},
        },
        "idempotency_key": "client-1",
        "environment": "TesteCF",
        "scheduled_for": null,
        "external_id": null,
    });
    let issued = api.post("/api/v1/ecf?mode=online", &body).await.expect(201);
    assert_eq!(issued["encf"], "E310000000001");
    assert_eq!(api.record(&issued).await.fiscal.monto_total, "11800.00");
    api.jobs().await;
}

#[tokio::test]
async fn an_answer_has_what_the_published_client_demands() {
    let api = Api::start().await;
    let states = [
        "received",
        "deferred",
        "validated",
        "signed",
        "submitted",
        "accepted",
        "conditionally_accepted",
        "rejected",
        "failed",
        "cancelled",
        "contingency",
        "incapacity",
    ];
    for body in [invoice("invoice-1"), large_consumer_invoice("till-1")] {
        let issued = api.issue(&body).await.expect(201);
        let path = format!("/api/v1/ecf/{}", issued["public_id"].as_str().unwrap());
        for document in [&issued, &api.get(&path).await.expect(200)] {
            let required = [
                "public_id",
                "idempotency_key",
                "ecf_type",
                "environment",
                "status",
                "created_at",
                "updated_at",
            ];
            for field in required {
                assert!(document[field].is_string(), "{field} of {document}");
            }
            assert!(states.contains(&document["status"].as_str().unwrap()), "{document}");
            let optional = [
                "external_id",
                "encf",
                "scheduled_for",
                "dgii_track_id",
                "dgii_security_code",
                "error_code",
                "error_message",
            ];
            for field in optional {
                let value = document.get(field).unwrap_or_else(|| panic!("{field} is not shown"));
                assert!(value.is_string() || value.is_null(), "{field} of {document}");
            }
            for instant in ["created_at", "updated_at"] {
                let text = document[instant].as_str().unwrap();
                assert_eq!(text.parse::<jiff::Timestamp>().unwrap(), api.stack.clock().now());
            }
        }
    }
    api.jobs().await;
}

#[tokio::test]
async fn an_earlier_instant_is_now() {
    let api = Api::start().await;
    let mut body = invoice("invoice-1");
    // Without an offset it is local time, and noon has passed.
    body["scheduled_for"] = json!("2026-11-27T12:00:00");
    let issued = api.issue(&body).await.expect(201);
    assert_eq!(issued["status"], "signed");
    assert_eq!(api.jobs().await.len(), 1);
    // Its submission is enqueued: housekeeping must not send it again in this minute.
    api.stack.clock().advance(SignedDuration::from_mins(1));
    assert_eq!(due(&api).await, []);
}

#[tokio::test]
async fn issuing_makes_these_calls_and_no_more() {
    let api = Api::start().await;
    api.issue(&invoice("warm-up")).await.expect(201);
    for (body, puts) in [(invoice("invoice-1"), 1), (small_consumer_invoice("till-1"), 2)] {
        api.stack.calls().reset();
        api.issue(&body).await.expect(201);
        let expected = [
            ("DynamoDB GetItem", 1),
            ("DynamoDB Query", 1),
            ("DynamoDB TransactWriteItems", 1),
            ("DynamoDB UpdateItem", 2),
            ("S3 PutObject", puts),
            ("SQS SendMessage", 1),
        ];
        let counts = api.stack.calls().counts();
        let counts: Vec<(&str, usize)> = counts.iter().map(|(call, count)| (call.as_str(), *count)).collect();
        assert_eq!(counts, expected);
        let units = api.stack.calls().units();
        assert!(units.write <= 8.0 && units.read <= 1.5, "{units:?}");
    }
    api.jobs().await;
}

/// The receipts that housekeeping would process now.
pub(crate) async fn due(api: &Api) -> Vec<ecf_store::ReceiptId> {
    let mut found = Vec::new();
    for shard in 0..ecf_store::due::SHARDS {
        let now = api.stack.clock().now();
        let entries = api.stack.table().due_now(shard, now, 100).await.unwrap().entries;
        found.extend(entries.into_iter().map(|entry| match entry.record {
            ecf_store::due::DueRecord::Receipt(id) => id,
            other => panic!("{other:?}"),
        }));
    }
    found
}

/// A query value without its percent signs.
fn decoded(encoded: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = encoded.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(str::from_utf8(&digits).unwrap(), 16).unwrap());
                rest = after;
            }
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).unwrap()
}
