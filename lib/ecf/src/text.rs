//! Free text in documents: never empty, without control characters, without blanks at the ends.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use ecf_language::{Bilingual, Say};
use thiserror::Error;

/// A text that a document may contain. Its maximum length and other limits belong to the field.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Texto(Box<str>);

/// Why a text is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextoError {
    /// The text is empty: an element without a value must be left out.
    #[error("the text is empty: leave the field out instead")]
    Empty,
    /// A blank at the start or the end.
    #[error("the text starts or ends with a blank")]
    BlankAtEnd,
    /// A character that XML forbids or that is not printable.
    #[error("the text holds the control character U+{:04X} at character {position}", u32::from(*character))]
    Control {
        /// The character.
        character: char,
        /// Its position, counted from 1.
        position: usize,
    },
}

impl Say for TextoError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Empty => "el texto está vacío: omita el campo".to_owned(),
            Self::BlankAtEnd => "el texto empieza o termina con un espacio".to_owned(),
            Self::Control { character, position } => format!(
                "el texto tiene el carácter de control U+{:04X} en la posición {position}",
                u32::from(*character)
            ),
        };
        Bilingual::of(self, spanish)
    }
}

impl Texto {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Accepts blanks at the ends, which certification workbooks contain. All other checks apply.
    pub(crate) fn verbatim(text: &str) -> Result<Self, TextoError> {
        if text.is_empty() {
            return Err(TextoError::Empty);
        }
        let control = |character: &char| character.is_control() || matches!(character, '\u{FFFE}' | '\u{FFFF}');
        match text.chars().enumerate().find(|(_, character)| control(character)) {
            Some((index, character)) => Err(TextoError::Control {
                character,
                position: index + 1,
            }),
            None => Ok(Self(text.into())),
        }
    }
}

impl FromStr for Texto {
    type Err = TextoError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().len() != text.len() {
            return Err(if text.trim().is_empty() {
                TextoError::Empty
            } else {
                TextoError::BlankAtEnd
            });
        }
        Self::verbatim(text)
    }
}

impl Deref for Texto {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Texto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Texto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

text_serde!(Texto);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept_as_it_came_or_refused() {
        for good in ["Ñandú", "e\u{301}", "😀", "a  b", "<&>\""] {
            assert_eq!(good.parse::<Texto>().unwrap().as_str(), good);
        }
        assert_eq!("".parse::<Texto>(), Err(TextoError::Empty));
        assert_eq!("  ".parse::<Texto>(), Err(TextoError::Empty));
        assert_eq!(" a".parse::<Texto>(), Err(TextoError::BlankAtEnd));
        assert_eq!("a\u{A0}".parse::<Texto>(), Err(TextoError::BlankAtEnd));
        let error = "ab\u{0}".parse::<Texto>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the text holds the control character U+0000 at character 3"
        );
    }
}
