//! Parses instants in the formats that callers use.

use ecf::SANTO_DOMINGO;
use jiff::{Timestamp, ToSpan as _, civil};

/// Parses an instant in RFC 3339. Without an offset it is local time, −04:00; a date alone is its first instant.
pub fn first_instant(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    match day(text) {
        Some(day) => first_of(day),
        None => instant(text),
    }
}

/// Like [`first_instant`], but a date alone is its last instant, so that a span includes the whole day.
pub fn last_instant(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    match day(text) {
        Some(day) => first_of(day.tomorrow().ok()?)?.checked_sub(1.nanosecond()).ok(),
        None => instant(text),
    }
}

/// Parses a date without a time of day: `2026-11-28` or `20261128`.
fn day(text: &str) -> Option<civil::Date> {
    let is_date = |character: char| character.is_ascii_digit() || character == '-';
    text.chars().all(is_date).then(|| text.parse().ok()).flatten()
}

fn first_of(day: civil::Date) -> Option<Timestamp> {
    SANTO_DOMINGO.to_timestamp(day.at(0, 0, 0, 0)).ok()
}

fn instant(text: &str) -> Option<Timestamp> {
    if let Ok(instant) = text.parse() {
        return Some(instant);
    }
    // A `+` that was not percent-encoded in a query arrives as a blank.
    if let Some((time, offset)) = text.rsplit_once(' ')
        && time.contains('T')
        && let Ok(instant) = format!("{time}+{offset}").parse()
    {
        return Some(instant);
    }
    let local: civil::DateTime = text.parse().ok()?;
    SANTO_DOMINGO.to_timestamp(local).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a2_a_day_alone_is_the_whole_day_in_santo_domingo() {
        let shown = |at: Option<Timestamp>| at.map(|at| at.to_string());
        for text in ["2026-11-28", " 2026-11-28 ", "20261128"] {
            assert_eq!(
                shown(first_instant(text)).as_deref(),
                Some("2026-11-28T04:00:00Z"),
                "{text}"
            );
            assert_eq!(
                shown(last_instant(text)).as_deref(),
                Some("2026-11-29T03:59:59.999999999Z"),
                "{text}"
            );
        }
        for text in [
            "2026-11-28T10:00:00",
            "2026-11-28T00:00",
            "2026-11-28 10:00:00",
            "2026-11-28T10:00:00+02:00",
        ] {
            assert_eq!(first_instant(text), last_instant(text), "{text}");
            assert!(first_instant(text).is_some(), "{text}");
        }
        for text in ["", "2026", "2026-13-01", "2026-02-30", "28-11-2026", "-", "9999-12-31x"] {
            assert_eq!((first_instant(text), last_instant(text)), (None, None), "{text}");
        }
    }
}
