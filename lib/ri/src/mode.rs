//! The outcome of a receipt, and its marks on a print.

use ecf::{Circumstances, Environment, ReceiptState};

use crate::sheet::Band;

/// The outcome of the receipt, which its signed bytes do not state. Deferred sending is not a mode: the document itself
/// states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// The authority accepted the receipt.
    #[default]
    Accepted,
    /// The receipt awaits its verdict.
    Pending,
    /// The authority could not be reached: the print says from when the receipt can be looked up.
    Contingency,
    /// The authority rejected the receipt.
    Rejected,
    /// The receipt was withdrawn after it was signed and before it was sent.
    Cancelled,
    /// The receipt failed before it was sent.
    Unsent,
    /// The receipt was sent and failed without a verdict.
    Unconfirmed,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 7] = [
        Self::Accepted,
        Self::Pending,
        Self::Contingency,
        Self::Rejected,
        Self::Cancelled,
        Self::Unsent,
        Self::Unconfirmed,
    ];

    /// The mode of a receipt in this state.
    pub const fn of(state: ReceiptState, circumstances: Circumstances) -> Self {
        match state {
            ReceiptState::Accepted | ReceiptState::ConditionallyAccepted => Self::Accepted,
            ReceiptState::Received
            | ReceiptState::Deferred
            | ReceiptState::Validated
            | ReceiptState::Signed
            | ReceiptState::Submitted => Self::Pending,
            ReceiptState::Contingency => Self::Contingency,
            ReceiptState::Rejected => Self::Rejected,
            ReceiptState::Cancelled | ReceiptState::Incapacity => Self::Cancelled,
            ReceiptState::Failed if circumstances.sent => Self::Unconfirmed,
            ReceiptState::Failed => Self::Unsent,
        }
    }

    /// The name, as part of the names of stored prints.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Pending => "pending",
            Self::Contingency => "contingency",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Unsent => "unsent",
            Self::Unconfirmed => "unconfirmed",
        }
    }

    /// The band of a receipt without fiscal value. "e-CF sin valor fiscal" is worded by the authority's own tool (manual of
    /// July 2026).
    const fn band(self) -> Option<Band> {
        let (word, text) = match self {
            Self::Accepted | Self::Pending | Self::Contingency => return None,
            Self::Rejected => ("RECHAZADO", "e-CF sin valor fiscal: la DGII lo rechazó"),
            Self::Cancelled => ("ANULADO", "e-CF sin valor fiscal: no se envió a la DGII"),
            Self::Unsent => ("NO ENVIADO", "e-CF sin valor fiscal: la DGII no lo ha recibido"),
            Self::Unconfirmed => ("SIN VALIDAR", "e-CF sin valor fiscal mientras la DGII no lo acepte"),
        };
        Some(Band {
            word,
            text,
            is_filled: true,
        })
    }

    /// The sentence on a receipt that the authority cannot confirm yet. The legend of contingency is worded by the Informe
    /// Técnico, "Representación impresa".
    pub(crate) const fn notice(self) -> Option<&'static str> {
        match self {
            Self::Pending => Some("Pendiente de validación por la DGII: consulte su estado con el código QR."),
            Self::Contingency => Some(
                "e-CF emitido en modalidad de Contingencia, el cual podrá ser consultado para su validez fiscal, a partir \
                 de las setenta y dos (72) horas.",
            ),
            Self::Accepted | Self::Rejected | Self::Cancelled | Self::Unsent | Self::Unconfirmed => None,
        }
    }
}

/// The bands of every sheet: one for the mode, one for a test environment.
pub(crate) fn bands(environment: Environment, mode: Mode) -> Vec<Band> {
    let test = match environment {
        Environment::Ecf => None,
        Environment::TesteCF | Environment::CerteCF => Some(Band {
            word: "AMBIENTE DE PRUEBAS",
            text: "SIN VALOR FISCAL",
            is_filled: false,
        }),
    };
    mode.band().into_iter().chain(test).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_accepted_receipts_are_printed_without_a_word_of_reserve() {
        for state in ReceiptState::ALL {
            for sent in [false, true] {
                let circumstances = Circumstances {
                    sent,
                    ..Circumstances::default()
                };
                let mode = Mode::of(state, circumstances);
                let says_something = mode.band().is_some() || mode.notice().is_some();
                let is_accepted = matches!(state, ReceiptState::Accepted | ReceiptState::ConditionallyAccepted);
                assert_eq!(says_something, !is_accepted, "{state}");
            }
        }
    }

    #[test]
    fn names_are_distinct() {
        let mut names: Vec<&str> = Mode::ALL.into_iter().map(Mode::as_str).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Mode::ALL.len());
    }
}
