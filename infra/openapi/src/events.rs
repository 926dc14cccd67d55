//! What subscribers are sent. The bodies are made in `lib/webhooks`; tests hold what their receivers get against these schemas.

use serde_json::{Map, Value, json};

const VERDICT: &[&str] = &["accepted", "conditionally_accepted", "rejected"];

/// Adds the events and their schemas.
pub(super) fn add(document: &mut Value) {
    let schemas = &mut document["components"]["schemas"];
    schemas["VerdictEvent"] = verdict();
    schemas["TestEvent"] = event(
        &["webhook.test"],
        "The dry run; `public_id` is the webhook's.",
        json!({}),
        &[],
    );
    let sequence = json!({
        "environment": text("The environment of the range"), "ecf_type": text("The type of its receipts"),
        "range_start": { "type": "integer" }, "range_end": { "type": "integer" },
        "remaining": { "type": "integer", "description": "How many numbers are left" },
        "valid_until": { "type": "string", "description": "Its last day, `YYYY-MM-DD`" }, "days_left": { "type": "integer" },
    });
    schemas["SequenceEvent"] = event(
        &["sequence.low", "sequence.expiring"],
        "A range passed a threshold; each is told once.",
        sequence,
        &["environment", "ecf_type", "range_start", "range_end", "remaining"],
    );
    schemas["WebhookPausedEvent"] = event(
        &["webhook.paused"],
        "Another webhook of the company was switched off.",
        json!({ "environment": text("Its environment"), "webhook_id": text("Which"), "reason": text("Why"), "failing_since": instant("Since when it had failed") }),
        &["environment", "webhook_id", "reason", "failing_since"],
    );
    let inbox = json!({
        "environment": text("The environment that received it"), "inbox_id": text("Its id in the inbox"), "ecf_type": text("Its type"),
        "encf": text("Its number"), "rnc_emisor": text("Who sent it"), "razon_social_emisor": nullable("The sender's name"),
        "rnc_comprador": text("To whom"), "monto_total": nullable("As the document writes it"), "fecha_emision": nullable("As the document writes it"),
        "signer_trusted": { "type": "boolean", "description": "Whether the signer's certificate was issued by an authority that this deployment trusts" },
        "authority_state": { "type": ["string", "null"], "enum": ["pending", "accepted", "conditionally_accepted", "rejected", "not_found", null], "description": "What the tax authority says of the document; null in CerteCF, where it cannot be asked" },
    });
    let all = [
        "environment",
        "inbox_id",
        "ecf_type",
        "encf",
        "rnc_emisor",
        "razon_social_emisor",
        "rnc_comprador",
        "monto_total",
        "fecha_emision",
        "signer_trusted",
        "authority_state",
    ];
    schemas["InboxEvent"] = event(
        &["inbox.received", "inbox.confirmed"],
        "Another issuer sent a receipt, and it was acknowledged; then the tax authority said what it holds of it.",
        inbox,
        &all,
    );
    let approval = json!({
        "environment": text("The environment of the receipt"), "receipt_id": text("The receipt's id"), "ecf_type": text("Its type"),
        "encf": nullable("Its number"), "rnc_comprador": nullable("Who answered"),
        "buyer_status": { "type": "string", "enum": ["approved", "rejected"], "description": "The stage of the document is `buyer_` and this word" },
        "reason": nullable("Why it was rejected"),
        "signer_trusted": { "type": "boolean", "description": "False: the answer is provisional, and one of a trusted signer replaces it" },
    });
    let all = [
        "environment",
        "receipt_id",
        "ecf_type",
        "encf",
        "rnc_comprador",
        "buyer_status",
        "reason",
        "signer_trusted",
    ];
    schemas["ApprovalReceivedEvent"] = event(
        &["approval.received"],
        "A buyer approved or rejected a receipt.",
        approval,
        &all,
    );
    let mut webhooks = Map::new();
    for (name, schema, summary) in [
        ("accepted", "VerdictEvent", "Comprobante aceptado"),
        (
            "conditionally_accepted",
            "VerdictEvent",
            "Comprobante aceptado condicionalmente",
        ),
        ("rejected", "VerdictEvent", "Comprobante rechazado"),
        ("webhook.test", "TestEvent", "Prueba de un webhook"),
        ("sequence.low", "SequenceEvent", "Quedan pocos números"),
        ("sequence.expiring", "SequenceEvent", "Un rango está por vencer"),
        ("webhook.paused", "WebhookPausedEvent", "Un webhook fue desactivado"),
        ("inbox.received", "InboxEvent", "Se recibió un comprobante"),
        (
            "inbox.confirmed",
            "InboxEvent",
            "La DGII dijo qué tiene de un comprobante recibido",
        ),
        (
            "approval.received",
            "ApprovalReceivedEvent",
            "Un comprador aprobó o rechazó un comprobante",
        ),
    ] {
        webhooks.insert(name.to_owned(), operation(name, schema, summary));
    }
    document["webhooks"] = Value::Object(webhooks);
}

