//! Reads a JSON object or a query into a typed request and collects every error.
//!
//! [`Fields`] returns one [`Field`] per name. Methods of the field add its limits, and one of `required`, `optional` or
//! `or` ends it. These record an error instead of returning it, so a reader reads all its fields first and builds its
//! value last:
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
//! Kinds, messages and contexts are FastAPI's; `ctx.code` repeats the kind unless we define a code. `null` counts as
//! absent, unless the reader calls [`Fields::edit`]. An unknown field and a repeated field are errors: a misspelt name
//! must not change the meaning of a request.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use ecf::{Node, Piece, Violation};
use ecf_language::{Bilingual, say};
use ecf_store::FieldEdit;

use crate::error::field::{MOST_LISTED, count_others};
use crate::error::secret::is_secret;
use crate::{ApiError, FieldError};

mod field;
mod instants;
mod kinds;
mod limits;

pub use field::Field;
pub use instants::{first_instant, last_instant};

/// A request that can be read from fields.
pub trait FromFields: Sized {
    /// Reads every field, then builds the value; `None` when a field is missing or invalid.
    fn read(fields: &mut Fields) -> Option<Self>;
}

/// The fields of one request, and the errors so far.
#[derive(Debug)]
pub struct Fields {
    root: &'static str,
    members: Vec<(Piece, Node)>,
    /// The names that the reader knows.
    asked: Vec<&'static str>,
    in_query: &'static [&'static str],
    /// The parameters that may be given more than once.
    lists: Vec<&'static str>,
    /// The fields that were given and read, each as an error shows it.
    taken: Vec<(&'static str, Node)>,
    errors: Vec<FieldError>,
    /// The number of errors above the limit of the list.
    unlisted: usize,
}

impl Fields {
    /// The fields of a request; `root` is the first step of each error's `loc`.
    pub(crate) fn new(root: &'static str, members: Vec<(Piece, Node)>) -> Self {
        Self {
            root,
            members,
            asked: Vec::new(),
            in_query: &[],
            lists: Vec::new(),
            taken: Vec::new(),
            errors: Vec::new(),
            unlisted: 0,
        }
    }

    /// Reads a whole request.
    ///
    /// # Errors
    /// 422 with every error of the request.
    pub(crate) fn read_all<T: FromFields>(root: &'static str, members: Vec<(Piece, Node)>) -> Result<T, ApiError> {
        let mut fields = Self::new(root, members);
        let value = T::read(&mut fields);
        fields.finish(value)
    }

