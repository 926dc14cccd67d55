//! Hostile content of received documents does no harm in an archive.

use ecf::{ReceiptState, ReceiptType};
use ecf_store::{
    ContentHash, ReceiptId,
    receipts::{Created, Mode, NewReceipt},
};

use crate::Api;

/// Names and ids that an attacker would choose.
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
    // A receipt without a signature has a line in the index and no folder.
    assert!(!archive.names().iter().any(|name| name.starts_with("issued/")));
}

#[tokio::test]
async fn a_document_that_is_gone_or_altered_is_remarked_and_keeps_no_other_from_being_there() {
    let api = Api::start().await;
    let gone = api.receipt("E310000000001").await;
    let altered = api.receipt("E310000000002").await;
    let there = api.receipt("E320000000001").await;
    let (id, original) = (altered.public_id.to_string(), api.signed_xml(&altered).await);
    api.stack.lose_objects(&format!("{}/signed-xml-", gone.public_id)).await;
    api.stack
        .alter_objects(&format!("{id}/signed-xml-"), b"<ECF></ECF>")
        .await;
    let archive = api.archive().await;
    assert!(
        archive
            .line(&gone.public_id.to_string())
            .ends_with(",the signed-xml is not in the bucket")
    );
    let remark = ",the signed-xml in the bucket is not the one that was kept: it was altered";
    assert!(archive.line(&id).ends_with(remark), "{}", archive.line(&id));
    assert!(!archive.names().iter().any(|name| name.contains("E310000000002")));
    assert!(archive.line(&there.public_id.to_string()).ends_with(','));
    let name = |encf: &str, id: &str| format!("issued/2026-11-27/{encf}-{}/130000001{encf}.xml", &id[..10]);
    let whole = name("E320000000001", &there.public_id.to_string());
    assert_eq!(archive.files[&whole], api.signed_xml(&there).await);

    // After the stored version is restored, the next archive is complete: an archive with remarks is not stored.
    api.stack.alter_objects(&format!("{id}/signed-xml-"), &original).await;
    let mended = api.archive().await;
    assert!(mended.line(&id).ends_with(','), "{}", mended.line(&id));
    assert_eq!(mended.files[&name("E310000000002", &id)], original);
}
