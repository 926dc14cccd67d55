//! One field: its value, its limits and its faults, until the reader ends it.

use ecf::Node;
use ecf_language::{Bilingual, say};
use serde_json::{Map, Value};

use super::Fields;
use crate::FieldError;

/// A field that accepts further limits.
#[must_use = "a field counts only once `required`, `optional` or `or` ended it"]
pub struct Field<'f, T> {
    pub(super) fields: &'f mut Fields,
    pub(super) name: &'static str,
    /// The given value, which errors show.
    pub(super) input: Node,
    pub(super) secret: bool,
    pub(super) value: Result<Option<T>, Vec<Fault>>,
}

/// A fault of a field or of one of its elements.
pub(super) struct Fault {
    element: Option<usize>,
    kind: &'static str,
    msg: Bilingual,
    ctx: Map<String, Value>,
}

impl Fault {
    pub(super) fn new(kind: &'static str, msg: Bilingual) -> Self {
        Self {
            element: None,
            kind,
            msg,
            ctx: Map::new(),
        }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.ctx.insert(name.to_owned(), value.into());
        self
    }

    pub(super) fn at(mut self, element: usize) -> Self {
        self.element = Some(element);
        self
    }
}

impl<'f, T> Field<'f, T> {
    /// Never shows the given value, neither in errors of this field nor in later errors that name it.
    pub fn secret(mut self) -> Self {
        self.secret = true;
        self.fields.hide(self.name);
        self
    }

    /// Ends a required field.
    pub fn required(self) -> Option<T> {
        if let Ok(None) = self.value {
            let missing = FieldError::missing([self.fields.root, self.name]);
            self.fields.reject_with(missing);
            return None;
        }
        self.optional()
    }

    /// Ends an optional field. `None` also for an invalid value: its error is recorded, so the request fails.
    pub fn optional(self) -> Option<T> {
        match self.value {
            Ok(value) => value,
            Err(faults) => {
                for fault in faults {
                    let mut loc = vec![self.fields.root.to_owned(), self.name.to_owned()];
                    let input = match fault.element {
                        Some(element) => {
                            loc.push(element.to_string());
                            self.input.as_array().and_then(|elements| elements.get(element))
                        }
                        None => Some(&self.input),
                    };
                    let mut msg = fault.msg;
                    if self.fields.root == "query" && self.input.as_text() == Some("") {
                        msg = msg.then(&say!(
                            "; the parameter is empty: give it a value or leave it out",
                            "; el parámetro está vacío: dele un valor u omítalo"
                        ));
                    }
                    let mut error = FieldError::new(loc, fault.kind, msg);
                    for (name, value) in fault.ctx {
                        error = error.with_ctx(&name, value);
                    }
                    if let Some(input) = input.filter(|_| !self.secret) {
                        error = error.with_input(input);
                    }
                    self.fields.reject_with(error);
                }
                None
            }
        }
    }

    /// Ends a field with a default.
    pub fn or(self, default: T) -> T {
        self.optional().unwrap_or(default)
    }

    /// Continues with a validated or converted value.
    pub(super) fn and_then<U>(self, step: impl FnOnce(T) -> Result<U, Fault>) -> Field<'f, U> {
        self.and_then_all(|value| step(value).map_err(|fault| vec![fault]))
    }

    pub(super) fn and_then_all<U>(self, step: impl FnOnce(T) -> Result<U, Vec<Fault>>) -> Field<'f, U> {
        Field {
            fields: self.fields,
            name: self.name,
            input: self.input,
            secret: self.secret,
            value: match self.value {
                Ok(Some(value)) => step(value).map(Some),
                Ok(None) => Ok(None),
                Err(faults) => Err(faults),
            },
        }
    }
}
