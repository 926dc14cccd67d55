//! Interprets a cancelled transaction from its reasons.

use aws_sdk_dynamodb::types::CancellationReason;

use super::{Refusal, existing};

/// The meaning of a cancelled transaction.
#[derive(Debug)]
pub(super) enum Judgement {
    Refused(Vec<Option<Refusal>>),
    Again,
    Unknown,
}

/// Interprets the reasons, one per part.
///
/// When any part has a conflict or is throttled, the other parts may not have been checked. A failed condition beside
/// it may be the trace of a transaction that has not committed, unless the failed part is the first: callers put the
/// deciding record there, and its existence is final.
pub(super) fn judge(reasons: &[CancellationReason], parts: usize) -> Judgement {
    if reasons.len() != parts {
        return Judgement::Unknown;
    }
    let code = |reason: &CancellationReason| reason.code.clone().unwrap_or_else(|| "None".to_owned());
    let failed = |reason: &CancellationReason| code(reason) == "ConditionalCheckFailed";
    let passing = |reason: &CancellationReason| {
        matches!(
            code(reason).as_str(),
            "TransactionConflict" | "ProvisionedThroughputExceeded" | "ThrottlingError" | "RequestLimitExceeded"
        )
    };
    let known = |reason: &CancellationReason| failed(reason) || passing(reason) || code(reason) == "None";
    if !reasons.iter().all(known) {
        return Judgement::Unknown;
    }
    if !reasons.first().is_some_and(failed) && reasons.iter().any(passing) {
        return Judgement::Again;
    }
    if !reasons.iter().any(failed) {
        return Judgement::Unknown;
    }
    Judgement::Refused(
        reasons
            .iter()
            .map(|reason| {
                failed(reason).then(|| Refusal {
                    existing: existing(reason.item.clone()),
                })
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::item::{Item, text};

    fn reasons(codes: &[&str]) -> Vec<CancellationReason> {
        codes
            .iter()
            .map(|code| CancellationReason::builder().code(*code).build())
            .collect()
    }

    fn judged(codes: &[&str]) -> String {
        match judge(&reasons(codes), codes.len()) {
            Judgement::Refused(parts) => parts
                .iter()
                .map(|part| if part.is_some() { 'x' } else { '.' })
                .collect::<String>(),
            Judgement::Again => "again".to_owned(),
            Judgement::Unknown => "unknown".to_owned(),
        }
    }

    #[test]
    fn each_list_of_cancellation_reasons_has_one_meaning() {
        for (codes, meaning) in [
            (["ConditionalCheckFailed", "None"], "x."),
            (["None", "ConditionalCheckFailed"], ".x"),
            (["ConditionalCheckFailed", "ConditionalCheckFailed"], "xx"),
            (["ConditionalCheckFailed", "TransactionConflict"], "x."),
            (["TransactionConflict", "None"], "again"),
            (["None", "TransactionConflict"], "again"),
            (["TransactionConflict", "ConditionalCheckFailed"], "again"),
            (["ThrottlingError", "None"], "again"),
            (["None", "ProvisionedThroughputExceeded"], "again"),
            (["ValidationError", "None"], "unknown"),
            (["ConditionalCheckFailed", "ItemCollectionSizeLimitExceeded"], "unknown"),
            (["None", "None"], "unknown"),
        ] {
            assert_eq!(judged(&codes), meaning, "{codes:?}");
        }
        assert!(matches!(judge(&[], 2), Judgement::Unknown));
    }

    #[test]
    fn a_refusal_brings_the_item_that_is_there() {
        let there = Item::from([("pk".to_owned(), text("r#1")), ("sk".to_owned(), text("r"))]);
        let reasons = [CancellationReason::builder()
            .code("ConditionalCheckFailed")
            .set_item(Some(there))
            .build()];
        let Judgement::Refused(parts) = judge(&reasons, 1) else {
            panic!("not refused")
        };
        let existing = parts[0].as_ref().unwrap().existing.as_ref().unwrap();
        assert_eq!(existing.pk().unwrap(), "r#1");
    }
}
