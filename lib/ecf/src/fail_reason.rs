//! Why a receipt is `failed`: the values of `error_code` that are ours. All others are the tax authority's, or the code of a rule.

use std::fmt;
use std::str::FromStr;

use ecf_language::{Bilingual, say};
use thiserror::Error;

use crate::codes;
use crate::rules::CATALOGUE;
use crate::sending::{CERTIFICATE_REFUSED, REFUSED, WRONG_KIND};

/// A reason of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailReason {
    /// The document is of another issuer than the company.
    RncMismatch,
    /// The company has no range for the type.
    NoRange,
    /// The ranges have no number left.
    RangeExhausted,
    /// The ranges with numbers left have expired.
    RangeExpired,
    /// Another receipt has the number.
    EncfAlreadyUsed,
    /// The number that the caller chose is in no range.
    EncfOutsideRanges,
    /// The range of the number that the caller chose has expired.
    EncfExpired,
    /// The caller chose a number of a range that the service numbers.
    RangeNumberedByService,
    /// The caller chose no number, and numbers the range itself.
    RangeNumberedByCaller,
    /// A new attempt of the certification began before the receipt was sent.
    AttemptAbandoned,
    /// The company has no certificate.
    CertificateMissing,
    /// Its certificate has expired, or is not valid yet.
    CertificateNotValid,
    /// Its certificate does not open, or its key does not fit.
    CertificateUnusable,
    /// The receipt that a note modifies was issued here after the note was stored.
    NoteNotKept,
    /// A note for later comes to another amount than it reserved.
    NoteChanged,
    /// The receipt that a note modifies can no longer become valid.
    ModifiedReceiptNotAccepted,
    /// The receipt that a note modifies has less left than the note takes.
    ModifiedReceiptBalance,
    /// The stored request cannot be read back.
    PayloadUnreadable,
    /// The signed document cannot be read back.
    SignedXmlMissing,
    /// The tax authority issues no token for the certificate, and gives no code.
    CertificateRefused,
    /// The tax authority did not take the document, and gives no code.
    Refused,
}

/// A code that is not a reason of ours.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{given:?} is not a reason of ours")]
pub struct UnknownFailReason {
    /// The text as it came.
    pub given: String,
}

impl FailReason {
    /// All reasons.
    pub const ALL: [Self; 21] = [
        Self::RncMismatch,
        Self::NoRange,
        Self::RangeExhausted,
        Self::RangeExpired,
        Self::EncfAlreadyUsed,
        Self::EncfOutsideRanges,
        Self::EncfExpired,
        Self::RangeNumberedByService,
        Self::RangeNumberedByCaller,
        Self::AttemptAbandoned,
        Self::CertificateMissing,
        Self::CertificateNotValid,
        Self::CertificateUnusable,
        Self::NoteNotKept,
        Self::NoteChanged,
        Self::ModifiedReceiptNotAccepted,
        Self::ModifiedReceiptBalance,
        Self::PayloadUnreadable,
        Self::SignedXmlMissing,
        Self::CertificateRefused,
        Self::Refused,
    ];

