//! Conditions of writes, built from the names of attributes and the values that they are compared with.

use std::{collections::HashMap, fmt::Write as _};

use aws_sdk_dynamodb::types::AttributeValue;

/// Attributes by their placeholders.
pub(super) type Names = HashMap<String, String>;
pub(super) type Values = HashMap<String, AttributeValue>;

/// A condition on the attributes of one item.
#[derive(Debug, Clone)]
pub(crate) enum Predicate {
    Term(Term),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// One term in the syntax of DynamoDB: `#` stands for the next name, `:` for the next value.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    text: String,
    names: Vec<String>,
    values: Vec<AttributeValue>,
}

impl Predicate {
    pub(crate) fn and(self, other: Self) -> Self {
        let conjuncts = |condition| match condition {
            Self::All(terms) => terms,
            other => vec![other],
        };
        Self::All([conjuncts(self), conjuncts(other)].concat())
    }

    pub(crate) fn or(self, other: Self) -> Self {
        let disjuncts = |condition| match condition {
            Self::Any(terms) => terms,
            other => vec![other],
        };
        Self::Any([disjuncts(self), disjuncts(other)].concat())
    }

    /// The condition in the syntax of DynamoDB. Adds its names and values to those of the write.
    pub(super) fn bind(&self, names: &mut Names, values: &mut Values) -> String {
        bind(self, false, names, values)
    }
}

macro_rules! terms {
    ($($name:ident($($value:ident)?) => $text:literal,)*) => {$(
        pub(crate) fn $name(name: &str $(, $value: AttributeValue)?) -> Predicate {
            term($text, [name], [$($value)?])
        }
    )*};
}

terms! {
    exists() => "attribute_exists(#)",
    absent() => "attribute_not_exists(#)",
    equals(value) => "# = :",
    differs(value) => "# <> :",
    below(value) => "# < :",
    at_most(value) => "# <= :",
    at_least(value) => "# >= :",
    above(value) => "# > :",
    contains(element) => "contains(#, :)",
    size_equals(size) => "size(#) = :",
    size_above(size) => "size(#) > :",
}

/// The first attribute is at most the second.
pub(crate) fn ordered(low: &str, high: &str) -> Predicate {
    term("# <= #", [low, high], [])
}

/// The attribute has one of these values; there is at least one.
pub(crate) fn among(name: &str, values: Vec<AttributeValue>) -> Predicate {
    let places = vec![":"; values.len()].join(", ");
    term(&format!("# IN ({places})"), [name], values)
}

/// The attribute is what it was seen to be, or still absent.
pub(crate) fn still(name: &str, seen: Option<AttributeValue>) -> Predicate {
    seen.map_or_else(|| absent(name), |seen| equals(name, seen))
}

fn term<const N: usize>(text: &str, names: [&str; N], values: impl Into<Vec<AttributeValue>>) -> Predicate {
    Predicate::Term(Term {
        text: text.to_owned(),
        names: names.map(str::to_owned).into(),
        values: values.into(),
    })
}

/// DynamoDB refuses redundant parentheses, so only a part of another condition has them.
fn bind(condition: &Predicate, nested: bool, names: &mut Names, values: &mut Values) -> String {
    let (terms, joint) = match condition {
        Predicate::Term(term) => return bind_term(term, names, values),
        Predicate::All(terms) => (terms, " AND "),
        Predicate::Any(terms) => (terms, " OR "),
    };
    let terms: Vec<_> = terms.iter().map(|term| bind(term, true, names, values)).collect();
    let condition = terms.join(joint);
    if nested { format!("({condition})") } else { condition }
}

fn bind_term(term: &Term, names: &mut Names, values: &mut Values) -> String {
    let (mut left_names, mut left_values) = (term.names.iter(), term.values.iter());
    let mut text = String::new();
    let mut last = String::new();
    for character in term.text.chars() {
        match character {
            '#' => {
                let name = left_names.next().map(String::as_str).unwrap_or_default();
                last = placeholder(name);
                names.insert(last.clone(), name.to_owned());
                text.push_str(&last);
            }
            ':' => {
                let mut value = format!(":{}", &last[1..]);
                while values.contains_key(&value) {
                    value.push('_');
                }
                text.push_str(&value);
                values.extend(left_values.next().map(|given| (value, given.clone())));
            }
            other => text.push(other),
        }
    }
    text
}

/// Every name goes through a placeholder: several short ones are reserved words of DynamoDB.
pub(super) fn placeholder(name: &str) -> String {
    let mut placeholder = String::from("#");
    for character in name.chars() {
        match character {
            c if c.is_ascii_alphanumeric() => placeholder.push(c),
            c => {
                let _ = write!(placeholder, "_{:x}", u32::from(c));
            }
        }
    }
    placeholder
}
