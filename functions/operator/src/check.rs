//! The consistency check: compares records, locks, ranges, documents and counters of a company's environment, and lists
//! the differences.
//!
//! It walks through the numbers of the ranges that the service numbers, then through the receipts of the days. Each
//! command checks a bounded part; `next` in the answer is `at` of the next command. A receipt in progress may appear as
//! a problem once and be gone the next time. Only counters are repaired, and only on request.

mod days;
mod notes;
mod numbers;

use ecf::{Encf, Environment, ReceiptType};
use ecf_store::{CompanyId, ReceiptId, Scope, fiscal_day};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{App, OperatorError};

/// Numbers or receipts of one part, unless the command has a limit.
const PER_PART: usize = 200;
const MOST_PER_PART: usize = 1_000;

/// The part to check.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    company: CompanyId,
    environment: Environment,
    /// The first and the last day, both included; today by default.
    from: Option<Date>,
    to: Option<Date>,
    /// Where the part begins: `next` of the last answer.
    at: Option<Place>,
    limit: Option<usize>,
    #[serde(default)]
    repair_counters: bool,
}

/// The beginning of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Place {
    /// At a number of a range.
    Number { ecf_type: ReceiptType, sequence: u64 },
    /// At a day, after the receipts that were already checked.
    Day { day: Date, after: Option<String> },
}

/// A difference between stored data.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Problem {
    problem: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ReceiptId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encf: Option<Encf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<Date>,
    detail: String,
}

impl Problem {
    fn of_receipt(problem: &'static str, receipt: ReceiptId, encf: Option<Encf>, detail: impl Into<String>) -> Self {
        Self {
            problem,
            receipt: Some(receipt),
            encf,
            day: None,
            detail: detail.into(),
        }
    }

    fn of_number(problem: &'static str, encf: Encf, receipt: Option<ReceiptId>, detail: impl Into<String>) -> Self {
        Self {
            problem,
            receipt,
            encf: Some(encf),
            day: None,
            detail: detail.into(),
        }
    }
}

/// The result of one part.
#[derive(Debug, Default, Serialize)]
struct Findings {
    numbers: usize,
    receipts: usize,
    problems: Vec<Problem>,
    /// Freed numbers that no receipt has yet.
    unused: Vec<Encf>,
    /// Numbers that were signed and never sent: they belong in an annulment.
    to_annul: Vec<Encf>,
    counters_repaired: Vec<Date>,
    /// Ranges whose count of used numbers was corrected.
    ranges_repaired: Vec<String>,
}

/// Checks one part.
pub(crate) async fn run(app: &App, check: Check) -> Result<Value, OperatorError> {
    let scope = Scope {
        company: check.company,
        environment: check.environment,
    };
    if app.table.company(&check.company).await?.is_none() {
        return Err(OperatorError::refused(
            "not_found",
            format!("there is no company {}", check.company),
        ));
    }
    let today = fiscal_day(app.clock.now());
    let (from, to) = (check.from.unwrap_or(today), check.to.unwrap_or(today));
    let limit = check.limit.unwrap_or(PER_PART);
    if from > to || !(1..=MOST_PER_PART).contains(&limit) {
        return Err(OperatorError::refused(
            "bad_part",
            format!("from {from} to {to}, limit {limit}: the limit may be 1 to {MOST_PER_PART}, from no later than to"),
        ));
    }
    let mut findings = Findings::default();
    let next = match check.at {
        Some(Place::Day { day, after }) => {
            let part = days::Part {
                day,
                after: after.as_deref(),
                limit,
                repair_counters: check.repair_counters,
            };
            match days::look(app, &scope, &part, &mut findings).await? {
                Some(after) => Some(Place::Day {
                    day,
                    after: Some(after),
                }),
                None => day
                    .tomorrow()
                    .ok()
                    .filter(|tomorrow| *tomorrow <= to)
                    .map(|day| Place::Day { day, after: None }),
            }
        }
        at => {
            let from_number = match at {
                Some(Place::Number { ecf_type, sequence }) => Some((ecf_type, sequence)),
                _ => {
                    numbers::count(app, &scope, check.repair_counters, &mut findings).await?;
                    None
                }
            };
            let next = numbers::look(app, &scope, from_number, limit, &mut findings).await?;
            // The days follow the last number.
            Some(match next {
                Some((ecf_type, sequence)) => Place::Number { ecf_type, sequence },
                None => Place::Day { day: from, after: None },
            })
        }
    };
    Ok(json!({ "found": findings, "agrees": findings.problems.is_empty(), "next": next }))
}
