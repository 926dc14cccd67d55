//! The client of the tax authority's services: tokens, submission, verdicts and look-ups.
//!
//! Start at [`Tokens::session`]: a [`Session`] is one certificate in one environment. It obtains the token, limits
//! concurrent calls, and has one method per service. Its parts:
//!
//! - [`Endpoints`]: the address of each service, all configurable;
//! - [`Answer`]: an answer of the authority in any of its forms, and [`Estado`]: what the answer means;
//! - [`Gates`]: the circuit breaker and maintenance windows of each host;
//! - [`TaxAuthError`]: sorted by whether an upload may have been taken, which decides about a resend;
//! - [`Directory`]: the addresses of electronic taxpayers, cached for hours;
//! - [`BulkFile`]: the file of all taxpayers;
//! - `services/`: one file per service.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod about;
mod answer;
mod body;
mod breaker;
mod bulk_file;
mod client;
mod directory;
mod endpoints;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[path = "../fuzz/properties.rs"]
pub mod fuzz;
mod gates;
mod services;
mod session;
mod status;
mod token;
mod tokens;
mod upload;
mod verdict;
mod watch;

pub use answer::{Answer, Mensaje, Shape};
pub use breaker::Passage;
pub use bulk_file::{BulkFile, Columns};
pub use client::{TaxAuth, TimeOuts};
pub use directory::{Directory, DirectoryError, Known, Wanted};
pub use endpoints::{Endpoints, EndpointsError, Service, where_to_look};
pub use error::{Lost, TaxAuthError};
pub use gates::{Gates, Held, current_window, held_until, outage, passage};
pub use services::{
    ReceiptQuery, ResultQuery, Ruling, Sent, StateAnswer, Submission, Submissions, SummaryQuery, read_grant,
};
pub use session::Session;
pub use status::StatusError;
pub use token::Token;
pub use tokens::{TokenError, Tokens, Waiting};
pub use upload::Upload;
pub use verdict::{Estado, Judged};
pub use watch::{Checked, StatusWatch};
