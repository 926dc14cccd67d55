//! Reads a JSON object or a query into a typed request, collecting every error.
//!
//! [`Fields`] hands out one [`Field`] per name. A field's limits follow as methods, and one of `required`, `optional` or
//! `or` ends it. Each ending records what is wrong instead of returning it, so a reader asks for all its fields first and
//! builds its value last:
//!
//! ```
//! # use ecf_api::{Fields, FromFields};
//! struct RenameRequest { name: String, note: Option<String> }
//!
//! impl FromFields for RenameRequest {
//!     fn read(fields: &mut Fields) -> Option<Self> {
//!         let name = fields.text("name").length(1..=150).required();
//!         let note = fields.text("note").length(1..=100).optional();
//!         Some(Self { name: name?, note })
//!     }
//! }
//! ```
//!
//! Kinds, messages and contexts are FastAPI's. A `null` counts as absent, and unknown fields are ignored.

use ecf::{Node, Violation};

use crate::{ApiError, FieldError};

mod field;
mod kinds;
mod limits;

pub use field::Field;

/// A request that can be read from fields.
pub trait FromFields: Sized {
    /// Asks for every field, then builds the value; `None` when a required one is missing or wrong.
    fn read(fields: &mut Fields) -> Option<Self>;
}

/// The fields of one request, and the errors found so far.
#[derive(Debug)]
pub struct Fields {
    root: &'static str,
    members: Vec<(Box<str>, Node)>,
    /// Names of fields that were read and had been given.
    taken: Vec<&'static str>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// The fields of a request whose errors are told under `root`.
    pub(crate) fn new(root: &'static str, members: Vec<(Box<str>, Node)>) -> Self {
        Self {
            root,
            members,
            taken: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Reads a whole request, or says everything that is wrong with it.
    pub(crate) fn read_all<T: FromFields>(root: &'static str, members: Vec<(Box<str>, Node)>) -> Result<T, ApiError> {
        let mut fields = Self::new(root, members);
        let value = T::read(&mut fields);
        fields.finish(value)
    }

    /// What was read, unless something was wrong with it.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, ApiError> {
        match value {
            Some(value) if self.errors.is_empty() => Ok(value),
            Some(_) => Err(ApiError::validation(self.errors)),
            None if self.errors.is_empty() => Err(ApiError::internal("a request was refused without an error")),
            None => Err(ApiError::validation(self.errors)),
        }
    }

    /// Whether the field was given and not `null`, whether or not it was read meanwhile.
    pub fn is_given(&self, name: &str) -> bool {
        let waits = |(known, value): &(Box<str>, Node)| **known == *name && !value.is_null();
        self.taken.contains(&name) || self.members.iter().any(waits)
    }

    /// Records an error that concerns more than one field, at the field where it is best repaired.
    pub fn reject(&mut self, name: &str, kind: &'static str, msg: impl Into<String>) {
        self.errors.push(FieldError::new([self.root, name], kind, msg));
    }

    /// Records an error that was put together elsewhere.
    pub fn reject_with(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    /// Records what the fiscal engine found in the document that this field holds.
    pub fn reject_violations<'v>(&mut self, name: &str, violations: impl IntoIterator<Item = &'v Violation>) {
        let found = violations
            .into_iter()
            .map(|violation| FieldError::of_violation(&[self.root, name], violation));
        self.errors.extend(found);
    }

    /// Takes the field's value out: each field is read once, and a large payload is not copied.
    fn take(&mut self, name: &'static str) -> Node {
        let member = self.members.iter_mut().find(|(known, _)| **known == *name);
        let node = member.map_or(Node::Null, |(_, value)| std::mem::replace(value, Node::Null));
        if !node.is_null() {
            self.taken.push(name);
        }
        node
    }
}

#[cfg(test)]
mod tests;
