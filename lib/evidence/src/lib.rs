//! Evidence of receipts for people: the printed representation, made on request and then stored ([`Files`]), and the
//! audit archive of a span of time ([`audit`]).
//!
//! The crate joins the store with `ecf_ri`, which does not access the store.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

pub mod audit;
mod design;
mod printed;

pub use printed::{Files, Paper, PrintError};
