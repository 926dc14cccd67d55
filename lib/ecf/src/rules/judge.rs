//! Judges a draft by structure and rules together, and decides whether it is refused.

use rust_decimal::Decimal;

use super::obligations::drop_forbidden;
use super::{Context, OnConditional, examine, split};
use std::collections::HashSet;

use crate::totals::IscRates;
use crate::violation::{Violation, sort_causes_first, stage};
use crate::{Draft, Ecf, Environment, Fecha};

/// Judges a draft by structure and rules together, and turns it into a receipt. Completes the draft first if necessary.
///
/// Returns the receipt with its notices, causes before effects.
///
/// # Errors
///
/// Every finding that stops the receipt, and related notices on amounts, causes before effects.
pub fn judge(
    mut draft: Draft,
    environment: Environment,
    today: Fecha,
    rates: &IscRates,
    policy: OnConditional,
) -> Result<(Ecf, Vec<Violation>), Vec<Violation>> {
    let mut warnings = if draft.computed().is_none() {
        draft.complete(rates)
    } else {
        Vec::new()
    };
    let receipt_type = draft.receipt_type();
    let found = draft.computed().map_or_else(Vec::new, |computed| {
        let context = Context {
            receipt_type,
            environment,
            today,
            computed,
            rates,
        };
        examine(draft.document(), &context, draft.given())
    });
    let (mut refusals, mut told) = split(found, policy);
    match draft.check() {
        Ok(ecf) if refusals.is_empty() => {
            warnings.append(&mut told);
            sort_causes_first(&mut warnings);
            Ok((ecf, warnings))
        }
        Ok(_) => Err(with_notices(refusals, told)),
        Err(structure) => {
            // A missing field is reported once; the rule's message is the better one.
            let known: HashSet<_> = refusals.iter().map(|other| (other.path.clone(), other.kind)).collect();
            let mut structure: Vec<Violation> = structure
                .into_iter()
                .filter(|violation| !known.contains(&(violation.path.clone(), violation.kind)))
                .collect();
            refusals.append(&mut structure);
            drop_forbidden(&mut refusals, receipt_type);
            Err(with_notices(refusals, told))
        }
    }
}

/// Upper bound of the notices in a refusal. If many lines have a small difference, the largest ones explain a sum.
const MOST_NOTICES: usize = 20;

/// Adds notices about related amounts to a refusal: a difference within its tolerance can cause one beyond it.
fn with_notices(mut refusals: Vec<Violation>, told: Vec<Violation>) -> Vec<Violation> {
    let refused: Vec<Amount<'_>> = refusals.iter().filter_map(Amount::of).collect();
    let mut notices: Vec<Violation> = told
        .iter()
        .filter(|notice| Amount::of(notice).is_some_and(|amount| refused.iter().any(|other| amount.meets(other))))
        .cloned()
        .collect();
    notices.sort_by_key(|notice| std::cmp::Reverse(size(notice)));
    notices.truncate(MOST_NOTICES);
    refusals.append(&mut notices);
    sort_causes_first(&mut refusals);
    refusals
}

/// The absolute difference of the amount.
pub(super) fn size(violation: &Violation) -> Decimal {
    let difference = violation.difference.as_deref().map(str::parse::<Decimal>);
    difference.and_then(Result::ok).unwrap_or_default().abs()
}

/// An amount in pesos that contributes to the total.
pub(super) enum Amount<'v> {
    /// On the line with this index.
    Line(&'v str),
    /// A sum over lines.
    Sum,
}

impl<'v> Amount<'v> {
    /// `None` when the finding compares no amounts, or amounts outside the total: retentions, the other currency,
    /// informative sums.
    pub(super) fn of(violation: &'v Violation) -> Option<Self> {
        violation.difference.as_ref()?;
        let path = &violation.path;
        let aside = |step: &String| {
            step.contains("OtraMoneda") || step.contains("Reten") || matches!(step.as_str(), "Subtotales")
        };
        match (stage(path), path.get(2)) {
            (0, _) => None,
            _ if path.iter().any(aside) => None,
            (1, place) => place.map(|place| Self::Line(place)),
            _ => Some(Self::Sum),
        }
    }

    /// Whether one amount can be the cause of the other.
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Line(one), Self::Line(another)) => one == another,
            _ => true,
        }
    }
}
