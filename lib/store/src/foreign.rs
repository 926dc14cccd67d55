//! Text of a stranger that is stored in a record.

use std::{fmt, ops::Deref};

/// A stranger's text, cut to [`ForeignText::MOST_BYTES`]. Records hold strangers' text only in this type, because
/// DynamoDB rejects items above 400 KB, and a page of a list must fit into a response.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ForeignText(String);

impl ForeignText {
    /// Longer texts are cut at a character boundary. The longest text in the authority's formats has 250 characters.
    pub const MOST_BYTES: usize = 1024;
}

impl From<String> for ForeignText {
    fn from(mut text: String) -> Self {
        text.truncate(text.floor_char_boundary(Self::MOST_BYTES));
        Self(text)
    }
}

impl From<&str> for ForeignText {
    fn from(text: &str) -> Self {
        Self(text[..text.floor_char_boundary(Self::MOST_BYTES)].to_owned())
    }
}

impl From<ForeignText> for String {
    fn from(text: ForeignText) -> Self {
        text.0
    }
}

impl Deref for ForeignText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ForeignText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ForeignText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_a_strangers_text_is_cut_at_a_character() {
        let long = "ñ".repeat(ForeignText::MOST_BYTES);
        assert_eq!(ForeignText::from(long.as_str()).len(), ForeignText::MOST_BYTES);
        assert_eq!(ForeignText::from(format!("a{long}")).len(), ForeignText::MOST_BYTES - 1);
        assert_eq!(&*ForeignText::from("corto"), "corto");
    }
}
