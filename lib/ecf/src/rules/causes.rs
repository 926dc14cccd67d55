//! Finds the cause of wrong sums. The search runs only after sums were found to be wrong.
//!
//! One wrong field can make every sum of a receipt wrong. To find it, the receipt is checked again with that field
//! corrected: the findings that disappear are its effects.

use std::collections::{HashMap, HashSet};

use ecf_language::{Bilingual, say};
use rust_decimal::Decimal;

use super::finding::id_doc;
use super::judge::{Amount, size};
use super::taxes::stays_refused;
use super::{Context, RuleInfo, find, sums};
use crate::Monto;
use crate::catalogue::{IndicadorFacturacion, IndicadorMontoGravado};
use crate::document::{Document, IdDoc};
use crate::draft::Given;
use crate::field::Block as _;
use crate::totals::{allows, complete, compute};
use crate::violation::{Grade, Violation, stage};

/// Derived from the findings of all other rules.
pub(super) const REVERSED: RuleInfo = RuleInfo {
    code: "IDDOC-14",
    grade: Grade::Rejected,
    source: "format, IdDoc: IndicadorMontoGravado; IT §12",
    summary: "the sums follow from the lines as IndicadorMontoGravado says that their amounts are meant",
};

const LINE_AMOUNT: &str = "LINEA-02";
/// Payments that exceed a total: not a sum of the receipt, but possibly an effect of one.
const PAYMENTS: &str = "IDDOC-08";

/// Replaces effects among the findings by their causes.
pub(super) fn trace(
    found: Vec<Violation>,
    document: &Document,
    context: &Context<'_>,
    given: Option<&Given>,
) -> Vec<Violation> {
    if !found.iter().any(is_worth_a_trial) {
        return found;
    }
    let trial = Trial {
        document,
        context,
        given,
    };
    let found = trial.without_computed_effects(found);
    match trial.reversed_indicator(&found) {
        Some(explained) => explained,
        None => trial.corrected_lines(found),
    }
}

/// Whether a finding is about a sum over lines.
fn is_sum(violation: &Violation) -> bool {
    violation.difference.is_some() && stage(&violation.path) > 1
}

/// Whether the difference exceeds rounding. Smaller differences have no other cause.
fn is_worth_a_trial(violation: &Violation) -> bool {
    const ROUNDING: Decimal = Decimal::from_parts(10, 0, 0, false, 2);
    is_sum(violation) && (violation.grade > Grade::Notice || size(violation) > ROUNDING)
}

/// Findings, keyed by code and path.
type Places<'v> = HashMap<(&'static str, &'v [String]), &'v Violation>;

fn places(found: &[Violation]) -> Places<'_> {
    let place = |violation| -> (_, &Violation) { (place(violation), violation) };
    found.iter().map(place).collect()
}

fn place(violation: &Violation) -> (&'static str, &[String]) {
    (violation.code, violation.path.as_slice())
}

/// The wrong sums that a change of the receipt affects.
fn dependent<'v>(found: &'v [Violation], others: &Places<'_>) -> Vec<&'v Violation> {
    let changes = |violation: &&Violation| {
        let other = others.get(&place(violation));
        is_sum(violation) && other.is_none_or(|other| other.expected != violation.expected)
    };
    found.iter().filter(changes).collect()
}

fn worst<'v>(found: impl IntoIterator<Item = &'v Violation>) -> Option<Grade> {
    found.into_iter().map(|violation| violation.grade).max()
}

struct Trial<'a> {
    document: &'a Document,
    context: &'a Context<'a>,
    given: Option<&'a Given>,
}

