//! The published contract: put together from the functions' own declarations, written into the repository, held against it.

mod answers;
mod events;
mod examples;
mod forms;
mod general;
mod links;
mod operations;
mod payloads;
mod shapes;

use std::path::PathBuf;

pub use examples::{Sample, samples};
use serde_json::{Value, json};
use utoipa::OpenApi as _;

/// Why the document is not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum OpenapiError {
    #[error("{} is not what the code says: run `cargo run -- openapi` and commit it", .0.display())]
    Stale(PathBuf),
    #[error("{} has lost the marks around its table of events", .0.display())]
    NoTable(PathBuf),
    #[error("{} cannot be read or written", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("the document is not JSON")]
    Json(#[from] serde_json::Error),
}

/// Writes the document, the table of its operations that the service judges requests by, and the tables of events in the guides.
///
/// # Errors
/// When a file cannot be written.
pub fn write() -> Result<(), OpenapiError> {
    for (path, text) in stale()? {
        std::fs::write(&path, text).map_err(|source| OpenapiError::File { path, source })?;
    }
    Ok(())
}

/// Compares the same files in the repository with the code.
///
/// # Errors
/// When they differ.
pub fn check() -> Result<(), OpenapiError> {
    match stale()?.into_iter().next() {
        Some((path, _)) => Err(OpenapiError::Stale(path)),
        None => Ok(()),
    }
}

/// The files that differ from the code. One that is written again although it is the same would be compiled again.
fn stale() -> Result<Vec<(PathBuf, String)>, OpenapiError> {
    let mut found = Vec::new();
    for (path, text) in files()? {
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            found.push((path, text));
        }
    }
    Ok(found)
}

