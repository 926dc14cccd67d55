//! Checks the receipts of a day against their state: the number is locked for the receipt, the documents can be read,
//! and the receipt is on the due index while a step is left. Also checks the counters of the day.

use ecf::ReceiptState;
use ecf_store::{ArtifactKind, ContentHash, Receipt, Scope, StoreError, counters::DayCounts, receipts::ListedReceipt};
use jiff::civil::Date;

use super::{Findings, Problem, notes};
use crate::App;

/// A part of a day.
pub(super) struct Part<'a> {
    pub(super) day: Date,
    pub(super) after: Option<&'a str>,
    pub(super) limit: usize,
    pub(super) repair_counters: bool,
}

/// Checks the next receipts of a day and returns where to continue; with the first part of a day also its counters.
pub(super) async fn look(
    app: &App,
    scope: &Scope,
    part: &Part<'_>,
    findings: &mut Findings,
) -> Result<Option<String>, StoreError> {
    if part.after.is_none() {
        count(app, scope, part, findings).await?;
    }
    let page = app
        .table
        .receipts_of_day(scope, part.day, part.after, part.limit)
        .await?;
    for listed in &page.receipts {
        findings.receipts += 1;
        match app.table.receipt(scope, &listed.public_id).await {
            Ok(Some(receipt)) => look_at(app, &receipt, findings).await?,
            Ok(None) => report(
                findings,
                listed,
                "record_missing",
                "the list has it, the table does not",
            ),
            Err(error @ StoreError::Corrupt { .. }) => report(findings, listed, "record_damaged", &error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(page.next)
}

fn report(findings: &mut Findings, listed: &ListedReceipt, problem: &'static str, detail: &str) {
    findings
        .problems
        .push(Problem::of_receipt(problem, listed.public_id, None, detail));
}

async fn look_at(app: &App, receipt: &Receipt, findings: &mut Findings) -> Result<(), StoreError> {
    let mut problems = Vec::new();
    look_at_number(app, receipt, &mut problems).await?;
    look_at_documents(app, receipt, &mut problems).await?;
    notes::look_at(app, receipt, &mut problems).await?;
    look_at_due(receipt, &mut problems);
    look_at_age(app, receipt, &mut problems);
    let withdrawn = matches!(receipt.state, ReceiptState::Cancelled | ReceiptState::Incapacity);
    findings.to_annul.extend(receipt.encf().filter(|_| withdrawn));
    let encf = receipt.encf().copied();
    findings.problems.extend(
        problems
            .into_iter()
            .map(|(problem, detail)| Problem::of_receipt(problem, receipt.public_id, encf, detail)),
    );
    Ok(())
}

/// Problems of one receipt: code and explanation.
pub(super) type Found = Vec<(&'static str, String)>;

async fn look_at_number(app: &App, receipt: &Receipt, problems: &mut Found) -> Result<(), StoreError> {
    let Some(encf) = receipt.encf() else {
        if is_past_signing(receipt.state) {
            problems.push(("number_missing", format!("it is {} and has no number", receipt.state)));
        }
        return Ok(());
    };
    let owner = app.table.lock_owner(&receipt.scope, encf).await?;
    // A number freed by a rejection may have gone to another receipt or back to its range. A number of an abandoned
    // attempt of the certification may have gone to a receipt of the new attempt.
    let was_given_back = receipt.state == ReceiptState::Rejected && receipt.secuencia_utilizada == Some(false);
    match owner {
        Some(owner) if owner == receipt.public_id => {}
        _ if was_given_back => {}
        Some(_)
            if app
                .table
                .is_of_earlier_attempt(&receipt.scope, receipt.created_at)
                .await? => {}
        Some(owner) => problems.push(("lock_of_another", format!("its number is locked for {owner}"))),
        None => problems.push(("lock_missing", "its number is not locked".to_owned())),
    }
    Ok(())
}

async fn look_at_documents(app: &App, receipt: &Receipt, problems: &mut Found) -> Result<(), StoreError> {
    let mut expected: Vec<(ArtifactKind, &ContentHash)> = Vec::new();
    match &receipt.fiscal.signed {
        Some(signed) => {
            expected.push((ArtifactKind::SignedXml, &signed.signed_xml));
            expected.extend(signed.rfce.iter().map(|rfce| (ArtifactKind::Rfce, rfce)));
        }
        None => match &receipt.payload {
            Some(payload) => expected.push((ArtifactKind::Payload, payload)),
            None if !receipt.state.is_final() => {
                problems.push((
                    "payload_missing",
                    "it is to be issued and its request was not kept".to_owned(),
                ));
            }
            None => {}
        },
    }
    for (kind, hash) in expected {
        let (scope, id) = (&receipt.scope, &receipt.public_id);
        match app.artifacts.get(scope, receipt.created_at, id, kind, hash).await {
            Ok(Some(_)) => {}
            Ok(None) => problems.push(("document_missing", format!("{} is not in the bucket", kind.as_str()))),
            Err(error @ StoreError::Corrupt { .. }) => problems.push(("document_damaged", error.to_string())),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn look_at_due(receipt: &Receipt, problems: &mut Found) {
    let has_next_step = !receipt.outbox.is_empty() || !receipt.state.is_final();
    match receipt.next_action_at {
        // On the index until its last alarm, and not afterwards.
        _ if receipt.waits_for_a_person() => {}
        None if has_next_step => {
            problems.push(("not_due", format!("it is {} and nothing looks after it", receipt.state)))
        }
        Some(at) if !has_next_step => problems.push((
            "due_for_nothing",
            format!("it is {}, done, and looked after at {at}", receipt.state),
        )),
        _ => {}
    }
}

fn look_at_age(app: &App, receipt: &Receipt, problems: &mut Found) {
    if let Some(alarm) = app.alarm_times.reached(receipt, app.clock.now()) {
        let hours = alarm.hours;
        problems.push(("stuck", format!("it is {} for more than {hours} hours", receipt.state)));
    }
}

const fn is_past_signing(state: ReceiptState) -> bool {
    !matches!(
        state,
        ReceiptState::Received
            | ReceiptState::Deferred
            | ReceiptState::Validated
            | ReceiptState::Failed
            | ReceiptState::Cancelled
            | ReceiptState::Incapacity
    )
}

/// Counts the day by its list and compares the counters; on the last day of a month also the sum of the month.
async fn count(app: &App, scope: &Scope, part: &Part<'_>, findings: &mut Findings) -> Result<(), StoreError> {
    let day = part.day;
    let closing = app.table.closing(scope).await?;
    if part.repair_counters {
        if app.table.recount_day(scope, day, &closing).await?.is_some() {
            findings.counters_repaired.push(day);
        }
        return Ok(());
    }
    let mut kept = only(app.table.day_counts(scope, day, day).await?, day);
    let mut counted = app.table.counted_by_list(scope, day).await?;
    if !closing.is_exact(day) {
        (kept, counted) = (kept.without_failed(), counted.without_failed());
    }
    if kept != counted {
        let detail = format!("the counters say {kept}, the receipts are {counted}");
        findings.problems.push(drifted("counters_drifted", day, detail));
    }
    let first = day.first_of_month();
    if day != day.last_of_month() || !closing.is_exact_month(first) {
        return Ok(());
    }
    let month = only(app.table.month_counts(scope, first, first).await?, first);
    let mut sum = DayCounts::none(first);
    let days = app.table.day_counts(scope, first, day).await?;
    days.iter().for_each(|day| sum.add_all(day));
    if month != sum {
        let detail = format!("the month says {month}, its days are {sum}");
        findings.problems.push(drifted("month_drifted", day, detail));
    }
    Ok(())
}

fn only(counts: Vec<DayCounts>, day: Date) -> DayCounts {
    counts.into_iter().next().unwrap_or_else(|| DayCounts::none(day))
}

fn drifted(problem: &'static str, day: Date, detail: String) -> Problem {
    Problem {
        problem,
        receipt: None,
        encf: None,
        day: Some(day),
        detail,
    }
}
