//! Stories of one receipt: issue, verdict, webhook.

use std::time::{Duration, Instant};

use ecf_testkit::Receiver;
use http::Method;
use serde_json::{Value, json};

use crate::payloads::{note, payload};
use crate::support::{ApiClient, System, TIME_LIMIT, eventually, signature, webhook_of, webhooks_of};

/// Issues a receipt, waits for the verdict, and checks the views of the till, the ERP and the tax authority.
async fn issue_and_be_accepted(
    caller: &ApiClient,
    receiver: &Receiver,
    secret: &str,
    ecf_type: &str,
    payload: &Value,
) -> Value {
    let key = format!("story-{ecf_type}-{}", payload["Encabezado"]["Totales"]["MontoTotal"]);
    let issued = caller.issue(&key, ecf_type, payload).await.expect(201);
    assert_eq!(issued["status"], "signed", "{issued}");
    for printed in ["encf", "security_code", "electronic_stamp", "sign_date"] {
        assert!(issued[printed].is_string(), "{printed}: {issued}");
    }
    let is_summary = ecf_type == "32" && payload["Encabezado"]["Totales"]["MontoTotal"].as_u64().unwrap() < 250_000;

    let accepted = caller.wait_for_state(&issued, "accepted").await;
    for kept in ["encf", "security_code", "electronic_stamp", "sign_date", "created_at"] {
        assert_eq!(accepted[kept], issued[kept], "{kept}");
    }
    // A summary gets its verdict at once and has no track id.
    assert_eq!(accepted["track_id"].is_string(), !is_summary, "{accepted}");

    let documents = caller.documents(&issued).await;
    let [document] = documents.as_slice() else {
        panic!("{documents:?}")
    };
    assert_eq!(
        (&document["estado"], &document["times"]),
        (&json!("Aceptado"), &json!(1))
    );
    assert_eq!(document["kind"], if is_summary { "RFCE" } else { "ECF" });

    let told = webhook_of(receiver, &issued).await;
    assert_eq!(told.method, Method::POST);
    assert_eq!(told.header("X-ECF-Event"), Some("accepted"));
    assert_eq!(
        told.header("X-ECF-Signature"),
        Some(signature(secret, &told.body).as_str())
    );
    let event = told.json();
    for (name, value) in event.as_object().unwrap() {
        assert!(
            !value.is_array() && (!value.is_object() || name.ends_with("_response")),
            "not flat: {name}"
        );
    }
    assert_eq!(event["status"], "accepted");
    for same in ["encf", "security_code", "electronic_stamp", "sign_date"] {
        assert_eq!(event[same], issued[same], "{same}");
    }
    accepted
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_reaches_its_verdict_and_each_is_told_once() {
    let system = System::start().await;
    let (caller, receiver) = (&system.caller, Receiver::start().await);
    let secret = caller.subscribe(&receiver).await;
    let today = caller.today();
    let mut receipts = Vec::new();
    for (ecf_type, amount) in [
        ("31", 1_000),
        ("32", 1_000),
        ("32", 300_000),
        ("41", 1_000),
        ("43", 1_000),
        ("44", 1_000),
        ("45", 1_000),
        ("46", 1_000),
        ("47", 1_000),
    ] {
        let payload = payload(&caller.rnc, &today, ecf_type, amount);
        receipts.push(issue_and_be_accepted(caller, &receiver, &secret, ecf_type, &payload).await);
    }
    // A note is issued after the verdict on its invoice.
    let invoice = receipts[0]["encf"].as_str().unwrap().to_owned();
    for ecf_type in ["33", "34"] {
        let payload = note(&caller.rnc, &today, ecf_type, 100, &invoice);
        receipts.push(issue_and_be_accepted(caller, &receiver, &secret, ecf_type, &payload).await);
    }
    system.local.shutdown().await;
    for receipt in &receipts {
        assert_eq!(webhooks_of(&receiver, receipt).len(), 1, "{receipt}");
    }
    assert_eq!(receiver.received().len(), receipts.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn b4_a_document_shows_the_stage_of_a_webhook_that_took_its_verdict() {
    let system = System::start().await;
    let (caller, receiver) = (&system.caller, Receiver::start().await);
    caller.subscribe(&receiver).await;
    let payload = payload(&caller.rnc, &caller.today(), "31", 1_000);
    let issued = caller.issue("stage", "31", &payload).await.expect(201);
    assert_eq!(issued["stages"], json!([]));
    webhook_of(&receiver, &issued).await;
    let id = issued["public_id"].as_str().unwrap();
    let stages = eventually("the stage of the document", TIME_LIMIT, async || {
        let stages = caller.get(&format!("/ecf/{id}")).await.expect(200)["stages"].clone();
        (stages != json!([])).then_some(stages)
    })
    .await;
    let stage = &stages[0];
    assert_eq!(
        (&stage["name"], &stage["event"]),
        (&json!("notified"), &json!("accepted"))
    );
    assert_eq!(stages.as_array().unwrap().len(), 1);
    for path in ["/ecf", "/client/documents"] {
        assert_eq!(
            caller.get(path).await.expect(200)["items"][0]["stages"],
            stages,
            "{path}"
        );
    }
    let document = caller.get(&format!("/client/documents/{id}")).await.expect(200);
    assert_eq!(document["stages"], stages);
    let at: jiff::Timestamp = stage["at"].as_str().unwrap().parse().unwrap();
    let verdict: jiff::Timestamp = document["completed_at"].as_str().unwrap().parse().unwrap();
    assert!(at >= verdict, "{document}");

    // The contract names the stage and its event, to which a webhook can subscribe.
    let contract = caller.get("/ecf/states").await.expect(200);
    for listed in contract["event_derived_stages"].as_array().unwrap() {
        let hook = json!({ "url": receiver.url(), "events": [listed["event"]] });
        caller.post("/client/webhooks", &hook).await.expect(201);
    }
    let listed = contract["event_derived_stages"].as_array().unwrap().iter();
    let same = |listed: &Value| ["name", "event"].iter().all(|member| listed[member] == stage[member]);
    assert_eq!(listed.filter(|listed| same(listed)).count(), 1, "{contract}");
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b6_the_contract_lists_the_headers_of_a_delivery() {
    let system = System::start().await;
    let (caller, receiver) = (&system.caller, Receiver::start().await);
    caller.subscribe(&receiver).await;
    let payload = payload(&caller.rnc, &caller.today(), "31", 1_000);
    let issued = caller.issue("headers", "31", &payload).await.expect(201);
    let told = webhook_of(&receiver, &issued).await;
    let mut sent: Vec<_> = told.headers.keys().map(ToString::to_string).collect();
    // OpenAPI ignores parameters named `Accept` and `Content-Type`; the other two are in every request.
    sent.retain(|name| !["accept", "content-type", "content-length", "host"].contains(&name.as_str()));
    sent.sort();
    let contract: Value = serde_json::from_str(&ecf_openapi::document().unwrap()).unwrap();
    for (event, operation) in contract["webhooks"].as_object().unwrap() {
        let parameters = operation["post"]["parameters"].as_array().unwrap().iter();
        let mut listed: Vec<_> = parameters
            .map(|parameter| parameter["name"].as_str().unwrap().to_lowercase())
            .collect();
        listed.sort();
        assert_eq!(listed, sent, "{event}");
    }
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c15_characters_of_the_authoritys_table_are_sent_as_references_and_accepted() {
    let system = System::start().await;
    let caller = &system.caller;
    for ecf_type in ["31", "32"] {
        let mut payload = payload(&caller.rnc, &caller.today(), ecf_type, 1_000);
        let buyer = "O'Neill \"Hijos\" & Cía ©®";
        payload["Encabezado"]["Comprador"]["RazonSocialComprador"] = json!(buyer);
        payload["DetallesItems"]["Item"][0]["NombreItem"] = json!("Tubo 3\" a 5 €");
        let issued = caller
            .issue(&format!("c15-{ecf_type}"), ecf_type, &payload)
            .await
            .expect(201);
        // The simulated authority verifies with independent code.
        caller.wait_for_state(&issued, "accepted").await;
        let id = issued["public_id"].as_str().unwrap();
        let files: &[&str] = if ecf_type == "32" { &["xml", "rfce"] } else { &["xml"] };
        for file in files {
            let stored = caller.download(&format!("/ecf/{id}/{file}")).await;
            let stored = String::from_utf8(stored).unwrap();
            let name = "O&#39;Neill &#34;Hijos&#34; &amp; Cía &#169;&#174;";
            assert!(stored.contains(name), "{file}: {stored}");
            assert_eq!(stored.contains("Tubo 3&#34; a 5 &#8364;"), *file == "xml", "{stored}");
            let text = stored
                .split('<')
                .filter_map(|piece| piece.split_once('>'))
                .map(|(_, text)| text);
            assert!(
                text.clone().all(|text| !text.contains(['"', '\'', '©', '®', '€'])),
                "{stored}"
            );
        }
    }
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_keeps_the_authoritys_words_and_is_told() {
    let system = System::start().await;
    let (caller, receiver) = (&system.caller, Receiver::start().await);
    let secret = caller.subscribe(&receiver).await;
    let fault = json!({
        "service": "recepcion", "rnc": caller.rnc, "fault": "reject", "codigo": "145", "mensaje": "No corresponde.", "times": 1,
    });
    caller.control(Method::POST, "faults", &fault).await;
    let payload = payload(&caller.rnc, &caller.today(), "31", 1_000);
    let issued = caller.issue("rejected", "31", &payload).await.expect(201);
    let rejected = caller.wait_for_state(&issued, "rejected").await;
    assert_eq!(rejected["error_code"], "145", "{rejected}");
    assert!(
        rejected["error_message"].as_str().unwrap().contains("No corresponde."),
        "{rejected}"
    );
    let told = webhook_of(&receiver, &issued).await;
    assert_eq!(
        told.header("X-ECF-Signature"),
        Some(signature(&secret, &told.body).as_str())
    );
    assert_eq!(
        (told.json()["event"].as_str(), told.json()["status"].as_str()),
        (Some("rejected"), Some("rejected"))
    );
    // The next receipt gets its own verdict.
    let next = caller.issue("not rejected", "31", &payload).await.expect(201);
    caller.wait_for_state(&next, "accepted").await;
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_is_answered_with_its_receipt_and_sent_once() {
    let system = System::start().await;
    let caller = &system.caller;
    let first = payload(&caller.rnc, &caller.today(), "31", 1_000);
    let issued = caller.issue("one sale", "31", &first).await.expect(201);
    caller.wait_for_state(&issued, "accepted").await;
    // The last automatic step: the buyer is looked up and is not in the directory.
    let path = format!("/ecf/{}", issued["public_id"].as_str().unwrap());
    let accepted = eventually("the end of its way", TIME_LIMIT, async || {
        let now = caller.get(&path).await.expect(200);
        (now["buyer_delivery"]["status"] == "not_listed").then_some(now)
    })
    .await;

    let same = caller.issue("one sale", "31", &first).await;
    assert_eq!(same.headers["idempotency-replayed"], "true");
    assert_eq!(same.headers["idempotency-payload-differs"], "false");
    assert_eq!(same.expect(200), accepted);
    let other = payload(&caller.rnc, &caller.today(), "31", 2_000);
    let replayed = caller.issue("one sale", "31", &other).await;
    assert_eq!(replayed.headers["idempotency-payload-differs"], "true");
    let mut replayed = replayed.expect(200);
    let warnings = replayed.as_object_mut().unwrap().remove("warnings").unwrap();
    assert_eq!(warnings[0]["ctx"]["code"], "REPETICION-01");
    assert_eq!(replayed, accepted);

    // One number was used: the next receipt gets the next number.
    let next = caller.issue("another sale", "31", &other).await.expect(201);
    let sequence = |receipt: &Value| receipt["encf"].as_str().unwrap()[3..].parse::<u64>().unwrap();
    assert_eq!(sequence(&next), sequence(&issued) + 1);
    caller.wait_for_state(&next, "accepted").await;
    let documents = caller.documents(&issued).await;
    assert_eq!(documents.len(), 1, "{documents:?}");
    assert_eq!(documents[0]["times"], 1);
    system.local.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn p5_two_hundred_receipts_at_once_are_answered_with_their_verdict() {
    let system = System::start().await;
    let caller = &system.caller;
    let payload = payload(&caller.rnc, &caller.today(), "31", 1_000);
    let url = format!("{}/api/v1/ecf?wait=5", caller.base_url);
    let issued = (0..200).map(async |number| {
        let body = json!({ "idempotency_key": format!("p5-{number}"), "ecf_type": "31", "payload": payload });
        let answer = caller.send(Method::POST, &url, Some(&caller.key), Some(&body)).await;
        let mut receipt = answer.expect(201);
        let (began, mut reads) = (Instant::now(), 0);
        // An unoptimised build on a busy machine needs longer than one wait; on one core it takes minutes.
        while receipt["status"] != "accepted" && began.elapsed() < 8 * TIME_LIMIT {
            let asked = Instant::now();
            let path = format!("/ecf/{}?wait=5", receipt["public_id"].as_str().unwrap());
            receipt = caller.get(&path).await.expect(200);
            let took = asked.elapsed();
            // No answer comes early without the verdict.
            assert!(
                receipt["status"] == "accepted" || took >= Duration::from_millis(4_800),
                "{took:?}"
            );
            reads += 1;
        }
        assert_eq!(receipt["status"], "accepted");
        reads
    });
    let reads = futures::future::join_all(issued).await;
    let at_once = reads.iter().filter(|reads| **reads == 0).count();
    eprintln!("{at_once} of 200 receipts were issued with their verdict within five seconds");
    system.local.shutdown().await;
}
