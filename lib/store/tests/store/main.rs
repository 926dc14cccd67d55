//! The store against the embedded AWS services or another emulator, on the table, bucket, queues and secrets that the
//! template describes.
//!
//! Each test has its own companies, so one set of resources serves all tests concurrently.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod attempts;
mod authority;
mod certificates;
mod companies;
mod counting;
mod creation;
mod faults;
mod interleavings;
mod listing;
mod lists;
mod notes;
mod objects;
mod runs;
mod secrets;
mod sending;
mod sequences;
mod support;
mod verdicts;
mod webhooks;
