//! `GET /api/v1/client/inbox`.

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
            "rnc_comprador": "130000001", "monto_total": "1000.00", "fecha_emision": "27-11-2026",
            "signer": "CN=PRUEBA DEL SISTEMA", "answer": null, "approval_id": null, "acked": false, "acked_at": null, "xml_available": true,
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
    for wrong in ["?acked=perhaps", "?limit=0", "?limit=101", "?offset=-1"] {
        assert_eq!(api.get(&format!("{INBOX}{wrong}")).await.status, 422, "{wrong}");
    }
}
