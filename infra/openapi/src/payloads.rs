//! What is issued, as generators of clients need it: one request for each receipt type, chosen by `ecf_type`, and the blocks of
//! its payload as named components.

use std::collections::BTreeMap;
use std::mem;

use ecf::ReceiptType;
use serde_json::{Map, Value, json};

const SCHEMAS: &str = "#/components/schemas/";

/// Splits `IssueRequest` by receipt type and adds the payloads.
pub(super) fn add(document: &mut Value) {
    let payloads = ReceiptType::ALL.map(|ecf_type| (ecf_type, ecf::json_schema(ecf_type)));
    let mut kinds = BTreeMap::new();
    for (_, payload) in &payloads {
        collect(payload, &mut kinds);
    }
    // A block that is the same in every type needs no type in its name.
    let shared = |kind: &str| kinds[kind].len() == 1;
    let Some(schemas) = document["components"]["schemas"].as_object_mut() else {
        return;
    };
    for (ecf_type, payload) in &payloads {
        let mut payload = payload.clone();
        name_blocks(&mut payload, *ecf_type, &shared, schemas);
        schemas.insert(format!("Payload{ecf_type}"), payload);
    }
    let request = schemas["IssueRequest"].take();
    let mut mapping = Map::new();
    for ecf_type in ReceiptType::ALL {
        let name = format!("IssueRequest{ecf_type}");
        mapping.insert(ecf_type.to_string(), json!(format!("{SCHEMAS}{name}")));
        schemas.insert(name, request_of(ecf_type, request.clone()));
    }
    schemas["IssueRequest"] = json!({
        "description": request["description"],
        "oneOf": mapping.values().map(|place| json!({ "$ref": place })).collect::<Value>(),
        "discriminator": { "propertyName": "ecf_type", "mapping": mapping },
    });
}

/// The request with the one type and its payload. Members that may be left out are never null on paper: a client leaves them out.
fn request_of(ecf_type: ReceiptType, mut request: Value) -> Value {
    request["description"] = json!(format!("A receipt of type {ecf_type}: {}.", ecf_type.title()));
    for (name, property) in super::forms::properties(&mut request) {
        match name.as_str() {
            "ecf_type" => {
                property["enum"] = json!([ecf_type.as_str()]);
                property["example"] = json!(ecf_type.as_str());
            }
            "payload" => {
                let description = property["description"].take();
                *property = json!({ "$ref": format!("{SCHEMAS}Payload{ecf_type}"), "description": description });
            }
            _ => super::forms::never_null(property),
        }
    }
    request
}

/// The forms of each kind of block, by the title of the kind.
fn collect(schema: &Value, kinds: &mut BTreeMap<String, Vec<Value>>) {
    if let Some(kind) = schema["title"].as_str() {
        let mut form = schema.clone();
        form["description"].take();
        let forms = kinds.entry(kind.to_owned()).or_default();
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    for inner in schema["properties"].as_object().into_iter().flat_map(Map::values) {
        collect(inner, kinds);
    }
    if let Some(items) = schema.get("items") {
        collect(items, kinds);
    }
}

/// Moves each block into the components and leaves a reference, which keeps the description of the place.
fn name_blocks(
    schema: &mut Value,
    ecf_type: ReceiptType,
    shared: &impl Fn(&str) -> bool,
    into: &mut Map<String, Value>,
) {
    for (_, inner) in super::forms::properties(schema) {
        name_blocks(inner, ecf_type, shared, into);
    }
    if let Some(items) = schema.get_mut("items") {
        name_blocks(items, ecf_type, shared, into);
    }
    let Some(Value::String(kind)) = schema.as_object_mut().and_then(|block| block.remove("title")) else {
        return;
    };
    let name = if shared(&kind) {
        kind
    } else {
        format!("{kind}{ecf_type}")
    };
    let description = schema.as_object_mut().and_then(|block| block.remove("description"));
    let mut place = json!({ "$ref": format!("{SCHEMAS}{name}") });
    if let Some(description) = description {
        place["description"] = description;
    }
    into.insert(name, mem::replace(schema, place));
}
