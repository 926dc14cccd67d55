//! The permanent error codes, as the tables of `docs/errors.md` list them.
//!
//! A new code needs a row in that document and in its Spanish version. [`check_codes`] compares every response in a
//! test with the list, and `tests/codes.rs` compares the list with the sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use http::StatusCode;
use serde_json::Value;

static ENGLISH: LazyLock<BTreeSet<String>> = LazyLock::new(|| documented_codes("docs/errors.md"));

/// An absolute path in the repository.
#[must_use]
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The codes in a document's tables: the text between backticks in the first cell of a row. The range `REFERENCIA-20`
/// to `-27` refers to another table and is not a code.
#[must_use]
pub fn documented_codes(path: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(repository(path)).expect("the document is in the repository");
    let cells = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let codes = cells.flat_map(|cell| cell.split(", "));
    codes
        .filter(|code| !code.contains(' '))
        .map(|code| code.trim_matches(['`', ' ', '|']).to_owned())
        .collect()
}

/// Checks the codes of a response: an error must have a code, and every code must be documented.
///
/// # Errors
///
/// When an error has no code or an undocumented one.
pub(crate) fn check_codes(status: StatusCode, body: &[u8]) -> Result<(), String> {
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return Ok(());
    };
    if let Some(items) = body["items"]
        .as_array()
        .filter(|items| items.iter().all(|item| item["status_code"].is_u64()))
    {
        // A batch: each item contains a response.
        return items.iter().try_for_each(|item| check_answer(&item["body"]));
    }
    let is_refusal = status.is_client_error() || status.is_server_error();
    if is_refusal && body["detail"].is_null() {
        Err(format!("a refusal without detail: {body}"))
    } else {
        check_answer(&body)
    }
}

fn check_answer(body: &Value) -> Result<(), String> {
    if body["detail"].is_object() {
        known(&body["detail"]["code"], &body["detail"])?;
    }
    let lists = ["detail", "warnings", "structure", "rules"].map(|name| body[name].as_array());
    let findings = lists.into_iter().flatten().flatten();
    findings
        .filter(|finding| finding["loc"].is_array())
        .try_for_each(|finding| known(&finding["ctx"]["code"], finding))
}

fn known(code: &Value, finding: &Value) -> Result<(), String> {
    match code.as_str() {
        Some(code) if ENGLISH.contains(code) => Ok(()),
        Some(code) => Err(format!("the code {code} has no row in docs/errors.md: {finding}")),
        None => Err(format!("a finding without a code: {finding}")),
    }
}
