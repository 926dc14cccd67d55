//! Checks that every number of the service is locked by a receipt that names it, or listed as unused. For a range that
//! the caller numbers, checks the count of used numbers against the locks.

use ecf::{Encf, ReceiptType};
use ecf_store::{
    Scope, StoreError,
    annulments::NumberHolder,
    numbers::{Numbering, Range},
};

use super::{Findings, Problem};
use crate::App;

/// Compares the counts of the ranges that the caller numbers with the locks, and corrects them on request.
pub(super) async fn count(
    app: &App,
    scope: &Scope,
    repair_counters: bool,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let ranges = app.table.ranges(scope, None).await?;
    for range in ranges.iter().filter(|range| range.is_callers()) {
        let counted = app.table.used_numbers_of(scope, range).await?;
        if range.agrees(counted) {
            continue;
        }
        let now = app.clock.now();
        if repair_counters && app.table.correct_used_numbers(scope, range, counted, None, now).await? {
            findings.ranges_repaired.push(range.id().to_string());
            continue;
        }
        findings.problems.push(Problem {
            problem: "used_numbers_drifted",
            receipt: None,
            encf: None,
            day: None,
            detail: format!(
                "range {} says {} used and {} next, its locks are {} and {}",
                range.id(),
                range.used,
                range.next,
                counted.used,
                counted.next
            ),
        });
    }
    Ok(())
}

/// Checks the next numbers, at most `limit`, and returns where to continue. Ranges that callers number are skipped,
/// because they have gaps by nature.
pub(super) async fn look(
    app: &App,
    scope: &Scope,
    at: Option<(ReceiptType, u64)>,
    limit: usize,
    findings: &mut Findings,
) -> Result<Option<(ReceiptType, u64)>, StoreError> {
    let mut ranges = app.table.ranges(scope, None).await?;
    ranges.retain(|range| range.numbering != Some(Numbering::Caller) && range.next > range.start);
    ranges.sort_by_key(|range| (range.ecf_type, range.start));
    let given = |range: &Range| range.next.min(range.end + 1);
    let is_ahead = |range: &&Range| at.is_none_or(|at| (range.ecf_type, given(range)) > at);
    let Some(range) = ranges.iter().find(is_ahead) else {
        return Ok(None);
    };
    let first = match at {
        Some((ecf_type, sequence)) if ecf_type == range.ecf_type => sequence.max(range.start),
        _ => range.start,
    };
    let last = (given(range) - 1).min(first + limit as u64 - 1);
    look_at(app, scope, range, first, last, findings).await?;
    let next = (range.ecf_type, last + 1);
    let is_done = !ranges.iter().any(|range| (range.ecf_type, given(range)) > next);
    Ok((!is_done).then_some(next))
}

async fn look_at(
    app: &App,
    scope: &Scope,
    range: &Range,
    first: u64,
    last: u64,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let locks = app.table.locks(scope, range.ecf_type, first, last).await?;
    for sequence in first..=last {
        findings.numbers += 1;
        let encf = Encf::new(range.ecf_type, sequence).map_err(|error| StoreError::unexpected("check", error))?;
        let Some(owner) = locks.get(&sequence) else {
            // While the list of free numbers is full, a dead number cannot be listed, so it is reported as unused.
            if range.free.contains(&sequence) || range.is_full() {
                findings.unused.push(encf);
            } else {
                let detail = "it was given, no receipt has it and it is not listed as unused";
                findings
                    .problems
                    .push(Problem::of_number("number_unaccounted", encf, None, detail));
            }
            continue;
        };
        let NumberHolder::Receipt(owner) = owner else {
            continue;
        };
        let problem = match app.table.receipt(scope, owner).await? {
            None => Some((
                "owner_missing",
                "it is locked by a receipt that does not exist".to_owned(),
            )),
            Some(receipt) => match receipt.encf() {
                Some(named) if *named == encf => None,
                named => {
                    let named = named.map_or_else(|| "no number".to_owned(), ToString::to_string);
                    Some((
                        "owner_names_another",
                        format!("it is locked by a receipt that has {named}"),
                    ))
                }
            },
        };
        if let Some((problem, detail)) = problem {
            findings
                .problems
                .push(Problem::of_number(problem, encf, Some(*owner), detail));
        }
    }
    Ok(())
}