    /// The `error_code`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RncMismatch => "rnc_mismatch",
            Self::NoRange => "no_range",
            Self::RangeExhausted => "range_exhausted",
            Self::RangeExpired => "range_expired",
            Self::EncfAlreadyUsed => "encf_already_used",
            Self::EncfOutsideRanges => "encf_outside_ranges",
            Self::EncfExpired => "encf_expired",
            Self::RangeNumberedByService => "range_numbered_by_service",
            Self::RangeNumberedByCaller => "range_numbered_by_caller",
            Self::AttemptAbandoned => "attempt_abandoned",
            Self::CertificateMissing => "certificate_missing",
            Self::CertificateNotValid => "certificate_not_valid",
            Self::CertificateUnusable => "certificate_unusable",
            Self::NoteNotKept => "note_not_kept",
            Self::NoteChanged => "note_changed",
            Self::ModifiedReceiptNotAccepted => "modified_receipt_not_accepted",
            Self::ModifiedReceiptBalance => "modified_receipt_balance",
            Self::PayloadUnreadable => "payload_unreadable",
            Self::SignedXmlMissing => "signed_xml_missing",
            Self::CertificateRefused => "certificate_refused",
            Self::Refused => "refused",
        }
    }

    /// What happened.
    pub fn cause(self) -> Bilingual {
        match self {
            Self::RncMismatch => say!(
                "the document is of another issuer than the company",
                "el emisor del documento no es la empresa"
            ),
            Self::NoRange => say!(
                "the company had no range for the type when the receipt was to be numbered",
                "la empresa no tenía secuencia de este tipo al numerar el comprobante"
            ),
            Self::RangeExhausted => say!(
                "the ranges had no number left when the receipt was to be numbered",
                "las secuencias de este tipo no tenían números libres al numerar el comprobante"
            ),
            Self::RangeExpired => say!(
                "the ranges with numbers left had expired when the receipt was to be numbered",
                "las secuencias con números libres habían vencido al numerar el comprobante"
            ),
            Self::EncfAlreadyUsed => say!("another receipt has the eNCF", "otro comprobante tiene este eNCF"),
            Self::EncfOutsideRanges => say!(
                "the eNCF is in no range of the company",
                "ninguna secuencia de la empresa contiene este eNCF"
            ),
            Self::EncfExpired => say!("the range of the eNCF has expired", "la secuencia de este eNCF venció"),
            Self::RangeNumberedByService => say!(
                "the eNCF is of a range that the service numbers",
                "la secuencia de este eNCF la numera el servicio"
            ),
            Self::RangeNumberedByCaller => say!(
                "the document has no eNCF, and the caller numbers the ranges of the type",
                "el documento no tiene eNCF, y las secuencias de este tipo las numera quien llama"
            ),
            Self::AttemptAbandoned => say!(
                "a new attempt of the certification began before the receipt was sent",
                "un intento nuevo de la certificación empezó antes de enviar el comprobante"
            ),
            Self::CertificateMissing => say!("the company has no certificate", "la empresa no tiene certificado"),
            Self::CertificateNotValid => say!(
                "the certificate has expired, or is not valid yet",
                "el certificado venció, o todavía no es válido"
            ),
            Self::CertificateUnusable => say!(
                "the certificate does not open, or its key does not fit",
                "el certificado no abre, o su clave no corresponde"
            ),
            Self::NoteNotKept => say!(
                "the receipt that the note modifies was issued here after the note was stored",
                "el comprobante que la nota modifica se emitió aquí después de guardar la nota"
            ),
            Self::NoteChanged => say!(
                "the note comes to another amount than it took from the receipt that it modifies",
                "la nota suma otro monto que el que tomó del comprobante que modifica"
            ),
            Self::ModifiedReceiptNotAccepted => say!(
                "the receipt that the note modifies can no longer become valid",
                "el comprobante que la nota modifica ya no puede ser válido"
            ),
            Self::ModifiedReceiptBalance => say!(
                "the receipt that the note modifies has less left than the note takes",
                "al comprobante que la nota modifica le queda menos saldo que el que la nota toma"
            ),
            Self::PayloadUnreadable => say!(
                "the stored request cannot be read",
                "no se puede leer la petición guardada"
            ),
            Self::SignedXmlMissing => say!(
                "the signed document cannot be read",
                "no se puede leer el documento firmado"
            ),
            Self::CertificateRefused => say!(
                "the tax authority gives the certificate no token",
                "la DGII no le da token al certificado"
            ),
            Self::Refused => say!(
                "the tax authority did not take the document and gave no verdict",
                "la DGII no recibió el documento y no dio dictamen"
            ),
        }
    }

    /// What the caller can do.
    pub fn fix(self) -> Bilingual {
        match self {
            Self::RncMismatch => say!(
                "correct it and send it with a new idempotency_key",
                "corríjalo y envíelo con una idempotency_key nueva"
            ),
            Self::NoRange | Self::RangeExhausted | Self::RangeExpired => say!(
                "register a range, then send it with a new idempotency_key or have the operator retry it",
                "registre una secuencia; después envíelo con una idempotency_key nueva o pida al operador que lo reintente"
            ),
            Self::EncfAlreadyUsed
            | Self::EncfOutsideRanges
            | Self::EncfExpired
            | Self::RangeNumberedByService
            | Self::RangeNumberedByCaller => say!(
                "send it with another eNCF and a new idempotency_key",
                "envíelo con otro eNCF y una idempotency_key nueva"
            ),
            Self::CertificateMissing | Self::CertificateNotValid | Self::CertificateUnusable => say!(
                "upload the P12, then send it with a new idempotency_key or have the operator retry it",
                "suba el P12; después envíelo con una idempotency_key nueva o pida al operador que lo reintente"
            ),
            Self::AttemptAbandoned | Self::NoteNotKept | Self::NoteChanged | Self::PayloadUnreadable => say!(
                "send it with a new idempotency_key",
                "envíelo con una idempotency_key nueva"
            ),
            Self::ModifiedReceiptNotAccepted | Self::ModifiedReceiptBalance => say!(
                "check the receipt that it modifies, and issue the note anew where it is still needed",
                "revise el comprobante que modifica, y emita la nota otra vez si todavía hace falta"
            ),
            Self::SignedXmlMissing => say!("inform the operator", "avise al operador"),
            Self::CertificateRefused => say!(
                "delegate the signer in the portal or upload a P12 for tax procedures, then have the operator retry it",
                "delegue al firmante en el portal o suba un P12 para procedimiento tributario; después pida al operador que lo reintente"
            ),
            Self::Refused => say!(
                "correct what error_message says and send it with a new idempotency_key",
                "corrija lo que dice error_message y envíelo con una idempotency_key nueva"
            ),
        }
    }

    /// The Spanish sentence for a stored `error_message`.
    fn in_spanish(self, stored: &str) -> String {
        let (cause, fix) = (self.cause().es, self.fix().es);
        match self {
            Self::CertificateRefused if stored.contains(WRONG_KIND) => {
                "la DGII no admite el certificado: no es para procedimiento tributario, es autofirmado, o es el de una \
                 entidad emisora; suba el P12 correcto y reintente"
                    .to_owned()
            }
            Self::CertificateRefused if stored == CERTIFICATE_REFUSED => {
                "la DGII rechazó el certificado sin decir por qué".to_owned()
            }
            Self::Refused if stored == REFUSED => "la DGII rechazó el documento sin decir por qué".to_owned(),
            Self::CertificateRefused | Self::Refused => stored.to_owned(),
            _ => format!("{cause}; {fix}"),
        }
    }
}

