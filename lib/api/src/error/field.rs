//! One entry of a 422, in FastAPI's format.

use std::borrow::Cow;

use ecf::{Node, Violation};
use ecf_language::{Bilingual, say};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::place::placed;
use super::secret;
use crate::language::spoken;

/// Upper bound of the errors that one response lists; the others are counted.
pub(crate) const MOST_LISTED: usize = 100;

/// Upper bound, in characters, of a sentence and of a value in `ctx`: both may quote the request.
const LONGEST_TEXT: usize = 1_000;

/// Upper bound, in characters, of a step in `loc`: it may be a name from the request.
const LONGEST_STEP: usize = 100;

/// Upper bound, in characters, of each sentence in a summary.
const LONGEST_SUMMARY: usize = 200;
/// A prefix of a known name is taken for that name from this length on.
const SHORTEST_BEGINNING: usize = 4;

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, ToSchema)]
pub struct FieldError {
    /// The way to the field: where it was looked for, then names and positions, as in
    /// `["body", "payload", "DetallesItems", "Item", "3", "DescuentoMonto"]`.
    pub loc: Vec<String>,
    /// A sentence for the programmer who has to repair it, in English, or in Spanish when `Accept-Language` prefers it.
    /// It names the field and the line, and stays the same for the same error only in its meaning: branch on `ctx.code`.
    #[schema(value_type = String, example = "NombreItem, line 9: the text has 96 characters, at most 80 are allowed")]
    pub msg: Bilingual,
    /// The kind of error, in FastAPI's vocabulary.
    #[schema(rename = "type", value_type = String, example = "missing")]
    pub kind: Cow<'static, str>,
    /// The received value, shortened when it is long; `null` when nothing was received or the value is a secret.
    #[schema(value_type = Value)]
    pub input: Node,
    /// `code`, the permanent name of this refusal, and the limit or rule that was broken.
    #[schema(value_type = Object)]
    pub ctx: Map<String, Value>,
}

impl FieldError {
    /// An error without input. Its code is its kind, until [`Self::with_code`] replaces it.
    pub fn new<L>(loc: L, kind: &'static str, msg: Bilingual) -> Self
    where
        L: IntoIterator<Item: Into<String>>,
    {
        let error = Self {
            loc: loc.into_iter().map(|step| cut(step.into(), LONGEST_STEP)).collect(),
            msg: msg.map(|text| cut(text.into_owned(), LONGEST_TEXT).into()),
            kind: kind.into(),
            input: Node::Null,
            ctx: Map::new(),
        };
        error.with_code(kind)
    }

    /// A required field is missing.
    pub fn missing<L>(loc: L) -> Self
    where
        L: IntoIterator<Item: Into<String>>,
    {
        Self::new(loc, "missing", say!("Field required", "campo obligatorio"))
    }

    /// Sets the permanent code of the error, which clients branch on. `docs/errors.md` lists every code.
    #[must_use]
    pub fn with_code(self, code: &'static str) -> Self {
        self.with_ctx("code", code)
    }

    /// An unknown name below `place`. The message suggests the nearest known name.
    #[must_use]
    pub fn unknown(place: &[&str], given: &str, known: &[&str]) -> Self {
        let mut msg = say!("Extra inputs are not permitted", "no se admite");
        // PHP and jQuery append brackets to the names of lists.
        let bare = given.trim_end_matches("[]");
        let begins = |name: &&&str| bare.len() >= SHORTEST_BEGINNING && name.starts_with(&bare.to_lowercase());
        let nearest = ecf::nearest_name(bare, known.iter().copied());
        if let Some(meant) = nearest.or_else(|| known.iter().find(begins).copied()) {
            msg = msg.then(&say!("; did you mean {meant}?", "; ¿quiso decir {meant}?"));
        }
        if known.is_empty() {
            msg = msg.then(&say!("; none is expected here", "; aquí no se espera ninguno"));
        }
        let error = Self::new(place.iter().copied().chain([given]), "extra_forbidden", msg);
        match known {
            [] => error,
            known => error.with_ctx("expected", known.join(", ")),
        }
    }

    /// Adds the given value, shortened when it is long. Not for secrets; a list or an object that contains one is
    /// omitted.
    #[must_use]
    pub fn with_input(mut self, input: &Node) -> Self {
        self.input = secret::shown(input);
        self
    }

    /// Adds an entry to `ctx`, such as a limit or a rule.
    #[must_use]
    pub fn with_ctx(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::String(text) => Value::String(cut(text, LONGEST_TEXT)),
            value => value,
        };
        self.ctx.insert(name.to_owned(), value);
        self
    }

