//! Receipts that are not final, of all companies or one, from the due index: what waits where, and what waits too long.
//!
//! Each command reads a bounded part of the index; `next` in the answer is `at` of the next command. A receipt that
//! should be on the index and is not is found by the consistency check (`not_due`).

use std::collections::BTreeMap;

use ecf_store::{
    CompanyId, Receipt, ReceiptId, Scope,
    due::{DueEntry, DuePlace, DueRecord},
    receipts::Awaited,
};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::walk::{Bounds, within};
use crate::{App, OperatorError};

/// Entries of the index; a receipt is half a read unit.
const ENTRIES: Bounds = Bounds {
    usual: 500,
    most: 2_000,
};
/// Housekeeping looks every minute, so a step that is overdue for longer was not reached.
const OVERDUE: SignedDuration = SignedDuration::from_mins(10);

/// The part of the index to read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindStuck {
    /// Only records of this company.
    company: Option<CompanyId>,
    /// Where the part begins: `next` of the last answer.
    at: Option<DuePlace>,
    limit: Option<usize>,
}

pub(crate) async fn find(app: &App, command: FindStuck) -> Result<Value, OperatorError> {
    let now = app.clock.now();
    let part = app.table.walk_due(command.at, within(command.limit, ENTRIES)?).await?;
    let mut ids: Vec<(Scope, ReceiptId)> = Vec::new();
    let mut other: BTreeMap<&str, u64> = BTreeMap::new();
    let mut overdue = 0_u64;
    let is_sought = |entry: &&DueEntry| command.company.is_none_or(|company| entry.scope.company == company);
    for entry in part.entries.iter().filter(is_sought) {
        overdue += u64::from(now.duration_since(entry.at) > OVERDUE);
        match entry.record {
            DueRecord::Receipt(id) => ids.push((entry.scope, id)),
            other_record => *other.entry(kind(other_record)).or_default() += 1,
        }
    }
    if part.unreadable > 0 {
        other.insert("unreadable", part.unreadable as u64);
    }
    let receipts = app.table.receipts_of_all(&ids).await?;
    let mut waiting: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    let mut stuck = Vec::new();
    for receipt in &receipts {
        let environment = waiting.entry(receipt.scope.environment.as_str()).or_default();
        // A final receipt is on the index while its events are not published.
        let state = receipt.waits_for().map_or("events", |_| receipt.state.as_str());
        *environment.entry(state).or_default() += 1;
        stuck.extend(row(app, receipt, now));
    }
    Ok(json!({
        "entries": part.entries.len() + part.unreadable, "waiting": waiting, "other": other, "overdue": overdue, "stuck": stuck,
        "next": part.next,
    }))
}

/// A receipt that passed an alarm hour.
fn row(app: &App, receipt: &Receipt, now: Timestamp) -> Option<Value> {
    let alarm = app.alarm_times.reached(receipt, now)?;
    let (_, since) = receipt.waits_for()?;
    Some(json!({
        "company": receipt.scope.company, "rnc": receipt.fiscal.company_rnc, "environment": receipt.scope.environment,
        "public_id": receipt.public_id, "encf": receipt.encf(), "status": receipt.state,
        "awaits": match alarm.awaited {
            Awaited::Delivery => "delivery",
            Awaited::Step => "step",
        },
        "since": since, "hours": now.duration_since(since).as_hours(), "send_attempt": receipt.sending.attempts,
        "error_code": receipt.error_code, "error_message": receipt.error_message,
        "next_action_at": receipt.next_action_at,
    }))
}

fn kind(record: DueRecord) -> &'static str {
    match record {
        DueRecord::Receipt(_) => "receipts",
        DueRecord::Announcement(_) => "announcements",
        DueRecord::Undelivered(..) => "webhook_events",
        DueRecord::Webhook(_) => "webhooks_with_parked_events",
        DueRecord::Approval(_) => "approvals",
        DueRecord::Annulment(_) => "annulments",
        DueRecord::Inbox(_) => "inbox",
        DueRecord::Run(_) => "certification_runs",
        DueRecord::UnclaimedP12 => "unclaimed_p12",
    }
}
