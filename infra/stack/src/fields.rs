//! Reads the properties of a resource and notices the ones that nobody read.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    error::{Place, StackError},
    evaluate::Value,
    text::Text,
};

/// The entries of one map, taken one by one; [`Fields::finish`] refuses what is left.
#[derive(Debug)]
pub(crate) struct Fields {
    place: Place,
    entries: BTreeMap<String, Value>,
}

impl Fields {
    pub(crate) fn new(place: Place, entries: BTreeMap<String, Value>) -> Self {
        Self { place, entries }
    }

    pub(crate) fn of(value: Value, place: Place) -> Result<Self, StackError> {
        match value {
            Value::Map(entries) => Ok(Self { place, entries }),
            other => Err(unexpected(&other, "a map", &place)),
        }
    }

    pub(crate) fn into_entries(self) -> BTreeMap<String, Value> {
        self.entries
    }

    /// Lays these entries over defaults, as SAM does with `Globals`: maps merge, texts win.
    pub(crate) fn over(mut self, defaults: &BTreeMap<String, Value>) -> Result<Self, StackError> {
        self.entries = merged(self.entries, defaults, &self.place)?;
        Ok(self)
    }

    fn missing(&self, name: &str) -> StackError {
        StackError::Missing {
            place: self.place.below(name),
        }
    }

    pub(crate) fn invalid(&self, name: &str, expected: &str, found: impl ToString) -> StackError {
        StackError::Invalid {
            place: self.place.below(name),
            expected: expected.to_owned(),
            found: found.to_string(),
        }
    }

    /// Names that are known and have no effect here. The caller says why.
    pub(crate) fn without_effect(&mut self, names: &[&str]) {
        self.entries.retain(|name, _| !names.contains(&name.as_str()));
    }

    /// Every entry as text, whatever its name.
    pub(crate) fn all_texts(mut self) -> Result<BTreeMap<String, Text>, StackError> {
        let names: Vec<_> = self.entries.keys().cloned().collect();
        names
            .into_iter()
            .map(|name| Ok((name.clone(), self.text(&name)?)))
            .collect()
    }

