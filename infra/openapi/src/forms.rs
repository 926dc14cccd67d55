//! The form of what callers write. Bodies are closed: a member that they do not name is refused. Where a name says the form, an environment, a
//! state, a number or a taxpayer, it is the same wherever it stands: handlers declare a text, a generated client gets its type from here.

use ecf::{Environment, ReceiptState, ReceiptType};
use serde_json::{Map, Value, json};

/// Parameters that may be empty, which asks for no filter; `Fields::is_cleared` reads them.
const EMPTY: [&str; 1] = ["acked"];

/// Puts the forms into the parameters and the bodies of requests.
pub(super) fn add(document: &mut Value) {
    for operation in super::operations(document) {
        let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
        for parameter in parameters.into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap_or_default().to_owned();
            if EMPTY.contains(&name.as_str()) {
                parameter["allowEmptyValue"] = json!(true);
            }
            let schema = &mut parameter["schema"];
            never_null(schema);
            // A filter by two characters that do not name a type finds nothing.
            if name != "ecf_type" {
                set(&name, schema);
            }
        }
    }
    let bodies = bodies(document);
    let forms = forms(document);
    let schemas = document["components"]["schemas"].as_object_mut().into_iter().flatten();
    for (_, schema) in schemas.filter(|(name, _)| bodies.contains(name)) {
        for (name, property) in properties(schema) {
            set(name, property);
        }
        if schema["properties"].is_object() {
            schema["additionalProperties"] = json!(false);
        }
    }
    for form in forms {
        for (_, property) in properties(&mut document["components"]["schemas"][form]) {
            never_null(property);
        }
    }
}

pub(super) fn properties(schema: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flatten()
}

fn set(name: &str, schema: &mut Value) {
    let encf = format!(
        "(?!.{{3}}0{{10}})[Ee]({})[0-9]{{10}}",
        ReceiptType::ALL.map(|one| one.as_str()).join("|")
    );
    match name {
        "environment" | "default_environment" => words(schema, Environment::ALL.map(|one| one.as_str()).to_vec()),
        "status" => {
            let states = ReceiptState::ALL.map(|one| one.as_str()).join("|");
            schema["pattern"] = json!(format!("^({states})(,({states}))*$"));
        }
        "ecf_type" => words(schema, ReceiptType::ALL.map(|one| one.as_str()).to_vec()),
        "encf" => schema["pattern"] = json!(format!("^{encf}$")),
        "rnc" | "company_rnc" | "delegate" | "rnc_emisor" | "rnc_comprador" | "sender_rnc" | "receiver_rnc" => {
            schema["pattern"] = json!("^([0-9]{9}|[0-9]{11})$");
        }
        "range_start" | "range_end" | "sequence_from" | "sequence_to" => {
            if schema["type"] != json!(["integer", "null"]) {
                schema["pattern"] = json!(format!("^(0*[1-9][0-9]{{0,9}}|{encf})$"));
            }
        }
        _ => listed(schema),
    }
}

/// A pattern that only lists words, as handlers write it.
fn listed(schema: &mut Value) {
    let pattern = schema["pattern"].as_str().unwrap_or_default().to_owned();
    let Some(list) = pattern.strip_prefix("^(").and_then(|rest| rest.strip_suffix(")$")) else {
        return;
    };
    let is_word = |one: &str| {
        one.chars()
            .all(|each| each.is_ascii_alphanumeric() || matches!(each, '-' | '_'))
    };
    if list.split('|').all(is_word) {
        words(schema, list.split('|').collect());
    }
}

fn words(schema: &mut Value, words: Vec<&str>) {
    let mut words: Vec<Value> = words.into_iter().map(Value::from).collect();
    if schema["type"]
        .as_array()
        .is_some_and(|kinds| kinds.contains(&json!("null")))
    {
        words.push(Value::Null);
    }
    schema["enum"] = Value::Array(words);
    if let Some(schema) = schema.as_object_mut() {
        schema.retain(|name, _| !matches!(name.as_str(), "pattern" | "minLength" | "maxLength"));
    }
}

/// A parameter is there or it is not, and so is a part of a form.
pub(super) fn never_null(schema: &mut Value) {
    if let [Value::String(kind), Value::String(null)] = schema["type"].as_array().map(Vec::as_slice).unwrap_or_default()
        && null == "null"
    {
        schema["type"] = json!(kind);
        if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
            words.retain(|word| !word.is_null());
        }
    }
}

/// The names of the schemas that requests are made of. The payload of a receipt has forms of its own.
fn bodies(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for content in contents(document) {
        collect(document, content, &mut found);
    }
    found
}

/// The names of those that are sent as forms.
fn forms(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for content in contents(document) {
        collect(document, &content["multipart/form-data"], &mut found);
    }
    found
}

fn contents(document: &Value) -> impl Iterator<Item = &Value> {
    let paths = document["paths"].as_object().into_iter().flat_map(Map::values);
    let operations = paths.filter_map(Value::as_object).flat_map(Map::values);
    operations.map(|operation| &operation["requestBody"]["content"])
}

fn collect(document: &Value, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| *name != "examples") {
                let place = member.as_str().filter(|_| name == "$ref");
                match place.and_then(|place| place.strip_prefix("#/components/schemas/")) {
                    Some(schema) if !schema.starts_with("Payload") && !found.iter().any(|known| known == schema) => {
                        found.push(schema.to_owned());
                        collect(document, &document["components"]["schemas"][schema], found);
                    }
                    Some(_) => {}
                    None => collect(document, member, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(document, value, found)),
        _ => {}
    }
}
