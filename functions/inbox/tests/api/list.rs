//! `GET /api/v1/client/inbox`.

use ecf::catalogue::EstadoAprobacion;
use ecf_store::{
    ApprovalId, ContentHash, ForeignText,
    approvals::{Approval, ApprovalWay, Transmission},
    inbox::{AuthorityState, InboxItem, SpeaksFor},
};
use jiff::SignedDuration;
use serde_json::json;

use crate::{Api, INBOX};

#[tokio::test]
async fn an_item_says_what_the_client_reads() {
    let api = Api::start().await;
    let item = api.receive("E310000000001").await;
    let list = api.get(INBOX).await.expect(200);
    let expected = json!({
        "items": [{
            "public_id": item.id.to_string(), "ecf_type": "31", "encf": "E310000000001", "environment": "TesteCF",
            "status": "received", "rnc_emisor": "101672919", "razon_social_emisor": "Suplidora del Este SRL",
            "rnc_comprador": "130000001", "monto_total": "1000.00", "total_itbis": "180.00", "fecha_emision": "27-11-2026",
            "signer": "CN=PRUEBA DEL SISTEMA", "signer_trusted": true, "signer_speaks_for": "issuer", "caller": null,
            "authority_state": "pending", "authority_checked_at": null, "superseded_by": null, "answer": null, "approval_id": null, "acked": false, "acked_at": null, "xml_available": true,
            "arecf_available": true, "created_at": "2026-11-27T16:00:01.000Z",
        }],
        "total": 1, "limit": 50, "offset": 0,
    });
    assert_eq!(list, expected);
}

#[tokio::test]
async fn a3_pages_are_newest_first_and_list_what_awaits_its_acknowledgement_unless_asked_otherwise() {
    let api = Api::start().await;
    let numbers = ["E310000000001", "E310000000002", "E310000000003"];
    let mut items = Vec::new();
    for encf in numbers {
        items.push(api.receive(encf).await);
    }
    api.post(&format!("{INBOX}/{}/ack", items[1].id)).await.expect(200);
    let page = |places: &[usize], total| {
        let numbers: Vec<String> = places.iter().map(|place| numbers[*place].to_owned()).collect();
        (numbers, total)
    };
    for (query, expected) in [
        ("", page(&[2, 0], 2)),
        ("?acked=", page(&[2, 1, 0], 3)),
        ("?acked", page(&[2, 1, 0], 3)),
        ("?acked=false", page(&[2, 0], 2)),
        ("?acked=true", page(&[1], 1)),
        ("?acked=&limit=2", page(&[2, 1], 3)),
        ("?limit=2&acked=&offset=2", page(&[0], 3)),
        ("?limit=1", page(&[2], 2)),
        ("?acked=false&limit=1&offset=1", page(&[0], 2)),
        ("?offset=3", page(&[], 2)),
    ] {
        assert_eq!(api.listed(query).await, expected, "{query}");
    }
    for wrong in [
        "?authority_state=believed",
        "?acked=perhaps",
        "?limit=0",
        "?limit=101",
        "?offset=-1",
    ] {
        assert_eq!(api.get(&format!("{INBOX}{wrong}")).await.status, 422, "{wrong}");
    }
}

#[tokio::test]
async fn p3_items_are_found_by_issuer_and_by_day() {
    let api = Api::start().await;
    let numbers = ["E310000000001", "E310000000002", "E310000000003"];
    for (place, encf) in numbers.into_iter().enumerate() {
        let item = api
            .stack
            .received_item(&api.company, encf, None, b"<ECF/>", crate::ARECF);
        let rnc_emisor = if place == 1 { "130862346" } else { "101672919" };
        let item = InboxItem {
            rnc_emisor: rnc_emisor.parse().unwrap(),
            fecha_emision: Some(format!("{:02}-11-2026", 25 + place).as_str().into()),
            ..item
        };
        api.stack.store_received(&api.company, &item).await;
        if place == 2 {
            api.post(&format!("{INBOX}/{}/ack", item.id)).await.expect(200);
        }
        api.stack.clock().advance(SignedDuration::from_hours(24));
    }
    for (query, places) in [
        ("acked=", vec![2, 1, 0]),
        ("rnc_emisor=130862346", vec![1]),
        ("acked=&rnc_emisor=101672919", vec![2, 0]),
        ("rnc_emisor=131880681", vec![]),
        ("acked=&issued_from=2026-11-26", vec![2, 1]),
        ("acked=&issued_to=2026-11-26", vec![1, 0]),
        ("acked=&issued_from=2026-11-26&issued_to=2026-11-26", vec![1]),
        // The copy in the list of acknowledged items has the day too.
        ("acked=true&issued_from=2026-11-27&issued_to=2026-11-27", vec![2]),
        ("acked=&date_from=2026-11-28&date_to=2026-11-28", vec![1]),
        ("acked=&date_to=2026-11-28T12:00:00&rnc_emisor=101672919", vec![0]),
        ("acked=&limit=1&offset=1&issued_from=2026-01-01", vec![1]),
    ] {
        let (listed, total) = api.listed(&format!("?{query}")).await;
        let expected: Vec<_> = places.iter().map(|place| numbers[*place]).collect();
        assert_eq!(listed, expected, "{query}");
        let total_expected = if query.contains("limit") {
            3
        } else {
            places.len() as u64
        };
        assert_eq!(total, total_expected, "{query}");
    }
    for (wrong, place) in [
        ("rnc_emisor=1", "rnc_emisor"),
        ("issued_from=27-11-2026", "issued_from"),
        ("issued_from=2026-11-28&issued_to=2026-11-27", "issued_to"),
        ("date_from=2026-11-28&date_to=2026-11-27", "date_to"),
    ] {
        let fault = api.get(&format!("{INBOX}?{wrong}")).await.expect(422);
        assert_eq!(fault["detail"][0]["loc"], json!(["query", place]), "{wrong}");
    }
}

