//! The certification workbooks of the authority: reads them, judges all rows before the first is sent, turns rows into
//! documents, says in which order they are sent, and compares what was written with the cells.
//!
//! Start at [`receipts`], which reads the workbook of e-CF, and [`approvals`], which reads that of approvals. Nothing is
//! lost and nothing is added: a row whose document differs from its cells is a finding. The crate does not depend on
//! HTTP, AWS or a clock. Memory and time are bounded for any file: see [`MAX_FILE_BYTES`] and [`MAX_UNPACKED_BYTES`].

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test"))]

mod approvals;
mod cell;
mod columns;
mod compare;
mod file;
mod finding;
mod order;
mod row;
pub mod run;
mod sheet;
pub mod simulation;
mod sold;
mod suite;

pub use approvals::{Approval, Approvals, approvals};
pub use compare::{Difference, Differs, Unreadable};
pub use file::{MAX_FILE_BYTES, MAX_UNPACKED_BYTES};
pub use finding::{Finding, Findings, MOST_FINDINGS, codes};
pub use order::{Phase, Step};
pub use sold::items_sold;
pub use suite::{Criteria, Receipt, Suite, Summary, receipts};
