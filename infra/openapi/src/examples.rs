//! What integrators copy: an example for each receipt type, and the same call in the languages that ERPs are written in.

use ecf::ReceiptType;
use serde_json::{Map, Value, json};

/// The payloads are a folder beside the contract; `infra/checks/samples` issues each of them.
const PAYLOADS: [(ReceiptType, &str); 10] = [
    (ReceiptType::E31, include_str!("../examples/31.json")),
    (ReceiptType::E32, include_str!("../examples/32.json")),
    (ReceiptType::E33, include_str!("../examples/33.json")),
    (ReceiptType::E34, include_str!("../examples/34.json")),
    (ReceiptType::E41, include_str!("../examples/41.json")),
    (ReceiptType::E43, include_str!("../examples/43.json")),
    (ReceiptType::E44, include_str!("../examples/44.json")),
    (ReceiptType::E45, include_str!("../examples/45.json")),
    (ReceiptType::E46, include_str!("../examples/46.json")),
    (ReceiptType::E47, include_str!("../examples/47.json")),
];

/// Language, its name for people, the file.
const SAMPLES: [(&str, &str, &str); 5] = [
    ("shell", "curl", include_str!("../../../docs/samples/issue/issue.sh")),
    ("python", "Python", include_str!("../../../docs/samples/issue/issue.py")),
    (
        "javascript",
        "JavaScript",
        include_str!("../../../docs/samples/issue/issue.mjs"),
    ),
    ("php", "PHP", include_str!("../../../docs/samples/issue/issue.php")),
    ("csharp", "C#", include_str!("../../../docs/samples/issue/Issue.cs")),
];

/// The day that the examples name; a receipt of an old one is refused, so who shows them puts the current day there.
const DAY: &str = "27-11-2026";

/// Adds them to the operation that issues.
pub(super) fn add(document: &mut Value) -> Result<(), serde_json::Error> {
    let mut examples = Map::new();
    for (ecf_type, payload) in PAYLOADS {
        let payload: Value = serde_json::from_str(payload)?;
        let name = ecf_type.as_str();
        let value = json!({ "idempotency_key": format!("ejemplo-{name}"), "ecf_type": name, "payload": payload });
        let summary = format!("{name}: {}", ecf_type.title());
        examples.insert(name.to_owned(), json!({ "summary": summary, "value": value }));
    }
    let issue = &mut document["paths"]["/api/v1/ecf"]["post"];
    issue["requestBody"]["content"]["application/json"]["examples"] = Value::Object(examples);
    let samples = SAMPLES.map(|(lang, label, source)| json!({ "lang": lang, "label": label, "source": source }));
    issue["x-codeSamples"] = json!(samples);
    document["x-example-day"] = json!(DAY);
    Ok(())
}
