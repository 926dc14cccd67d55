//! What an answer leads to: the id that one operation gives is what others ask for.

use serde_json::{Map, Value, json};

/// Operation, the status of the answer, where its id is, and the operations that take it.
const LINKS: &[(&str, &str, &str, &[&str])] = &[
    (
        "issue",
        "201",
        "/public_id",
        &[
            "read",
            "download_xml",
            "download_pdf",
            "show_document",
            "list_artifacts",
            "cancel",
            "mark_incapacity",
        ],
    ),
    ("list_receipts", "200", "/items/0/public_id", &["read"]),
    (
        "list_documents",
        "200",
        "/items/0/public_id",
        &["show_document", "list_artifacts"],
    ),
    (
        "create_webhook",
        "201",
        "/public_id",
        &[
            "show_webhook",
            "update_webhook",
            "test_webhook",
            "list_deliveries",
            "rotate_webhook_secret",
            "delete_webhook",
        ],
    ),
    ("create_api_key", "201", "/public_id", &["revoke_api_key"]),
    ("open_sequence", "201", "/public_id", &["change_sequence"]),
    (
        "list_inbox",
        "200",
        "/items/0/public_id",
        &["ack_inbox_item", "download_inbox_xml", "download_inbox_arecf"],
    ),
    ("submit_acecf", "200", "/public_id", &["show_acecf"]),
    ("cancel_sequences", "200", "/public_id", &["show_cancellation"]),
];

/// Adds them to the answers.
pub(super) fn add(document: &mut Value) {
    for operation in super::operations(document) {
        let name = operation["operationId"].as_str().unwrap_or_default().to_owned();
        for (_, status, id, targets) in LINKS.iter().filter(|(from, ..)| *from == name) {
            let link = |target: &&str| {
                let link =
                    json!({ "operationId": target, "parameters": { "public_id": format!("$response.body#{id}") } });
                ((*target).to_owned(), link)
            };
            let links: Map<String, Value> = targets.iter().map(link).collect();
            operation["responses"][*status]["links"] = Value::Object(links);
        }
    }
}
