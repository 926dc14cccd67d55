//! The position in the feed of notices: opaque to the client, valid for one company and environment.
//!
//! A cursor is not signed: with a forged one a client can only miss or repeat notices that it may see anyway.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ecf_language::{Bilingual, Say};
use ecf_store::Scope;
use jiff::{SignedDuration, Timestamp};

/// Maximum age of a cursor. The feed retains ended notices for one month longer than this.
const GOOD_FOR: SignedDuration = SignedDuration::from_hours(90 * 24);
/// The first part of the text. A cursor of another version is treated as expired.
const VERSION: &str = "n1";

/// A position in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    /// Everything up to this number was delivered.
    pub(super) after: u64,
    /// While the notices in force are delivered, page by page: the latest number when that started.
    beginning_until: Option<u64>,
}

/// Why a text is not a valid cursor for this caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CursorError {
    #[error("this is no cursor: give next_cursor as it was answered, or none to begin again")]
    Unreadable,
    #[error("this cursor is of another company or environment")]
    Foreign,
    #[error("this cursor expired")]
    Expired,
}

impl Say for CursorError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Unreadable => "no es un cursor: dé next_cursor como se respondió, o ninguno para empezar otra vez",
            Self::Foreign => "este cursor es de otra empresa o de otro ambiente",
            Self::Expired => "este cursor venció",
        };
        Bilingual::of(self, spanish)
    }
}

impl Cursor {
    pub(super) fn beginning(latest: u64) -> Self {
        Self {
            after: 0,
            beginning_until: Some(latest),
        }
    }

    pub(super) fn after(number: u64) -> Self {
        Self {
            after: number,
            beginning_until: None,
        }
    }

    /// The same cursor, advanced to `number`.
    pub(super) fn at(self, number: u64) -> Self {
        Self { after: number, ..self }
    }

    pub(super) fn is_beginning(self) -> bool {
        self.beginning_until.is_some()
    }

    /// The last number that belongs to this part of the feed.
    pub(super) fn until(self, latest: u64) -> u64 {
        self.beginning_until.unwrap_or(latest)
    }

    pub(super) fn text(self, scope: &Scope, now: Timestamp) -> String {
        let beginning = self.beginning_until.map_or_else(String::new, |until| until.to_string());
        BASE64.encode(format!(
            "{VERSION}.{}.{}.{}.{beginning}.{}",
            scope.company,
            scope.environment.path_segment(),
            self.after,
            now.as_second(),
        ))
    }

    pub(super) fn read(text: &str, scope: &Scope, latest: u64, now: Timestamp) -> Result<Self, CursorError> {
        let bytes = BASE64.decode(text).map_err(|_| CursorError::Unreadable)?;
        let text = String::from_utf8(bytes).map_err(|_| CursorError::Unreadable)?;
        let parts: Vec<&str> = text.split('.').collect();
        let [version, company, environment, after, beginning, made_at] = parts[..] else {
            return Err(CursorError::Unreadable);
        };
        if version != VERSION {
            return Err(CursorError::Expired);
        }
        if company != scope.company.to_string() || environment != scope.environment.path_segment() {
            return Err(CursorError::Foreign);
        }
        let number = |text: &str| text.parse::<u64>().map_err(|_| CursorError::Unreadable);
        let cursor = Self {
            after: number(after)?,
            beginning_until: (!beginning.is_empty()).then(|| number(beginning)).transpose()?,
        };
        let made_at = made_at
            .parse()
            .ok()
            .and_then(|second| Timestamp::from_second(second).ok());
        let age = now.duration_since(made_at.ok_or(CursorError::Unreadable)?);
        // A number in the future means that the table was restored to an earlier time.
        if age > GOOD_FOR || cursor.after > latest || cursor.beginning_until > Some(latest) {
            return Err(CursorError::Expired);
        }
        Ok(cursor)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use ecf::Environment;
    use ecf_store::CompanyId;

    use super::*;

    fn scope(environment: Environment) -> Scope {
        Scope {
            company: CompanyId::from_random([1; 20]),
            environment,
        }
    }

    #[test]
    fn a_cursor_reads_back_for_its_owner_until_it_expires() {
        let owner = scope(Environment::TesteCF);
        let now: Timestamp = "2026-11-27T16:00:00Z".parse().unwrap();
        for cursor in [Cursor::after(7), Cursor::beginning(9).at(4)] {
            let text = cursor.text(&owner, now);
            assert_eq!(Cursor::read(&text, &owner, 9, now + GOOD_FOR), Ok(cursor));
            let late = now + GOOD_FOR + SignedDuration::from_secs(1);
            assert_eq!(Cursor::read(&text, &owner, 9, late), Err(CursorError::Expired));
            assert_eq!(Cursor::read(&text, &owner, 3, now), Err(CursorError::Expired));
            let other = scope(Environment::Ecf);
            assert_eq!(Cursor::read(&text, &other, 9, now), Err(CursorError::Foreign));
        }
    }

    #[test]
    fn a_text_that_is_none_is_told_from_one_of_another_release() {
        let owner = scope(Environment::TesteCF);
        for text in ["", "x", "ñ", &BASE64.encode("n1.a.b"), &BASE64.encode([0xff])] {
            let read = Cursor::read(text, &owner, 9, Timestamp::UNIX_EPOCH);
            assert_eq!(read, Err(CursorError::Unreadable), "{text}");
        }
        let read = Cursor::read(&BASE64.encode("n0.a.b.c.d.e"), &owner, 9, Timestamp::UNIX_EPOCH);
        assert_eq!(read, Err(CursorError::Expired));
    }
}
