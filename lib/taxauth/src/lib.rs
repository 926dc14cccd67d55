//! The client of the tax authority's services: tokens, sending, verdicts and look-ups.
//!
//! Start at [`Tokens::session`]: a [`Session`] is one certificate in one environment. It brings the token, keeps to
//! the number of concurrent calls, and has one method per service. Beneath it:
//!
//! - [`Endpoints`]: where each service lives, every address configurable;
//! - [`Answer`]: whatever the authority answered, in any of its shapes, and [`Verdict`]: what that means;
//! - [`Gates`]: no call is made to a host that is known to be away;
//! - [`TaxAuthError`]: sorted by whether an upload may have been taken, the one question that decides about a resend;
//! - [`Directory`]: where electronic taxpayers receive, remembered for hours;
//! - [`BulkFile`]: its file of all taxpayers;
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
pub use gates::{Gates, Held, current_window, held_until, passage};
pub use services::{
    ReceiptQuery, ReceiptState, ResultQuery, Ruling, Sent, Submission, Submissions, SummaryQuery, read_grant,
};
pub use session::Session;
pub use status::StatusError;
pub use token::Token;
pub use tokens::{TokenError, Tokens, Waiting};
pub use upload::Upload;
pub use verdict::{Judged, Verdict};
pub use watch::{Checked, StatusWatch};
