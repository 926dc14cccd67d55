//! Text of a stranger that is stored in a record.

use std::{fmt, ops::Deref};

use ecf_language::Bilingual;

/// A stranger's text, cut to [`ForeignText::MOST_BYTES`]. Records hold strangers' text only in this type and in [`Words`], because
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

/// A sentence for the caller that may contain a stranger's text: in both languages, each cut as a [`ForeignText`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(Bilingual);

impl From<Bilingual> for Words {
    fn from(text: Bilingual) -> Self {
        Self(text.map(|text| String::from(ForeignText::from(&*text)).into()))
    }
}

impl From<Words> for Bilingual {
    fn from(words: Words) -> Self {
        words.0
    }
}

impl Deref for Words {
    type Target = Bilingual;

    fn deref(&self) -> &Bilingual {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use ecf_language::say;

    use super::*;

    #[test]
    fn s4_a_strangers_text_is_cut_at_a_character() {
        let long = "ñ".repeat(ForeignText::MOST_BYTES);
        assert_eq!(ForeignText::from(long.as_str()).len(), ForeignText::MOST_BYTES);
        assert_eq!(ForeignText::from(format!("a{long}")).len(), ForeignText::MOST_BYTES - 1);
        assert_eq!(&*ForeignText::from("corto"), "corto");
        let words = Words::from(say!("status 500: {long}", "estado 500: {long}"));
        for (text, begins) in [(&words.en, "status 500: ñ"), (&words.es, "estado 500: ñ")] {
            assert!(
                text.starts_with(begins) && text.len() <= ForeignText::MOST_BYTES,
                "{text}"
            );
        }
    }
}
