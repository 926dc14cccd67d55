//! Webhooks: who wants which event, what it says, how it is signed, when it is tried again, and how it travels safely.
//!
//! - [`EventName`]: every event with its [`Declaration`]; start here to add one;
//! - [`Subscription`]: the names that a subscriber may give;
//! - [`News`] and [`announce`]: events that are not verdicts, for webhooks that subscribed to their names;
//! - [`event_body`]: the bytes of an event, the same at every attempt;
//! - [`sign`] and [`verify`]: the signature over those bytes;
//! - [`WebhookSecret`]: what the signature is keyed with;
//! - [`decide`]: what happens next to an event and its webhook, on one page; [`backoff`]: the schedule of attempts;
//! - [`Guard`], [`GuardedClient`] and [`deliver`]: one POST to an address that somebody else chose.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod announcement;
mod backoff;
pub mod decide;
mod deliver;
mod event;
mod guard;
mod payload;
mod schema;
mod secret;
mod signature;
mod subscription;

pub use announcement::{announce, enqueue_announcement};
pub use backoff::{DEAD_AFTER, PAUSE_AFTER, WINDOW, backoff};
pub use deliver::{Attempt, DeliveryError, GuardedClient, Reply, TimeOuts, deliver};
pub use event::{Audience, Declaration, EventName, News};
pub use guard::{Guard, Reach, RefusedAddress, UrlError};
pub use payload::{NotFinal, event_body, test_event_body};
pub use schema::Schema;
pub use secret::{SecretError, WebhookSecret};
pub use signature::{sign, verify};
pub use subscription::{NotAnEvent, Subscription, SubscriptionError, matches};