    /// Every entry as a map, whatever its name.
    pub(crate) fn all_fields(mut self) -> Result<Vec<(String, Fields)>, StackError> {
        let names: Vec<_> = self.entries.keys().cloned().collect();
        names
            .into_iter()
            .map(|name| Ok((name.clone(), self.fields(&name)?)))
            .collect()
    }

    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<Text>, StackError> {
        match self.entries.remove(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(unexpected(&other, "a text", &self.place.below(name))),
        }
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<Text, StackError> {
        self.optional_text(name)?.ok_or_else(|| self.missing(name))
    }

    pub(crate) fn optional_literal(&mut self, name: &str) -> Result<Option<String>, StackError> {
        let Some(text) = self.optional_text(name)? else {
            return Ok(None);
        };
        match text.as_literal() {
            Some(literal) => Ok(Some(literal.to_owned())),
            None => Err(self.invalid(name, "a text that depends on no resource", text)),
        }
    }

    pub(crate) fn literal(&mut self, name: &str) -> Result<String, StackError> {
        self.optional_literal(name)?.ok_or_else(|| self.missing(name))
    }

    /// A text that must be this one.
    pub(crate) fn exactly(&mut self, name: &str, wanted: &str) -> Result<(), StackError> {
        let found = self.literal(name)?;
        if found == wanted {
            Ok(())
        } else {
            Err(self.invalid(name, wanted, found))
        }
    }

    pub(crate) fn optional_integer<T: TryFrom<u64>>(&mut self, name: &str) -> Result<Option<T>, StackError> {
        let Some(literal) = self.optional_literal(name)? else {
            return Ok(None);
        };
        let parsed = literal.parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
        parsed
            .map(Some)
            .ok_or_else(|| self.invalid(name, "a whole number in range", literal))
    }

    pub(crate) fn integer<T: TryFrom<u64>>(&mut self, name: &str) -> Result<T, StackError> {
        self.optional_integer(name)?.ok_or_else(|| self.missing(name))
    }

    pub(crate) fn optional_seconds(&mut self, name: &str) -> Result<Option<Duration>, StackError> {
        Ok(self.optional_integer(name)?.map(Duration::from_secs))
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, StackError> {
        match self.optional_literal(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(self.invalid(name, "true or false", other)),
        }
    }

    /// The resource that a property names by this attribute (`Ref`, `Arn`…).
    pub(crate) fn resource(&mut self, name: &str, attribute: &str) -> Result<String, StackError> {
        let text = self.text(name)?;
        match text.as_attribute_of(attribute) {
            Some(resource) => Ok(resource.to_owned()),
            None => Err(self.invalid(name, &format!("the {attribute} of a resource of this template"), text)),
        }
    }

    pub(crate) fn optional_fields(&mut self, name: &str) -> Result<Option<Fields>, StackError> {
        let place = self.place.below(name);
        self.entries
            .remove(name)
            .map(|value| Fields::of(value, place))
            .transpose()
    }

    pub(crate) fn fields(&mut self, name: &str) -> Result<Fields, StackError> {
        self.optional_fields(name)?.ok_or_else(|| self.missing(name))
    }

    fn items(&mut self, name: &str) -> Result<Vec<(Place, Value)>, StackError> {
        let place = self.place.below(name);
        match self.entries.remove(name) {
            None => Ok(Vec::new()),
            Some(Value::List(items)) => Ok(items
                .into_iter()
                .enumerate()
                .map(|(index, item)| (place.below(index), item))
                .collect()),
            Some(other) => Err(unexpected(&other, "a list", &place)),
        }
    }

    /// The maps of a list; an absent list has none.
    pub(crate) fn list_of_fields(&mut self, name: &str) -> Result<Vec<Fields>, StackError> {
        self.items(name)?
            .into_iter()
            .map(|(place, item)| Fields::of(item, place))
            .collect()
    }

    /// The texts of a list; an absent list has none.
    pub(crate) fn list_of_literals(&mut self, name: &str) -> Result<Vec<String>, StackError> {
        let items = self.items(name)?;
        items
            .into_iter()
            .map(|(place, item)| match &item {
                Value::Text(text) if text.as_literal().is_some() => Ok(text.to_string()),
                other => Err(unexpected(other, "a text that depends on no resource", &place)),
            })
            .collect()
    }

    /// Refuses whatever nobody asked for.
    pub(crate) fn finish(self) -> Result<(), StackError> {
        match self.entries.keys().next() {
            None => Ok(()),
            Some(name) => Err(StackError::Unsupported {
                place: self.place,
                what: format!("the property {name}"),
            }),
        }
    }
}

fn merged(
    mut entries: BTreeMap<String, Value>,
    defaults: &BTreeMap<String, Value>,
    place: &Place,
) -> Result<BTreeMap<String, Value>, StackError> {
    for (name, default) in defaults {
        let value = match (entries.remove(name), default) {
            (None, default) => default.clone(),
            (Some(Value::Text(text)), Value::Text(_)) => Value::Text(text),
            (Some(Value::Map(own)), Value::Map(default)) => Value::Map(merged(own, default, &place.below(name))?),
            (Some(_), _) => {
                let what = "a list both here and in Globals".to_owned();
                return Err(StackError::Unsupported {
                    place: place.below(name),
                    what,
                });
            }
        };
        entries.insert(name.clone(), value);
    }
    Ok(entries)
}

fn unexpected(value: &Value, expected: &str, place: &Place) -> StackError {
    let found = match value {
        Value::Text(text) => format!("\"{text}\""),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
    };
    StackError::Invalid {
        place: place.clone(),
        expected: expected.to_owned(),
        found,
    }
}
