//! Conversion between items and domain types. Reading is fallible and names key and attribute.

use std::{collections::HashMap, fmt::Display, str::FromStr};

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use ecf_language::Bilingual;
use jiff::Timestamp;

use super::keys::{Key, PK, SK};
use crate::{StoreError, Words};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// A new item under construction.
pub(crate) struct NewItem(Item);

impl NewItem {
    pub(crate) fn new(key: &Key) -> Self {
        Self(key.attributes())
    }

    pub(crate) fn with(mut self, name: &str, value: AttributeValue) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Omits the attribute when there is no value: absent and null are the same here.
    pub(crate) fn with_some(self, name: &str, value: Option<AttributeValue>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn with_words(self, [en, es]: Bilingually, words: Option<&Words>) -> Self {
        self.with_some(en, words.map(|words| text(&words.en)))
            .with_some(es, words.and_then(spanish))
    }

    pub(crate) fn build(self) -> Item {
        self.0
    }
}

/// The attributes of a sentence: English, and Spanish if it differs. A version before this pair stores English alone,
/// and leaves a Spanish sentence as it is: after a rollback the two may differ until the next write.
pub(crate) type Bilingually = [&'static str; 2];

pub(crate) fn spanish(words: &Words) -> Option<AttributeValue> {
    (words.es != words.en).then(|| text(&words.es))
}

pub(crate) fn text(value: impl Display) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

pub(crate) fn number(value: impl Display) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// Milliseconds since the epoch: eight bytes, and every instant of the API has milliseconds.
pub(crate) fn instant(at: Timestamp) -> AttributeValue {
    number(at.as_millisecond())
}

/// Seconds since the epoch, the format of TTL.
pub(crate) fn expiry(at: Timestamp) -> AttributeValue {
    number(at.as_second())
}

pub(crate) fn bytes(value: impl AsRef<[u8]>) -> AttributeValue {
    AttributeValue::B(Blob::new(value.as_ref()))
}

pub(crate) fn flag(value: bool) -> AttributeValue {
    AttributeValue::Bool(value)
}

pub(crate) fn texts(values: impl IntoIterator<Item = impl Display>) -> AttributeValue {
    AttributeValue::Ss(values.into_iter().map(|value| value.to_string()).collect())
}

/// Truncates an instant to the table's precision, so that the result of a write equals a later read.
pub(crate) fn to_millis(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

/// An item read from the table.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    item: Item,
}

impl Stored {
    pub(crate) fn new(item: Item) -> Self {
        Self { item }
    }

    pub(crate) fn pk(&self) -> Result<&str, StoreError> {
        self.str(PK)
    }

    pub(crate) fn sk(&self) -> Result<&str, StoreError> {
        self.str(SK)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.item.contains_key(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.item.keys().map(String::as_str)
    }

    /// The error for an attribute with an invalid value.
    pub(crate) fn corrupt(&self, name: &'static str, why: impl ToString) -> StoreError {
        let part = |name| match self.item.get(name) {
            Some(AttributeValue::S(text)) => text.as_str(),
            _ => "?",
        };
        StoreError::corrupt(format!("{} / {}", part(PK), part(SK)), name, why)
    }

    pub(crate) fn str(&self, name: &'static str) -> Result<&str, StoreError> {
        self.opt_str(name)?.ok_or_else(|| self.corrupt(name, "is missing"))
    }

    pub(crate) fn opt_str(&self, name: &'static str) -> Result<Option<&str>, StoreError> {
        match self.item.get(name) {
            None => Ok(None),
            Some(AttributeValue::S(text)) => Ok(Some(text)),
            Some(_) => Err(self.corrupt(name, "is not a text")),
        }
    }

    pub(crate) fn opt_words(&self, [en, es]: Bilingually) -> Result<Option<Words>, StoreError> {
        let Some(english) = self.opt_str(en)? else {
            return Ok(None);
        };
        let spanish = self.opt_str(es)?.unwrap_or(english);
        let both = Bilingual {
            en: english.to_owned().into(),
            es: spanish.to_owned().into(),
        };
        Ok(Some(both.into()))
    }

    pub(crate) fn parse<T>(&self, name: &'static str) -> Result<T, StoreError>
    where
        T: FromStr,
        T::Err: Display,
    {
        self.opt_parse(name)?.ok_or_else(|| self.corrupt(name, "is missing"))
    }

    pub(crate) fn opt_parse<T>(&self, name: &'static str) -> Result<Option<T>, StoreError>
    where
        T: FromStr,
        T::Err: Display,
    {
        let text = match self.item.get(name) {
            None => return Ok(None),
            Some(AttributeValue::S(text) | AttributeValue::N(text)) => text,
            Some(_) => return Err(self.corrupt(name, "is neither text nor number")),
        };
        text.parse()
            .map(Some)
            .map_err(|error| self.corrupt(name, format!("does not parse: {error}")))
    }

    pub(crate) fn instant(&self, name: &'static str) -> Result<Timestamp, StoreError> {
        self.opt_instant(name)?.ok_or_else(|| self.corrupt(name, "is missing"))
    }

    pub(crate) fn opt_instant(&self, name: &'static str) -> Result<Option<Timestamp>, StoreError> {
        let Some(millis) = self.opt_parse::<i64>(name)? else {
            return Ok(None);
        };
        Timestamp::from_millisecond(millis)
            .map(Some)
            .map_err(|error| self.corrupt(name, error))
    }

    pub(crate) fn bytes(&self, name: &'static str) -> Result<&[u8], StoreError> {
        self.opt_bytes(name)?.ok_or_else(|| self.corrupt(name, "is missing"))
    }

    pub(crate) fn opt_bytes(&self, name: &'static str) -> Result<Option<&[u8]>, StoreError> {
        match self.item.get(name) {
            None => Ok(None),
            Some(AttributeValue::B(blob)) => Ok(Some(blob.as_ref())),
            Some(_) => Err(self.corrupt(name, "is not binary")),
        }
    }

    pub(crate) fn hash(&self, name: &'static str) -> Result<[u8; 32], StoreError> {
        self.opt_hash(name)?.ok_or_else(|| self.corrupt(name, "is missing"))
    }

    pub(crate) fn opt_hash(&self, name: &'static str) -> Result<Option<[u8; 32]>, StoreError> {
        let Some(bytes) = self.opt_bytes(name)? else {
            return Ok(None);
        };
        let hash = bytes
            .try_into()
            .map_err(|_| self.corrupt(name, format!("has {} bytes, not 32", bytes.len())))?;
        Ok(Some(hash))
    }

    /// A flag; absent means `false`.
    pub(crate) fn flag(&self, name: &'static str) -> Result<bool, StoreError> {
        Ok(self.opt_flag(name)?.unwrap_or(false))
    }

    pub(crate) fn opt_flag(&self, name: &'static str) -> Result<Option<bool>, StoreError> {
        match self.item.get(name) {
            None => Ok(None),
            Some(AttributeValue::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.corrupt(name, "is not true or false")),
        }
    }

    /// A word of a closed list.
    pub(crate) fn one_of<T: Copy>(
        &self,
        name: &'static str,
        all: &[T],
        as_str: fn(T) -> &'static str,
    ) -> Result<T, StoreError> {
        let found = self.opt_one_of(name, all, as_str)?;
        found.ok_or_else(|| self.corrupt(name, "is missing"))
    }

    pub(crate) fn opt_one_of<T: Copy>(
        &self,
        name: &'static str,
        all: &[T],
        as_str: fn(T) -> &'static str,
    ) -> Result<Option<T>, StoreError> {
        let Some(given) = self.opt_str(name)? else {
            return Ok(None);
        };
        let found = all.iter().copied().find(|one| as_str(*one) == given);
        found.map(Some).ok_or_else(|| self.corrupt(name, format!("is {given}")))
    }

    /// A set of texts; absent means empty, because DynamoDB has no empty set.
    pub(crate) fn texts(&self, name: &'static str) -> Result<&[String], StoreError> {
        match self.item.get(name) {
            None => Ok(&[]),
            Some(AttributeValue::Ss(texts)) => Ok(texts),
            Some(_) => Err(self.corrupt(name, "is not a set of texts")),
        }
    }

    /// A list of texts, in its order.
    pub(crate) fn list(&self, name: &'static str) -> Result<Vec<String>, StoreError> {
        let Some(AttributeValue::L(values)) = self.item.get(name) else {
            return Err(self.corrupt(name, "is not a list"));
        };
        values
            .iter()
            .map(|value| match value {
                AttributeValue::S(text) => Ok(text.clone()),
                _ => Err(self.corrupt(name, "holds something that is not a text")),
            })
            .collect()
    }

    /// A set of numbers; absent is empty.
    pub(crate) fn numbers(&self, name: &'static str) -> Result<Vec<u64>, StoreError> {
        match self.item.get(name) {
            None => Ok(Vec::new()),
            Some(AttributeValue::Ns(numbers)) => numbers
                .iter()
                .map(|number| {
                    number
                        .parse()
                        .map_err(|_| self.corrupt(name, format!("holds {number}")))
                })
                .collect(),
            Some(_) => Err(self.corrupt(name, "is not a set of numbers")),
        }
    }

    /// An instant whose name contains data; the error shows `kind` instead.
    pub(crate) fn instant_named(&self, name: &str, kind: &'static str) -> Result<Timestamp, StoreError> {
        let Some(AttributeValue::N(millis)) = self.item.get(name) else {
            return Err(self.corrupt(kind, format!("{name} is not an instant")));
        };
        let millis: i64 = millis
            .parse()
            .map_err(|_| self.corrupt(kind, format!("{name} holds {millis}")))?;
        Timestamp::from_millisecond(millis).map_err(|error| self.corrupt(kind, format!("{name}: {error}")))
    }

    /// A counter whose name contains data.
    pub(crate) fn count<N: std::str::FromStr>(&self, name: &str) -> Result<N, StoreError> {
        match self.item.get(name) {
            Some(AttributeValue::N(digits)) => digits
                .parse()
                .map_err(|_| self.corrupt("count", format!("{name} holds {digits}"))),
            _ => Err(self.corrupt("count", format!("{name} is not a number"))),
        }
    }
}
