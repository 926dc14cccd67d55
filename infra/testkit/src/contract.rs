//! Validates responses and events against the published contract. An undocumented response or field fails the test.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use http::{HeaderMap, Method, StatusCode, header};
use jsonschema::Validator;
use serde_json::{Map, Value, json};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../infra/openapi/public-v1.json");

static CONTRACT: LazyLock<Contract> = LazyLock::new(Contract::read);

struct Contract {
    document: Value,
    /// By the schema's text.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// Checks a response of the API. Paths and methods outside the contract are skipped; another test covers them.
///
/// # Errors
///
/// When the contract does not document this response.
pub fn check_answer(
    method: &Method,
    path: &str,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(), String> {
    CONTRACT
        .check(method, path, status, headers, body)
        .map_err(|problem| format!("the contract has no such answer to {method} {path}: {problem}"))
}

/// Checks a webhook event by its name.
///
/// # Errors
///
/// When the contract does not document this event.
pub fn check_event(name: &str, body: &[u8]) -> Result<(), String> {
    let schema = &CONTRACT.document["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]["schema"];
    if schema.is_null() {
        return Err(format!("the contract has no event {name}"));
    }
    CONTRACT
        .fits(schema, body)
        .map_err(|problem| format!("the contract has no such event {name}: {problem}"))
}

impl Contract {
    fn read() -> Self {
        let text = std::fs::read_to_string(DOCUMENT).expect("the contract is in the repository");
        let mut document: Value = serde_json::from_str(&text).expect("the contract is JSON");
        let mut parts = HashSet::new();
        collect_parts(&document, &mut parts);
        for (name, schema) in document["components"]["schemas"].as_object_mut().expect("schemas") {
            close(schema, parts.contains(name));
        }
        Self {
            document,
            validators: Mutex::default(),
        }
    }

    fn check(
        &self,
        method: &Method,
        path: &str,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<(), String> {
        let asked = if method == Method::HEAD {
            Method::GET
        } else {
            method.clone()
        };
        let Some(operation) = self.operation(&asked, path) else {
            return Ok(());
        };
        let code = status.as_str();
        let responses = &operation["responses"];
        let name = if responses[code].is_object() { code } else { "default" };
        let response = match &responses[name]["$ref"] {
            Value::String(place) => self
                .document
                .pointer(place.trim_start_matches('#'))
                .unwrap_or(&Value::Null),
            _ => &responses[name],
        };
        if !response.is_object() {
            return Err(format!("status {code}"));
        }
        let content = response["content"].as_object().filter(|content| !content.is_empty());
        let Some(content) = content else {
            return if body.is_empty() {
                Ok(())
            } else {
                Err(format!("status {code} has no body: {}", String::from_utf8_lossy(body)))
            };
        };
        if method == Method::HEAD {
            return Ok(());
        }
        let given = headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let media_type = given.split(';').next().unwrap_or_default().trim();
        if !content.contains_key(media_type) {
            return Err(format!("status {code} as {given:?}"));
        }
        if media_type != "application/json" {
            return Ok(());
        }
        self.fits(&content[media_type]["schema"], body)
            .map_err(|problem| format!("status {code}: {problem}"))
    }

    fn fits(&self, schema: &Value, json: &[u8]) -> Result<(), String> {
        let value: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let validator = self.validator(schema);
        let problems: Vec<_> = validator
            .iter_errors(&value)
            .map(|error| format!("{} {error}", error.instance_path()))
            .collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems.join("; "))
        }
    }

    /// The operation of a path, in any of the path's spellings.
    fn operation(&self, method: &Method, path: &str) -> Option<&Value> {
        let path = path.split('?').next().unwrap_or_default();
        let path = path
            .replace("/api/v1/eCF", "/api/v1/ecf")
            .replace("/api/v1/dgii", "/api/v1/taxauth");
        let paths = self.document["paths"].as_object()?;
        let fits = |template: &str| {
            let (template, path) = (template.split('/'), path.split('/'));
            template.clone().count() == path.clone().count()
                && template
                    .zip(path)
                    .all(|(one, other)| one == other || one.starts_with('{'))
        };
        let item = match paths.get(&path) {
            Some(item) => item,
            None => paths.iter().find(|(template, _)| fits(template))?.1,
        };
        item.get(method.as_str().to_lowercase())
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let made = validators.entry(schema.to_string()).or_insert_with(|| {
            let mut schema = schema.clone();
            close(&mut schema, false);
            let root = json!({ "allOf": [schema], "components": self.document["components"] });
            Arc::new(jsonschema::validator_for(&root).expect("the contract's schemas are sound"))
        });
        Arc::clone(made)
    }
}

/// Collects the components that an `allOf` extends: they must accept additional members there.
fn collect_parts(value: &Value, parts: &mut HashSet<String>) {
    match value {
        Value::Object(members) => {
            let added = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
            let named = added.filter_map(|part| part["$ref"].as_str()?.rsplit('/').next());
            parts.extend(named.map(str::to_owned));
            members.values().for_each(|member| collect_parts(member, parts));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_parts(value, parts)),
        _ => {}
    }
}

/// Forbids additional members in every object of a schema. A part of `allOf` stays open; the combined schema is closed.
fn close(schema: &mut Value, is_part: bool) {
    match schema {
        Value::Object(members) => close_object(members, is_part),
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| close(schema, is_part)),
        _ => {}
    }
}

fn close_object(schema: &mut Map<String, Value>, is_part: bool) {
    for (name, member) in schema.iter_mut() {
        match name.as_str() {
            "allOf" => close(member, true),
            "anyOf" | "oneOf" => close(member, is_part),
            "properties" | "patternProperties" => {
                for property in member.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
                    close(property, false);
                }
            }
            "items" | "additionalProperties" | "prefixItems" => close(member, false),
            _ => {}
        }
    }
    let is_open = ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|name| schema.contains_key(*name));
    let names = ["$ref", "allOf", "properties"]
        .iter()
        .any(|name| schema.contains_key(*name));
    if names && !is_part && !is_open {
        schema.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
    }
}
