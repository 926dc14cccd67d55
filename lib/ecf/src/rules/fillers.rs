//! Taxpayer numbers that a program writes when it has no real one.

use super::RuleInfo;
use crate::ReceiptType::{E32, E33, E34, E41};
use crate::Rnc;
use crate::field::{Context, Problem};
use crate::violation::Grade;

/// Checked while the payload is read.
pub(super) const RULE: RuleInfo = RuleInfo {
    code: "AVISO-21",
    grade: Grade::Notice,
    source: "register of taxpayers",
    summary: "a taxpayer number is not a filler such as 222222222 or 123456789",
};

/// The notice about a placeholder. Its check digit may be correct, as in 222222222 and 00000000000.
pub(crate) fn filler(rnc: &Rnc, context: &Context) -> Option<Problem> {
    if !rnc.is_filler() {
        return None;
    }
    let instead = match (context.field, context.receipt_type) {
        ("RNCComprador", E32) => ": a consumer who gives no number has no RNCComprador",
        ("RNCComprador", E33 | E34) => ": a note has the RNCComprador of the receipt that it modifies, or none",
        ("RNCComprador", E41) => ": a seller without RNC has a cédula",
        ("RNCComprador", _) => ": a buyer without RNC gets a consumer invoice, type 32",
        _ => "",
    };
    let message = format!("{rnc} looks like a filler, no taxpayer has that number{instead}");
    Some(Problem::new(RULE.code, "filler", message))
}