/// The stored `error_message` of a failed receipt, in both languages. Only the English sentence is stored; the Spanish
/// one is made from the code. What the tax authority said is Spanish already.
pub fn failure_said(code: &str, stored: &str) -> Bilingual {
    let es = match code.parse::<FailReason>() {
        Ok(reason) => reason.in_spanish(stored),
        Err(_) if codes::ALL.contains(&code) || CATALOGUE.iter().any(|rule| rule.code == code) => {
            format!("el documento infringe {code}: corríjalo y envíelo con una idempotency_key nueva")
        }
        Err(_) => stored.to_owned(),
    };
    Bilingual {
        en: stored.to_owned().into(),
        es: es.into(),
    }
}

impl FromStr for FailReason {
    type Err = UnknownFailReason;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|reason| reason.as_str() == text)
            .ok_or_else(|| UnknownFailReason { given: text.to_owned() })
    }
}

impl fmt::Display for FailReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The codes in the first column of the table below a heading.
    fn documented(page: &str, heading: &str) -> BTreeSet<String> {
        let (_, section) = page.split_once(heading).unwrap();
        let rows = section.lines().skip_while(|line| !line.starts_with('|'));
        let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
        let first_cells = rows.map(|row| row.split('|').nth(1).unwrap());
        let codes = first_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
        codes.filter(|code| !code.contains('…')).map(str::to_owned).collect()
    }

    #[test]
    fn both_pages_on_states_list_exactly_these_reasons() {
        let ours = BTreeSet::from(FailReason::ALL.map(|reason| reason.as_str().to_owned()));
        let english = include_str!("../../../docs/states.md");
        assert_eq!(documented(english, "## Every way into `failed`"), ours);
        let spanish = include_str!("../../../docs/es/estados.md");
        assert_eq!(documented(spanish, "## Cada motivo de `failed`"), ours);
    }

    #[test]
    fn reasons_are_read_back_from_their_codes() {
        for reason in FailReason::ALL {
            assert_eq!(reason.as_str().parse(), Ok(reason));
        }
        assert!("IDDOC-01".parse::<FailReason>().is_err());
    }
}