/// What is generated, and where it is kept.
fn files() -> Result<[(PathBuf, String); 4], OpenapiError> {
    let text = document()?;
    let operations = operations::table(&serde_json::from_str(&text)?);
    let [english, spanish] = events::guides()?;
    Ok([(path(), text), (operations::path(), operations), english, spanish])
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
        certification::Contract::openapi(),
        company::Contract::openapi(),
        documents::Contract::openapi(),
        audit_export::Contract::openapi(),
        inbox::Contract::openapi(),
        approvals::Contract::openapi(),
        webhooks::Contract::openapi(),
        status::Contract::openapi(),
        pages::Contract::openapi(),
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
        "api_key": { "type": "apiKey", "in": "header", "name": "X-API-Key", "description": general::API_KEY },
    });
    shapes::mend(&mut document);
    forms::add(&mut document);
    payloads::add(&mut document);
    links::add(&mut document);
    examples::add(&mut document)?;
    events::add(&mut document);
    general::add_answers(&mut document);
    answers::add(&mut document)?;
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
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/public-v1.json"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ecf::ReceiptType;

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

    /// Values have one type, parts have names, files are bytes, and alternatives may overlap unless a member chooses between
    /// them: generators take nothing else.
    #[test]
    fn generators_of_clients_have_nothing_to_stumble_over() {
        let document: Value = serde_json::from_str(&document().expect("the parts are JSON")).expect("as written");
        let mut problems = Vec::new();
        stumbles(&document, &document, "", &mut problems);
        for tag in document["tags"].as_array().expect("tags") {
            let name = tag["name"].as_str().expect("a name");
            if !name.is_ascii() {
                problems.push(format!("tag {name}"));
            }
        }
        assert_eq!(problems, [] as [String; 0]);
    }

    fn stumbles(document: &Value, value: &Value, place: &str, problems: &mut Vec<String>) {
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
            .is_some_and(|alternatives| !alternatives.contains(&null) && !is_chosen_by_a_member(document, value))
        {
            told("alternatives that exclude each other");
        }
        let kinds = value["type"].as_array().into_iter().flatten();
        // A bound of a range is a number or a whole e-NCF.
        if kinds.filter(|kind| *kind != "null").count() > 1 && !place.contains("/OpenSequence/") {
            told("a value of two types");
        }
        let is_component = place
            .strip_prefix("/components/schemas/")
            .is_some_and(|name| !name.trim_end_matches("/allOf").contains('/'));
        if value["properties"].is_object() && value["type"] == "object" && !is_component {
            told("a part without a name");
        }
        if value["type"] == "array" && value["items"]["format"] == "int32" {
            told("a file as a list of numbers");
        }
        match value {
            Value::Object(members) => members
                .iter()
                .for_each(|(name, member)| stumbles(document, member, &format!("{place}/{name}"), problems)),
            Value::Array(values) => values
                .iter()
                .for_each(|member| stumbles(document, member, place, problems)),
            _ => {}
        }
    }

    /// Whether a required member has a value of its own in each alternative, and the discriminator says which.
    fn is_chosen_by_a_member(document: &Value, schema: &Value) -> bool {
        let discriminator = &schema["discriminator"];
        let name = &discriminator["propertyName"];
        let Some((member, mapping)) = name.as_str().zip(discriminator["mapping"].as_object()) else {
            return false;
        };
        let chosen: Vec<_> = mapping.values().map(|place| json!({ "$ref": place })).collect();
        mapping.iter().all(|(value, place)| {
            let pointer = place.as_str().and_then(|place| place.strip_prefix('#'));
            let alternative = pointer.and_then(|pointer| document.pointer(pointer));
            alternative.is_some_and(|alternative| {
                let required = alternative["required"].as_array().expect("required members");
                required.contains(name) && alternative["properties"][member]["enum"] == json!([value])
            })
        }) && schema["oneOf"] == json!(chosen)
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
        let issue = &schemas["IssueRequest31"]["properties"];
        assert_eq!(issue["environment"]["enum"], environments);
        assert_eq!(issue["external_id"]["type"], "string");
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
        let examples = examples.as_object().expect("examples");
        for ecf_type in ReceiptType::ALL {
            assert!(
                examples.contains_key(ecf_type.as_str()),
                "type {ecf_type} has no example"
            );
            let validator = validator(&document, &format!("IssueRequest{ecf_type}"));
            for (name, example) in examples.iter().filter(|(name, _)| name.starts_with(ecf_type.as_str())) {
                let request = &example["value"];
                let problems: Vec<_> = validator.iter_errors(request).map(|error| error.to_string()).collect();
                assert_eq!(problems, [] as [String; 0], "{name}");
            }
        }
        assert!(
            examples.len() >= ReceiptType::ALL.len() + 25,
            "{} examples",
            examples.len()
        );
    }

    /// A run awaits uploads only before approvals, and the story generates no workbook of approvals.
    const UNREACHED: [&str; 1] = ["confirm_certification_uploads"];

    #[test]
    fn p13_each_answer_has_a_recorded_example_that_its_schema_allows() {
        let document: Value = serde_json::from_str(&document().expect("the parts are JSON")).expect("as written");
        let mut problems = Vec::new();
        for (path, methods) in document["paths"].as_object().expect("paths") {
            for operation in methods.as_object().expect("methods").values() {
                let name = operation["operationId"].as_str().expect("a name");
                // The answer of a replay is that of the first request.
                let mut successes = Vec::new();
                for (status, response) in operation["responses"].as_object().expect("responses") {
                    let content = &response["content"]["application/json"];
                    let examples = content["examples"].as_object();
                    if status.starts_with('2') && path.starts_with("/api/v1/") && content.is_object() {
                        successes.push(examples.is_some());
                    }
                    let schema = json!({ "allOf": [content["schema"]], "components": document["components"] });
                    for (name, example) in examples.into_iter().flatten() {
                        let validator = jsonschema::validator_for(&schema).expect("a schema");
                        let errors = validator.iter_errors(&example["value"]);
                        problems.extend(errors.map(|error| format!("{name}: {} {error}", error.instance_path())));
                    }
                }
                if !successes.is_empty() && !successes.contains(&true) && !UNREACHED.contains(&name) {
                    problems.push(format!("{name} has no example"));
                }
            }
        }
        let how = "record the answers by the story each_answer_is_as_it_was with INSTA_UPDATE=force";
        assert_eq!(problems, [] as [String; 0], "{how}");
    }

    fn validator(document: &Value, schema: &str) -> jsonschema::Validator {
        let place = format!("#/components/schemas/{schema}");
        let schema = json!({ "$ref": place, "components": document["components"] });
        jsonschema::validator_for(&schema).expect("a schema")
    }

    #[test]
    fn b9_the_type_of_a_request_decides_its_payload() {
        let document: Value = serde_json::from_str(&document().expect("the parts are JSON")).expect("as written");
        let schema = &document["components"]["schemas"]["IssueRequest"];
        assert!(is_chosen_by_a_member(&document, schema), "{schema}");
        assert_eq!(schema["oneOf"].as_array().map(Vec::len), Some(ReceiptType::ALL.len()));
        let examples =
            &document["paths"]["/api/v1/ecf"]["post"]["requestBody"]["content"]["application/json"]["examples"];
        let validator = validator(&document, "IssueRequest");
        for ecf_type in ReceiptType::ALL {
            let mut request = examples[ecf_type.as_str()]["value"].clone();
            assert!(validator.is_valid(&request), "type {ecf_type}");
            // A credit note has members that an invoice may not carry, and the other way round.
            request["ecf_type"] = json!(if ecf_type == ReceiptType::E34 { "31" } else { "34" });
            assert!(!validator.is_valid(&request), "type {ecf_type} under another name");
        }
    }

    #[test]
    fn b9_the_blocks_of_a_payload_are_named_components() {
        let document: Value = serde_json::from_str(&document().expect("the parts are JSON")).expect("as written");
        let schemas = document["components"]["schemas"].as_object().expect("schemas");
        // The same in every type that has it, and different from type to type.
        assert!(schemas.contains_key("FormaDePago") && !schemas.contains_key("FormaDePago31"));
        assert!(schemas.contains_key("Totales31") && schemas.contains_key("Totales47"));
        let lines = &schemas["DetallesItems31"]["properties"]["Item"]["items"];
        assert_eq!(lines["$ref"], "#/components/schemas/Item31");
        // Both are elements named `ImpuestoAdicional`.
        assert!(schemas.contains_key("ImpuestoAdicionalItem") && schemas.contains_key("ImpuestoAdicional31"));
        assert!(!schemas.values().any(|schema| schema.get("title").is_some()));
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
