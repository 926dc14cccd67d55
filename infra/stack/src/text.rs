//! Text with placeholders for values that are known only when the resources exist.

use std::fmt;

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Value, json};

/// A text. `${Table.Arn}` stands for an attribute of a resource, `${Table.Ref}` for the value of `!Ref`, and
/// `${AWS::Region}` for a pseudo parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(String);

/// The only key of the JSON object that represents an unresolved text among evaluated properties. An object cannot be
/// mistaken for a value that must be known at that point.
const OPEN: &str = "${}";

impl Text {
    /// The text as a property value: a number or a boolean if it looks like one, because CloudFormation converts
    /// between them.
    pub(crate) fn property(text: String) -> Value {
        match text.parse::<u64>() {
            _ if text.contains("${") => json!({ OPEN: text }),
            Ok(number) if number.to_string() == text => number.into(),
            _ => text.parse::<bool>().map_or(Value::String(text), Value::Bool),
        }
    }

    /// The resource, if the text consists only of this attribute of it.
    pub fn as_attribute_of(&self, wanted: &str) -> Option<&str> {
        let (resource, attribute) = self.0.strip_prefix("${")?.strip_suffix('}')?.split_once('.')?;
        (attribute == wanted).then_some(resource)
    }

    /// Replaces each `${name}` with the value that `known` returns for the name.
    pub(crate) fn filled<E>(&self, known: impl Fn(&str) -> Result<String, E>) -> Result<String, E> {
        let mut filled = String::new();
        let mut rest = self.0.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            filled.push_str(before);
            filled.push_str(&known(name)?);
            rest = after;
        }
        Ok(filled + rest)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            known @ (Value::Number(_) | Value::Bool(_)) => Ok(Self(known.to_string())),
            other => match other[OPEN].as_str() {
                Some(text) => Ok(Self(text.to_owned())),
                None => Err(D::Error::custom(format_args!("expected a text, found {other}"))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_an_attribute_when_it_is_nothing_else() {
        let text = |text: &str| Text::from(text.to_owned());
        assert_eq!(text("${Table.Arn}").as_attribute_of("Arn"), Some("Table"));
        assert_eq!(text("x-${Table.Arn}").as_attribute_of("Arn"), None);
    }

    #[test]
    fn numbers_and_booleans_are_texts_too() {
        for (text, property) in [
            ("007", json!("007")),
            ("7", json!(7)),
            ("true", json!(true)),
            ("${Table.Arn}", json!({ "${}": "${Table.Arn}" })),
        ] {
            assert_eq!(Text::property(text.to_owned()), property);
            assert_eq!(
                serde_json::from_value::<Text>(property).ok(),
                Some(Text(text.to_owned()))
            );
        }
    }
}
