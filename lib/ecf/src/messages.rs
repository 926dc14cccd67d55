//! The other XML documents: summary, acknowledgement, approval, annulment, seed and token answer. They are declared and
//! written like receipts, and read like received ones.

pub mod acecf;
pub mod anecf;
pub mod arecf;
pub mod respuesta_autenticacion;
pub mod rfce;
pub mod semilla;

use ecf_language::{Bilingual, Say};
use thiserror::Error;

use crate::field::{Block, Checker, Reader, Source, Stage, element};
use crate::violation::Violation;
use crate::xml::{self, XmlError};
use crate::{Amounts, Node, ReceiptType};

pub use acecf::Acecf;
pub use anecf::{Anecf, AnecfError};
pub use arecf::Arecf;
pub use respuesta_autenticacion::RespuestaAutenticacion;
pub use rfce::{Rfce, SecurityCodeError};
pub use semilla::Semilla;

/// Why bytes cannot be read as a message.
#[derive(Debug, Error)]
pub enum MessageError {
    /// The bytes are not XML, or are another document.
    #[error("the message cannot be read")]
    Xml(#[from] XmlError),
    /// Fields are invalid or missing.
    #[error("{} of the message: {}", list_paths(.0), .0.first().map_or("", |first| &*first.message.en))]
    Fields(Vec<Violation>),
}

impl Say for MessageError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Xml(_) => "no se puede leer el mensaje".to_owned(),
            Self::Fields(violations) => {
                let first = violations.first().map_or("", |first| &*first.message.es);
                format!("{} del mensaje: {first}", list_paths(violations))
            }
        };
        Bilingual::of(self, spanish)
    }
}

fn list_paths(violations: &[Violation]) -> String {
    let paths: Vec<String> = violations.iter().map(|violation| violation.path.join("/")).collect();
    paths.join(", ")
}

/// The obligations of messages are equal in every column, so any type can be used to read them.
pub(crate) const ANY_TYPE: ReceiptType = ReceiptType::E32;

fn read<B: Block>(bytes: &[u8], root: &'static str) -> Result<B, MessageError> {
    let node = xml::parse_root(bytes, root)?;
    read_members(&node, Source::Received).map_err(MessageError::Fields)
}

/// Reads a message from a tree that has the shape of its XML below the root.
fn read_members<B: Block>(node: &Node, source: Source) -> Result<B, Vec<Violation>> {
    let mut reader = Reader::new(ANY_TYPE, Amounts::Verbatim, source);
    let message: B = reader.block(node);
    let mut violations = reader.violations;
    Checker::check_beside(&message, ANY_TYPE, Stage::Whole, &mut violations);
    if violations.is_empty() {
        Ok(message)
    } else {
        Err(violations)
    }
}

fn write<B: Block>(root: &str, message: &B) -> Vec<u8> {
    let mut out = Vec::with_capacity(2_048);
    element(root, &mut out, |out| message.write_members(out));
    out
}
