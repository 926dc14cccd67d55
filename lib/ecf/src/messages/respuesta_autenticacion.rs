//! The answer to a signed seed, as XML.

use super::{MessageError, read, write};
use crate::Texto;
use crate::field::text;

const ROOT: &str = "RespuestaAutenticacion";

block! {
    /// A token and its dates.
    pub struct RespuestaAutenticacion {
        token: Option<Texto> = text(8_192), "token", "1", "What later requests show";
        expira: Option<Texto> = text(64), "expira", "1", "When it ends, in UTC";
        expedido: Option<Texto> = text(64), "expedido", "1", "When it was given, in UTC";
    }
}

impl RespuestaAutenticacion {
    /// A token with its dates.
    pub fn new(token: Texto, expira: Texto, expedido: Texto) -> Self {
        Self {
            token: Some(token),
            expira: Some(expira),
            expedido: Some(expedido),
        }
    }

    /// The canonical bytes.
    pub fn to_xml(&self) -> Vec<u8> {
        write(ROOT, self)
    }

    /// Reads the answer.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML or another document, or when fields are invalid or missing.
    pub fn from_xml(bytes: &[u8]) -> Result<Self, MessageError> {
        read(bytes, ROOT)
    }
}
