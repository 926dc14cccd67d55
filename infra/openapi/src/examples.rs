//! What integrators copy: requests of every receipt type, and the same call in the languages that ERPs are written in.

use std::fs;
use std::path::PathBuf;

use ecf::ReceiptType;
use serde_json::{Map, Value, json};

use super::OpenapiError;

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

/// A sample of `docs/samples/receipts`: a file and its row of the table there.
#[derive(Debug)]
pub struct Sample {
    /// The name of the file, without its ending.
    pub name: String,
    /// What it shows, in English and Spanish.
    pub summary: String,
    /// Its MontoTotal.
    pub total: String,
    /// The body of the request.
    pub request: Value,
}

impl Sample {
    /// The request as it is sent on a day, written `27-11-2026`.
    ///
    /// # Errors
    /// When the day does not belong into a JSON text.
    pub fn of_day(&self, day: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str(&self.request.to_string().replace(DAY, day))
    }
}

/// The samples in the order of their table, which is the order in which they are issued.
///
/// # Errors
/// When a file of the table cannot be read.
pub fn samples() -> Result<Vec<Sample>, OpenapiError> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/samples/receipts"));
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(|source| OpenapiError::File { path, source })
    };
    let table = read("README.md")?;
    let mut samples = Vec::new();
    for row in table.lines().filter_map(|line| line.strip_prefix("| [")) {
        let (name, rest) = row.split_once(']').unwrap_or_default();
        let mut cells = rest.split(" | ").skip(1);
        let mut cell = || cells.next().unwrap_or_default().trim_end_matches(" |").to_owned();
        samples.push(Sample {
            name: name.to_owned(),
            summary: cell(),
            total: cell(),
            request: serde_json::from_str(&read(&format!("{name}.json"))?)?,
        });
    }
    Ok(samples)
}

/// Adds them to the operation that issues: first a minimal request of each type, then the samples.
pub(super) fn add(document: &mut Value) -> Result<(), OpenapiError> {
    let mut examples = Map::new();
    for (ecf_type, payload) in PAYLOADS {
        let payload: Value = serde_json::from_str(payload)?;
        let name = ecf_type.as_str();
        let value = json!({ "idempotency_key": format!("ejemplo-{name}"), "ecf_type": name, "payload": payload });
        let summary = format!("{name}: {}", ecf_type.title());
        examples.insert(name.to_owned(), json!({ "summary": summary, "value": value }));
    }
    for sample in samples()? {
        let summary = format!("{}: {}", &sample.name[..2], sample.summary);
        examples.insert(sample.name, json!({ "summary": summary, "value": sample.request }));
    }
    let issue = &mut document["paths"]["/api/v1/ecf"]["post"];
    issue["requestBody"]["content"]["application/json"]["examples"] = Value::Object(examples);
    let samples = SAMPLES.map(|(lang, label, source)| json!({ "lang": lang, "label": label, "source": source }));
    issue["x-codeSamples"] = json!(samples);
    document["x-example-day"] = json!(DAY);
    Ok(())
}
