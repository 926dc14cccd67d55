//! What each operation declares, in the form that `ecf_api::finish` judges requests by.

use std::path::PathBuf;

use serde_json::{Map, Value};

/// One line for each operation under `/api/v1/`: method, path, the names of its query parameters, whether it takes a body, and what it
/// needs of the API key.
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
            for need in operation["security"][0]["api_key"].as_array().into_iter().flatten() {
                lines.push_str(&format!(" {}", need.as_str().unwrap_or_default()));
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
        assert!(declared.contains("POST /api/v1/ecf?mode&on_conditional&validate_only&amounts body issue\n"));
        assert!(declared.contains("POST /api/v1/ecf/{public_id}/cancel issue\n"));
    }

    #[test]
    fn k1_each_operation_with_a_key_says_which_scope_it_needs() {
        let document: Value = serde_json::from_str(&super::super::document().expect("JSON")).expect("JSON");
        let mut company_wide = Vec::new();
        for (path, methods) in members(&document["paths"]) {
            for (method, operation) in members(methods) {
                let what = format!("{method} {path}");
                let Some(needs) = operation["security"][0]["api_key"].as_array() else {
                    assert_eq!(operation["security"], serde_json::json!([{}]), "{what}");
                    continue;
                };
                let (scope, more) = needs.split_first().unwrap_or_else(|| panic!("{what} needs no scope"));
                let scope = scope.as_str().expect("a word");
                assert!(["read", "issue", "full"].contains(&scope), "{what}: {scope}");
                if method == "get" {
                    assert_eq!(scope, "read", "{what}");
                }
                if let [more] = more {
                    assert_eq!(
                        (scope, more),
                        ("full", &serde_json::json!("highest_environment")),
                        "{what}"
                    );
                    company_wide.push(what);
                }
            }
        }
        // What one company has once for all its environments.
        let expected = [
            "post /api/v1/client/certificates",
            "patch /api/v1/client/company",
            "patch /api/v1/client/company/design",
            "delete /api/v1/client/company/design/logo",
            "put /api/v1/client/company/design/logo",
            "post /api/v1/client/tools/sign-xml",
        ];
        assert_eq!(company_wide, expected);
    }
}