fn operation(name: &str, schema: &str, summary: &str) -> Value {
    let header = |name: &str, description: &str| json!({ "name": name, "in": "header", "required": true, "description": description, "schema": { "type": "string" } });
    json!({ "post": {
        "operationId": format!("on_{}", name.replace('.', "_")),
        "tags": ["Webhooks"],
        "summary": summary,
        "description": "Sent at least once, always with the same bytes: drop repetitions by (`public_id`, `event`).",
        "parameters": [
            header("User-Agent", "`open-ecf-webhooks/` and the version of the service"),
            header("X-ECF-Event", "The event's name"),
            header("X-ECF-Signature", "`sha256=` and the lower-case hexadecimal HMAC-SHA256 of the raw body, keyed with the webhook's secret"),
        ],
        "requestBody": { "required": true, "content": { "application/json": { "schema": { "$ref": format!("#/components/schemas/{schema}") } } } },
        "responses": {
            "2XX": { "description": "Taken" },
            "410": { "description": "The receiver is gone for good: the webhook is switched off" },
            "default": { "description": "Not taken; it is tried again for 24 hours" },
        },
        "security": [],
    } })
}

fn verdict() -> Value {
    let answer = || json!({ "type": "object", "additionalProperties": true, "description": "The authority's answer as it came" });
    let members = json!({
        "ecf_type": text("Two digits"), "encf": text("The receipt's number"), "status": text("The state, as in `event`"),
        "track_id": text("The authority's id"), "track_number": text("The same"),
        "security_code": text("Six characters of the signature"), "taxauth_security_code": text("The same"), "dgii_security_code": text("The same"),
        "taxauth_response": answer(), "dgii_response": answer(),
        "electronic_stamp": text("The address for the QR code"), "sign_date": text("`DD-MM-YYYY HH:MM:SS`, local"),
    });
    event(
        VERDICT,
        "The tax authority's verdict on a receipt. What there is none of is left out.",
        members,
        &["ecf_type", "encf", "status"],
    )
}

/// An event with the members that all have and those of its own.
fn event(names: &[&str], description: &str, mut members: Value, also_required: &[&str]) -> Value {
    members["event"] = json!({ "type": "string", "enum": names });
    members["public_id"] = text("What it is about; with `event`, what tells one event from another");
    members["company_rnc"] = text("Whose event it is");
    members["timestamp"] = instant("When it happened");
    let required: Vec<_> = ["event", "public_id", "company_rnc", "timestamp"]
        .iter()
        .chain(also_required)
        .collect();
    json!({ "type": "object", "description": description, "properties": members, "required": required })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn nullable(description: &str) -> Value {
    json!({ "type": ["string", "null"], "description": description })
}

fn instant(what: &str) -> Value {
    let description =
        format!("{what}: UTC without an offset; `2026-11-27T16:00:05` is 12:00:05 in Santo Domingo (UTC-04:00)");
    json!({ "type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$", "description": description, "examples": ["2026-11-27T16:00:05"] })
}
