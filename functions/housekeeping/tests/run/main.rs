//! `housekeeping` on the embedded services: overdue records are enqueued again, once, and no other record is changed.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod certification;
mod claims;
mod days;
mod due;
mod exchange;
mod outage;
mod ranges;
mod shares;
mod unclaimed;
mod world;
