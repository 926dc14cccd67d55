//! The tasks of the command line. Each serializes to one command of the function `operator`; what a line adds for people
//! (an RNC, an e-NCF) is resolved by [`super::resolving`] before the command is sent.

use clap::Subcommand;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::members::{
    AnyCompany, Company, Days, Decision, ENVIRONMENTS, NoticeDetails, OneReceipt, Parts, RegisterFile, Somewhere,
    Sought, There, audience, json_value,
};

const CATEGORIES: [&str; 4] = ["dgii_incident", "emite_incident", "announcement", "action_required"];
const SEVERITIES: [&str; 3] = ["info", "warning", "critical"];

/// A command of the operator.
#[derive(Debug, Subcommand, Serialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Task {
    /// List companies, all or those with an RNC
    #[serde(rename = "list_companies")]
    Companies {
        /// RNC of the companies
        #[arg(long)]
        rnc: Option<String>,
        #[command(flatten)]
        #[serde(flatten)]
        parts: Parts,
    },
    /// Say why a company cannot issue: state, certificate, keys, ranges, receipts, webhooks, the authority
    #[serde(rename = "examine_company")]
    Examine {
        #[command(flatten)]
        #[serde(flatten)]
        there: Somewhere,
    },
    /// Find a receipt and its company, by number or id, in every environment
    #[serde(rename = "find_receipts")]
    Receipts {
        #[command(flatten)]
        #[serde(flatten)]
        sought: Sought,
        #[command(flatten)]
        #[serde(flatten)]
        company: AnyCompany,
        #[command(flatten)]
        #[serde(flatten)]
        parts: Parts,
    },
    /// List ranges, what is left and until when
    #[serde(rename = "list_ranges")]
    Ranges {
        #[command(flatten)]
        #[serde(flatten)]
        company: AnyCompany,
        /// Environment; all by default
        #[arg(long, value_parser = ENVIRONMENTS)]
        environment: Option<String>,
        /// Only those that run low or expire, by the company's own thresholds
        #[arg(long)]
        ending: bool,
        #[command(flatten)]
        #[serde(flatten)]
        parts: Parts,
    },
    /// List certificates and when they end
    #[serde(rename = "list_certificates")]
    Certificates {
        #[command(flatten)]
        #[serde(flatten)]
        company: AnyCompany,
        /// Only those that end within this number of days, or have ended
        #[arg(long, value_name = "DAYS")]
        #[serde(rename = "expiring_days")]
        expiring: Option<u16>,
        #[command(flatten)]
        #[serde(flatten)]
        parts: Parts,
    },
    /// List webhooks
    #[serde(rename = "list_webhooks")]
    Webhooks {
        #[command(flatten)]
        #[serde(flatten)]
        company: AnyCompany,
        /// Only those that fail, are slow or were switched off by the service
        #[arg(long)]
        failing: bool,
        #[command(flatten)]
        #[serde(flatten)]
        parts: Parts,
    },
    /// Count what waits, and name the receipts that wait too long
    #[serde(rename = "find_stuck")]
    Stuck {
        #[command(flatten)]
        #[serde(flatten)]
        company: AnyCompany,
        #[command(flatten)]
        #[serde(flatten)]
        parts: Parts,
    },
    /// Show whether calls to the tax authority are held
    #[serde(rename = "show_authority")]
    Authority,
    /// Compare a company's records, numbers, documents and counters
    Check {
        #[command(flatten)]
        #[serde(flatten)]
        there: Somewhere,
        #[command(flatten)]
        #[serde(flatten)]
        days: Days,
        /// Correct counters that differ
        #[arg(long)]
        repair_counters: bool,
        #[command(flatten)]
        #[serde(flatten)]
        parts: Parts,
    },
    /// Create a company with its first API key
    CreateCompany {
        /// RNC of the company
        #[arg(long)]
        rnc: String,
        /// Name in the register of taxpayers
        #[arg(long)]
        name: String,
        /// Address for letters of the service
        #[arg(long)]
        email: String,
        /// Trade name
        #[arg(long)]
        trade_name: Option<String>,
        /// Postal address
        #[arg(long)]
        address: Option<String>,
        /// Telephone
        #[arg(long)]
        phone: Option<String>,
        /// Environment of the first key
        #[arg(long, value_parser = ENVIRONMENTS)]
        environment: String,
        /// You have verified that the company is the taxpayer
        #[arg(long)]
        verified: bool,
    },
    /// Show a company
    ShowCompany {
        #[command(flatten)]
        #[serde(flatten)]
        company: Company,
    },
    /// Let a company issue again
    ActivateCompany {
        #[command(flatten)]
        #[serde(flatten)]
        company: Company,
    },
    /// Stop a company from issuing
    DeactivateCompany {
        #[command(flatten)]
        #[serde(flatten)]
        company: Company,
    },
    /// Confirm that a company is the taxpayer; it may use every environment
    VerifyCompany {
        #[command(flatten)]
        #[serde(flatten)]
        company: Company,
    },
    /// List a company's API keys and their last use
    #[serde(rename = "list_api_keys")]
    Keys {
        #[command(flatten)]
        #[serde(flatten)]
        company: Company,
    },
    /// Say whose API key this is; the key is read from the input and does not leave this machine
    #[serde(rename = "find_api_key")]
    FindKey {
        /// SHA-256 of the key in hexadecimal digits, instead of the key
        #[arg(long, value_name = "HEX")]
        sha256: Option<String>,
    },
    /// Create an API key
    #[serde(rename = "issue_api_key")]
    IssueKey {
        #[command(flatten)]
        #[serde(flatten)]
        there: There,
        /// Rights of the key; full by default
        #[arg(long, value_parser = ["full", "issue", "read"])]
        scope: Option<String>,
        /// When it ends, such as 2027-01-01T00:00:00-04:00
        #[arg(long, value_name = "TIME")]
        expires_at: Option<String>,
    },
    /// Revoke an API key for good
    #[serde(rename = "revoke_api_key")]
    RevokeKey {
        #[command(flatten)]
        #[serde(flatten)]
        company: Company,
        /// Id of the key, from `keys`
        #[arg(long, value_name = "ID")]
        key: String,
        /// The keys that it created, too
        #[arg(long)]
        descendants: bool,
    },
    /// Set the rate limit of an API key
    #[serde(rename = "limit_api_key")]
    LimitKey {
        #[command(flatten)]
        #[serde(flatten)]
        company: Company,
        /// Id of the key, from `keys`
        #[arg(long, value_name = "ID")]
        key: String,
        /// Requests per second; the deployment's limit if left out
        #[arg(long = "rate", value_name = "N")]
        requests_per_second: Option<u32>,
    },
    /// Open a range that the tax authority granted
    CreateRange {
        #[command(flatten)]
        #[serde(flatten)]
        there: There,
        /// Type, such as 31
        #[arg(long = "type", value_name = "TYPE")]
        ecf_type: String,
        /// First number
        #[arg(long = "start", value_name = "N")]
        range_start: u64,
        /// Last number
        #[arg(long = "end", value_name = "N")]
        range_end: u64,
        /// Last day, such as 2028-12-31; not for 32 and 34
        #[arg(long, value_name = "DAY")]
        valid_until: Option<String>,
        /// Who numbers it; the first use decides if left out
        #[arg(long, value_parser = ["service", "caller"])]
        numbering: Option<String>,
    },
    /// Show a receipt's state, attempts and next step
    ShowReceipt {
        #[command(flatten)]
        #[serde(flatten)]
        receipt: OneReceipt,
    },
    /// Do a receipt's next step now
    #[serde(rename = "requeue_receipt")]
    Requeue {
        #[command(flatten)]
        #[serde(flatten)]
        receipt: OneReceipt,
    },
    /// Continue a failed receipt
    #[serde(rename = "retry_failed")]
    Retry {
        #[command(flatten)]
        #[serde(flatten)]
        receipt: OneReceipt,
    },
    /// Record what became of a receipt that gets no verdict
    #[serde(rename = "resolve_outcome")]
    Resolve {
        #[command(flatten)]
        #[serde(flatten)]
        receipt: OneReceipt,
        #[command(flatten)]
        #[serde(flatten)]
        decision: Decision,
        /// Whether the authority counts the number of a rejected receipt as used
        #[arg(long, value_name = "BOOL")]
        number_used: Option<bool>,
    },
    /// Count dead letters, or show some of one queue
    #[serde(rename = "list_dead_letters")]
    DeadLetters {
        /// Show messages of this queue
        #[arg(long)]
        queue: Option<String>,
    },
    /// Move dead letters back to their queue
    #[serde(rename = "replay_dead_letters")]
    Replay {
        /// Queue, from `dead-letters`
        #[arg(long)]
        queue: String,
        /// How many at most
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Write an archive of a company's evidence to the bucket
    #[serde(rename = "export_evidence")]
    Export {
        #[command(flatten)]
        #[serde(flatten)]
        there: Somewhere,
        /// First day or instant
        #[arg(long = "from", value_name = "TIME")]
        date_from: Option<String>,
        /// Last day or instant
        #[arg(long = "to", value_name = "TIME")]
        date_to: Option<String>,
    },
    /// Fill in what lists show of a company's older receipts
    FillInLists {
        #[command(flatten)]
        #[serde(flatten)]
        there: Somewhere,
        #[command(flatten)]
        #[serde(flatten)]
        days: Days,
        #[command(flatten)]
        #[serde(flatten)]
        parts: Parts,
    },
    /// Add the companies from before December 2026 to the list of companies; reads the whole table
    FillInCompanies {
        #[command(flatten)]
        #[serde(flatten)]
        parts: Parts,
    },
    /// Compare the keys that encrypt the secrets with the deployment's
    CheckSecrets {
        /// Move certificates to the deployment's key
        #[arg(long)]
        repair: bool,
        #[command(flatten)]
        #[serde(flatten)]
        parts: Parts,
    },
    /// Load the register of taxpayers
    LoadRegister {
        #[command(flatten)]
        source: RegisterFile,
        /// Day of the file; today by default
        #[arg(long, value_name = "DAY")]
        as_of: Option<String>,
        /// Columns of the file, as JSON
        #[arg(long, value_name = "JSON", value_parser = json_value)]
        columns: Option<Value>,
        /// Refuse a file with more unreadable lines; 5 by default
        #[arg(long, value_name = "N")]
        most_unreadable_percent: Option<u32>,
    },
    /// Show the day and the size of the register of taxpayers
    ShowRegister,
    /// Create an invitation to sign up
    CreateInvitation {
        /// How many companies may use it; 1 by default
        #[arg(long, value_name = "N")]
        uses: Option<u32>,
        /// When it ends; in 30 days by default
        #[arg(long, value_name = "TIME")]
        expires_at: Option<String>,
    },
    /// Revoke an invitation
    RevokeInvitation {
        /// Code of the invitation
        #[arg(long)]
        code: String,
    },
    /// Write a notice that nobody sees yet
    DraftNotice {
        /// Kind of notice
        #[arg(long, value_parser = CATEGORIES)]
        category: String,
        /// How urgent it is
        #[arg(long, value_parser = SEVERITIES)]
        severity: String,
        /// Title
        #[arg(long)]
        title: String,
        /// Text
        #[arg(long)]
        body: String,
        /// `all`, or JSON such as {"environments": ["ecf"]}
        #[arg(long, default_value = "all", value_parser = audience)]
        audience: Value,
        #[command(flatten)]
        #[serde(flatten)]
        details: NoticeDetails,
    },
    /// Show a notice
    ShowNotice {
        /// Id of the notice
        #[arg(long, value_name = "ID")]
        notice: String,
    },
    /// Publish a notice
    PublishNotice {
        /// Id of the notice
        #[arg(long, value_name = "ID")]
        notice: String,
    },
    /// Change a notice
    UpdateNotice {
        /// Id of the notice
        #[arg(long, value_name = "ID")]
        notice: String,
        /// Kind of notice
        #[arg(long, value_parser = CATEGORIES)]
        category: Option<String>,
        /// How urgent it is
        #[arg(long, value_parser = SEVERITIES)]
        severity: Option<String>,
        /// Title
        #[arg(long)]
        title: Option<String>,
        /// Text
        #[arg(long)]
        body: Option<String>,
        /// `all`, or JSON such as {"environments": ["ecf"]}
        #[arg(long, value_parser = audience)]
        audience: Option<Value>,
        #[command(flatten)]
        #[serde(flatten)]
        details: NoticeDetails,
        /// Members to empty
        #[arg(long, value_delimiter = ',', value_parser = ["source", "starts_at", "expires_at"])]
        clear: Vec<String>,
    },
    /// Say that what a notice reports is over
    ResolveNotice {
        /// Id of the notice
        #[arg(long, value_name = "ID")]
        notice: String,
        /// How it ended
        #[arg(long)]
        note: Option<String>,
    },
    /// Withdraw a notice
    WithdrawNotice {
        /// Id of the notice
        #[arg(long, value_name = "ID")]
        notice: String,
    },
    /// Send a command as it is
    #[command(hide = true)]
    #[serde(skip)]
    Raw {
        #[arg(allow_hyphen_values = true)]
        command: String,
    },
}