impl Trial<'_> {
    /// The findings if the caller had sent the receipt with this change.
    fn with(&self, change: impl FnOnce(&mut Document)) -> Vec<Violation> {
        let context = self.context;
        let mut document = match self.given {
            Some(given) => given.restore(self.document),
            None => self.document.clone(),
        };
        change(&mut document);
        let mut computed = compute(&document, context.receipt_type, context.rates);
        if self.given.is_some() {
            complete(&mut document, &mut computed);
        }
        let context = Context {
            computed: &computed,
            ..*context
        };
        find(&document, &context, self.given)
    }

    /// Drops findings about sums that the service computed: they follow from the caller's amounts, which are reported
    /// once. A computed sum is reported only if its grade is higher than theirs.
    fn without_computed_effects(&self, mut found: Vec<Violation>) -> Vec<Violation> {
        let is_given = |violation: &Violation| self.given.is_none_or(|given| sums::was_given(violation, given));
        let grade = worst(
            found
                .iter()
                .filter(|violation| is_sum(violation) && Amount::of(violation).is_some() && is_given(violation)),
        );
        found.retain(|violation| !is_sum(violation) || is_given(violation) || Some(violation.grade) > grade);
        found
    }

    /// One finding instead of many, if all sums are right once IndicadorMontoGravado is reversed.
    fn reversed_indicator(&self, found: &[Violation]) -> Option<Vec<Violation>> {
        let given = self.document.encabezado.id_doc.indicador_monto_gravado;
        let reversed = match given {
            Some(IndicadorMontoGravado::ConItbis) => IndicadorMontoGravado::SinItbis,
            Some(IndicadorMontoGravado::SinItbis) | None => IndicadorMontoGravado::ConItbis,
        };
        let taxed = |indicator| matches!(indicator, IndicadorFacturacion::Itbis1 | IndicadorFacturacion::Itbis2);
        let mut lines = self.document.detalles_items.item.iter();
        let may_stand = allows(IdDoc::FIELDS, "IndicadorMontoGravado", self.context.receipt_type);
        if !may_stand || !lines.any(|line| line.indicador_facturacion.is_some_and(taxed)) {
            return None;
        }
        let after = self.with(|document| document.encabezado.id_doc.indicador_monto_gravado = Some(reversed));
        let (places_before, places_after) = (places(found), places(&after));
        let effects = dependent(found, &places_after);
        let grade = worst(effects.iter().copied())?;
        let closer = |violation: &&Violation| {
            let before = places_before.get(&place(violation));
            violation.grade == Grade::Notice
                && grade > Grade::Notice
                && before.is_some_and(|before| size(violation) <= size(before))
        };
        let all_right = dependent(&after, &places_before).iter().all(closer);
        let nothing_new = after
            .iter()
            .all(|violation| violation.grade == Grade::Notice || places_before.contains_key(&place(violation)));
        if !all_right || !nothing_new {
            return None;
        }
        let cause = cause(given, reversed, grade, &effects);
        let mut explained: Vec<Violation> = found
            .iter()
            .filter(|violation| {
                let vanishes = !places_after.contains_key(&place(violation));
                let is_effect = effects.iter().any(|effect| std::ptr::eq(*effect, *violation));
                !is_effect && !(vanishes && (violation.grade == Grade::Notice || violation.code == PAYMENTS))
            })
            .cloned()
            .collect();
        match explained
            .iter_mut()
            .find(|violation| violation.grade > Grade::Notice && violation.path == cause.path)
        {
            // Another rule already asks for the indicator; now its value is known.
            Some(asked) => {
                if let (None, Some(expected)) = (given, &cause.expected) {
                    let (asked_for, why) = (&asked.message, &cause.message);
                    asked.message = say!([asked_for, why], "{asked_for}: {why}", "{asked_for}: {why}");
                    asked.expected = Some(expected.clone());
                }
            }
            None => explained.push(cause),
        }
        Some(explained)
    }

    /// A wrong MontoItem makes the sums of the receipt wrong. The sums that are right after its correction are its
    /// effects.
    fn corrected_lines(&self, mut found: Vec<Violation>) -> Vec<Violation> {
        let corrections: Vec<(usize, Monto)> = found
            .iter()
            .filter(|violation| violation.code == LINE_AMOUNT)
            .filter_map(|violation| {
                let index = violation.path.get(2)?.parse().ok()?;
                Some((index, violation.expected.as_ref()?.parse().ok()?))
            })
            .collect();
        let line_grade = worst(found.iter().filter(|violation| violation.code == LINE_AMOUNT));
        let (Some((index, amount)), Some(line_grade)) = (corrections.first(), line_grade) else {
            return found;
        };
        let first = say!(
            "MontoItem of line {} is {amount}",
            "MontoItem de la línea {} sea {amount}",
            index + 1
        );
        let after = self.with(|document| {
            for (index, amount) in &corrections {
                if let Some(item) = document.detalles_items.item.get_mut(*index) {
                    item.monto_item = Some(amount.clone());
                }
            }
        });
        let before = found.clone();
        let (places_before, places_after) = (places(&before), places(&after));
        let still = dependent(&after, &places_before);
        // If the correction makes other sums wrong, another field of the line is the cause.
        if still
            .iter()
            .any(|violation| !places_before.contains_key(&place(violation)))
        {
            return found;
        }
        let effects: HashSet<_> = dependent(&before, &places_after).into_iter().map(place).collect();
        found.retain_mut(|violation| {
            if !effects.contains(&place(violation)) {
                return true;
            }
            // If the line is within its tolerance, only the sum itself stops the receipt.
            let stays = violation.grade > line_grade;
            if stays && !places_after.contains_key(&place(violation)) {
                let wrong = &violation.message;
                violation.message = say!(
                    [wrong, first],
                    "{wrong}; it is right once {first}",
                    "{wrong}; es correcto cuando {first}"
                );
            }
            stays
        });
        let stay = places(&found);
        let mut still: Vec<Violation> = still
            .into_iter()
            .filter(|violation| !stay.contains_key(&place(violation)))
            .cloned()
            .collect();
        found.append(&mut still);
        found
    }
}

