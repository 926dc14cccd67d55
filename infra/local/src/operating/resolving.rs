//! Replaces what people know (an RNC, an e-NCF) with what a command takes (ids).

use serde_json::{Value, json};

use super::caller::Caller;
use super::run::{Failure, all_parts};

/// Commands whose member `rnc` is their own.
const TAKE_AN_RNC: [&str; 2] = ["list_companies", "create_company"];
/// Commands that take a receipt's company, environment and id.
const TAKE_A_RECEIPT: [&str; 4] = ["show_receipt", "requeue_receipt", "retry_failed", "resolve_outcome"];

/// Commands that only read. The others do not choose among companies or receipts.
const READ: [&str; 10] = [
    "show_company",
    "list_api_keys",
    "list_ranges",
    "list_certificates",
    "list_webhooks",
    "find_receipts",
    "find_stuck",
    "examine_company",
    "show_receipt",
    "check",
];

/// Commands about one environment of a company, which need not be said.
const TAKE_AN_ENVIRONMENT: [&str; 3] = ["check", "export_evidence", "fill_in_lists"];

/// The command with ids. Remarks about a choice go to the error output.
pub(super) async fn resolve(caller: &Caller, command: &mut Value) -> Result<(), Failure> {
    let name = command["command"].as_str().unwrap_or_default().to_owned();
    if !TAKE_AN_RNC.contains(&&*name)
        && let Some(rnc) = take(command, "rnc")
    {
        if name == "verify_company" {
            let hint = "an RNC may be anybody's until it is verified: find the company with `companies --rnc`, and name it with --company";
            return Err(refused(
                "company_needed",
                "verify-company takes no RNC".to_owned(),
                hint,
            ));
        }
        command["company"] = company(caller, &rnc, READ.contains(&&*name)).await?;
    }
    if TAKE_A_RECEIPT.contains(&&*name) {
        let is_named = command["company"].is_string() || command["receipt"].is_string();
        if !READ.contains(&&*name) && !is_named {
            let message = "an e-NCF may exist at several companies".to_owned();
            return Err(refused(
                "company_needed",
                message,
                "name the company too, with --rnc or --company",
            ));
        }
        receipt(caller, command).await?;
    }
    if TAKE_AN_ENVIRONMENT.contains(&&*name) && command["environment"].is_null() {
        let shown = all_parts(
            caller,
            json!({ "command": "show_company", "company": command["company"] }),
        )
        .await?;
        let environment = shown["company"]["default_environment"].clone();
        super::say(&format!("in {}, the company's default environment", text(&environment)));
        command["environment"] = environment;
    }
    Ok(())
}

/// The company with an RNC. Of several, a command that reads takes the verified one.
async fn company(caller: &Caller, rnc: &Value, reads: bool) -> Result<Value, Failure> {
    let found = all_parts(caller, json!({ "command": "list_companies", "rnc": rnc })).await?;
    let found = found["companies"].as_array().cloned().unwrap_or_default();
    let verified = found.iter().find(|company| company["verified"] == json!(true));
    match (found.as_slice(), verified) {
        ([], _) => Err(refused(
            "not_found",
            format!("no company has the RNC {}", text(rnc)),
            "`companies` lists all; `fill-in-companies` adds those from before December 2026",
        )),
        ([only], _) => Ok(only["public_id"].clone()),
        (several, Some(verified)) if reads => {
            let (count, id) = (several.len(), &verified["public_id"]);
            super::say(&format!(
                "{count} companies have this RNC; {}, the verified one, is taken (--company names another)",
                text(id)
            ));
            Ok(id.clone())
        }
        (several, _) => {
            let ids: Vec<String> = several.iter().map(|company| text(&company["public_id"])).collect();
            Err(refused(
                "several_companies",
                format!("{} companies have the RNC {}: {}", ids.len(), text(rnc), ids.join(", ")),
                "name one with --company",
            ))
        }
    }
}

/// Looks up company, environment and id of the receipt, unless all three are there.
async fn receipt(caller: &Caller, command: &mut Value) -> Result<(), Failure> {
    let is_complete = ["company", "environment", "receipt"]
        .iter()
        .all(|name| command[name].is_string());
    if is_complete {
        return Ok(());
    }
    let mut search = json!({ "command": "find_receipts" });
    for name in ["encf", "receipt", "company"] {
        if let Some(value) = take(command, name) {
            search[name] = value;
        }
    }
    let environment = take(command, "environment");
    let found = all_parts(caller, search).await?;
    let mut found = found["receipts"].as_array().cloned().unwrap_or_default();
    found.retain(|row| environment.as_ref().is_none_or(|wanted| row["environment"] == *wanted));
    match found.as_slice() {
        [] => Err(refused(
            "not_found",
            "there is no such receipt".to_owned(),
            "`receipts` searches by other names too",
        )),
        [only] => {
            command["company"] = only["company"].clone();
            command["environment"] = only["environment"].clone();
            command["receipt"] = only["public_id"].clone();
            Ok(())
        }
        several => {
            let places = several.iter().map(|row| {
                format!(
                    "{} of RNC {} in {}",
                    text(&row["public_id"]),
                    text(&row["rnc"]),
                    text(&row["environment"])
                )
            });
            let message = format!("{} receipts: {}", several.len(), places.collect::<Vec<_>>().join(", "));
            Err(refused(
                "several_receipts",
                message,
                "name the company and the environment",
            ))
        }
    }
}

fn take(command: &mut Value, name: &str) -> Option<Value> {
    command.as_object_mut()?.remove(name)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn refused(code: &str, message: String, hint: &str) -> Failure {
    Failure::Refused(json!({ "error": { "code": code, "message": format!("{message}; {hint}") } }))
}
