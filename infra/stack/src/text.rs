//! Text of which parts are known only when the resources exist.

use std::fmt;

/// One piece of a [`Text`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Text as it is.
    Literal(String),
    /// An attribute of a resource; `Ref` stands for what `!Ref` gives.
    Attribute {
        /// The resource's logical id.
        resource: String,
        /// The attribute's name, such as `Arn`.
        attribute: String,
    },
    /// A pseudo parameter, such as `AWS::Region`.
    Pseudo(String),
}

/// A text, in pieces that are known now or later.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(Vec<Part>);

impl Text {
    pub(crate) fn of(part: Part) -> Self {
        let mut text = Self::default();
        text.push(part);
        text
    }

    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self::of(Part::Literal(text.into()))
    }

    /// Adds a piece; neighbouring literals grow together, so that equal texts are equal values.
    pub(crate) fn push(&mut self, part: Part) {
        match (self.0.last_mut(), part) {
            (_, Part::Literal(text)) if text.is_empty() => {}
            (Some(Part::Literal(last)), Part::Literal(text)) => last.push_str(&text),
            (_, part) => self.0.push(part),
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        for part in other.0 {
            self.push(part);
        }
    }

    /// The pieces, in order.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// The whole text, when nothing of it waits for a resource.
    pub fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The resource, when the text is just this attribute of it.
    pub fn as_attribute_of(&self, wanted: &str) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Attribute { resource, attribute }] if attribute == wanted => Some(resource),
            _ => None,
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            match part {
                Part::Literal(text) => f.write_str(text)?,
                Part::Attribute { resource, attribute } => write!(f, "${{{resource}.{attribute}}}")?,
                Part::Pseudo(name) => write!(f, "${{{name}}}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_literals_are_one() {
        let mut text = Text::literal("a");
        text.push(Part::Literal("b".into()));
        text.push(Part::Literal(String::new()));
        assert_eq!(text.as_literal(), Some("ab"));
    }

    #[test]
    fn a_text_with_an_attribute_is_no_literal() {
        let mut text = Text::literal("x-");
        text.push(Part::Attribute {
            resource: "Table".into(),
            attribute: "Arn".into(),
        });
        assert_eq!(text.as_literal(), None);
        assert_eq!(text.as_attribute_of("Arn"), None);
        assert_eq!(text.to_string(), "x-${Table.Arn}");
    }
}
