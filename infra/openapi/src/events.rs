//! What subscribers are sent, as `lib/webhooks` declares it: the operations of the contract, and the tables in the guides. Tests hold what
//! receivers get against these schemas.

use std::path::PathBuf;

use ecf_webhooks::{Audience, Declaration, EventName};
use serde_json::{Map, Value, json};

use super::OpenapiError;

/// Adds the events and their schemas.
pub(super) fn add(document: &mut Value) {
    let mut webhooks = Map::new();
    for event in EventName::ALL {
        let declared = event.declaration();
        let schema = (declared.schema)();
        let name = schema.name;
        let all = EventName::ALL.map(EventName::declaration).into_iter();
        let same = all.filter(|other| (other.schema)().name == name);
        let same: Vec<_> = same.map(|other| other.name).collect();
        document["components"]["schemas"][name] = schema.of_events(&same);
        webhooks.insert(
            declared.name.to_owned(),
            operation(declared.name, name, declared.summary),
        );
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
            "default": { "description": "Not received; the delivery is retried for 24 hours" },
        },
        "security": [],
    } })
}

const BEGIN: &str = "<!-- events: written by `cargo run -- openapi` -->\n";
const END: &str = "<!-- end of events -->\n";

/// A guide with a table of the events.
struct Guide {
    path: &'static str,
    head: &'static str,
    /// The rows of names that are not events.
    others: &'static str,
    text: fn(&Declaration) -> &'static str,
}

const GUIDES: [Guide; 2] = [
    Guide {
        path: "webhooks.md",
        head: "| subscribed name | delivers |\n|---|---|\n",
        others: "| `*`, `ecf.*` | the three verdicts |\n\
                 | `taxauth.*` (also `dgii.*`), `signed`, `submitted` | nothing; the names are accepted |\n",
        text: |event| event.english,
    },
    Guide {
        path: "es/webhooks.md",
        head: "| suscripción | avisa |\n|---|---|\n",
        others: "| `*`, `ecf.*` | los tres veredictos |\n\
                 | `taxauth.*` (también `dgii.*`), `signed`, `submitted` | nada; los nombres se admiten |\n",
        text: |event| event.spanish,
    },
];

/// The guides with their tables as declared; the text around the tables is written by hand.
pub(super) fn guides() -> Result<[(PathBuf, String); 2], OpenapiError> {
    let [english, spanish] = GUIDES.map(|guide| {
        let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(guide.path);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(OpenapiError::File { path, source }),
        };
        let parts = text
            .split_once(BEGIN)
            .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
        match parts {
            Some((before, after)) => Ok((path, format!("{before}{BEGIN}{}{END}{after}", table(&guide)))),
            None => Err(OpenapiError::NoTable(path)),
        }
    });
    Ok([english?, spanish?])
}

fn table(guide: &Guide) -> String {
    let rows = |audience: Audience| {
        let events = EventName::ALL.map(EventName::declaration).into_iter();
        let events: Vec<_> = events.filter(|event| event.audience == audience).collect();
        let rows = events.chunk_by(|one, next| (guide.text)(one) == (guide.text)(next));
        let rows = rows.map(|events| {
            let names: Vec<_> = events.iter().map(|event| format!("`{}`", event.name)).collect();
            format!("| {} | {} |\n", names.join(", "), (guide.text)(events[0]))
        });
        rows.collect::<String>()
    };
    let [verdicts, others, dry_run] = [Audience::Wildcards, Audience::Name, Audience::DryRun].map(rows);
    format!("{}{verdicts}{}{others}{dry_run}", guide.head, guide.others)
}
