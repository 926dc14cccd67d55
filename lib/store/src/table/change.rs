//! An update of one item, in DynamoDB's expressions.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use aws_sdk_dynamodb::{
    error::BuildError,
    operation::update_item::builders::UpdateItemFluentBuilder,
    types::{AttributeValue, ReturnValuesOnConditionCheckFailure, Update},
};

use super::keys::Key;

/// The change of an optional attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Edit<T> {
    #[default]
    Keep,
    /// Removes the attribute.
    Clear,
    Set(T),
}

impl<T> Edit<T> {
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> Edit<U> {
        match self {
            Self::Keep => Edit::Keep,
            Self::Clear => Edit::Clear,
            Self::Set(value) => Edit::Set(to(value)),
        }
    }
}

/// An update of one item, with its condition.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    key: Key,
    clauses: BTreeMap<&'static str, Vec<String>>,
    condition: Option<String>,
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
}

impl Change {
    pub(crate) fn of(key: Key) -> Self {
        Self {
            key,
            clauses: BTreeMap::new(),
            condition: None,
            names: HashMap::new(),
            values: HashMap::new(),
        }
    }

    /// `SET name = value`
    pub(crate) fn set(mut self, name: &str, value: AttributeValue) -> Self {
        let (name, value) = self.placeholders(name, value);
        self.clause("SET", format!("{name} = {value}"))
    }

    /// `SET name = value` unless the attribute exists.
    pub(crate) fn set_once(mut self, name: &str, value: AttributeValue) -> Self {
        let (name, value) = self.placeholders(name, value);
        self.clause("SET", format!("{name} = if_not_exists({name}, {value})"))
    }

    pub(crate) fn set_some(self, name: &str, value: Option<AttributeValue>) -> Self {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// Sets the attribute, or removes it when there is no value.
    pub(crate) fn set_or_remove(self, name: &str, value: Option<AttributeValue>) -> Self {
        match value {
            Some(value) => self.set(name, value),
            None => self.remove(&[name]),
        }
    }

    pub(crate) fn edit(self, name: &str, edit: Edit<AttributeValue>) -> Self {
        match edit {
            Edit::Keep => self,
            Edit::Clear => self.remove(&[name]),
            Edit::Set(value) => self.set(name, value),
        }
    }

    pub(crate) fn remove(self, names: &[&str]) -> Self {
        names.iter().fold(self, |mut change, name| {
            let name = change.name(name);
            change.clause("REMOVE", name)
        })
    }

    /// `ADD name value`: counts up, from zero when absent.
    pub(crate) fn add(mut self, name: &str, value: AttributeValue) -> Self {
        let (name, value) = self.placeholders(name, value);
        self.clause("ADD", format!("{name} {value}"))
    }

    /// `DELETE name elements`: removes elements from a set; DynamoDB removes an empty set.
    pub(crate) fn delete(mut self, name: &str, elements: AttributeValue) -> Self {
        let (name, elements) = self.placeholders(name, elements);
        self.clause("DELETE", format!("{name} {elements}"))
    }

    /// The condition, in DynamoDB's own words. Names are written `#name`, values `:name` and given by [`Self::bind`].
    pub(crate) fn when(mut self, condition: impl Into<String>) -> Self {
        let condition = condition.into();
        let mut rest = condition.as_str();
        while let Some(start) = rest.find('#') {
            let name = &rest[start + 1..];
            let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
            self.name(&name[..end]);
            rest = &name[end..];
        }
        self.condition = Some(condition);
        self
    }

    /// One more condition beside [`Self::when`], which must hold too.
    pub(crate) fn and(mut self, also: &str) -> Self {
        let condition = match self.condition.take() {
            Some(condition) => format!("{condition} AND {also}"),
            None => also.to_owned(),
        };
        self.when(condition)
    }

    /// The condition, beside any other, that an attribute is still what it was seen to be, or still absent.
    pub(crate) fn still(mut self, name: &str, seen: Option<AttributeValue>) -> Self {
        let name = self.name(name);
        let still = match seen {
            Some(seen) => {
                let placeholder = format!(":seen_{}", &name[1..]);
                self.values.insert(placeholder.clone(), seen);
                format!("{name} = {placeholder}")
            }
            None => format!("attribute_not_exists({name})"),
        };
        self.condition = Some(match self.condition.take() {
            Some(condition) => format!("{condition} AND {still}"),
            None => still,
        });
        self
    }

    pub(crate) fn bind(mut self, placeholder: &str, value: AttributeValue) -> Self {
        self.values.insert(placeholder.to_owned(), value);
        self
    }

    fn clause(mut self, verb: &'static str, text: String) -> Self {
        self.clauses.entry(verb).or_default().push(text);
        self
    }

    /// Every name goes through a placeholder: several short ones are reserved words of DynamoDB.
    fn name(&mut self, name: &str) -> String {
        let mut placeholder = String::from("#");
        for character in name.chars() {
            match character {
                c if c.is_ascii_alphanumeric() => placeholder.push(c),
                c => {
                    let _ = write!(placeholder, "_{:x}", u32::from(c));
                }
            }
        }
        self.names.insert(placeholder.clone(), name.to_owned());
        placeholder
    }

    fn placeholders(&mut self, name: &str, value: AttributeValue) -> (String, String) {
        let name = self.name(name);
        let placeholder = format!(":new_{}", &name[1..]);
        self.values.insert(placeholder.clone(), value);
        (name, placeholder)
    }

    /// The same update as a request of its own.
    pub(crate) fn fill(&self, request: UpdateItemFluentBuilder) -> UpdateItemFluentBuilder {
        request
            .set_key(Some(self.key.attributes()))
            .set_update_expression(self.expression())
            .set_condition_expression(self.condition.clone())
            .set_expression_attribute_names(Some(self.names.clone()))
            .set_expression_attribute_values(self.values())
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }

    /// The same update as a part of a transaction.
    pub(crate) fn in_transaction(&self, table: &str) -> Result<Update, BuildError> {
        Update::builder()
            .table_name(table)
            .set_key(Some(self.key.attributes()))
            .set_update_expression(self.expression())
            .set_condition_expression(self.condition.clone())
            .set_expression_attribute_names(Some(self.names.clone()))
            .set_expression_attribute_values(self.values())
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
    }

    #[cfg(test)]
    pub(crate) fn condition(&self) -> Option<&str> {
        self.condition.as_deref()
    }

    fn expression(&self) -> Option<String> {
        let clauses: Vec<String> = self
            .clauses
            .iter()
            .map(|(verb, parts)| format!("{verb} {}", parts.join(", ")))
            .collect();
        (!clauses.is_empty()).then(|| clauses.join(" "))
    }

    fn values(&self) -> Option<HashMap<String, AttributeValue>> {
        (!self.values.is_empty()).then(|| self.values.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::item::text;

    #[test]
    fn a_change_writes_every_name_as_a_placeholder() {
        let change = Change::of(Key {
            pk: "a".into(),
            sk: "b".into(),
        })
        .set("st", text("x"))
        .add("31:accepted", AttributeValue::N("1".into()))
        .remove(&["lu"])
        .when("#st IN (:a) AND attribute_not_exists(#lu)")
        .bind(":a", text("y"));
        assert_eq!(
            change.expression().unwrap(),
            "ADD #31_3aaccepted :new_31_3aaccepted REMOVE #lu SET #st = :new_st"
        );
        let mut names: Vec<_> = change.names.into_iter().collect();
        names.sort();
        assert_eq!(
            names,
            [("#31_3aaccepted", "31:accepted"), ("#lu", "lu"), ("#st", "st")]
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
    }
}
