//! `POST /api/v1/ecf/acecf/submit`.

use ecf_store::{
    FieldEdit,
    companies::{CompanyChanges, SettingsChanges},
    inbox::AuthorityState,
};
use ecf_testkit::{FOREIGN_RNC, PeerAnswer, Queue, sign_foreign, unsigned_receipt};
use ecf_webhooks::News;
use http::Method;
use serde_json::{Value, json};

use crate::{ENCF, World};

fn body(key: &str, estado: &str) -> Value {
    json!({
        "idempotency_key": key, "encf": ENCF, "rnc_emisor": FOREIGN_RNC, "rnc_comprador": "130000001",
        "fecha_emision": "27-11-2026", "monto_total": "1000.00", "estado": estado, "ecf_type": "31",
    })
}

#[tokio::test]
async fn issuer_and_authority_are_told_and_both_outcomes_are_kept() {
    let world = World::start().await;
    world.peer.demand_token();
    world.receive(ENCF, true).await;
    let mut rejection = body("no", "2");
    rejection["detalle_motivo_rechazo"] = json!("Falta la mitad");
    let answer = world.post("acecf/submit", &rejection).await.expect(200);
    assert_eq!(answer["status"], "completed", "{answer}");
    assert_eq!(
        (&answer["issuer"]["status"], &answer["taxauth"]["status"]),
        (&json!("taken"), &json!("taken"))
    );
    assert_eq!(answer["dgii_response"], answer["taxauth_response"]);
    assert!(answer["dgii_response"].is_object(), "{answer}");

    let sent = world.peer.documents("aprobacioncomercial");
    assert_eq!(sent.len(), 1);
    let text = String::from_utf8_lossy(&sent[0].body);
    assert!(text.contains("filename=\"130000001E310000000001.xml\""), "{text}");
    assert!(
        text.contains("<Estado>2</Estado><DetalleMotivoRechazo>Falta la mitad</DetalleMotivoRechazo>"),
        "{text}"
    );
    assert_eq!(sent[0].header("authorization"), Some("Bearer ficha"));

    // The idempotency key alone identifies a retry.
    let again = world.post("acecf/submit", &body("no", "1")).await.expect(200);
    assert_eq!(again, answer);
    let path = format!("acecf/{}", answer["public_id"].as_str().unwrap());
    assert_eq!(world.get(&path).await.expect(200), answer);
    let other = world.post("acecf/submit", &body("yes", "1")).await.expect(409);
    assert_eq!(other["detail"]["code"], "answered_already");
    assert_eq!(world.peer.documents("aprobacioncomercial").len(), 1);
}

#[tokio::test]
async fn what_cannot_be_told_now_is_pending_and_queued() {
    let world = World::start().await;
    world.receive(ENCF, true).await;
    world.peer.answer_next(PeerAnswer::Status(503));
    let answer = world.post("acecf/submit", &body("yes", "1")).await.expect(200);
    assert_eq!(answer["status"], "pending", "{answer}");
    assert_eq!(
        (&answer["issuer"]["status"], &answer["taxauth"]["status"]),
        (&json!("pending"), &json!("taken"))
    );
    let queued = world.stack.take_messages(Queue::Exchange).await;
    assert_eq!(queued.len(), 1);
    assert!(
        queued[0].contains("\"kind\":\"approval\"") && queued[0].contains("\"attempt\":1"),
        "{queued:?}"
    );
}

#[tokio::test]
async fn a_refusal_of_either_is_told() {
    let world = World::start().await;
    world.receive(ENCF, true).await;
    world.peer.answer_next(PeerAnswer::Status(400));
    let answer = world.post("acecf/submit", &body("yes", "1")).await.expect(200);
    assert_eq!(answer["status"], "refused", "{answer}");
    assert_eq!(
        answer["issuer"],
        json!({ "status": "refused", "message": "status 400", "at": "2026-11-27T16:00:00.000Z" })
    );
}

#[tokio::test]
async fn only_what_was_received_and_accepted_is_answered() {
    let world = World::start().await;
    let refused = world.post("acecf/submit", &body("a", "1")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "not_received");
    world.receive(ENCF, false).await;
    let refused = world.post("acecf/submit", &body("b", "1")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "not_accepted");
    let fault = json!({ "service": "consultaestado", "fault": "status", "status": 500 });
    world.control(Method::POST, "faults", &fault).await;
    assert_eq!(world.post("acecf/submit", &body("c", "1")).await.status, 503);
    // An answer that cannot be parsed proves nothing.
    let fault = json!({ "service": "consultaestado", "fault": "garbage" });
    world.control(Method::POST, "faults", &fault).await;
    assert_eq!(world.post("acecf/submit", &body("c", "1")).await.status, 503);

    // A company can switch the check off.
    let settings = SettingsChanges {
        approve_accepted_only: FieldEdit::Set(false),
        ..SettingsChanges::default()
    };
    let changes = CompanyChanges {
        settings,
        ..CompanyChanges::default()
    };
    let table = world.stack.table();
    let company = &world.company.scope.company;
    table
        .update_company(company, changes, world.stack.clock().now())
        .await
        .unwrap();
    let answer = world.post("acecf/submit", &body("d", "1")).await.expect(200);
    // The authority does not know the receipt.
    assert_eq!(
        (
            &answer["status"],
            &answer["issuer"]["status"],
            &answer["taxauth"]["status"]
        ),
        (&json!("refused"), &json!("taken"), &json!("refused"))
    );
}

