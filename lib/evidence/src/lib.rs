//! What proves a receipt to people: its printed representation, made when it is asked for and then kept.
//!
//! The crate joins the store with `ecf_ri`, which knows no store. Start at [`Files`].

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

mod printed;

pub use printed::{Files, Paper, PrintError};
