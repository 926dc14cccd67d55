//! An update of one item, in DynamoDB's expressions.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::{
    error::BuildError,
    operation::update_item::builders::UpdateItemFluentBuilder,
    types::{AttributeValue, ReturnValuesOnConditionCheckFailure, Update},
};
use jiff::Timestamp;

use crate::Words;

use super::{
    condition::{Names, Predicate, Values, placeholder, still},
    item::{Bilingually, spanish, text},
    keys::{self, DUE, Key},
};

/// The change of an optional attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FieldEdit<T> {
    #[default]
    Keep,
    /// Removes the attribute.
    Clear,
    Set(T),
}

impl<T> FieldEdit<T> {
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> FieldEdit<U> {
        match self {
            Self::Keep => FieldEdit::Keep,
            Self::Clear => FieldEdit::Clear,
            Self::Set(value) => FieldEdit::Set(to(value)),
        }
    }
}

/// An update of one item, with its condition.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    key: Key,
    clauses: BTreeMap<&'static str, Vec<String>>,
    condition: Option<Predicate>,
    names: Names,
    values: Values,
}

impl Change {
    pub(crate) fn of(key: Key) -> Self {
        Self {
            key,
            clauses: BTreeMap::new(),
            condition: None,
            names: Names::new(),
            values: Values::new(),
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

    pub(crate) fn set_words(self, [en, es]: Bilingually, words: Option<&Words>) -> Self {
        self.set_or_remove(en, words.map(|words| text(&words.en)))
            .set_or_remove(es, words.and_then(spanish))
    }

    pub(crate) fn edit(self, name: &str, edit: FieldEdit<AttributeValue>) -> Self {
        match edit {
            FieldEdit::Keep => self,
            FieldEdit::Clear => self.remove(&[name]),
            FieldEdit::Set(value) => self.set(name, value),
        }
    }

    pub(crate) fn remove(self, names: &[&str]) -> Self {
        names.iter().fold(self, |mut change, name| {
            let name = change.name(name);
            change.clause("REMOVE", name)
        })
    }

    /// Moves an item that is on the due index, or takes it off.
    pub(crate) fn due_at(self, next: Option<Timestamp>) -> Self {
        match next {
            Some(next) => self.set(DUE.sk, text(keys::due_sort(next))),
            None => self.remove(&[DUE.pk, DUE.sk]),
        }
    }

    /// `ADD name value`: increments, from zero when absent.
    pub(crate) fn add(mut self, name: &str, value: AttributeValue) -> Self {
        let (name, value) = self.placeholders(name, value);
        self.clause("ADD", format!("{name} {value}"))
    }

    /// `DELETE name elements`: removes elements from a set; DynamoDB removes an empty set.
    pub(crate) fn delete(mut self, name: &str, elements: AttributeValue) -> Self {
        let (name, elements) = self.placeholders(name, elements);
        self.clause("DELETE", format!("{name} {elements}"))
    }

    /// The condition of the write, beside any other.
    pub(crate) fn when(mut self, also: Predicate) -> Self {
        self.condition = Some(match self.condition.take() {
            Some(condition) => condition.and(also),
            None => also,
        });
        self
    }

    /// The condition, beside any other, that an attribute is still what it was seen to be, or still absent.
    pub(crate) fn still(self, name: &str, seen: Option<AttributeValue>) -> Self {
        self.when(still(name, seen))
    }

    fn clause(mut self, verb: &'static str, text: String) -> Self {
        self.clauses.entry(verb).or_default().push(text);
        self
    }

    fn name(&mut self, name: &str) -> String {
        let placeholder = placeholder(name);
        self.names.insert(placeholder.clone(), name.to_owned());
        placeholder
    }

    fn placeholders(&mut self, name: &str, value: AttributeValue) -> (String, String) {
        let name = self.name(name);
        let placeholder = format!(":new_{}", &name[1..]);
        self.values.insert(placeholder.clone(), value);
        (name, placeholder)
    }

    /// The update as a request of its own.
    pub(crate) fn fill(&self, request: UpdateItemFluentBuilder) -> UpdateItemFluentBuilder {
        let (condition, names, values) = self.bound_condition();
        request
            .set_key(Some(self.key.attributes()))
            .set_update_expression(self.expression())
            .set_condition_expression(condition)
            .set_expression_attribute_names(Some(names))
            .set_expression_attribute_values(values)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }

    /// The update as a part of a transaction.
    pub(crate) fn in_transaction(&self, table: &str) -> Result<Update, BuildError> {
        let (condition, names, values) = self.bound_condition();
        Update::builder()
            .table_name(table)
            .set_key(Some(self.key.attributes()))
            .set_update_expression(self.expression())
            .set_condition_expression(condition)
            .set_expression_attribute_names(Some(names))
            .set_expression_attribute_values(values)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
    }

    #[cfg(test)]
    pub(crate) fn condition(&self) -> String {
        self.bound_condition().0.unwrap_or_default()
    }

    /// The condition in the syntax of DynamoDB, with all names and values of the write.
    fn bound_condition(&self) -> (Option<String>, Names, Option<Values>) {
        let (mut names, mut values) = (self.names.clone(), self.values.clone());
        let condition = self.condition.as_ref();
        let condition = condition.map(|condition| condition.bind(&mut names, &mut values));
        (condition, names, (!values.is_empty()).then_some(values))
    }

    fn expression(&self) -> Option<String> {
        let clauses: Vec<String> = self
            .clauses
            .iter()
            .map(|(verb, parts)| format!("{verb} {}", parts.join(", ")))
            .collect();
        (!clauses.is_empty()).then(|| clauses.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::condition::{above, absent, among, exists};

    #[test]
    fn every_name_and_value_is_a_placeholder() {
        let change = Change::of(Key {
            pk: "a".into(),
            sk: "b".into(),
        })
        .set("st", text("x"))
        .add("31:accepted", AttributeValue::N("1".into()))
        .remove(&["lu"])
        .when(among("st", vec![text("y"), text("z")]))
        .when(absent("lu").or(above("lu", text("t")).and(exists("st"))));
        assert_eq!(
            change.expression().unwrap(),
            "ADD #31_3aaccepted :new_31_3aaccepted REMOVE #lu SET #st = :new_st"
        );
        let (condition, names, values) = change.bound_condition();
        assert_eq!(
            condition.unwrap(),
            "#st IN (:st, :st_) AND (attribute_not_exists(#lu) OR (#lu > :lu AND attribute_exists(#st)))"
        );
        assert_eq!(values.unwrap()[":st_"], text("z"));
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort();
        assert_eq!(
            names,
            [("#31_3aaccepted", "31:accepted"), ("#lu", "lu"), ("#st", "st")]
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
    }
}
