//! The published contract: put together from the functions' own declarations, written into the repository, held against it.

mod events;
mod examples;
mod general;

use std::path::PathBuf;

use ecf::ReceiptType;
use serde_json::{Value, json};
use utoipa::OpenApi as _;

/// Why the document is not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum OpenapiError {
    #[error("{} is not what the code says: run `cargo run -- openapi` and commit it", .0.display())]
    Stale(PathBuf),
    #[error("{} cannot be read or written", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("the document is not JSON")]
    Json(#[from] serde_json::Error),
}

/// Writes the document.
///
/// # Errors
/// When the file cannot be written.
pub fn write() -> Result<(), OpenapiError> {
    let path = path();
    std::fs::write(&path, document()?).map_err(|source| OpenapiError::File { path, source })
}

/// Compares the document in the repository with the code.
///
/// # Errors
/// When they differ.
pub fn check() -> Result<(), OpenapiError> {
    let path = path();
    let kept = std::fs::read_to_string(&path).map_err(|source| OpenapiError::File {
        path: path.clone(),
        source,
    })?;
    if kept == document()? {
        Ok(())
    } else {
        Err(OpenapiError::Stale(path))
    }
}

/// The document as it is published.
///
/// # Errors
/// When a part cannot be written as JSON.
pub fn document() -> Result<String, OpenapiError> {
    let mut contract = issuing::Contract::openapi();
    for part in [
        signup::Contract::openapi(),
        certificates::Contract::openapi(),
        company::Contract::openapi(),
        documents::Contract::openapi(),
        audit_export::Contract::openapi(),
        inbox::Contract::openapi(),
        approvals::Contract::openapi(),
        webhooks::Contract::openapi(),
        status::Contract::openapi(),
        directory::Contract::openapi(),
    ] {
        contract.merge(part);
    }
    let mut document = serde_json::to_value(contract)?;
    document["openapi"] = json!("3.1.0");
    document["info"] = json!({
        "title": "e-CF service",
        "version": "1.0.0",
        "description": "Issues electronic fiscal receipts (e-CF) of the Dominican Republic, submits them to the tax authority and tells their verdict.",
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    });
    document["servers"] = json!([{ "url": "/" }]);
    document["tags"] = general::tags();
    document["components"]["securitySchemes"] = json!({
        "api_key": { "type": "apiKey", "in": "header", "name": "X-API-Key", "description": "A key belongs to one company and one environment." },
    });
    for ecf_type in ReceiptType::ALL {
        document["components"]["schemas"][format!("Payload{ecf_type}")] = ecf::json_schema(ecf_type);
    }
    document["components"]["schemas"]["IssueRequest"]["properties"]["payload"]["anyOf"] = ReceiptType::ALL
        .into_iter()
        .map(|ecf_type| json!({ "$ref": format!("#/components/schemas/Payload{ecf_type}") }))
        .collect::<Value>();
    examples::add(&mut document)?;
    events::add(&mut document);
    general::add_answers(&mut document);
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// Where the document is kept; `cargo run` knows the repository it was built in.
fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/public-v1.json"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_operation_belongs_to_a_group_that_is_described() {
        let document: Value = serde_json::from_str(&document().expect("the parts are JSON")).expect("as written");
        let groups: Vec<_> = document["tags"]
            .as_array()
            .expect("tags")
            .iter()
            .map(|tag| &tag["name"])
            .collect();
        for (path, methods) in document["paths"].as_object().expect("paths") {
            for (method, operation) in methods.as_object().expect("methods") {
                assert!(
                    groups.contains(&&operation["tags"][0]),
                    "{method} {path}: {}",
                    operation["tags"]
                );
                assert!(
                    operation["description"].is_string(),
                    "{method} {path} has no description"
                );
            }
        }
    }

    /// Clients generated from the document name their methods after it.
    #[test]
    fn each_operation_has_a_name_of_its_own() {
        let document: Value = serde_json::from_str(&document().expect("the parts are JSON")).expect("as written");
        let mut names = BTreeMap::new();
        for (path, methods) in document["paths"].as_object().expect("paths") {
            for (method, operation) in methods.as_object().expect("methods") {
                let name = operation["operationId"].as_str().expect("a name").to_owned();
                let here = format!("{method} {path}");
                if let Some(there) = names.insert(name.clone(), here.clone()) {
                    panic!("{name} is both {there} and {here}");
                }
            }
        }
    }
}
