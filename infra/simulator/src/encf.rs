//! Electronic numbers: series, type, sequence.

use crate::structure::TYPES;

/// `E310000000001`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encf {
    pub(crate) tipo: u8,
    pub(crate) number: u64,
}

impl Encf {
    /// Reads a number of series E; letter case does not matter.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(['E', 'e'])?;
        if digits.len() != 12 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (tipo, number) = digits.split_at(2);
        let (tipo, number) = (tipo.parse().ok()?, number.parse().ok()?);
        (TYPES.contains(&tipo) && number > 0).then_some(Self { tipo, number })
    }
}

impl std::fmt::Display for Encf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "E{:02}{:010}", self.tipo, self.number)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_number_of_a_known_type_is_read_and_written_alike() {
        assert_eq!(Encf::parse("e310000000042").unwrap().to_string(), "E310000000042");
        for bad in [
            "E420000000001",
            "E310000000000",
            "B310000000001",
            "E31000000001",
            "E31000000000x",
        ] {
            assert_eq!(Encf::parse(bad), None, "{bad}");
        }
    }
}
