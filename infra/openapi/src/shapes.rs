//! Schemas that the declarations cannot say as generators of clients need them.

use serde_json::{Value, json};

/// Mends them.
pub(super) fn mend(document: &mut Value) {
    lists(document);
    alternatives(document);
    for operation in super::operations(document) {
        let body = operation.get_mut("requestBody");
        body.into_iter().for_each(files);
        let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
        responses.into_iter().flat_map(|all| all.values_mut()).for_each(files);
    }
}

/// The items of a list are the schema of that name, not a copy of it.
fn lists(document: &mut Value) {
    let schemas = document["components"]["schemas"].as_object_mut().into_iter().flatten();
    for (name, schema) in schemas {
        if let Some(item) = name.strip_prefix("ListView_") {
            schema["properties"]["items"]["items"] = json!({ "$ref": format!("#/components/schemas/{item}") });
        }
    }
}

/// What fits one alternative may fit the other too: a notice with everything is also one that only has its id.
fn alternatives(document: &mut Value) {
    let schemas = document["components"]["schemas"].as_object_mut().into_iter().flatten();
    for (_, schema) in schemas {
        if let Some(alternatives) = schema.as_object_mut().and_then(|schema| schema.remove("oneOf")) {
            schema["anyOf"] = alternatives;
        }
    }
}

/// What is neither JSON, nor text, nor a form is bytes.
fn files(side: &mut Value) {
    let content = side.get_mut("content").and_then(Value::as_object_mut);
    for (media_type, body) in content.into_iter().flatten() {
        if media_type != "application/json" && !media_type.starts_with("text/") && !media_type.starts_with("multipart/")
        {
            body["schema"] = json!({ "type": "string", "format": "binary" });
        }
    }
}