impl Task {
    /// The command of the function. Members without a value are left out.
    ///
    /// # Errors
    /// The text of a raw command is not JSON.
    pub fn command(&self) -> Result<Value, String> {
        if let Self::Raw { command } = self {
            let command = command.trim_start_matches('\u{feff}');
            return serde_json::from_str(command).map_err(|error| format!("the command is not JSON: {error}"));
        }
        let mut command = json!(self);
        let Some(members) = command.as_object_mut() else {
            return Err("the command is no object".to_owned());
        };
        members.retain(|_, value| !value.is_null() && *value != Value::Bool(false));
        match self {
            // `null` restores the deployment's limit.
            Self::LimitKey { .. } => {
                members.entry("requests_per_second").or_insert(Value::Null);
            }
            Self::Resolve { number_used, .. } => decide(members, *number_used),
            Self::LoadRegister { source, .. } => {
                let source = match (&source.object, &source.path) {
                    (Some(object), _) => json!({ "object": object }),
                    (None, path) => json!({ "path": path }),
                };
                members.insert("source".to_owned(), source);
            }
            Self::UpdateNotice { clear, .. } => {
                members.remove("clear");
                members.extend(clear.iter().map(|name| (name.clone(), Value::Null)));
            }
            _ => {}
        }
        Ok(command)
    }

    /// Whether an answer of this task names something that needs a person.
    pub fn found(&self, answer: &Value) -> bool {
        let has = |list: &str| answer[list].as_array().is_some_and(|rows| !rows.is_empty());
        match self {
            Self::Certificates { expiring, .. } => expiring.is_some() && has("certificates"),
            Self::Ranges { ending, .. } => *ending && has("ranges"),
            Self::Webhooks { failing, .. } => *failing && has("webhooks"),
            Self::Stuck { .. } => has("stuck"),
            Self::Raw { .. } => false,
            _ => answer["agrees"] == json!(false),
        }
    }
}

fn decide(members: &mut Map<String, Value>, number_used: Option<bool>) {
    members.remove("number_used");
    let track_id = members.remove("track_id").map(|id| json!({ "track_id": id }));
    let outcome = match members.remove("outcome") {
        Some(outcome) if outcome == "rejected" => Some(json!({ "rejected": { "secuencia_utilizada": number_used } })),
        other => other.or(track_id),
    };
    members.insert("outcome".to_owned(), outcome.unwrap_or_default());
}
