//! How often somebody may come: counted by address, in windows of time that the clock sets.
//!
//! One write each time, and none that says more of a visitor than the hash of an address, for as long as the window lasts.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use super::{
    Table,
    change::Change,
    condition::{absent, below},
    item::{expiry, number},
    keys::{self, TTL},
    write::Applied,
};
use crate::StoreError;

const COUNT: &str = "ct";

/// A door that visitors without a key come through, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Door {
    pub name: &'static str,
    /// So often within a window.
    pub most: u32,
    pub window: SignedDuration,
}

/// Whether a visitor may come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Granted,
    /// Not before that long.
    After(Duration),
}

impl Table {
    /// Counts a visit from an address, unless there were too many in this window.
    pub async fn take_turn(&self, door: Door, address: &str, now: Timestamp) -> Result<Turn, StoreError> {
        let window = door.window.as_secs().max(1);
        let begin = now.as_second() - now.as_second().rem_euclid(window);
        let end = Timestamp::from_second(begin + window).unwrap_or(Timestamp::MAX);
        let visitor: [u8; 32] = Sha256::digest(address).into();
        let change = Change::of(keys::turns(door.name, &visitor, begin))
            .add(COUNT, number(1))
            .set(TTL, expiry(end))
            .when(absent(COUNT).or(below(COUNT, number(door.most))));
        Ok(match self.apply("take turn", change).await? {
            Applied::Done(_) => Turn::Granted,
            Applied::Refused(_) => Turn::After(Duration::try_from(end.duration_since(now)).unwrap_or_default()),
        })
    }
}