/// The finding that IndicadorMontoGravado is reversed, derived from the sums that it makes wrong.
fn cause(
    given: Option<IndicadorMontoGravado>,
    reversed: IndicadorMontoGravado,
    grade: Grade,
    effects: &[&Violation],
) -> Violation {
    let verb = |indicator| match indicator {
        IndicadorMontoGravado::ConItbis => say!("include", "incluyen"),
        IndicadorMontoGravado::SinItbis => say!("exclude", "no incluyen"),
    };
    let total = |violation: &&&Violation| {
        violation
            .path
            .last()
            .is_some_and(|field| field.starts_with("MontoTotal"))
    };
    let example = effects.iter().find(total).or_else(|| effects.first());
    let example = example.and_then(|violation| {
        let (field, sum) = (violation.path.last()?, violation.given.as_ref()?);
        let otherwise = violation.expected.as_ref()?;
        let code = given.unwrap_or(IndicadorMontoGravado::SinItbis);
        Some(say!(
            "; with {code}, {field} would be {otherwise} instead of {sum}",
            "; con {code}, {field} sería {otherwise} en lugar de {sum}"
        ))
    });
    let example = example.unwrap_or_default();
    let stays = if grade == Grade::Rejected {
        stays_refused()
    } else {
        Bilingual::default()
    };
    let (meant, verb_of_given) = (verb(reversed), given.map(verb));
    let sums = say!(
        [meant, example, stays],
        "the sums given are those of lines whose amounts {meant} it{example}{stays}",
        "las sumas recibidas son las de líneas cuyos montos {meant} el ITBIS{example}{stays}"
    );
    let violation = |message| {
        let path = id_doc("IndicadorMontoGravado");
        Violation::rejected(path, REVERSED.code, "value_error", message)
            .with_grade(grade)
            .with_expected(reversed.code())
    };
    match given.zip(verb_of_given) {
        Some((given, meaning)) => {
            let message = say!(
                [meaning, sums],
                "IndicadorMontoGravado is {given}, that is, line amounts {meaning} the ITBIS, but {sums}",
                "IndicadorMontoGravado es {given}, es decir, los montos de las líneas {meaning} el \
                 ITBIS, pero {sums}"
            );
            violation(message).with_given(given.code())
        }
        None => violation(sums),
    }
}