    /// The first 100 errors of a list, then an entry that counts the others. `show` runs for the listed
    /// ones only.
    pub fn listed<T>(found: impl IntoIterator<Item = T>, show: impl Fn(T) -> Self) -> Vec<Self> {
        let mut found = found.into_iter();
        let mut errors: Vec<Self> = found.by_ref().take(MOST_LISTED).map(show).collect();
        count_others(&mut errors, found.count());
        errors
    }

    /// Shortens a rendered list to its first `most` errors and one entry that counts the others.
    pub fn shorten(errors: &mut Vec<Value>, most: usize) {
        let total = match errors.last().and_then(|last| last["ctx"]["total"].as_u64()) {
            Some(total) => usize::try_from(total).unwrap_or(usize::MAX),
            None => errors.len(),
        };
        if errors.len() > most {
            errors.truncate(most);
            let root = errors
                .first()
                .and_then(|first| first["loc"][0].as_str().map(str::to_owned));
            let count = Self::others(root, most, total - most);
            errors.extend(serde_json::to_value(count));
        }
    }

    /// The entry that counts the errors that are not listed.
    fn others(root: Option<String>, shown: usize, others: usize) -> Self {
        let msg = say!(
            "{others} more findings are not listed: correct these first",
            "no se listan {others} hallazgos más: corrija primero estos"
        );
        Self::new(root, "too_many_errors", msg)
            .with_ctx("shown", shown)
            .with_ctx("total", shown + others)
    }

    /// A violation from the fiscal engine, with its path below `prefix`. This is the one place that maps its parts to
    /// names in the API: `type` is the kind; `ctx` has the permanent `code` and, where they exist, both sums.
    pub fn of_violation(prefix: &[&str], violation: &Violation) -> Self {
        let prefix = prefix.iter().map(|&step| step.to_owned());
        let mut error = Self::new(
            prefix.chain(violation.path.iter().cloned()),
            violation.kind,
            violation.message.clone(),
        )
        .with_code(violation.code);
        if let Some(given) = &violation.given {
            error = error
                .with_input(&Node::Text(given.as_str().into()))
                .with_ctx("given", given.as_str());
        }
        if let Some(input) = &violation.input {
            error = error.with_input(input);
        }
        if let Some(expected) = &violation.expected {
            error = error.with_ctx("expected", expected.as_str());
        }
        if let Some(difference) = &violation.difference {
            error = error.with_ctx("difference", difference.as_str());
        }
        error
    }
}

impl Serialize for FieldError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut error = serializer.serialize_struct("FieldError", 5)?;
        error.serialize_field("loc", &self.loc)?;
        error.serialize_field("msg", &placed(&self.loc, &self.msg, spoken()))?;
        error.serialize_field("type", &self.kind)?;
        error.serialize_field("input", &self.input)?;
        error.serialize_field("ctx", &self.ctx)?;
        error.end()
    }
}

/// Appends the entry that counts the errors that are not listed.
pub(crate) fn count_others(errors: &mut Vec<FieldError>, others: usize) {
    if others == 0 {
        return;
    }
    let root = errors.first().and_then(|first| first.loc.first().cloned());
    errors.push(FieldError::others(root, errors.len(), others));
}

/// Errors that a summary quotes.
const SUMMARIZED: usize = 3;

/// The code of the first error, and the sentences of the first [`SUMMARIZED`] errors.
pub(super) fn summary(fields: &[FieldError]) -> (String, String) {
    let code = fields.first().map_or_else(String::new, |first| {
        let code = first.ctx.get("code").and_then(Value::as_str);
        code.unwrap_or(&first.kind).to_owned()
    });
    let first = fields.iter().take(SUMMARIZED);
    let mut sentences: Vec<String> = first
        .map(|field| {
            format!(
                "{}: {}",
                field.loc.join("/"),
                cut(field.msg.en.to_string(), LONGEST_SUMMARY)
            )
        })
        .collect();
    let total = fields.last().and_then(|last| last.ctx.get("total")?.as_u64());
    let total = total
        .and_then(|total| usize::try_from(total).ok())
        .unwrap_or(fields.len());
    if let Some(more) = total.checked_sub(SUMMARIZED).filter(|more| *more > 0) {
        sentences.push(format!("and {more} more"));
    }
    (code, sentences.join("; "))
}

fn cut(text: String, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
