//! `housekeeping` on the embedded services: what is overdue is queued again, once, and nothing else is touched.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod claims;
mod days;
mod due;
mod exchange;
mod outage;
mod ranges;
mod shares;
mod unclaimed;
mod world;
