//! One entry of a 422, in the shape of FastAPI.

use std::borrow::Cow;

use ecf::{Node, Violation};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::secret;

/// Errors that one answer lists. Of the others it gives the count.
pub(crate) const MOST_LISTED: usize = 100;

/// Characters of a sentence or of a value in `ctx`; both may quote what the caller sent.
const LONGEST_TEXT: usize = 1_000;

/// Characters of a step in `loc`, which may be a name that the caller made up.
const LONGEST_STEP: usize = 100;

/// Characters of each sentence in a summary.
const LONGEST_SUMMARY: usize = 200;
/// The beginning of a known name is taken for that name from this length on.
const SHORTEST_BEGINNING: usize = 4;

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FieldError {
    /// The way to the field: where it was looked for, then names and positions, as in
    /// `["body", "payload", "DetallesItems", "Item", "3", "DescuentoMonto"]`.
    pub loc: Vec<String>,
    /// A sentence for the programmer who has to repair it.
    pub msg: String,
    /// The kind of error, in FastAPI's vocabulary.
    #[serde(rename = "type")]
    #[schema(value_type = String, example = "missing")]
    pub kind: Cow<'static, str>,
    /// The value that came, cut when it is long; `null` when nothing came or the value is a secret.
    #[schema(value_type = Value)]
    pub input: Node,
    /// `code`, the permanent name of this refusal, and the limit or rule that was broken.
    #[schema(value_type = Object)]
    pub ctx: Map<String, Value>,
}

impl FieldError {
    /// An error without input. Its code is its kind, unless [`Self::with_code`] gives another.
    pub fn new<L>(loc: L, kind: &'static str, msg: impl Into<String>) -> Self
    where
        L: IntoIterator<Item: Into<String>>,
    {
        let error = Self {
            loc: loc.into_iter().map(|step| cut(step.into(), LONGEST_STEP)).collect(),
            msg: cut(msg.into(), LONGEST_TEXT),
            kind: kind.into(),
            input: Node::Null,
            ctx: Map::new(),
        };
        error.with_code(kind)
    }

    /// A field that must be there and is not.
    pub fn missing<L>(loc: L) -> Self
    where
        L: IntoIterator<Item: Into<String>>,
    {
        Self::new(loc, "missing", "Field required")
    }

    /// Gives the refusal a permanent code of its own, for clients to branch on. Each one has a row in `docs/errors.md`.
    #[must_use]
    pub fn with_code(self, code: &'static str) -> Self {
        self.with_ctx("code", code)
    }

    /// A name below `place` that nothing reads, with the known name that it is nearest to.
    #[must_use]
    pub fn unknown(place: &[&str], given: &str, known: &[&str]) -> Self {
        let mut msg = "Extra inputs are not permitted".to_owned();
        // PHP and jQuery append brackets to the names of lists.
        let bare = given.trim_end_matches("[]");
        let begins = |name: &&&str| bare.len() >= SHORTEST_BEGINNING && name.starts_with(&bare.to_lowercase());
        let nearest = ecf::nearest_name(bare, known.iter().copied());
        if let Some(meant) = nearest.or_else(|| known.iter().find(begins).copied()) {
            msg.push_str(&format!("; did you mean {meant}?"));
        }
        if known.is_empty() {
            msg.push_str("; none is expected here");
        }
        let error = Self::new(place.iter().copied().chain([given]), "extra_forbidden", msg);
        match known {
            [] => error,
            known => error.with_ctx("expected", known.join(", ")),
        }
    }

    /// Shows the value that came, cut when it is long. Not for secrets; a list or object with a secret in it is left out.
    #[must_use]
    pub fn with_input(mut self, input: &Node) -> Self {
        self.input = secret::shown(input);
        self
    }

    /// Adds a limit or rule.
    #[must_use]
    pub fn with_ctx(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::String(text) => Value::String(cut(text, LONGEST_TEXT)),
            value => value,
        };
        self.ctx.insert(name.to_owned(), value);
        self
    }

    /// The first errors of a list, then one that counts the others. The others are not made.
    pub fn listed<T>(found: impl IntoIterator<Item = T>, show: impl Fn(T) -> Self) -> Vec<Self> {
        let mut found = found.into_iter();
        let mut errors: Vec<Self> = found.by_ref().take(MOST_LISTED).map(show).collect();
        count_others(&mut errors, found.count());
        errors
    }

    /// Shortens a rendered list to its first `most` errors and the count of the others.
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

    /// The entry that counts what a list leaves out.
    fn others(root: Option<String>, shown: usize, others: usize) -> Self {
        let msg = format!("{others} more findings are not listed: correct these first");
        Self::new(root, "too_many_errors", msg)
            .with_ctx("shown", shown)
            .with_ctx("total", shown + others)
    }

    /// A finding of the fiscal engine, its path put under `prefix`: the one place where its parts find their names in
    /// the API. `type` is the kind; `ctx` has the permanent `code` and, where they exist, both sums.
    pub fn of_violation(prefix: &[&str], violation: &Violation) -> Self {
        let prefix = prefix.iter().map(|&step| step.to_owned());
        let mut error = Self::new(
            prefix.chain(violation.path.iter().cloned()),
            violation.kind,
            violation.message.as_str(),
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

/// Ends a list of errors with the count of those that it leaves out.
pub(crate) fn count_others(errors: &mut Vec<FieldError>, others: usize) {
    if others == 0 {
        return;
    }
    let root = errors.first().and_then(|first| first.loc.first().cloned());
    errors.push(FieldError::others(root, errors.len(), others));
}

/// Errors that a summary shows in full.
const SUMMARIZED: usize = 3;

/// The code of the first error, and the sentences of the first few.
pub(super) fn summary(fields: &[FieldError]) -> (String, String) {
    let code = fields.first().map_or_else(String::new, |first| {
        let code = first.ctx.get("code").and_then(Value::as_str);
        code.unwrap_or(&first.kind).to_owned()
    });
    let first = fields.iter().take(SUMMARIZED);
    let mut sentences: Vec<String> = first
        .map(|field| format!("{}: {}", field.loc.join("/"), cut(field.msg.clone(), LONGEST_SUMMARY)))
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
