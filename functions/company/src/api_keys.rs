//! `/api/v1/client/api-keys`: a company's keys for the environment of the calling key.
//!
//! A key lists, creates and revokes keys of its own environment only, so that a key leaked from a test machine does not
//! open production. The operator creates the first key of another environment. Rotation without downtime: create a key,
//! switch the programs over, revoke the old key with the new one.

mod create;
mod list;
mod revoke;

pub(crate) use create::{__path_create, create};
pub(crate) use list::{__path_list, list};
pub(crate) use revoke::{__path_revoke, revoke};
