//! What an answer says about a receipt's fiscal state.

use crate::answer::Answer;
use crate::body::plain;

/// The authority's verdict on a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estado {
    /// Not judged yet (3): ask again.
    InProcess,
    /// Unknown to the authority (0): wait and ask again, never resend blindly.
    NotFound,
    /// Fiscally valid (1).
    Accepted,
    /// Valid, with irregularities to be avoided in later receipts (4).
    ConditionallyAccepted,
    /// Not valid (2).
    Rejected {
        /// Whether the number is used up. Only the authority decides, and it may omit the value.
        secuencia_utilizada: Option<bool>,
    },
    /// The answer says none of these, or is contradictory: ask again.
    Unclear,
}

impl Estado {
    /// Whether the verdict can no longer change.
    #[must_use]
    pub fn is_final(self) -> bool {
        self.is_acceptance() || matches!(self, Self::Rejected { .. })
    }

    /// Whether the receipt is fiscally valid.
    #[must_use]
    pub fn is_acceptance(self) -> bool {
        matches!(self, Self::Accepted | Self::ConditionallyAccepted)
    }

    pub(crate) fn of(answer: &Answer) -> Self {
        let by_codigo = answer
            .codigo_number()
            .and_then(|codigo| Self::by_codigo(codigo, answer.secuencia_utilizada));
        let by_estado = answer
            .estado
            .as_deref()
            .and_then(|estado| Self::by_estado(estado, answer.secuencia_utilizada));
        match (by_codigo, by_estado) {
            (Some(one), Some(other)) if one == other => one,
            // The queries by number return 1 together with "Aceptado Condicional", and the stamp pages treat both as
            // one.
            (Some(Self::Accepted), Some(Self::ConditionallyAccepted))
            | (Some(Self::ConditionallyAccepted), Some(Self::Accepted)) => Self::ConditionallyAccepted,
            (Some(_), Some(_)) | (None, None) => Self::Unclear,
            (Some(only), None) | (None, Some(only)) => only,
        }
    }

    fn by_codigo(codigo: u32, secuencia_utilizada: Option<bool>) -> Option<Self> {
        Some(match codigo {
            0 => Self::NotFound,
            1 => Self::Accepted,
            2 => Self::Rejected { secuencia_utilizada },
            3 => Self::InProcess,
            4 => Self::ConditionallyAccepted,
            _ => return None,
        })
    }

    pub(crate) fn by_estado(estado: &str, secuencia_utilizada: Option<bool>) -> Option<Self> {
        Some(match plain(estado).as_str() {
            "aceptado" | "aceptada" => Self::Accepted,
            "aceptadocondicional" | "aceptadacondicional" => Self::ConditionallyAccepted,
            "rechazado" | "rechazada" => Self::Rejected { secuencia_utilizada },
            "enproceso" => Self::InProcess,
            "noencontrado" | "noencontrada" | "trackidnoencontrado" => Self::NotFound,
            _ => return None,
        })
    }
}

/// A verdict and the answer that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What the answer says.
    pub verdict: Estado,
    /// The answer itself, with its messages.
    pub answer: Answer,
}

impl Judged {
    pub(crate) fn of(answer: Answer) -> Self {
        Self {
            verdict: Estado::of(&answer),
            answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(body: &str) -> Estado {
        Estado::of(&Answer::read(body.as_bytes()))
    }

    #[test]
    fn codes_and_words_give_the_verdict_alone_or_together() {
        let burned = Estado::Rejected {
            secuencia_utilizada: Some(true),
        };
        let freed = Estado::Rejected {
            secuencia_utilizada: Some(false),
        };
        let cases = [
            (r#"{"codigo":0,"estado":"No encontrado"}"#, Estado::NotFound),
            (r#"{"codigo":"0","estado":"TrackId no encontrado."}"#, Estado::NotFound),
            (
                r#"{"codigo":1,"estado":"Aceptado","secuenciaUtilizada":true}"#,
                Estado::Accepted,
            ),
            (r#"{"codigo":"01"}"#, Estado::Accepted),
            (r#"{"estado":"ACEPTADO"}"#, Estado::Accepted),
            (
                r#"{"codigo":"2","estado":"Rechazado","secuenciaUtilizada":true}"#,
                burned,
            ),
            (r#"{"codigo":2,"secuenciaUtilizada":false}"#, freed),
            (
                r#"{"estado":"Rechazado"}"#,
                Estado::Rejected {
                    secuencia_utilizada: None,
                },
            ),
            (r#"{"codigo":3,"estado":"En Proceso"}"#, Estado::InProcess),
            (
                r#"{"codigo":4,"estado":"Aceptado Condicional"}"#,
                Estado::ConditionallyAccepted,
            ),
            (
                r#"{"codigo":1,"estado":"Aceptado Condicional"}"#,
                Estado::ConditionallyAccepted,
            ),
            (r#"{"codigo":4,"estado":"Aceptado"}"#, Estado::ConditionallyAccepted),
        ];
        for (body, expected) in cases {
            assert_eq!(verdict(body), expected, "{body}");
        }
    }

    #[test]
    fn what_contradicts_itself_or_says_nothing_is_unclear() {
        for body in [
            "",
            "{}",
            "Aceptado",
            r#"{"codigo":1,"estado":"Rechazado"}"#,
            r#"{"codigo":0,"estado":"Aceptado"}"#,
            r#"{"codigo":7}"#,
            r#"{"codigo":7,"estado":"Suspendido"}"#,
            r#"{"codigo":"1.0"}"#,
            r#"{"mensajes":[{"codigo":1,"valor":"Aceptado"}]}"#,
            r#"{"title":"Not Found","status":404}"#,
            "<html><title>Aceptado</title></html>",
        ] {
            assert_eq!(verdict(body), Estado::Unclear, "{body}");
        }
    }
}
