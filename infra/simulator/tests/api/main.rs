//! The services from a client's point of view: every test signs its own documents and sends them over HTTP.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod approvals;
mod authentication;
mod control;
mod documents;
mod emisorreceptor;
mod faults;
mod queries;
mod reception;
mod restart;
mod signer;
mod status;
mod summaries;
mod support;
mod vectors;
mod verdicts;
