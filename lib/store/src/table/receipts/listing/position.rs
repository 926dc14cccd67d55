//! A position in a list of receipts.

use std::{fmt, str::FromStr};

use ecf_language::{Bilingual, Say};
use jiff::{Timestamp, civil::Date};
use thiserror::Error;

use crate::table::{keys, receipts::Receipt};

/// The number of characters of an id in a sort key.
const OF_ID: usize = 8;

/// The position of a receipt in its list. Its text is the cursor of the API.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(String);

/// A text that is not a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this is no cursor: give next_cursor as a page answered it, or none to begin again")]
pub struct UnknownPosition;

impl Say for UnknownPosition {
    fn say(&self) -> Bilingual {
        Bilingual::of(
            self,
            "no es un cursor: dé next_cursor como lo respondió una página, o ninguno para empezar otra vez",
        )
    }
}

impl Position {
    pub(in crate::table) fn of_sort_key(sort_key: &str) -> Self {
        Self(sort_key.to_owned())
    }

    /// The position of a receipt.
    pub fn of(receipt: &Receipt) -> Self {
        Self(keys::list_sort(receipt.created_at, &receipt.public_id))
    }

    pub(in crate::table) fn sort_key(&self) -> &str {
        &self.0
    }

    /// The day of its list.
    pub(in crate::table) fn day(&self) -> Date {
        keys::fiscal_day(self.instant().unwrap_or(Timestamp::MIN))
    }

    pub(in crate::table) fn instant(&self) -> Option<Timestamp> {
        let (millis, _) = self.0.split_once('#')?;
        Timestamp::from_millisecond(millis.parse().ok()?).ok()
    }
}

/// The sort key, with `.` instead of `#`, which a URL would have to escape.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.replace('#', "."))
    }
}

impl FromStr for Position {
    type Err = UnknownPosition;

    fn from_str(text: &str) -> Result<Self, UnknownPosition> {
        let (millis, id) = text.split_once('.').ok_or(UnknownPosition)?;
        let is_id = id.len() == OF_ID
            && id
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let position = Self(format!("{millis}#{id}"));
        let is_time = position.instant().is_some_and(|at| keys::millis_sort(at) == millis);
        if is_id && is_time {
            Ok(position)
        } else {
            Err(UnknownPosition)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back_from_its_text_and_nothing_else_is_one() {
        let position = Position::of_sort_key("1795833000500#5f75fzh0");
        assert_eq!(position.to_string(), "1795833000500.5f75fzh0");
        assert_eq!(position.to_string().parse(), Ok(position.clone()));
        assert_eq!(position.day(), "2026-11-27".parse().unwrap());
        for bad in [
            "",
            "next",
            "1795833000500",
            "1795833000500#5f75fzh0",
            "1795833000500.5F75FZH0",
            "1795833000500.5f75fzh",
            "1795833000500.5f75fz~!",
            "179583300050.5f75fzh0",
            "+795833000500.5f75fzh0",
            "9999999999999999.5f75fzh0",
        ] {
            assert_eq!(bad.parse::<Position>(), Err(UnknownPosition), "{bad}");
        }
    }
}
