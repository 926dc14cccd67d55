//! How a rule reports a finding: paths, amounts, differences.

use ecf_language::{Bilingual, say};
use rust_decimal::Decimal;

use super::RuleInfo;
use crate::totals::Tolerance;
use crate::violation::{Grade, Violation};

/// The path of a field.
pub(super) type Path = Vec<String>;

/// Collects the findings of one rule.
#[derive(Debug)]
pub(crate) struct Findings<'a> {
    rule: &'a RuleInfo,
    grade: Grade,
    /// The origin of the compared amounts: given or computed.
    origin: Bilingual,
    violations: &'a mut Vec<Violation>,
}

/// The finding that was just added, to attach details.
#[derive(Debug)]
pub(super) struct Finding<'a>(&'a mut Violation);

impl<'a> Findings<'a> {
    pub(super) fn new(rule: &'a RuleInfo, violations: &'a mut Vec<Violation>) -> Self {
        Self {
            rule,
            grade: rule.grade,
            origin: was_given(),
            violations,
        }
    }

    /// Sets the origin of the following amounts: given by the caller, or computed by the service.
    pub(super) fn of_given(&mut self, is_given: bool) -> &mut Self {
        self.origin = if is_given {
            was_given()
        } else {
            say!("was computed here", "se calculó aquí")
        };
        self
    }

    /// The same collection with another grade than the rule's.
    pub(super) fn graded(&mut self, grade: Grade) -> Findings<'_> {
        Findings {
            rule: self.rule,
            grade,
            origin: self.origin.clone(),
            violations: self.violations,
        }
    }

    fn add(&mut self, path: Path, kind: &'static str, message: Bilingual) -> Finding<'_> {
        let violation = Violation::rejected(path, self.rule.code, kind, message).with_grade(self.grade);
        self.violations.push(violation);
        Finding(self.violations.last_mut().expect("one was just pushed"))
    }

    /// A missing field.
    pub(super) fn missing(&mut self, path: Path, message: Bilingual) -> Finding<'_> {
        self.add(path, "missing", message)
    }

    /// A field that is not allowed.
    pub(super) fn forbidden(&mut self, path: Path, message: Bilingual) -> Finding<'_> {
        self.add(path, "extra_forbidden", message)
    }

    /// A field with the wrong value.
    pub(super) fn wrong(&mut self, path: Path, message: Bilingual) -> Finding<'_> {
        self.add(path, "value_error", message)
    }

    /// A field that must have this value.
    pub(super) fn differs(
        &mut self,
        path: Path,
        given: impl ToString,
        expected: impl ToString,
        message: Bilingual,
    ) -> Finding<'_> {
        let (given, expected) = (given.to_string(), expected.to_string());
        self.wrong(path, message).given(given).expected(expected)
    }

    /// An amount that must have exactly this value.
    pub(super) fn amount(&mut self, path: Path, given: Decimal, expected: Decimal, message: Bilingual) -> Finding<'_> {
        let origin = &self.origin;
        let message = say!(
            [message, origin],
            "{message}: {given} {origin}, {expected} is expected, the difference is {}",
            "{message}: {origin} {given}, se espera {expected}, la diferencia es {}",
            signed(expected - given)
        );
        self.differs(path, given, expected, message)
            .difference(expected - given)
    }

    /// An amount with a tolerance: a difference within it is a notice, a larger one has the rule's grade. The first of
    /// the accepted amounts is reported as expected.
    pub(super) fn tolerated(
        &mut self,
        path: impl FnOnce() -> Path,
        given: Decimal,
        accepted: &[Decimal],
        tolerance: Tolerance,
        what: &Bilingual,
    ) -> Option<Finding<'_>> {
        let expected = accepted.first().copied().filter(|_| !accepted.contains(&given))?;
        let limit = tolerance.limit();
        if accepted.iter().any(|accepted| tolerance.covers(given, *accepted)) {
            let message = say!(
                [what],
                "{what}, within the tolerance of {limit}",
                "{what}, dentro de la tolerancia de {limit}"
            );
            Some(self.amount(path(), given, expected, message).graded(Grade::Notice))
        } else {
            let message = say!(
                [what],
                "{what}, beyond the tolerance of {limit}",
                "{what}, fuera de la tolerancia de {limit}"
            );
            Some(self.amount(path(), given, expected, message))
        }
    }
}

impl Finding<'_> {
    pub(super) fn given(self, given: impl ToString) -> Self {
        let bare = std::mem::replace(self.0, Violation::rejected(Vec::new(), "", "", Bilingual::default()));
        *self.0 = bare.with_given(&given.to_string());
        self
    }

    pub(super) fn expected(self, expected: impl Into<String>) -> Self {
        self.0.expected = Some(expected.into());
        self
    }

    pub(super) fn grade(&self) -> Grade {
        self.0.grade
    }

    fn graded(self, grade: Grade) -> Self {
        self.0.grade = grade;
        self
    }

    /// Adds to the sentence.
    pub(super) fn adding(self, more: &Bilingual) -> Self {
        self.0.message = std::mem::take(&mut self.0.message).then(more);
        self
    }

    pub(super) fn difference(self, difference: Decimal) -> Self {
        self.0.difference = Some(signed(difference));
        self
    }
}

fn was_given() -> Bilingual {
    say!("was given", "se recibió")
}

/// A difference with an explicit sign.
fn signed(difference: Decimal) -> String {
    if difference.is_sign_positive() {
        format!("+{difference}")
    } else {
        difference.to_string()
    }
}

/// A path of these names.
pub(super) fn at(steps: &[&str]) -> Path {
    steps.iter().map(|&step| step.to_owned()).collect()
}

pub(super) fn id_doc(field: &str) -> Path {
    at(&["Encabezado", "IdDoc", field])
}

pub(super) fn emisor(field: &str) -> Path {
    at(&["Encabezado", "Emisor", field])
}

pub(super) fn comprador(field: &str) -> Path {
    at(&["Encabezado", "Comprador", field])
}

pub(super) fn totales(field: &str) -> Path {
    at(&["Encabezado", "Totales", field])
}

pub(super) fn otra_moneda(field: &str) -> Path {
    at(&["Encabezado", "OtraMoneda", field])
}

pub(super) fn referencia(field: &str) -> Path {
    at(&["InformacionReferencia", field])
}

/// The path of a field of a line, by the line's 0-based index.
pub(super) fn line(index: usize, fields: &[&str]) -> Path {
    let mut path = at(&["DetallesItems", "Item"]);
    path.push(index.to_string());
    path.extend(at(fields));
    path
}
