//! Why a receipt is `failed`: the values of `error_code` that are ours. All others are the tax authority's, or the code of a rule.

use std::fmt;
use std::str::FromStr;

use ecf_language::Bilingual;
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
    pub const fn cause(self) -> &'static str {
        match self {
            Self::RncMismatch => "the document is of another issuer than the company",
            Self::NoRange => "the company had no range for the type when the receipt was to be numbered",
            Self::RangeExhausted => "the ranges had no number left when the receipt was to be numbered",
            Self::RangeExpired => "the ranges with numbers left had expired when the receipt was to be numbered",
            Self::EncfAlreadyUsed => "another receipt has the eNCF",
            Self::EncfOutsideRanges => "the eNCF is in no range of the company",
            Self::EncfExpired => "the range of the eNCF has expired",
            Self::RangeNumberedByService => "the eNCF is of a range that the service numbers",
            Self::RangeNumberedByCaller => "the document has no eNCF, and the caller numbers the ranges of the type",
            Self::AttemptAbandoned => "a new attempt of the certification began before the receipt was sent",
            Self::CertificateMissing => "the company has no certificate",
            Self::CertificateNotValid => "the certificate has expired, or is not valid yet",
            Self::CertificateUnusable => "the certificate does not open, or its key does not fit",
            Self::NoteNotKept => "the receipt that the note modifies was issued here after the note was stored",
            Self::NoteChanged => "the note comes to another amount than it took from the receipt that it modifies",
            Self::ModifiedReceiptNotAccepted => "the receipt that the note modifies can no longer become valid",
            Self::ModifiedReceiptBalance => "the receipt that the note modifies has less left than the note takes",
            Self::PayloadUnreadable => "the stored request cannot be read",
            Self::SignedXmlMissing => "the signed document cannot be read",
            Self::CertificateRefused => "the tax authority gives the certificate no token",
            Self::Refused => "the tax authority did not take the document and gave no verdict",
        }
    }

    /// What the caller can do.
    pub const fn fix(self) -> &'static str {
        match self {
            Self::RncMismatch => "correct it and send it with a new idempotency_key",
            Self::NoRange | Self::RangeExhausted | Self::RangeExpired => {
                "register a range, then send it with a new idempotency_key or have the operator retry it"
            }
            Self::EncfAlreadyUsed
            | Self::EncfOutsideRanges
            | Self::EncfExpired
            | Self::RangeNumberedByService
            | Self::RangeNumberedByCaller => "send it with another eNCF and a new idempotency_key",
            Self::CertificateMissing | Self::CertificateNotValid | Self::CertificateUnusable => {
                "upload the P12, then send it with a new idempotency_key or have the operator retry it"
            }
            Self::AttemptAbandoned | Self::NoteNotKept | Self::NoteChanged | Self::PayloadUnreadable => {
                "send it with a new idempotency_key"
            }
            Self::ModifiedReceiptNotAccepted | Self::ModifiedReceiptBalance => {
                "check the receipt that it modifies, and issue the note anew where it is still needed"
            }
            Self::SignedXmlMissing => "inform the operator",
            Self::CertificateRefused => {
                "delegate the signer in the portal or upload a P12 for tax procedures, then have the operator retry it"
            }
            Self::Refused => "correct what error_message says and send it with a new idempotency_key",
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

impl FailReason {
    fn in_spanish(self, stored: &str) -> String {
        let sentence = match self {
            Self::RncMismatch => {
                "el emisor del documento no es la empresa: corríjalo y envíelo con una idempotency_key nueva"
            }
            Self::NoRange => "la empresa no tiene secuencia de este tipo: registre una y reintente este comprobante",
            Self::RangeExhausted => {
                "las secuencias de este tipo no tienen números libres: registre otra y reintente este comprobante"
            }
            Self::RangeExpired => "las secuencias de este tipo vencieron: registre otra y reintente este comprobante",
            Self::EncfAlreadyUsed => {
                "otro comprobante tiene este eNCF: envíelo con otro eNCF y una idempotency_key nueva"
            }
            Self::EncfOutsideRanges => {
                "ninguna secuencia activa contiene este eNCF: envíelo con otro eNCF y una idempotency_key nueva"
            }
            Self::EncfExpired => "la secuencia de este eNCF venció: envíelo con otro eNCF y una idempotency_key nueva",
            Self::RangeNumberedByService => {
                "la secuencia de este eNCF la numera este servicio: envíelo sin eNCF y con una idempotency_key nueva"
            }
            Self::RangeNumberedByCaller => {
                "las secuencias de este tipo las numera quien llama: envíelo con eNCF y una idempotency_key nueva"
            }
            Self::AttemptAbandoned => {
                "un intento nuevo de la certificación empezó antes de enviarlo: envíelo con una idempotency_key nueva"
            }
            Self::CertificateMissing => "la empresa no tiene certificado: suba su P12 y reintente",
            Self::CertificateNotValid => {
                "el certificado de la empresa no es válido ahora: suba uno vigente y reintente"
            }
            Self::CertificateUnusable => "el certificado de la empresa ya no abre: suba su P12 otra vez y reintente",
            Self::NoteNotKept => {
                "el comprobante que modifica se emitió aquí después de guardar la nota: envíela con una idempotency_key nueva"
            }
            Self::NoteChanged => {
                "la nota suma otro monto que el que tomó de su factura: envíela con una idempotency_key nueva"
            }
            Self::ModifiedReceiptNotAccepted => "el comprobante que modifica ya no puede ser válido",
            Self::ModifiedReceiptBalance => {
                "el comprobante que modifica tiene otro saldo que el que toma la nota: emítala otra vez"
            }
            Self::PayloadUnreadable => "no se puede leer la petición guardada: envíela con una idempotency_key nueva",
            Self::SignedXmlMissing => "el documento firmado no está en el almacén",
            Self::CertificateRefused if stored.contains(WRONG_KIND) => {
                "la DGII no admite el certificado: no es para procedimiento tributario, es autofirmado, o es el de una \
                 entidad emisora; suba el P12 correcto y reintente"
            }
            Self::CertificateRefused if stored == CERTIFICATE_REFUSED => {
                "la DGII rechazó el certificado sin decir por qué"
            }
            Self::Refused if stored == REFUSED => "la DGII rechazó el documento sin decir por qué",
            Self::CertificateRefused | Self::Refused => stored,
        };
        sentence.to_owned()
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
