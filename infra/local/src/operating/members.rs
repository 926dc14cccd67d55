//! The arguments that several tasks share. Their fields are members of commands.

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

pub(super) const ENVIRONMENTS: [&str; 3] = ["TesteCF", "CerteCF", "ecf"];

/// The company.
#[derive(Debug, Args, Serialize)]
#[group(required = true, multiple = false)]
pub struct Company {
    /// RNC of the company
    #[arg(long)]
    rnc: Option<String>,
    /// Public id of the company
    #[arg(long, value_name = "ID")]
    company: Option<String>,
}

/// A company, or all.
#[derive(Debug, Args, Serialize)]
#[group(required = false, multiple = false)]
pub struct AnyCompany {
    /// RNC of the company; all companies by default
    #[arg(long)]
    rnc: Option<String>,
    /// Public id of the company
    #[arg(long, value_name = "ID")]
    company: Option<String>,
}

/// A company's environment.
#[derive(Debug, Args, Serialize)]
pub struct There {
    #[command(flatten)]
    #[serde(flatten)]
    company: Company,
    /// Environment
    #[arg(long, value_parser = ENVIRONMENTS)]
    environment: String,
}

/// A company's environment; its default environment if it is left out.
#[derive(Debug, Args, Serialize)]
pub struct Somewhere {
    #[command(flatten)]
    #[serde(flatten)]
    company: Company,
    /// Environment; the company's default if left out
    #[arg(long, value_parser = ENVIRONMENTS)]
    environment: Option<String>,
}

/// A receipt; company and environment are looked up if they are left out.
#[derive(Debug, Args, Serialize)]
pub struct OneReceipt {
    #[command(flatten)]
    #[serde(flatten)]
    company: AnyCompany,
    /// Environment, if the number exists in several
    #[arg(long, value_parser = ENVIRONMENTS)]
    environment: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    name: ReceiptName,
}

/// The receipt.
#[derive(Debug, Args, Serialize)]
#[group(required = true, multiple = false)]
pub(crate) struct ReceiptName {
    /// Number of the receipt, such as E310000000001
    #[arg(long)]
    encf: Option<String>,
    /// Public id of the receipt
    #[arg(long, value_name = "ID")]
    receipt: Option<String>,
}

/// The receipt to find.
#[derive(Debug, Args, Serialize)]
#[group(required = true, multiple = false)]
pub struct Sought {
    /// Number, such as E310000000001
    #[arg(long)]
    encf: Option<String>,
    /// Track id of the tax authority
    #[arg(long, value_name = "ID")]
    track_id: Option<String>,
    /// The caller's `external_id`
    #[arg(long, value_name = "ID")]
    external_id: Option<String>,
    /// Public id
    #[arg(long, value_name = "ID")]
    receipt: Option<String>,
}

/// Where to continue, and in parts of which size.
#[derive(Debug, Args, Serialize)]
pub struct Parts {
    /// Continue there: `next` of an answer, as JSON
    #[arg(long, value_name = "JSON", value_parser = json_value)]
    at: Option<Value>,
    /// Size of the parts that are asked for one after the other
    #[arg(long = "part", value_name = "N")]
    limit: Option<u32>,
}

/// Days of a check, both included.
#[derive(Debug, Args, Serialize)]
pub struct Days {
    /// First day, such as 2026-11-01
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// Last day
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
}

/// The decision about a receipt without a verdict.
#[derive(Debug, Args, Serialize)]
#[group(required = true, multiple = false)]
pub struct Decision {
    /// What became of the receipt
    #[arg(long, value_parser = ["not_arrived", "accepted", "conditionally_accepted", "rejected"])]
    outcome: Option<String>,
    /// The authority has it under this track id
    #[arg(long, value_name = "ID")]
    track_id: Option<String>,
}

/// What a notice says.
#[derive(Debug, Args, Serialize)]
pub struct NoticeDetails {
    /// Source, such as DGII
    #[arg(long)]
    source: Option<String>,
    /// Environments that it is about
    #[arg(long = "about", value_name = "ENVIRONMENT", value_delimiter = ',', value_parser = ENVIRONMENTS)]
    environments: Option<Vec<String>>,
    /// When it begins, such as 2026-12-01T08:00:00-04:00
    #[arg(long, value_name = "TIME")]
    starts_at: Option<String>,
    /// When it ends
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
}

/// The file of the register.
#[derive(Debug, Args, Serialize)]
#[group(required = true, multiple = false)]
pub struct RegisterFile {
    /// Object under register/incoming/ in the bucket
    #[arg(long)]
    pub(super) object: Option<String>,
    /// File of this machine, for the local system
    #[arg(long)]
    pub(super) path: Option<String>,
}

pub(super) fn json_value(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))
}

pub(super) fn audience(text: &str) -> Result<Value, String> {
    match text {
        "all" => Ok(json!("all")),
        other => json_value(other),
    }
}
