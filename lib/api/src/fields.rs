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
//! Kinds, messages and contexts are FastAPI's. A `null` counts as absent, unless the reader asks for [`Fields::edit`]. A field
//! that the reader did not ask for, or that came twice, is an error: a misspelt name must not change what a request means.

use std::collections::{BTreeMap, BTreeSet};

use ecf::{Node, Piece, Violation};
use ecf_store::Edit;

use crate::{ApiError, FieldError};

mod field;
mod instants;
mod kinds;
mod limits;

pub use field::Field;
pub use instants::{first_instant, last_instant};

/// A request that can be read from fields.
pub trait FromFields: Sized {
    /// Asks for every field, then builds the value; `None` when a required one is missing or wrong.
    fn read(fields: &mut Fields) -> Option<Self>;
}

/// The fields of one request, and the errors found so far.
#[derive(Debug)]
pub struct Fields {
    root: &'static str,
    members: Vec<(Piece, Node)>,
    /// Names that the reader asked for.
    asked: Vec<&'static str>,
    in_query: &'static [&'static str],
    /// Names of fields that were read and had been given.
    taken: Vec<&'static str>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// The fields of a request whose errors are told under `root`.
    pub(crate) fn new(root: &'static str, members: Vec<(Piece, Node)>) -> Self {
        Self {
            root,
            members,
            asked: Vec::new(),
            in_query: &[],
            taken: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Reads a whole request, or says everything that is wrong with it.
    pub(crate) fn read_all<T: FromFields>(root: &'static str, members: Vec<(Piece, Node)>) -> Result<T, ApiError> {
        let mut fields = Self::new(root, members);
        let value = T::read(&mut fields);
        fields.finish(value)
    }

    /// What was read, unless something was wrong with it.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> Result<T, ApiError> {
        self.refuse_repeated();
        self.refuse_unknown();
        match value {
            Some(value) if self.errors.is_empty() => Ok(value),
            Some(_) => Err(ApiError::validation(self.errors)),
            None if self.errors.is_empty() => Err(ApiError::internal("a request was refused without an error")),
            None => Err(ApiError::validation(self.errors)),
        }
    }

    /// Whether the field was given and not `null`, whether or not it was read meanwhile.
    pub fn is_given(&self, name: &str) -> bool {
        let waits = |(known, value): &(Piece, Node)| **known == *name && !value.is_null();
        self.taken.contains(&name) || self.members.iter().any(waits)
    }

    /// What becomes of something that `null` clears: the value that was read, nothing, or what it was.
    pub fn edit<T>(&self, name: &str, value: Option<T>) -> Edit<T> {
        match value {
            Some(value) => Edit::Set(value),
            None if self.is_null(name) => Edit::Clear,
            None => Edit::Keep,
        }
    }

    /// Records an error when `null` is given for something that must have a value.
    pub fn refuse_null(&mut self, name: &'static str) {
        if self.is_null(name) {
            self.reject(
                name,
                "null_forbidden",
                "Input should not be null: it can be changed, not cleared",
            );
        }
    }

    /// Whether the parameter came without a value, as `?name=` does: for a filter whose empty value means "no filter".
    pub fn is_cleared(&mut self, name: &'static str) -> bool {
        let empty = |(known, value): &(Piece, Node)| **known == *name && value.as_text() == Some("");
        let cleared = self.members.iter().any(empty);
        if cleared {
            self.take(name);
        }
        cleared
    }

    /// Counts a name as asked for that is read elsewhere, such as a file of a form.
    pub(crate) fn ask(&mut self, name: &'static str) {
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
    }

    /// Names of query parameters that callers put into the body by mistake: their error says where they belong.
    pub fn belong_in_query(&mut self, names: &'static [&'static str]) {
        self.in_query = names;
    }

    /// Records an error for each name that came more than once. JSON with a repeated key is refused before it gets here.
    fn refuse_repeated(&mut self) {
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, _) in &self.members {
            *times.entry(name).or_default() += 1;
        }
        let errors = times.into_iter().filter(|(_, times)| *times > 1).map(|(name, times)| {
            let msg = format!("Input was given {times} times; give it once");
            FieldError::new([self.root, name], "repeat_forbidden", msg).with_ctx("times", times)
        });
        self.errors.extend(errors);
    }

    /// Records an error for each name that the reader did not ask for. They come first: a misspelt name is why another is missing.
    fn refuse_unknown(&mut self) {
        let mut seen = BTreeSet::new();
        let names = self.members.iter().map(|(name, _)| &**name);
        let given = names.filter(|name: &&str| seen.insert(*name));
        let errors = given.filter(|name| !self.asked.contains(name)).map(|name| {
            let mut error = FieldError::unknown(&[self.root], name, &self.asked);
            if self.in_query.contains(&name) {
                error.msg =
                    format!("Extra inputs are not permitted here: {name} is a parameter of the query, ?{name}=");
            }
            error
        });
        let errors: Vec<_> = errors.collect();
        self.errors.splice(0..0, errors);
    }

    /// An object that is read as fields of its own.
    pub fn nested<T: FromFields>(&mut self, name: &'static str) -> Option<T> {
        let members = match self.take(name) {
            Node::Null => return None,
            Node::Object(members) => members,
            _ => {
                self.reject(name, "dict_type", "Input should be a valid dictionary");
                return None;
            }
        };
        let mut inner = Self::new(name, members);
        let value = T::read(&mut inner);
        inner.refuse_unknown();
        self.errors.extend(inner.errors.into_iter().map(|mut error| {
            error.loc.insert(0, self.root.to_owned());
            error
        }));
        value
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

    fn is_null(&self, name: &str) -> bool {
        let null = |(known, value): &(Piece, Node)| **known == *name && value.is_null();
        // What was taken out left a null behind.
        !self.taken.contains(&name) && self.members.iter().any(null)
    }

    /// Takes the field's value out: each field is read once, and a large payload is not copied.
    fn take(&mut self, name: &'static str) -> Node {
        self.ask(name);
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
