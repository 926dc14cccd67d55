//! Reads a block from a tree: a caller's JSON, or received XML in the same shape.
//!
//! Order does not matter. A scalar may be a number or a text. Known deviations of shape are accepted with a notice. All
//! faults are collected: reading continues after the first.

use crate::codes;
use std::borrow::Cow;

use ecf_language::{Bilingual, say};

use super::checker::too_many;
use super::values::Scalar;
use super::{Block, Catalogue, Content, Field, Form, Member, Presence, Problem, Value, advice, hints};
use crate::violation::{Grade, Violation};
use crate::{Amounts, Node, Piece, ReceiptType};

/// The origin of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Our API: strict, with hints.
    Caller,
    /// A signed document from another issuer: read as far as possible.
    Received,
}

/// The context in which a value is read.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) receipt_type: ReceiptType,
    pub(crate) amounts: Amounts,
    pub(crate) source: Source,
    /// The field whose value is being read.
    pub(crate) field: &'static str,
    /// Whether a refusal says what to write, which takes time to find out.
    pub(crate) advise: bool,
    /// Notices about the value being read.
    pub(crate) notices: Vec<Problem>,
}

/// A step of the path to the value being read.
#[derive(Debug, Clone, Copy)]
enum Step {
    Name(&'static str),
    Index(usize),
}

/// The state of reading one tree.
#[derive(Debug)]
pub(crate) struct Reader {
    context: Context,
    path: Vec<Step>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) notices: Vec<Violation>,
}

/// Upper bound of hints for a payload, because searching the nearest name or code takes time.
const MOST_HINTS: usize = 100;

/// Upper bound of faults; after it, a received document is not checked any further.
const MOST_FAULTS: usize = 1_000;

/// How many members are named in the fault that an object is expected.
const MOST_NAMES: usize = 4;
/// Upper bound of a name shown in an error; every name of the format is shorter.
const LONGEST_NAME: usize = 80;

/// Upper bound of the rows of a block.
const MOST_FIELDS: usize = 64;

impl Reader {
    pub(crate) fn new(receipt_type: ReceiptType, amounts: Amounts, source: Source) -> Self {
        Self {
            context: Context {
                receipt_type,
                amounts,
                source,
                field: "",
                advise: true,
                notices: Vec::new(),
            },
            path: Vec::new(),
            violations: Vec::new(),
            notices: Vec::new(),
        }
    }

    pub(crate) fn member<M: Member>(&mut self, member: &mut M, field: &'static Field, node: &Node) {
        if is_nothing(node) {
            return;
        }
        self.path.push(Step::Name(field.name));
        if self.context.source == Source::Caller && field.name == "FechaHoraFirma" {
            let message = say!(
                "FechaHoraFirma is set at the moment of signing; the given one is ignored",
                "FechaHoraFirma se pone al firmar; la recibida se ignora"
            );
            self.notice(Problem::new(codes::FIRMA_IGNORED, "ignored", message), node.as_scalar());
        } else if field.obligations.presence(self.context.receipt_type) == Presence::Forbidden {
            let message = say!(
                "{} is not allowed in type {}",
                "{} no se permite en el tipo {}",
                field.name,
                self.context.receipt_type
            );
            self.violation(Problem::new(codes::NOT_ALLOWED, "extra_forbidden", message), node);
        } else {
            member.read(field, node, self);
        }
        self.path.pop();
    }

    pub(crate) fn block<B: Block>(&mut self, node: &Node) -> B {
        let mut block = B::default();
        match node {
            Node::Null => {}
            Node::Object(members) => {
                let (slots, strange) = self.slots::<B>(members);
                block.read_members(&slots[..B::FIELDS.len()], self);
                self.unknown::<B>(&strange);
            }
            // `DetallesItems: [...]` for `DetallesItems: {Item: [...]}`.
            Node::Array(_) if matches!(B::FIELDS, [Field { repeated: true, .. }]) => {
                let message = say!(
                    "a list stands where an object with {} is due; it was taken as that",
                    "hay una lista donde se espera un objeto con {}; se tomó como tal",
                    B::FIELDS[0].name
                );
                self.notice(Problem::new(codes::ALIAS, "alias", message), None);
                block.read_members(&[Some(node)], self);
            }
            other => {
                let names: Vec<&str> = B::FIELDS.iter().take(MOST_NAMES).map(|field| field.name).collect();
                let more = if B::FIELDS.len() > MOST_NAMES {
                    say!(" and others", " y otros")
                } else {
                    Bilingual::default()
                };
                let kind = other.kind();
                let message = say!(
                    [more, kind],
                    "an object with {}{more} is expected, not {kind}",
                    "se espera un objeto con {}{more}, no {kind}",
                    names.join(", "),
                );
                self.violation(Problem::new(codes::NOT_AN_OBJECT, "dict_type", message), other);
            }
        }
        block
    }