#[tokio::test]
async fn an_acceptance_of_another_document_of_the_number_is_none() {
    let world = World::start().await;
    world.receive(ENCF, false).await;
    let genuine = unsigned_receipt("130000001", ENCF, world.stack.clock().now()).replace("Yuca", "Batata");
    world
        .hand_over(&format!("{FOREIGN_RNC}{ENCF}.xml"), &sign_foreign(&genuine))
        .await;
    let refused = world.post("acecf/submit", &body("a", "1")).await.expect(409);
    assert_eq!(refused["detail"]["code"], "not_accepted", "{refused}");
}

#[tokio::test]
async fn what_the_authority_confirmed_is_not_asked_again() {
    let world = World::start().await;
    let item = world.receive(ENCF, false).await;
    let (table, scope) = (world.stack.table(), &world.company.scope);
    let now = world.stack.clock().now();
    let news = News::InboxConfirmed {
        item: &item,
        state: AuthorityState::Accepted,
    };
    let news = news.announcement(scope, item.rnc_comprador.as_str(), now);
    table
        .record_confirmation(scope, &item.id, AuthorityState::Accepted, now, &news)
        .await
        .unwrap();
    let fault = json!({ "service": "consultaestado", "fault": "status", "status": 500 });
    world.control(Method::POST, "faults", &fault).await;
    let answer = world.post("acecf/submit", &body("a", "1")).await.expect(200);
    assert_eq!(answer["issuer"]["status"], "taken", "{answer}");
}

#[tokio::test]
async fn what_differs_from_the_receipt_is_named() {
    let world = World::start().await;
    world.receive(ENCF, true).await;
    for (field, value, expected) in [
        ("monto_total", json!("1000.01"), "1000.00"),
        ("fecha_emision", json!("26-11-2026"), "27-11-2026"),
        ("rnc_comprador", json!("131880681"), "130000001"),
    ] {
        let mut body = body("x", "1");
        body[field] = value;
        let refused = world.post("acecf/submit", &body).await.expect(422);
        assert_eq!(refused["detail"][0]["loc"], json!(["body", field]), "{refused}");
        assert_eq!(refused["detail"][0]["ctx"]["expected"], expected, "{refused}");
    }
    let empty = world.post("acecf/submit", &json!({})).await.expect(422);
    assert_eq!(empty["detail"].as_array().unwrap().len(), 7, "{empty}");
    let mut reason = body("x", "1");
    reason["detalle_motivo_rechazo"] = json!("no");
    let refused = world.post("acecf/submit", &reason).await.expect(422);
    assert_eq!(refused["detail"][0]["loc"][1], "detalle_motivo_rechazo");
    let mut consumer = body("x", "1");
    consumer["encf"] = json!("E320000000001");
    assert_eq!(world.post("acecf/submit", &consumer).await.status, 422);
    assert_eq!(world.peer.received().len(), 0);
}

