//! The authority's verdict on a document.

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

    /// Reads the database's value; only verdicts are stored there.
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

    /// Whether the document is fiscally valid.
    pub(crate) fn is_accepted(self) -> bool {
        matches!(self, Self::Aceptado | Self::AceptadoCondicional)
    }
}

/// A message with its code; `0` where real answers have shown no code.
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

/// A final verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) codigo: Codigo,
    pub(crate) secuencia_utilizada: bool,
    pub(crate) mensajes: Vec<Mensaje>,
}

impl Verdict {
    /// Accepted, or accepted conditionally when there are remarks.
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

    /// Rejected; the number stays free.
    pub(crate) fn rejected_free(mensajes: Vec<Mensaje>) -> Self {
        Self {
            codigo: Codigo::Rechazado,
            secuencia_utilizada: false,
            mensajes,
        }
    }

    /// Rejected; the number is burned.
    pub(crate) fn rejected_burned(mensajes: Vec<Mensaje>) -> Self {
        Self {
            codigo: Codigo::Rechazado,
            secuencia_utilizada: true,
            mensajes,
        }
    }
}