    /// The value, or all errors.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> Result<T, ApiError> {
        self.refuse_repeated();
        self.refuse_unknown();
        match value {
            Some(value) if self.errors.is_empty() => Ok(value),
            None if self.errors.is_empty() => Err(ApiError::internal("a request was refused without an error")),
            _ => {
                count_others(&mut self.errors, self.unlisted);
                Err(ApiError::listed(self.errors))
            }
        }
    }

    /// Whether the field was given and is not `null`, before and after it is read.
    pub fn is_given(&self, name: &str) -> bool {
        let waits = |(known, value): &(Piece, Node)| **known == *name && !value.is_null();
        self.is_taken(name) || self.members.iter().any(waits)
    }

    /// The edit of a value that `null` clears: set to the given value, cleared by `null`, otherwise unchanged.
    pub fn edit<T>(&self, name: &str, value: Option<T>) -> FieldEdit<T> {
        match value {
            Some(value) => FieldEdit::Set(value),
            None if self.is_null(name) => FieldEdit::Clear,
            None => FieldEdit::Keep,
        }
    }

    /// Records an error when `null` is given for a value that cannot be cleared.
    pub fn refuse_null(&mut self, name: &'static str) {
        if self.is_null(name) {
            self.reject(
                name,
                "null_forbidden",
                say!(
                    "Input should not be null: it can be changed, not cleared",
                    "no puede ser null: se puede cambiar, no vaciar"
                ),
            );
        }
    }

    /// Whether the parameter was given with an empty value, as in `?name=`. For a filter whose empty value means "no
    /// filter".
    pub fn is_cleared(&mut self, name: &'static str) -> bool {
        let empty = |(known, value): &(Piece, Node)| **known == *name && value.as_text() == Some("");
        let cleared = self.members.iter().any(empty);
        if cleared {
            self.take(name);
        }
        cleared
    }

    /// Marks a name as known that is read elsewhere, such as a file of a form.
    pub(crate) fn ask(&mut self, name: &'static str) {
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
    }

    /// Query parameters that callers put into the body by mistake. Their error says that they belong in the query.
    pub fn belong_in_query(&mut self, names: &'static [&'static str]) {
        self.in_query = names;
    }

    /// Records an error for each repeated name, with the values that came. The JSON parser rejects a repeated key earlier.
    fn refuse_repeated(&mut self) {
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, _) in &self.members {
            *times.entry(name).or_default() += 1;
        }
        let repeated = times
            .into_iter()
            .filter(|(name, times)| *times > 1 && !self.lists.iter().any(|list| list == name));
        let errors: Vec<_> = repeated
            .map(|(name, times)| {
                let msg = say!(
                    "Input was given {times} times; give it once",
                    "se envió {times} veces; envíelo una sola vez"
                );
                let error = FieldError::new([self.root, name], "repeat_forbidden", msg)
                    .with_ctx("times", times)
                    .with_ctx("expected", "one value");
                if self.root == "query" && !is_secret(name) {
                    error.with_input(&Node::Array(self.inputs(name)))
                } else {
                    error
                }
            })
            .collect();
        for error in errors {
            self.reject_with(error);
        }
    }

    /// Records an error for each unknown name. These errors come first: a misspelt name explains a missing field.
    fn refuse_unknown(&mut self) {
        let mut seen = BTreeSet::new();
        let given = self.members.iter().filter(|(name, _)| seen.insert(&**name));
        let unknown: Vec<_> = given.filter(|(name, _)| !self.asked.contains(&&**name)).collect();
        // The search for the nearest name is expensive, so it runs for the listed errors only.
        let mut errors: Vec<_> = unknown
            .iter()
            .take(MOST_LISTED)
            .map(|(name, value)| self.unknown(name, value))
            .collect();
        self.unlisted += unknown.len() - errors.len();
        errors.append(&mut self.errors);
        self.unlisted += errors.len().saturating_sub(MOST_LISTED);
        errors.truncate(MOST_LISTED);
        self.errors = errors;
    }

    fn unknown(&self, name: &str, value: &Node) -> FieldError {
        let mut error = FieldError::unknown(&[self.root], name, &self.asked);
        if self.in_query.contains(&name) {
            error.msg = say!(
                "Extra inputs are not permitted here: {name} is a parameter of the query, ?{name}=",
                "no se admite aquí: {name} es un parámetro de la consulta, ?{name}="
            );
        }
        let meant = ecf::nearest_name(name, self.asked.iter().copied());
        if is_secret(name) || meant.is_some_and(is_secret) {
            error
        } else {
            error.with_input(value)
        }
    }

    /// Reads an object as fields of its own.
    pub fn nested<T: FromFields>(&mut self, name: &'static str) -> Option<T> {
        let members = match self.take(name) {
            Node::Null => return None,
            Node::Object(members) => members,
            _ => {
                self.reject(
                    name,
                    "dict_type",
                    say!("Input should be a valid dictionary", "se espera un objeto"),
                );
                return None;
            }
        };
        let mut inner = Self::new(name, members);
        let value = T::read(&mut inner);
        inner.refuse_unknown();
        for mut error in inner.errors {
            error.loc.insert(0, self.root.to_owned());
            self.reject_with(error);
        }
        self.unlisted += inner.unlisted;
        value
    }

    /// Reads a required list of objects, each as fields of its own.
    pub fn nested_list<T: FromFields>(&mut self, name: &'static str, limits: RangeInclusive<usize>) -> Option<Vec<T>> {
        let elements = self.list(name).items(limits).required()?;
        let mut values = Vec::with_capacity(elements.len());
        for (index, element) in elements.into_iter().enumerate() {
            let Node::Object(members) = element else {
                let msg = say!("Input should be a valid dictionary", "se espera un objeto");
                let loc = [self.root.to_owned(), name.to_owned(), index.to_string()];
                self.reject_with(FieldError::new(loc, "dict_type", msg).with_input(&element));
                continue;
            };
            let mut inner = Self::new(name, members);
            let value = T::read(&mut inner);
            inner.refuse_unknown();
            for mut error in inner.errors {
                error.loc.insert(0, self.root.to_owned());
                error.loc.insert(2, index.to_string());
                self.reject_with(error);
            }
            self.unlisted += inner.unlisted;
            values.extend(value);
        }
        Some(values)
    }

    /// Records an error that concerns more than one field, at the field where it is best corrected.
    pub fn reject(&mut self, name: &str, kind: &'static str, msg: Bilingual) {
        let error = FieldError::new([self.root, name], kind, msg).with_input(&self.input(name));
        self.reject_with(error);
    }

    /// Records an invalid value, with the permanent code of the error.
    pub fn reject_value(&mut self, name: &str, code: &'static str, msg: Bilingual) {
        let error = FieldError::new([self.root, name], "value_error", msg);
        self.reject_with(error.with_code(code).with_input(&self.input(name)));
    }

    /// Records an error that was built elsewhere.
    pub fn reject_with(&mut self, error: FieldError) {
        if self.errors.len() < MOST_LISTED {
            self.errors.push(error);
        } else {
            self.unlisted += 1;
        }
    }

    /// Records the violations in the document that this field holds.
    pub fn reject_violations<'v>(&mut self, name: &str, violations: impl IntoIterator<Item = &'v Violation>) {
        for violation in violations {
            if self.errors.len() < MOST_LISTED {
                self.errors
                    .push(FieldError::of_violation(&[self.root, name], violation));
            } else {
                self.unlisted += 1;
            }
        }
    }

    /// The given value of a field, read or not, as an error shows it.
    fn input(&self, name: &str) -> Node {
        let taken = self.taken.iter().find(|(known, _)| *known == name);
        let waiting = || {
            self.members
                .iter()
                .find(|(known, _)| **known == *name && !is_secret(known))
        };
        match taken {
            Some((_, input)) => input.clone(),
            None => waiting().map_or(Node::Null, |(_, value)| value.excerpt()),
        }
    }

    /// The given values of a repeated name, read or not.
    fn inputs(&self, name: &str) -> Vec<Node> {
        let taken = self.taken.iter().filter(|(known, _)| *known == name);
        let waiting = self
            .members
            .iter()
            .filter(|(known, value)| **known == *name && !value.is_null());
        let taken = taken.map(|(_, input)| input.clone());
        taken.chain(waiting.map(|(_, value)| value.excerpt())).collect()
    }

    /// Removes the stored input of a field that is a secret.
    fn hide(&mut self, name: &str) {
        for (_, input) in self.taken.iter_mut().filter(|(known, _)| *known == name) {
            *input = Node::Null;
        }
    }

    fn is_taken(&self, name: &str) -> bool {
        self.taken.iter().any(|(known, _)| *known == name)
    }

    fn is_null(&self, name: &str) -> bool {
        let null = |(known, value): &(Piece, Node)| **known == *name && value.is_null();
        // A field that was read leaves a null in its place.
        !self.is_taken(name) && self.members.iter().any(null)
    }

    /// Moves out the values of a parameter that may be given more than once.
    fn take_all(&mut self, name: &'static str) -> Vec<Node> {
        self.ask(name);
        self.lists.push(name);
        let times = self.members.iter().filter(|(known, _)| **known == *name).count();
        let values = (0..times).map(|_| self.take(name));
        values.filter(|value| !value.is_null()).collect()
    }

    /// Moves the field's value out: each field is read once, and a large payload is not copied.
    fn take(&mut self, name: &'static str) -> Node {
        self.ask(name);
        let waits = |(known, value): &&mut (Piece, Node)| **known == *name && !value.is_null();
        let member = self.members.iter_mut().find(waits);
        let node = member.map_or(Node::Null, |(_, value)| std::mem::replace(value, Node::Null));
        if !node.is_null() {
            self.taken.push((name, node.excerpt()));
        }
        node
    }
}

#[cfg(test)]
mod tests;