#[tokio::test]
async fn of_two_answers_at_the_same_time_one_goes_out() {
    let world = World::start().await;
    world.receive(ENCF, true).await;
    let (yes, no) = (body("yes", "1"), body("no", "2"));
    let (yes, no) = tokio::join!(world.post("acecf/submit", &yes), world.post("acecf/submit", &no));
    let mut statuses = [yes.status.as_u16(), no.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    assert_eq!(world.peer.documents("aprobacioncomercial").len(), 1);
    // Two concurrent requests with the same key make one approval too.
    for round in 2..10 {
        let encf = format!("E31000000000{round}");
        world.receive(&encf, true).await;
        let mut twice = body(&encf, "1");
        twice["encf"] = json!(encf);
        let (one, other) = tokio::join!(world.post("acecf/submit", &twice), world.post("acecf/submit", &twice));
        assert_eq!(one.expect(200)["public_id"], other.expect(200)["public_id"]);
        assert_eq!(world.peer.documents("aprobacioncomercial").len(), round);
    }
}

#[tokio::test]
async fn an_issuer_outside_the_directory_is_not_told() {
    let world = World::start().await;
    world
        .control(Method::DELETE, &format!("directory/{FOREIGN_RNC}"), &Value::Null)
        .await;
    world.receive(ENCF, true).await;
    let answer = world.post("acecf/submit", &body("yes", "1")).await.expect(200);
    assert_eq!(
        (&answer["status"], &answer["issuer"]["status"]),
        (&json!("completed"), &json!("not_listed"))
    );
}

/// The simulated authority's answer to approvals.
async fn refuse_approvals(world: &World) {
    let fault = json!({ "service": "aprobacioncomercial", "fault": "status", "status": 400, "times": 1 });
    world.control(Method::POST, "faults", &fault).await;
}

#[tokio::test]
async fn d2_an_answer_that_the_authority_refused_may_be_given_again() {
    let world = World::start().await;
    world.receive(ENCF, true).await;
    refuse_approvals(&world).await;
    let refused = world.post("acecf/submit", &body("first", "1")).await.expect(200);
    assert_eq!(
        (&refused["issuer"]["status"], &refused["taxauth"]["status"]),
        (&json!("taken"), &json!("refused")),
        "{refused}"
    );
    // The issuer has the approval: another answer would contradict it.
    let other = world.post("acecf/submit", &body("other", "2")).await.expect(409);
    assert_eq!(other["detail"]["code"], "answered_already");
    let message = other["detail"]["message"].as_str().unwrap();
    assert!(message.contains("only the same answer may be given again"), "{message}");

    let again = world.post("acecf/submit", &body("again", "1")).await.expect(200);
    assert_eq!(
        (
            &again["status"],
            &again["issuer"]["status"],
            &again["taxauth"]["status"]
        ),
        (&json!("completed"), &json!("not_needed"), &json!("taken")),
        "{again}"
    );
    assert_eq!(world.peer.documents("aprobacioncomercial").len(), 1);
    // Now the answer is final, and the first approval is unchanged.
    let third = world.post("acecf/submit", &body("third", "1")).await.expect(409);
    assert_eq!(third["detail"]["code"], "answered_already");
    let path = format!("acecf/{}", refused["public_id"].as_str().unwrap());
    assert_eq!(world.get(&path).await.expect(200), refused);
    let listed = world.get("acecf").await.expect(200);
    assert_eq!(listed["total"], 2);
    assert!(listed["items"].as_array().unwrap().contains(&again), "{listed}");
}

#[tokio::test]
async fn d2_another_answer_may_be_given_while_neither_has_taken_the_first() {
    let world = World::start().await;
    world.receive(ENCF, true).await;
    refuse_approvals(&world).await;
    world.peer.answer_next(PeerAnswer::Status(400));
    world.post("acecf/submit", &body("first", "1")).await.expect(200);
    let (yes, no) = (body("yes", "1"), body("no", "2"));
    let (yes, no) = tokio::join!(world.post("acecf/submit", &yes), world.post("acecf/submit", &no));
    let mut statuses = [yes.status.as_u16(), no.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
}

#[tokio::test]
async fn d2_an_answer_that_the_authority_has_not_decided_about_is_not_given_twice() {
    let world = World::start().await;
    world.receive(ENCF, true).await;
    let fault = json!({ "service": "aprobacioncomercial", "fault": "status", "status": 503, "times": 1 });
    world.control(Method::POST, "faults", &fault).await;
    let pending = world.post("acecf/submit", &body("first", "1")).await.expect(200);
    assert_eq!(pending["taxauth"]["status"], "pending", "{pending}");
    let again = world.post("acecf/submit", &body("again", "1")).await.expect(409);
    let message = again["detail"]["message"].as_str().unwrap();
    assert!(message.contains("has not decided"), "{message}");
}

#[tokio::test]
async fn b7_approvals_of_certecf_are_listed_and_a_new_attempt_answers_anew() {
    let world = World::in_environment(ecf::Environment::CerteCF).await;
    let answer = |key: &str, encf: &str, estado: &str| {
        let mut body = body(key, estado);
        body["encf"] = json!(encf);
        body
    };
    let numbers = ["E310000000011", "E310000000012", "E310000000013"];
    for encf in numbers {
        world.post("acecf/submit", &answer(encf, encf, "1")).await.expect(200);
        world.stack.clock().advance(jiff::SignedDuration::from_secs(1));
    }
    world.stack.calls().reset();
    let listed = world.get("acecf?limit=2").await.expect(200);
    assert_eq!(world.stack.calls().count("BatchGetItem"), 1);
    let names = |listed: &Value| -> Vec<String> {
        let items = listed["items"].as_array().unwrap().iter();
        items.map(|item| item["encf"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&listed), ["E310000000013", "E310000000012"]);
    assert_eq!(listed["total"], 3);
    let rest = world.get("acecf?limit=2&offset=2").await.expect(200);
    assert_eq!(names(&rest), ["E310000000011"]);
    assert_eq!(world.get("acecf?limit=0").await.status, 422);

    let table = world.stack.table();
    let now = world.stack.clock().now();
    table.begin_attempt(&world.company.scope, "reset", now).await.unwrap();
    let again = world
        .post("acecf/submit", &answer("again", numbers[0], "2"))
        .await
        .expect(200);
    assert_eq!((&again["estado"], &again["encf"]), (&json!("2"), &json!(numbers[0])));
    assert_eq!(world.get("acecf").await.expect(200)["total"], 4);
}
