//! `submission-worker` on the embedded services, against the simulated authority: one submission and one verdict, whatever
//! dies, is refused or gets lost in between.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod attempts;
mod authority;
mod crashes;
mod lost_answers;
mod not_found;
mod notes;
mod numbers;
mod outages;
mod polls;
mod refusals;
mod repeats;
mod used_numbers;
mod verdicts;
mod world;
