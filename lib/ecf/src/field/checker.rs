//! Checks presence: mandatory fields must be present, forbidden ones absent.

use crate::codes;
use std::collections::HashSet;

use ecf_language::{Bilingual, say};

use super::{Block, Content, Field, Form, Member, Presence, refusal};
use crate::violation::Violation;
use crate::{Fecha, ReceiptType};

/// Collects missing, forbidden and repeated fields of a document.
#[derive(Debug)]
pub(crate) struct Checker {
    receipt_type: ReceiptType,
    stage: Stage,
    path: Vec<String>,
    violations: Vec<Violation>,
}

/// How complete the document must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Number, expiry and signing time may be missing.
    Draft,
    /// No mandatory field may be missing.
    Whole,
}

/// Fields that are assigned later: the number and its expiry from a range, and the signing time.
const ASSIGNED_LATER: [&str; 3] = ["eNCF", "FechaVencimientoSecuencia", "FechaHoraFirma"];

impl Checker {
    /// All violations of presence and occurrence in a document of this type.
    pub(crate) fn check(document: &impl Block, receipt_type: ReceiptType, stage: Stage) -> Vec<Violation> {
        let mut checker = Self {
            receipt_type,
            stage,
            path: Vec::new(),
            violations: Vec::new(),
        };
        document.check_members(&mut checker);
        checker.violations
    }

    /// Adds missing fields to the faults of reading. A field that could not be read is not also reported as missing.
    pub(crate) fn check_beside(
        document: &impl Block,
        receipt_type: ReceiptType,
        stage: Stage,
        faults: &mut Vec<Violation>,
    ) {
        let mut found = Self::check(document, receipt_type, stage);
        // An unknown name says nothing about other fields.
        let told: Vec<&[String]> = faults
            .iter()
            .filter(|fault| fault.code != codes::UNKNOWN_FIELD)
            .map(|fault| fault.path.as_slice())
            .collect();
        let above: HashSet<&[String]> = told.iter().flat_map(|path| prefixes(path)).collect();
        let exact: HashSet<&[String]> = told.iter().copied().collect();
        found.retain(|missing| {
            // A list that is too long is an independent fault, not a consequence of faults in its elements.
            let is_too_long = missing.code == codes::TOO_MANY;
            let missing = missing.path.as_slice();
            (is_too_long || !above.contains(missing)) && !prefixes(missing).any(|prefix| exact.contains(prefix))
        });
        faults.append(&mut found);
    }

    pub(crate) fn member<M: Member>(&mut self, member: &M, field: &'static Field) {
        let presence = field.obligations.presence(self.receipt_type);
        if member.is_empty() {
            let later = self.stage == Stage::Draft && ASSIGNED_LATER.contains(&field.name);
            if presence == Presence::Mandatory && !later {
                self.missing(field);
            }
            return;
        }
        if presence == Presence::Forbidden {
            let message = say!(
                "{} is not allowed in type {}",
                "{} no se permite en el tipo {}",
                field.name,
                self.receipt_type
            );
            let path = self.path_to(field);
            self.violations.push(Violation::rejected(
                path,
                codes::NOT_ALLOWED,
                "extra_forbidden",
                message,
            ));
            return;
        }
        self.path.push(field.name.to_owned());
        member.check(field, self);
        self.path.pop();
    }

    /// Checks each element of a list, and their number. The current path is that of the list.
    pub(crate) fn list<C: Content>(&mut self, field: &'static Field, list: &[C]) {
        let limit = field.limit.of(self.receipt_type);
        if list.len() > limit as usize {
            self.violations
                .push(too_many(self.path.clone(), field, list.len(), limit));
        }
        for (index, one) in list.iter().enumerate() {
            self.path.push(index.to_string());
            one.check_one(self);
            self.path.pop();
        }
    }

    fn missing(&mut self, field: &'static Field) {
        let message = match &field.children {
            Some(children) => {
                let mandatory: Vec<&str> = children
                    .iter()
                    .filter(|child| child.obligations.presence(self.receipt_type) == Presence::Mandatory)
                    .map(|child| child.name)
                    .collect();
                let hint = if mandatory.is_empty() {
                    Bilingual::default()
                } else {
                    say!(" with {}", " con {}", mandatory.join(", "))
                };
                say!(
                    [hint],
                    "{} is mandatory in type {}{hint}",
                    "{} es obligatorio en el tipo {}{hint}",
                    field.name,
                    self.receipt_type
                )
            }
            None => say!(
                "{} is mandatory in type {}",
                "{} es obligatorio en el tipo {}",
                field.name,
                self.receipt_type
            ),
        };
        let path = self.path_to(field);
        let violation = |message| Violation::rejected(path, codes::MISSING, "missing", message);
        self.violations.push(match field.form {
            Form::Code(catalogue) if field.name != "Version" => {
                let all = refusal::all_of(catalogue);
                violation(say!([message, all], "{message}: {all}", "{message}: {all}")).with_expected(all.en)
            }
            Form::Fecha => violation(say!(
                [message],
                "{message}, written {}",
                "{message}, escrito {}",
                Fecha::FORM
            ))
            .with_expected(Fecha::FORM),
            _ => violation(message),
        });
    }

    fn path_to(&self, field: &Field) -> Vec<String> {
        let mut path = self.path.clone();
        path.push(field.name.to_owned());
        path
    }
}

/// A list has more elements than the type allows.
pub(super) fn too_many(path: Vec<String>, field: &Field, count: usize, limit: u32) -> Violation {
    let message = say!(
        "{} may stand {limit} times at most, and stands {count} times",
        "{} puede aparecer {limit} veces como máximo, y aparece {count} veces",
        field.name
    );
    Violation::rejected(path, codes::TOO_MANY, "too_long", message)
        .with_given(&count.to_string())
        .with_expected(format!("at most {limit}"))
}

/// The path and all its ancestors, up to the root.
fn prefixes(path: &[String]) -> impl Iterator<Item = &[String]> {
    (0..=path.len()).map(|length| &path[..length])
}
