//! Taxpayer numbers that a program writes when it has no real one.

use ecf_language::{Bilingual, say};

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
        ("RNCComprador", E32) => say!(
            ": a consumer who gives no number has no RNCComprador",
            ": un consumidor que no da su número no lleva RNCComprador"
        ),
        ("RNCComprador", E33 | E34) => say!(
            ": a note has the RNCComprador of the receipt that it modifies, or none",
            ": una nota lleva el RNCComprador del comprobante que modifica, o ninguno"
        ),
        ("RNCComprador", E41) => say!(
            ": a seller without RNC has a cédula",
            ": un vendedor sin RNC tiene una cédula"
        ),
        ("RNCComprador", _) => say!(
            ": a buyer without RNC gets a consumer invoice, type 32",
            ": un comprador sin RNC recibe una Factura de Consumo, tipo 32"
        ),
        _ => Bilingual::default(),
    };
    let message = say!(
        [instead],
        "{rnc} looks like a filler, no taxpayer has that number{instead}",
        "{rnc} parece un relleno, ningún contribuyente tiene ese número{instead}"
    );
    Some(Problem::new(RULE.code, "filler", message))
}