    pub(crate) fn list<C: Content>(&mut self, field: &'static Field, node: &Node) -> Vec<C> {
        // Where a list is expected, one object counts as a list of one. XML does not distinguish the two.
        let mut elements = match node {
            Node::Array(elements) => elements.as_slice(),
            one => std::slice::from_ref(one),
        };
        let limit = field.limit.of(self.context.receipt_type);
        if elements.len() > limit as usize {
            // An element takes kilobytes, and rules compare lists with each other, so a list must not exceed the
            // document's limit.
            self.violations
                .push(too_many(self.path(), field, elements.len(), limit));
            elements = &elements[..limit as usize];
        }
        let mut list = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            self.path.push(Step::Index(index));
            list.extend(C::read_one(field, element, self));
            self.path.pop();
        }
        list
    }

    pub(crate) fn value<V: Value>(&mut self, field: &'static Field, node: &Node) -> Option<V> {
        let scalar = match node {
            Node::Null => return None,
            Node::Text(text) => Scalar { text, number: false },
            Node::Number(text) => Scalar { text, number: true },
            // `{Telefono: "..."}` instead of the telephone number itself.
            Node::Object(members) => match members.as_slice() {
                [(key, value)] if hints::is_alias(key, field.name) || **key == *field.name => {
                    let message = say!(
                        "{} is a value, not an object; its member {key} was taken",
                        "{} es un valor, no un objeto; se tomó su miembro {key}",
                        field.name
                    );
                    self.notice(Problem::new(codes::ALIAS, "alias", message), value.as_scalar());
                    return self.value(field, value);
                }
                _ => return self.not_a_value(field, node),
            },
            Node::Bool(_) | Node::Array(_) => return self.not_a_value(field, node),
        };
        self.context.field = field.name;
        self.context.advise = self.violations.len() < MOST_HINTS;
        let result = V::read(scalar, &field.form, &mut self.context);
        for notice in std::mem::take(&mut self.context.notices) {
            self.notice(notice, Some(scalar.text));
        }
        match result {
            Ok(value) => Some(value),
            Err(problem) => {
                self.violation(problem, node);
                None
            }
        }
    }

    fn not_a_value<V>(&mut self, field: &'static Field, node: &Node) -> Option<V> {
        let problem = match (node, &field.form) {
            (Node::Bool(given), Form::Code(catalogue)) => switch_problem(field.name, catalogue, *given),
            _ => None,
        };
        let problem = problem.unwrap_or_else(|| {
            let kind = node.kind();
            let message = say!(
                [kind],
                "a text or a number is expected, not {kind}",
                "se espera un texto o un número, no {kind}"
            );
            Problem::new(codes::NOT_A_VALUE, "string_type", message)
        });
        self.violation(problem, node);
        None
    }

    /// The member for each row of the block, by name or alias, and the members without a row.
    fn slots<'n, B: Block>(
        &mut self,
        members: &'n [(Piece, Node)],
    ) -> ([Option<&'n Node>; MOST_FIELDS], Vec<&'n (Piece, Node)>) {
        const { assert!(B::FIELDS.len() <= MOST_FIELDS) };
        let mut slots = [None; MOST_FIELDS];
        // Payloads mostly follow the order of the schema, so the search starts after the last match.
        let mut next = 0;
        let mut strange = Vec::new();
        for member in members {
            match place_of(B::FIELDS, next, |field| *member.0 == *field.name) {
                Some(place) => {
                    slots[place] = Some(&member.1);
                    next = place + 1;
                }
                None => strange.push(member),
            }
        }
        strange.retain(|(key, value)| {
            let Some(place) = place_of(B::FIELDS, 0, |field| hints::is_alias(key, field.name)) else {
                return true;
            };
            if slots[place].is_none() {
                slots[place] = Some(value);
                self.path.push(Step::Name(B::FIELDS[place].name));
                let message = say!("{key} was taken as {}", "{key} se tomó como {}", B::FIELDS[place].name);
                self.notice(
                    Problem::new(codes::ALIAS, "alias", message).expecting(B::FIELDS[place].name),
                    None,
                );
                self.path.pop();
            }
            false
        });
        (slots, strange)
    }

    /// Reports members without a row. A null counts as absent here too.
    fn unknown<B: Block>(&mut self, strange: &[&(Piece, Node)]) {
        for (key, value) in strange {
            if value.is_null() {
                continue;
            }
            if self.context.source == Source::Received && self.path.is_empty() && &**key == "Signature" {
                continue;
            }
            let parent = self.path.iter().rev().find_map(|step| match step {
                Step::Name(name) => Some(*name),
                Step::Index(_) => None,
            });
            let key = shortened(key);
            let hint = if self.violations.len() < MOST_HINTS {
                hints::for_unknown(&key, parent, B::FIELDS)
            } else {
                hints::none(&key, parent)
            };
            let mut violation = Violation::rejected(self.path(), codes::UNKNOWN_FIELD, "extra_forbidden", hint.message);
            violation.path.push(key.to_string());
            violation.given = Some(key.to_string());
            violation.input = Some(value.excerpt());
            violation.expected = hint.expected;
            self.violations.push(violation);
        }
    }

    fn path(&self) -> Vec<String> {
        self.path
            .iter()
            .map(|step| match step {
                Step::Name(name) => (*name).to_owned(),
                Step::Index(index) => index.to_string(),
            })
            .collect()
    }

    fn violation(&mut self, problem: Problem, node: &Node) {
        let given = node.as_scalar();
        let mut violation = self.build(problem, given);
        violation.input = given.is_none().then(|| node.excerpt());
        if self.context.source == Source::Caller || self.violations.len() < MOST_FAULTS {
            self.violations.push(violation);
        }
    }

    pub(crate) fn notice(&mut self, problem: Problem, given: Option<&str>) {
        let notice = self.build(problem, given).with_grade(Grade::Notice);
        self.notices.push(notice);
    }

    fn build(&self, problem: Problem, given: Option<&str>) -> Violation {
        let mut violation = Violation::rejected(self.path(), problem.code, problem.kind, problem.message);
        violation.expected = problem.expected;
        match given {
            Some(given) => violation.with_given(given),
            None => violation,
        }
    }
}

