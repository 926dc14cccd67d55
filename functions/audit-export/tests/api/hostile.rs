//! What others write does no harm in an archive.

use ecf::{ReceiptState, ReceiptType};
use ecf_store::{ContentHash, Created, Mode, NewReceipt, ReceiptId};

use crate::Api;

/// Names and ids as somebody who means harm would choose them.
const HOSTILE: [&str; 8] = [
    "=HYPERLINK(\"http://x\",\"Total\")",
    "  +cmd|' /C calc'!A0",
    "\t@SUM(A1:A9)",
    "-1+1",
    "../../etc/passwd",
    "CON\r\nissued,x,E310000000099",
    "factura\u{202e}fdp.exe",
    "\u{feff}\u{2066}=1\u{0}",
];

#[tokio::test]
async fn formulas_line_ends_and_marks_of_direction_are_harmless() {
    let api = Api::start().await;
    for (place, text) in HOSTILE.iter().enumerate() {
        let key = format!("key-{place}");
        let now = api.stack.clock().now();
        let new = NewReceipt {
            public_id: ReceiptId::of_receipt(&api.company.scope, &key),
            company_rnc: api.company.rnc.clone(),
            idempotency_key: key,
            payload_hash: [0; 32],
            ecf_type: ReceiptType::E31,
            external_id: Some((*text).to_owned()),
            mode: Mode::Immediate,
            state: ReceiptState::Received,
            created_at: now,
            scheduled_for: None,
            monto_total: "1180.00".to_owned(),
            rnc_comprador: None,
            fecha_emision: "27-11-2026".parse().unwrap(),
            signed: None,
            payload: Some(ContentHash::of(b"{}")),
            note: None,
        };
        let created = api.stack.table().create_receipt(&api.company.scope, new).await.unwrap();
        assert!(matches!(created, Created::New(_)), "{created:?}");
        api.receive(&format!("E31000000010{place}"), text).await;
    }
    let archive = api.archive().await;
    for name in archive.names() {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        assert!(
            name.bytes().all(plain) && !name.starts_with('/') && !name.contains(".."),
            "{name}"
        );
    }
    let index = archive.index();
    assert_eq!(index.lines().count(), 1 + 2 * HOSTILE.len(), "{index}");
    for line in index.lines() {
        assert!(!line.trim_start_matches('\u{feff}').chars().any(|character| {
            character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        }));
    }
    for cell in [
        "\"'=HYPERLINK(\"\"http://x\"\",\"\"Total\"\")\"",
        "\"'  +cmd|' /C calc'!A0\"",
        "\"' @SUM(A1:A9)\"",
        "\"'-1+1\"",
    ] {
        assert_eq!(index.matches(cell).count(), 2, "{cell} in {index}");
    }
    // A receipt without a signature has a line and no folder.
    assert!(!archive.names().iter().any(|name| name.starts_with("issued/")));
}

#[tokio::test]
async fn a_document_that_is_gone_is_remarked_and_keeps_no_other_from_being_there() {
    let api = Api::start().await;
    let gone = api.receipt("E310000000001").await;
    let there = api.receipt("E320000000001").await;
    api.stack.lose_objects(&format!("{}/signed-xml-", gone.public_id)).await;
    let archive = api.archive().await;
    let line = |id: &str| {
        archive
            .index()
            .lines()
            .find(|line| line.contains(id))
            .unwrap()
            .to_owned()
    };
    assert!(line(&gone.public_id.to_string()).ends_with(",the signed-xml is not in the bucket"));
    let id = there.public_id.to_string();
    assert!(line(&id).ends_with(','));
    let name = format!(
        "issued/2026-11-27/E320000000001-{}/130000001E320000000001.xml",
        &id[..10]
    );
    assert_eq!(archive.files[&name], api.signed_xml(&there).await);
}
