//! Checks a note (33, 34) against the stored record of the receipt that it modifies.
//!
//! Credit notes count from their issue, debit notes from their acceptance. So the balance stays sufficient for every
//! verdict on pending notes.

use ecf_language::{Bilingual, say};
use rust_decimal::Decimal;

use super::finding::{comprador, referencia, totales};
use super::{Findings, RuleInfo};
use crate::catalogue::CodigoModificacion;
use crate::document::Document;
use crate::violation::{Grade, Violation, sort_causes_first};
use crate::{Encf, Fecha, ReceiptState, ReceiptType};

const FORMAT: &str = "format, MontoTotal in type 34; notice of the authority, in force since 23-09-2025";

const ANNULS_REST: RuleInfo = rule(
    "REFERENCIA-20",
    FORMAT,
    "a note with code 1 has the whole amount that is left of the modified receipt",
);
const WITHIN_BALANCE: RuleInfo = rule(
    "REFERENCIA-21",
    FORMAT,
    "credit notes do not exceed the modified receipt and its accepted debit notes",
);
const NOTHING_AFTER_ANNULMENT: RuleInfo = rule(
    "REFERENCIA-22",
    "notice of the authority, in force since 23-09-2025",
    "no note follows a note with code 1 on the same receipt",
);
const VALID: RuleInfo = rule(
    "REFERENCIA-23",
    "recorded, code 614",
    "a note modifies a receipt that is accepted or may still be",
);
const SAME_BUYER: RuleInfo = rule(
    "REFERENCIA-24",
    "Law 32-23 art. 15",
    "a note goes to the buyer of the modified receipt",
);
const SAME_DAY: RuleInfo = rule(
    "REFERENCIA-25",
    "format, InformacionReferencia: FechaNCFModificado",
    "FechaNCFModificado is the FechaEmision of the modified receipt",
);
const DEBITS_JUDGED: RuleInfo = rule(
    "REFERENCIA-26",
    FORMAT,
    "a note with code 1 comes after the verdicts on the debit notes",
);

const WAITS: RuleInfo = RuleInfo {
    code: "REFERENCIA-27",
    grade: Grade::Notice,
    source: "recorded, code 614",
    summary: "a note is sent after the verdict on the modified receipt",
};

/// Rules that need the stored record of the modified receipt.
pub(super) const RULES: &[RuleInfo] = &[
    ANNULS_REST,
    WITHIN_BALANCE,
    NOTHING_AFTER_ANNULMENT,
    VALID,
    SAME_BUYER,
    SAME_DAY,
    DEBITS_JUDGED,
    WAITS,
];

const fn rule(code: &'static str, source: &'static str, summary: &'static str) -> RuleInfo {
    RuleInfo {
        code,
        grade: Grade::Rejected,
        source,
        summary,
    }
}

/// The stored record of the receipt that a note modifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modified<'a> {
    pub state: ReceiptState,
    /// Whether the authority left the number of a rejected receipt free, so that another receipt may use it.
    pub number_is_free: bool,
    /// The balance that can be credited: MontoTotal and accepted debit notes, less every credit note that is valid or
    /// may become valid.
    pub balance: Decimal,
    /// Whether a note with code 1 annuls it.
    pub annulled: bool,
    /// Whether a debit note on it awaits its verdict.
    pub has_open_debits: bool,
    pub fecha_emision: Fecha,
    pub rnc_comprador: Option<&'a str>,
}

impl Modified<'_> {
    /// Whether the receipt can no longer become valid under its number.
    pub fn is_permanently_invalid(&self) -> bool {
        match self.state {
            ReceiptState::Rejected => !self.number_is_free,
            ReceiptState::Cancelled | ReceiptState::Incapacity => true,
            _ => false,
        }
    }
}

/// The receipt that a note modifies, if it is electronic and the issuer's own.
pub fn modified_encf(document: &Document, receipt_type: ReceiptType) -> Option<Encf> {
    let reference = &document.informacion_referencia;
    let replaces = reference.codigo_modificacion == Some(CodigoModificacion::ReemplazaContingencia);
    let other = reference.rnc_otro_contribuyente.as_ref();
    let is_own = other.is_none() || other == document.encabezado.emisor.rnc_emisor.as_ref();
    reference
        .ncf_modificado
        .as_ref()
        .filter(|_| receipt_type.is_note() && !replaces && is_own)?
        .encf()
}

/// Whether a document annuls the receipt that it modifies.
pub fn annuls(document: &Document) -> bool {
    document.informacion_referencia.codigo_modificacion == Some(CodigoModificacion::Anula)
}

/// The notice that a note is issued but not sent yet.
pub fn waits(encf: Encf) -> Violation {
    let message = say!(
        "the note is sent once {encf}, and every earlier note that it builds on, has its verdict",
        "la nota se envía cuando {encf}, y cada nota anterior en la que se apoya, tenga su veredicto"
    );
    let path = referencia("NCFModificado");
    Violation::rejected(path, WAITS.code, "held", message)
        .with_grade(WAITS.grade)
        .with_given(&encf.to_string())
}

