//! The format of instants in the API.

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// RFC 3339 in UTC with milliseconds: `2026-11-27T14:00:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, format = DateTime)]
pub struct Instant(pub Timestamp);

impl From<Timestamp> for Instant {
    fn from(instant: Timestamp) -> Self {
        Self(instant)
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.3}", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_has_three_decimals_and_a_z() {
        let written = |text: &str| serde_json::to_string(&Instant(text.parse().unwrap())).unwrap();
        assert_eq!(written("2026-11-27T10:00:00-04:00"), "\"2026-11-27T14:00:00.000Z\"");
        assert_eq!(written("2026-11-27T14:00:00.1239Z"), "\"2026-11-27T14:00:00.123Z\"");
    }
}
