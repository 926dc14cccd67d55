//! The service from its users' point of view: the whole template in one process, the simulated tax authority, and only
//! HTTP in between.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod addresses;
mod answers;
mod budget;
mod certification;
mod check_reception;
mod crowd;
mod dead_ends;
mod events;
mod exchange;
mod faults;
mod issuing;
mod keys;
mod limits;
mod load;
mod million;
mod notes;
mod numbers;
mod operating;
mod outage;
mod payloads;
mod program;
mod queries;
mod receiving;
mod restart;
mod routes;
mod runs;
mod samples;
#[path = "../../../../lib/workbook/tests/sheets/mod.rs"]
mod sheets;
mod signup;
mod slow_receivers;
mod strangers;
mod support;
