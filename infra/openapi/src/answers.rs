//! Examples of answers. The story `each_answer_is_as_it_was` of `infra/local` compares every operation's answer with a snapshot, and
//! each snapshot names its operation and status; here they become examples, with made-up values where runs differ.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::OpenapiError;

/// Placeholders of the snapshots, and what stands for them. A longer one comes before one that it contains.
const VALUES: [(&str, &str); 17] = [
    ("http://[host]", "https://ecf.example.com"),
    ("=[fecha y hora]", "=27%2D11%2D2026%2012%3A00%3A01"),
    ("=[fecha]", "=27%2D11%2D2026"),
    ("[fecha y hora]", "27-11-2026 12:00:01"),
    ("[fecha]", "27-11-2026"),
    ("[instant]", "2026-11-27T16:00:01.000Z"),
    ("[local instant]", "2026-11-27T12:00:01"),
    ("[day]", "2026-11-27"),
    ("[uuid]", "6f1c2b3a-4d5e-4f60-8a7b-9c0d1e2f3a4b"),
    ("[secret]", "…"),
    ("[request]", "0123456789abcdef0123456789abcdef"),
    ("[id]", "0123456789abcdef0123456789abcdef"),
    ("[code]", "Ab3xY9"),
    ("[text]", "…"),
    ("\"[number]\"", "120"),
    ("[number]", "120"),
    ("[…]", "…"),
];

/// Adds the examples to the answers.
pub(super) fn add(document: &mut Value) -> Result<(), OpenapiError> {
    for recorded in recorded()? {
        let mut operations = super::operations(document);
        let operation = operations.find(|operation| operation["operationId"] == recorded.operation);
        let content = format!("/responses/{}/content/application~1json", recorded.status);
        if let Some(content) = operation.and_then(|operation| operation.pointer_mut(&content)) {
            content["examples"][recorded.name] = json!({ "value": recorded.body });
        }
    }
    Ok(())
}

/// An answer of the story.
struct Recorded {
    name: String,
    operation: String,
    status: String,
    body: Value,
}

/// The snapshots that name an operation, in the order of their names.
fn recorded() -> Result<Vec<Recorded>, OpenapiError> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../local/tests/stories/snapshots"));
    let failed = |path: &PathBuf, source| OpenapiError::File {
        path: path.clone(),
        source,
    };
    let entries = fs::read_dir(&folder).map_err(|source| failed(&folder, source))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|source| failed(&folder, source))?.path());
    }
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|source| failed(&path, source))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        found.extend(read(name, &text)?);
    }
    Ok(found)
}

/// Reads a snapshot: a head between two lines of dashes, then the body.
fn read(name: String, text: &str) -> Result<Option<Recorded>, serde_json::Error> {
    let (head, body) = text.split_once("\n---\n").unwrap_or_default();
    let of = |member: &str| {
        let line = head.lines().find_map(|line| line.trim().strip_prefix(member));
        line.map(|value| value.trim().to_owned())
    };
    let Some((operation, status)) = of("operation:").zip(of("status:")) else {
        return Ok(None);
    };
    let body = VALUES.iter().fold(body.to_owned(), |text, (placeholder, value)| {
        text.replace(placeholder, value)
    });
    let body = serde_json::from_str(&body)?;
    Ok(Some(Recorded {
        name,
        operation,
        status,
        body,
    }))
}
