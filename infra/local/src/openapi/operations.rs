//! What each operation declares, in the form that `ecf_api::finish` judges requests by.

use std::path::PathBuf;

use serde_json::{Map, Value};

/// One line for each operation under `/api/v1/`: method, path, the names of its query parameters, and whether it takes a body.
pub(super) fn table(document: &Value) -> String {
    let mut lines = String::new();
    for (path, methods) in members(&document["paths"]).filter(|(path, _)| path.starts_with("/api/v1/")) {
        for (method, operation) in members(methods) {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let query = parameters.filter(|parameter| parameter["in"] == "query");
            let names: Vec<&str> = query.filter_map(|parameter| parameter["name"].as_str()).collect();
            lines.push_str(&format!("{} {path}", method.to_uppercase()));
            if !names.is_empty() {
                lines.push_str(&format!("?{}", names.join("&")));
            }
            if !operation["requestBody"].is_null() {
                lines.push_str(" body");
            }
            lines.push('\n');
        }
    }
    lines
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

/// Where the table is kept: beside the layer that reads it.
pub(super) fn path() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../lib/api/src/layers/operations.txt"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a1_requests_are_judged_by_what_the_handlers_declare() {
        let declared = table(&serde_json::from_str(&super::super::document().expect("JSON")).expect("JSON"));
        let kept = std::fs::read_to_string(path()).expect("the table");
        assert_eq!(kept, declared, "run `cargo run -- openapi`");
        assert!(declared.contains("POST /api/v1/ecf?mode&on_conditional&validate_only&amounts body\n"));
        assert!(declared.contains("POST /api/v1/ecf/{public_id}/cancel\n"));
    }
}
