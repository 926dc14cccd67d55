//! What proves receipts to people: the printed representation, made when it is asked for and then kept ([`Files`]), and the audit
//! archive with everything of a span of time ([`audit`]).
//!
//! The crate joins the store with `ecf_ri`, which knows no store.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

pub mod audit;
mod design;
mod printed;

pub use printed::{Files, Paper, PrintError};
