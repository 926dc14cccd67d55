//! Reading JSON level by level over raw values: serde_json judges the syntax, numbers stay text.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{JsonError, Node};

pub(super) fn parse(bytes: &[u8]) -> Result<Node, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|error| JsonError::Utf8 {
        offset: error.valid_up_to(),
    })?;
    let source = Source { text };
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| source.syntax(text, &error))?;
    source.node(whole.get(), 0)
}

/// The whole text, to place the faults of its parts.
#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a str,
}

impl<'a> Source<'a> {
    fn node(self, raw: &'a str, depth: usize) -> Result<Node, JsonError> {
        let nests = raw.starts_with(['{', '[']);
        if nests && depth == Node::MAX_DEPTH {
            return Err(JsonError::TooDeep {
                offset: self.start(raw),
            });
        }
        Ok(match raw.as_bytes() {
            [b'{', ..] => {
                let mut duplicate = None;
                let mut deserializer = serde_json::Deserializer::from_str(raw);
                let members = Members {
                    duplicate: &mut duplicate,
                };
                match members.deserialize(&mut deserializer) {
                    Ok(members) => Node::Object(
                        members
                            .into_iter()
                            .map(|(key, value)| Ok((key, self.node(value.get(), depth + 1)?)))
                            .collect::<Result<_, JsonError>>()?,
                    ),
                    Err(error) => {
                        return Err(match duplicate {
                            Some(key) => {
                                let (line, column, offset) = self.place(raw, &error);
                                JsonError::DuplicateKey {
                                    key,
                                    line,
                                    column,
                                    offset,
                                }
                            }
                            None => self.syntax(raw, &error),
                        });
                    }
                }
            }
            [b'[', ..] => Node::Array(
                serde_json::Deserializer::from_str(raw)
                    .deserialize_seq(Elements)
                    .map_err(|error| self.syntax(raw, &error))?
                    .into_iter()
                    .map(|element| self.node(element.get(), depth + 1))
                    .collect::<Result<_, _>>()?,
            ),
            [b'"', ..] => Node::Text(serde_json::from_str(raw).map_err(|error| self.syntax(raw, &error))?),
            b"true" => Node::Bool(true),
            b"false" => Node::Bool(false),
            b"null" => Node::Null,
            _ => Node::Number(raw.into()),
        })
    }

    /// Where a part of the text starts.
    fn start(self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    fn syntax(self, part: &str, error: &serde_json::Error) -> JsonError {
        let (line, column, offset) = self.place(part, error);
        let told = error.to_string();
        // serde_json appends the place inside the part, which is not the place inside the whole.
        let reason = told
            .split_once(" at line ")
            .map_or(told.as_str(), |(reason, _)| reason)
            .to_owned();
        JsonError::Syntax {
            reason,
            line,
            column,
            offset,
        }
    }

    /// Line, column and offset in the whole text of an error in a part of it.
    fn place(self, part: &str, error: &serde_json::Error) -> (usize, usize, usize) {
        let before: usize = part
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum();
        let offset = (self.start(part) + before + error.column().saturating_sub(1)).min(self.text.len());
        let read = &self.text.as_bytes()[..offset];
        let line_start = read.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        (
            read.iter().filter(|&&byte| byte == b'\n').count() + 1,
            offset - line_start + 1,
            offset,
        )
    }
}

/// The members of one object, unread; a name given twice is reported apart.
struct Members<'s> {
    duplicate: &'s mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Vec<(Box<str>, &'de RawValue)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Vec<(Box<str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Self::Value = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(key) = map.next_key::<Box<str>>()? {
            // A few members are compared faster than hashed; many must not cost the square of their count.
            let twice = if members.len() < 32 {
                members.iter().any(|(name, _)| *name == key)
            } else {
                if seen.is_empty() {
                    seen.extend(members.iter().map(|(name, _)| name.clone()));
                }
                !seen.insert(key.clone())
            };
            if twice {
                *self.duplicate = Some(key.into());
                return Err(serde::de::Error::custom("a member is given twice"));
            }
            members.push((key, map.next_value()?));
        }
        Ok(members)
    }
}

/// The elements of one list, unread.
struct Elements;

impl<'de> Visitor<'de> for Elements {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            elements.push(element);
        }
        Ok(elements)
    }
}
