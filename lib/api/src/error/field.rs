//! One entry of a 422, in the shape of FastAPI.

use std::borrow::Cow;

use ecf::{Node, Violation};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Longer texts are cut when they are shown back to the caller.
const LONGEST_ECHO: usize = 200;
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
    /// What was given, where it is short and no secret.
    #[schema(value_type = Value)]
    pub input: Node,
    /// The limit or rule that was broken.
    #[schema(value_type = Object)]
    pub ctx: Map<String, Value>,
}

impl FieldError {
    /// An error without input and context.
    pub fn new<L>(loc: L, kind: &'static str, msg: impl Into<String>) -> Self
    where
        L: IntoIterator<Item: Into<String>>,
    {
        Self {
            loc: loc.into_iter().map(Into::into).collect(),
            msg: msg.into(),
            kind: kind.into(),
            input: Node::Null,
            ctx: Map::new(),
        }
    }

    /// A field that must be there and is not.
    pub fn missing<L>(loc: L) -> Self
    where
        L: IntoIterator<Item: Into<String>>,
    {
        Self::new(loc, "missing", "Field required")
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

    /// Shows back what was given: short texts, numbers and booleans. Not for secrets.
    #[must_use]
    pub fn with_input(mut self, input: &Node) -> Self {
        self.input = match input {
            Node::Text(text) => Node::Text(shortened(text).into()),
            Node::Number(_) | Node::Bool(_) => input.clone(),
            // A whole list or object repeats the request without helping, and may hold a secret.
            Node::Null | Node::Array(_) | Node::Object(_) => Node::Null,
        };
        self
    }

    /// Adds a limit or rule.
    #[must_use]
    pub fn with_ctx(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.ctx.insert(name.to_owned(), value.into());
        self
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
        .with_ctx("code", violation.code);
        if let Some(given) = &violation.given {
            error = error
                .with_input(&Node::Text(given.as_str().into()))
                .with_ctx("given", given.as_str());
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

/// As many errors as a summary tells in full.
const SUMMARIZED: usize = 3;

/// The code of the first error, and the sentences of the first few.
pub(super) fn summary(fields: &[FieldError]) -> (String, String) {
    let code = fields.first().map_or_else(String::new, |first| {
        let code = first.ctx.get("code").and_then(Value::as_str);
        code.unwrap_or(&first.kind).to_owned()
    });
    let told = fields.iter().take(SUMMARIZED);
    let mut sentences: Vec<String> = told
        .map(|field| format!("{}: {}", field.loc.join("/"), shortened(&field.msg)))
        .collect();
    if let Some(more) = fields.len().checked_sub(SUMMARIZED).filter(|more| *more > 0) {
        sentences.push(format!("and {more} more"));
    }
    (code, sentences.join("; "))
}

fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_ECHO) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
