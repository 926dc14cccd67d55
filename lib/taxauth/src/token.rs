//! The authority's token: a secret with an expiry.

use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use crate::services::autenticacion::Grant;

/// A token is renewed this long before its expiry.
const MARGIN: SignedDuration = SignedDuration::from_mins(1);

/// The lifetime of a token without usable dates ("one hour, for now").
const USUAL_LIFE: SignedDuration = SignedDuration::from_hours(1);

/// Upper bound of the lifetime, for any dates.
const LONGEST_LIFE: SignedDuration = SignedDuration::from_hours(24);

/// A token of the authority. It prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    value: String,
    expires_at: Timestamp,
}

impl Token {
    pub(crate) fn new(value: String, expires_at: Timestamp) -> Self {
        Self { value, expires_at }
    }

    pub(crate) fn granted(grant: Grant, now: Timestamp) -> Self {
        let expires_at = expiry(grant.expira.as_deref(), grant.expedido.as_deref(), now);
        Self::new(grant.token, expires_at)
    }

    /// Its expiry.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    /// Whether it can be used for a call that starts now.
    #[must_use]
    pub fn is_good_at(&self, now: Timestamp) -> bool {
        now + MARGIN < self.expires_at
    }

    pub(crate) fn expose(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("value", &"***")
            .field("expires_at", &self.expires_at)
            .finish()
    }
}

/// The expiry of a token received now.
///
/// `expira` is used if it lies at most 24 hours ahead. Otherwise (another clock, another time zone) the lifetime
/// between `expedido` and `expira` counts from now. Without usable dates the lifetime is one hour.
fn expiry(expira: Option<&str>, expedido: Option<&str>, now: Timestamp) -> Timestamp {
    let expira = expira.and_then(instant);
    if let Some(expira) = expira.filter(|expira| now < *expira && *expira <= now + LONGEST_LIFE) {
        return expira;
    }
    let life = match (expira, expedido.and_then(instant)) {
        (Some(expira), Some(expedido)) => expira.duration_since(expedido),
        _ => USUAL_LIFE,
    };
    let is_sane = life > SignedDuration::ZERO && life <= LONGEST_LIFE;
    now + if is_sane { life } else { USUAL_LIFE }
}

/// Reads the universal sortable form, with or without fractions, `T`, zone or offset. Without an offset it is UTC.
fn instant(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_end_is_read_in_every_spelling_seen() {
        let now = at("2026-11-27T12:00:00Z");
        let one = at("2026-11-27T13:00:00Z");
        let cases = [
            (Some("2026-11-27T13:00:00Z"), None, one),
            (
                Some("2026-11-27T13:00:00.1234567Z"),
                None,
                at("2026-11-27T13:00:00.1234567Z"),
            ),
            (Some("2026-11-27 13:00:00Z"), None, one),
            (Some("2026-11-27T09:00:00-04:00"), None, one),
            (Some(" 2026-11-27T13:00:00 "), None, one),
            // Local time without an offset looks past: the lifetime between the dates counts.
            (
                Some("2026-11-27T09:00:00"),
                Some("2026-11-27T08:30:00"),
                at("2026-11-27T12:30:00Z"),
            ),
            (Some("2026-11-27T11:00:00Z"), None, one),
            (Some("2026-11-27T11:00:00Z"), Some("2026-11-27T11:00:00Z"), one),
            (Some("2099-01-01T00:00:00Z"), Some("2026-11-27T12:00:00Z"), one),
            (Some("mañana"), Some("hoy"), one),
            (None, None, one),
        ];
        for (expira, expedido, expected) in cases {
            assert_eq!(expiry(expira, expedido, now), expected, "{expira:?} {expedido:?}");
        }
    }

    #[test]
    fn a_token_is_not_used_in_its_last_minute() {
        let token = Token::new("secret".into(), at("2026-11-27T13:00:00Z"));
        assert!(token.is_good_at(at("2026-11-27T12:58:59Z")));
        assert!(!token.is_good_at(at("2026-11-27T12:59:00Z")));
        assert!(!token.is_good_at(at("2026-11-27T14:00:00Z")));
    }

    #[test]
    fn a_token_does_not_print_itself() {
        let token = Token::new("secret".into(), at("2026-11-27T13:00:00Z"));
        assert!(!format!("{token:?}").contains("secret"));
    }
}
