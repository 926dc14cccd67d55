//! What the authority says about a document, and how a fault may force it.

use serde::{Deserialize, Serialize};

/// The numeric state of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codigo {
    NoEncontrado = 0,
    Aceptado = 1,
    Rechazado = 2,
    EnProceso = 3,
    AceptadoCondicional = 4,
}

impl Codigo {
    pub(crate) fn number(self) -> i64 {
        self as i64
    }

    /// Reads what the database holds; only verdicts are kept there.
    pub(crate) fn from_number(number: i64) -> Self {
        match number {
            1 => Self::Aceptado,
            2 => Self::Rechazado,
            3 => Self::EnProceso,
            4 => Self::AceptadoCondicional,
            _ => Self::NoEncontrado,
        }
    }

    pub(crate) fn estado(self) -> &'static str {
        match self {
            Self::NoEncontrado => "No encontrado",
            Self::Aceptado => "Aceptado",
            Self::Rechazado => "Rechazado",
            Self::EnProceso => "En Proceso",
            Self::AceptadoCondicional => "Aceptado Condicional",
        }
    }

    /// Fiscally valid.
    pub(crate) fn is_accepted(self) -> bool {
        matches!(self, Self::Aceptado | Self::AceptadoCondicional)
    }
}

/// A message with its code; where no code is known from real answers it is `0`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mensaje {
    pub(crate) codigo: String,
    pub(crate) valor: String,
}

impl Mensaje {
    pub(crate) fn new(codigo: &str, valor: impl Into<String>) -> Self {
        Self {
            codigo: codigo.to_owned(),
            valor: valor.into(),
        }
    }
}

/// A final judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) codigo: Codigo,
    pub(crate) secuencia_utilizada: bool,
    pub(crate) mensajes: Vec<Mensaje>,
}

impl Verdict {
    /// Accepted, or conditionally when there is something to say.
    pub(crate) fn accepted(remarks: Vec<Mensaje>) -> Self {
        let codigo = if remarks.is_empty() {
            Codigo::Aceptado
        } else {
            Codigo::AceptadoCondicional
        };
        Self {
            codigo,
            secuencia_utilizada: true,
            mensajes: remarks,
        }
    }

    /// Rejected, and the number stays free.
    pub(crate) fn rejected_free(mensajes: Vec<Mensaje>) -> Self {
        Self {
            codigo: Codigo::Rechazado,
            secuencia_utilizada: false,
            mensajes,
        }
    }

    /// Rejected, and the number is burned.
    pub(crate) fn rejected_burned(mensajes: Vec<Mensaje>) -> Self {
        Self {
            codigo: Codigo::Rechazado,
            secuencia_utilizada: true,
            mensajes,
        }
    }
}
