//! The published contract: put together from the functions' own declarations, written into the repository, held against it.

mod events;
mod examples;
mod forms;
mod general;
mod links;
mod operations;
mod shapes;

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

/// Writes the document, and the table of its operations that the service judges requests by.
///
/// # Errors
/// When a file cannot be written.
pub fn write() -> Result<(), OpenapiError> {
    for (path, text) in files()? {
        std::fs::write(&path, text).map_err(|source| OpenapiError::File { path, source })?;
    }
    Ok(())
}

/// Compares both files in the repository with the code.
///
/// # Errors
/// When they differ.
pub fn check() -> Result<(), OpenapiError> {
    for (path, text) in files()? {
        let kept = std::fs::read_to_string(&path).map_err(|source| OpenapiError::File {
            path: path.clone(),
            source,
        })?;
        if kept != text {
            return Err(OpenapiError::Stale(path));
        }
    }
    Ok(())
}

/// What is generated, and where it is kept.
fn files() -> Result<[(PathBuf, String); 2], OpenapiError> {
    let text = document()?;
    let operations = operations::table(&serde_json::from_str(&text)?);
    Ok([(path(), text), (operations::path(), operations)])
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
        "description": general::DESCRIPTION,
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
    shapes::mend(&mut document);
    forms::add(&mut document);
    links::add(&mut document);
    examples::add(&mut document)?;
    events::add(&mut document);
    general::add_answers(&mut document);
    general::add_spellings(&mut document);
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// Each operation of the document.
fn operations(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document["paths"].as_object_mut().into_iter();
    let methods = paths
        .flat_map(|paths| paths.values_mut())
        .filter_map(Value::as_object_mut);
    methods.flat_map(|methods| methods.values_mut())
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

    /// Enumerations have one type, alternatives may overlap, and files are bytes: generators take nothing else.
    #[test]
    fn generators_of_clients_have_nothing_to_stumble_over() {
        let document: Value = serde_json::from_str(&document().expect("the parts are JSON")).expect("as written");
        let mut problems = Vec::new();
        stumbles(&document, "", &mut problems);
        for tag in document["tags"].as_array().expect("tags") {
            let name = tag["name"].as_str().expect("a name");
            if !name.is_ascii() {
                problems.push(format!("tag {name}"));
            }
        }
        assert_eq!(problems, [] as [String; 0]);
    }

    fn stumbles(value: &Value, place: &str, problems: &mut Vec<String>) {
        let null = json!({ "type": "null" });
        let mut told = |what: &str| problems.push(format!("{place}: {what}"));
        if let Some(words) = value["enum"].as_array() {
            let texts = words.iter().filter(|word| word.is_string()).count();
            let numbers = words.iter().filter(|word| word.is_number()).count();
            if texts > 0 && numbers > 0 {
                told("words and numbers");
            }
        }
        if value["oneOf"]
            .as_array()
            .is_some_and(|alternatives| !alternatives.contains(&null))
        {
            told("alternatives that exclude each other");
        }
        if value["type"] == "array" && value["items"]["format"] == "int32" {
            told("a file as a list of numbers");
        }
        match value {
            Value::Object(members) => members
                .iter()
                .for_each(|(name, member)| stumbles(member, &format!("{place}/{name}"), problems)),
            Value::Array(values) => values.iter().for_each(|member| stumbles(member, place, problems)),
            _ => {}
        }
    }

    #[test]
    fn each_link_leads_from_an_answer_to_an_operation() {
        let document: Value = serde_json::from_str(&document().expect("the parts are JSON")).expect("as written");
        let paths = document["paths"].as_object().expect("paths");
        let operations: Vec<&Value> = paths
            .values()
            .flat_map(|methods| methods.as_object().expect("methods").values())
            .collect();
        let names: Vec<&Value> = operations.iter().map(|operation| &operation["operationId"]).collect();
        let mut links = 0;
        for response in operations
            .iter()
            .flat_map(|operation| operation["responses"].as_object().expect("responses").values())
        {
            for link in response["links"]
                .as_object()
                .into_iter()
                .flat_map(|links| links.values())
            {
                assert!(names.contains(&&link["operationId"]), "{link}");
                assert!(
                    response["content"]["application/json"].is_object(),
                    "{link} of no answer"
                );
                links += 1;
            }
        }
        assert!(links > 20, "{links} links");
    }

    /// Where a caller writes an environment, a state or a number, the contract says its form, and no parameter can be null.
    #[test]
    fn what_callers_write_has_its_form() {
        let document: Value = serde_json::from_str(&document().expect("the parts are JSON")).expect("as written");
        let parameter = |path: &str, name: &str| {
            let parameters = document["paths"][path]["get"]["parameters"]
                .as_array()
                .expect("parameters");
            let found = parameters.iter().find(|parameter| parameter["name"] == name);
            found.expect("the parameter")["schema"].clone()
        };
        let environments = json!(["TesteCF", "CerteCF", "ecf"]);
        let documents = "/api/v1/client/documents";
        assert_eq!(parameter(documents, "environment")["enum"], environments);
        assert_eq!(
            parameter(documents, "ecf_type"),
            json!({ "type": "string", "minLength": 2, "maxLength": 2 })
        );
        assert!(parameter(documents, "encf")["pattern"].is_string());
        assert_eq!(
            parameter("/api/v1/client/audit-export", "If-None-Match"),
            json!({ "type": "string" })
        );
        let schemas = &document["components"]["schemas"];
        let issue = &schemas["IssueRequest"]["properties"];
        assert_eq!(issue["environment"]["enum"], json!(["TesteCF", "CerteCF", "ecf", null]));
        let upload = &schemas["UploadRequest"]["properties"];
        assert_eq!(upload["environment"]["type"], "string");
        assert_eq!(upload["environment"]["enum"], environments);
        assert_eq!(
            schemas["SubmitAcecfRequest"]["properties"]["estado"]["enum"],
            json!(["1", "2"])
        );
    }

    #[test]
    fn each_example_is_what_its_schema_asks_for() {
        let document: Value = serde_json::from_str(&document().expect("the parts are JSON")).expect("as written");
        let examples =
            &document["paths"]["/api/v1/ecf"]["post"]["requestBody"]["content"]["application/json"]["examples"];
        for ecf_type in ReceiptType::ALL {
            let schema = &document["components"]["schemas"][format!("Payload{ecf_type}")];
            let validator = jsonschema::validator_for(schema).expect("a schema");
            let payload = &examples[ecf_type.as_str()]["value"]["payload"];
            assert!(payload.is_object(), "type {ecf_type} has no example");
            let problems: Vec<_> = validator.iter_errors(payload).map(|error| error.to_string()).collect();
            assert_eq!(problems, [] as [String; 0], "the example of type {ecf_type}");
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
