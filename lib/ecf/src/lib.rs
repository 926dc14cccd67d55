//! The Dominican electronic fiscal receipt (e-CF) as a pure domain: value types, documents, XML and states.
//!
//! Start at [`Draft`]: it reads a caller's JSON ([`Node`]) into a typed [`document::Document`], whose fields are each
//! declared once (see `field`). A complete draft becomes an [`Ecf`], and with its number a [`Numbered`], which writes
//! the canonical bytes to sign. The crate does not depend on HTTP, AWS or a clock.

#![warn(clippy::float_arithmetic)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

#[macro_use]
mod text_serde;
#[macro_use]
mod field;
pub mod catalogue;
pub mod codes;
mod date;
pub mod document;
mod draft;
mod encf;
mod environment;
mod fail_reason;
mod json;
pub mod messages;
mod money;
mod receipt_type;
mod rnc;
pub mod rules;
pub mod sending;
mod stamp;
mod state;
pub mod structure;
mod text;
pub mod totals;
mod violation;
pub mod waits;
mod xml;

pub use date::{DateError, Fecha, FechaHora, SANTO_DOMINGO};
pub use document::{Document, Heading, Received, json_schema};
pub use draft::{Draft, Ecf, Numbered, SUMMARY_THRESHOLD};
pub use encf::{Encf, EncfError, Ncf, NcfError};
pub use environment::{Environment, UnknownEnvironment};
pub use fail_reason::{FailReason, UnknownFailReason, failure_said};
pub use field::hints::nearest_name;
pub use json::{JsonError, Node, Piece};
pub use money::{Amounts, Cantidad, DecimalError, Monto, Peso, Porcentaje, Precio, Subcantidad, TipoCambio};
pub use receipt_type::{ReceiptType, UnknownReceiptType};
pub use rnc::{Rnc, RncError};
pub use stamp::{Stamp, StampHosts};
pub use state::{
    Circumstances, Condition, EventDerivedStage, ReceiptState, StateContract, StateView, Transition, UnknownState,
};
pub use text::{Texto, TextoError};
pub use violation::{Grade, Violation, sort_causes_first, sort_in_document_order};
pub use xml::XmlError;
