//! `webhook-worker` on the embedded services, with receivers on loopback: every event to every subscriber, with the same bytes.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod announcements;
mod crashes;
mod events;
mod parking;
mod portal;
mod retries;
mod slow;
mod world;