impl Api {
    /// The company's answer as `approvals` stores it.
    async fn answered(&self, item: &InboxItem, estado: EstadoAprobacion) {
        let (scope, now) = (&self.company.scope, self.stack.clock().now());
        let approval = Approval {
            id: ApprovalId::of(ApprovalWay::Submit.as_str(), scope, &item.encf.to_string()),
            way: ApprovalWay::Submit,
            idempotency_key: item.encf.to_string(),
            rnc_emisor: item.rnc_emisor.clone(),
            rnc_comprador: item.rnc_comprador.clone(),
            encf: item.encf,
            estado,
            reason: None,
            acecf: ContentHash::of(b"<ACECF/>"),
            receiver_url: None,
            receipt_unknown: false,
            created_at: now,
            issuer: Transmission::PENDING,
            authority: Transmission::PENDING,
            authority_answer: None,
            attempts: 0,
            next_action_at: None,
        };
        let created = self.stack.table().create_approval(scope, &approval, true).await;
        created.unwrap();
    }
}

#[tokio::test]
async fn b5_the_status_says_how_far_the_company_came() {
    let api = Api::start().await;
    let mut items = Vec::new();
    for encf in ["E310000000001", "E310000000002", "E310000000003", "E310000000004"] {
        items.push(api.receive(encf).await);
    }
    for item in &items[1..3] {
        api.post(&format!("{INBOX}/{}/ack", item.id)).await.expect(200);
    }
    api.answered(&items[2], EstadoAprobacion::Aceptado).await;
    // An answer does not require an acknowledgement first.
    api.answered(&items[3], EstadoAprobacion::Rechazado).await;
    let mut statuses = Vec::new();
    for acked in ["false", "true"] {
        let list = api.get(&format!("{INBOX}?acked={acked}")).await.expect(200);
        for item in list["items"].as_array().unwrap() {
            statuses.push((item["encf"].clone(), item["status"].clone()));
        }
    }
    statuses.sort_by_key(|(encf, _)| encf.to_string());
    let statuses: Vec<_> = statuses.into_iter().map(|(_, status)| status).collect();
    assert_eq!(
        json!(statuses),
        json!(["received", "acknowledged", "approved", "rejected"])
    );
}

#[tokio::test]
async fn r7_the_answers_to_a_page_are_read_in_one_request() {
    let api = Api::start().await;
    let mut items = Vec::new();
    for number in 1..=12 {
        items.push(api.receive(&format!("E31{number:010}")).await);
    }
    api.answered(&items[11], EstadoAprobacion::Aceptado).await;
    // The first request reads the key and records its use.
    api.get(INBOX).await.expect(200);
    api.stack.calls().reset();
    let list = api.get(INBOX).await.expect(200);
    let statuses: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["status"])
        .collect();
    assert_eq!(statuses[..2], [&json!("approved"), &json!("received")]);
    // The two others read the number of items and the items.
    let counts: Vec<_> = api.stack.calls().counts().into_iter().collect();
    let expected = [("DynamoDB BatchGetItem", 1), ("DynamoDB Query", 2)];
    assert_eq!(counts, expected.map(|(call, count)| (call.to_owned(), count)));
    // Two documents may have the same number.
    let numbers = [11, 10, 11].map(|place: usize| (items[place].rnc_emisor.clone(), items[place].encf));
    let given = api
        .stack
        .table()
        .given_answers(&api.company.scope, numbers.to_vec())
        .await;
    let given: Vec<_> = given.unwrap().iter().map(Option::is_some).collect();
    assert_eq!(given, [true, false, true]);
}

#[tokio::test]
async fn s4_a_page_of_the_largest_foreign_texts_fits_a_functions_answer() {
    const LARGEST_ANSWER: usize = 6 * 1024 * 1024;
    let api = Api::start().await;
    let xml = ecf_testkit::foreign_receipt(api.company.rnc.as_str(), "E310000000001", api.stack.clock().now());
    // Every character takes six bytes in JSON.
    let largest = || ForeignText::from("\u{1}".repeat(2 * ForeignText::MOST_BYTES));
    for number in 0..100 {
        let encf = format!("E31{:010}", number + 1);
        let item = api.stack.received_item(&api.company, &encf, None, &xml, b"<ARECF/>");
        let item = InboxItem {
            razon_social_emisor: Some(largest()),
            monto_total: Some(largest()),
            total_itbis: Some(largest()),
            fecha_emision: Some(largest()),
            signer: largest(),
            caller: Some(largest()),
            speaks_for: Some(SpeaksFor::Other),
            ..item
        };
        api.stack.store_received(&api.company, &item).await;
        api.confirm(&item, AuthorityState::Accepted).await;
    }
    for list in ["", "&acked="] {
        let page = api
            .get(&format!("{INBOX}?limit=100{list}&authority_state=accepted"))
            .await;
        assert!(page.bytes.len() < LARGEST_ANSWER, "{}", page.bytes.len());
        assert_eq!(page.expect(200)["total"], 100);
    }
}
