//! Webhooks: who wants which event, what it says, how it is signed, when it is tried again, and how it travels safely.
//!
//! - [`EventName`] and [`Subscription`]: the events and the names that a subscriber may give;
//! - [`News`] and [`announce`]: events of our own, for those who name them;
//! - [`event_body`]: the bytes of an event, the same at every attempt;
//! - [`sign`] and [`verify`]: the signature over those bytes;
//! - [`WebhookSecret`]: what the signature is keyed with;
//! - [`backoff`]: the schedule of attempts;
//! - [`Guard`], [`GuardedClient`] and [`deliver`]: one POST to an address that somebody else chose.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod announcement;
mod backoff;
mod deliver;
mod event;
mod guard;
mod payload;
mod secret;
mod signature;

pub use announcement::{News, announce, tell};
pub use backoff::{DEAD_AFTER, PAUSE_AFTER, WINDOW, backoff};
pub use deliver::{Attempt, DeliveryError, GuardedClient, Reply, TimeOuts, deliver};
pub use event::{EventName, NotAnEvent, Subscription, SubscriptionError, matches};
pub use guard::{Guard, Reach, RefusedAddress, UrlError};
pub use payload::{NotFinal, event_body, test_event_body};
pub use secret::{SecretError, WebhookSecret};
pub use signature::{sign, verify};
