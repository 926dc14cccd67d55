//! `/api/v1/client/api-keys`: a company's keys for the environment of the key that asks.
//!
//! A key sees, makes and revokes keys of its own environment only: one that leaks from a test machine must not open
//! production. The operator makes the first key of another environment. Rotation without a pause: make the new key, move the
//! programs over, revoke the old one with the new.

mod create;
mod list;
mod revoke;

pub(crate) use create::{__path_create, create};
pub(crate) use list::{__path_list, list};
pub(crate) use revoke::{__path_revoke, revoke};
