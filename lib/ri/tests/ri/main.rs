//! The printed representation as a holder of the paper sees it: its text, and the QR code read from the image.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod contents;
mod hostile;
mod pages;
mod paper;
mod receipts;
mod symbol;
mod workbooks;

/// The reader of the certification workbooks.
#[path = "../../../ecf/tests/certification/workbook.rs"]
mod workbook;
