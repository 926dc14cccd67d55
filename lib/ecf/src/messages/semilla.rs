//! The seed, which a server wants signed before it grants a token.

use super::{MessageError, read, write};
use crate::Texto;
use crate::field::text;

pub(crate) const ROOT: &str = "SemillaModel";

block! {
    /// A seed.
    pub struct Semilla {
        valor: Option<Texto> = text(4_096), "valor", "1", "What is to be signed";
        fecha: Option<Texto> = text(64), "fecha", "1", "When it was given, as an XML Schema dateTime";
    }
}

impl Semilla {
    /// A seed with this value, issued at this instant.
    pub fn new(valor: Texto, at: jiff::Timestamp) -> Self {
        let civil = crate::FechaHora::at(at).civil();
        let fecha = format!("{civil}{}:00", crate::SANTO_DOMINGO)
            .parse()
            .expect("a dateTime has no blanks");
        Self {
            valor: Some(valor),
            fecha: Some(fecha),
        }
    }

    /// The canonical bytes without a signature.
    pub fn to_xml(&self) -> Vec<u8> {
        write(ROOT, self)
    }

    /// Reads a seed, signed or not.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML or another document, or when fields are invalid or missing.
    pub fn from_xml(bytes: &[u8]) -> Result<Self, MessageError> {
        read(bytes, ROOT)
    }
}