/// `true` or `false` instead of a code.
fn switch_problem(field: &str, catalogue: Catalogue, given: bool) -> Option<Problem> {
    let (write, expected) = match advice::meant_switch(catalogue, if given { "true" } else { "false" })? {
        Some(entry) => {
            let code = advice::listed(&[entry]);
            (say!([code], "write {code}", "escriba {code}"), entry.0)
        }
        None => (say!("leave the field out", "omita el campo"), "the field left out"),
    };
    let message = say!(
        [write],
        "{field} is a code, not {given}: {write}",
        "{field} es un código, no {given}: {write}"
    );
    Some(Problem::new(codes::NOT_A_VALUE, "string_type", message).expecting(expected))
}

fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

fn place_of(fields: &[Field], start: usize, wanted: impl Fn(&Field) -> bool) -> Option<usize> {
    let (before, from) = fields.split_at(start);
    from.iter()
        .position(&wanted)
        .map(|place| place + start)
        .or_else(|| before.iter().position(&wanted))
}

/// Null, or an empty container: both count as absent.
fn is_nothing(node: &Node) -> bool {
    match node {
        Node::Null => true,
        Node::Array(elements) => elements.iter().all(is_nothing),
        Node::Object(members) => members.iter().all(|(_, member)| is_nothing(member)),
        _ => false,
    }
}