/// All findings about a note and the receipt that it modifies, causes before effects.
pub fn check(document: &Document, receipt_type: ReceiptType, modified: &Modified<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let Some(encf) = modified_encf(document, receipt_type) else {
        return violations;
    };
    same_buyer(document, modified, &mut Findings::new(&SAME_BUYER, &mut violations));
    same_day(document, modified, &mut Findings::new(&SAME_DAY, &mut violations));
    if modified.is_permanently_invalid() {
        let what = match modified.state {
            ReceiptState::Rejected => say!(
                "was rejected by the tax authority and its number is burned",
                "fue rechazado por la DGII y su número está quemado"
            ),
            state => say!(
                "is in the state {state} and was never sent",
                "está en el estado {state} y nunca se envió"
            ),
        };
        let message = say!(
            [what],
            "{encf} {what}: a note modifies a receipt that is accepted",
            "{encf} {what}: una nota modifica un comprobante aceptado"
        );
        Findings::new(&VALID, &mut violations)
            .wrong(referencia("NCFModificado"), message)
            .given(modified.state)
            .expected("accepted, conditionally_accepted, or a receipt that may still be");
    } else if modified.annulled {
        let message = say!(
            "{encf} was annulled by a note with code 1, nothing may follow it",
            "{encf} fue anulado por una nota con código 1, nada puede seguirle"
        );
        Findings::new(&NOTHING_AFTER_ANNULMENT, &mut violations).wrong(referencia("NCFModificado"), message);
    } else {
        amounts(document, receipt_type, encf, modified, &mut violations);
    }
    sort_causes_first(&mut violations);
    violations
}

fn amounts(
    document: &Document,
    receipt_type: ReceiptType,
    encf: Encf,
    modified: &Modified<'_>,
    violations: &mut Vec<Violation>,
) {
    let Some(amount) = document.encabezado.totales.monto_total.as_ref() else {
        return;
    };
    let (amount, balance) = (amount.value(), modified.balance);
    if annuls(document) && modified.has_open_debits {
        let message = say!(
            "a debit note on {encf} has no verdict yet: annul the receipt after it",
            "una nota de débito sobre {encf} aún no tiene veredicto: anule el comprobante después"
        );
        Findings::new(&DEBITS_JUDGED, violations).wrong(referencia("CodigoModificacion"), message);
    } else if annuls(document) && amount != balance {
        let message = say!(
            "a note with code 1 has the amount that is left of {encf}",
            "una nota con código 1 lleva el monto que queda de {encf}"
        );
        Findings::new(&ANNULS_REST, violations).amount(totales("MontoTotal"), amount, balance, message);
    } else if receipt_type == ReceiptType::E34 && amount > balance {
        let message = say!(
            "the credit note exceeds what is left of {encf}",
            "la nota de crédito supera lo que queda de {encf}"
        );
        Findings::new(&WITHIN_BALANCE, violations).amount(totales("MontoTotal"), amount, balance, message);
    }
}

fn same_buyer(document: &Document, modified: &Modified<'_>, out: &mut Findings<'_>) {
    let given = document
        .encabezado
        .comprador
        .rnc_comprador
        .as_ref()
        .map(|rnc| rnc.as_str());
    if given == modified.rnc_comprador {
        return;
    }
    let path = comprador("RNCComprador");
    match (given, modified.rnc_comprador) {
        (None, Some(expected)) => {
            let message = say!(
                "the modified receipt was issued to {expected}, and so is its note",
                "el comprobante modificado se emitió a {expected}, y su nota también"
            );
            out.missing(path, message).expected(expected);
        }
        (given, expected) => {
            let wanted = match expected {
                Some(expected) => Bilingual::same(expected.to_owned()),
                None => say!("no RNCComprador", "ningún RNCComprador"),
            };
            let given = given.unwrap_or_default();
            let message = say!(
                [wanted],
                "the buyer is {given}, the modified receipt has {wanted}: both have one buyer",
                "el comprador es {given}, el comprobante modificado tiene {wanted}: ambos llevan el mismo comprador"
            );
            out.differs(path, given, &wanted.en, message);
        }
    }
}

fn same_day(document: &Document, modified: &Modified<'_>, out: &mut Findings<'_>) {
    let given = document.informacion_referencia.fecha_ncf_modificado;
    if let Some(given) = given.filter(|given| *given != modified.fecha_emision) {
        let expected = modified.fecha_emision;
        let message = say!(
            "FechaNCFModificado is {given}, the modified receipt is of {expected}",
            "FechaNCFModificado es {given}, el comprobante modificado es del {expected}"
        );
        out.differs(referencia("FechaNCFModificado"), given, expected, message);
    }
}
