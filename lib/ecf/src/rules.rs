//! The fiscal rules: findings that the tax authority would report about a document whose fields are valid by
//! themselves.
//!
//! Every rule is one small function beside its row in the table of its file: a permanent code, a grade, a source and a
//! summary. [`check`] runs all rules and returns every finding at once, causes before effects. [`CATALOGUE`] lists the
//! table. When sums are wrong, `causes` searches the one field that causes it.
//!
//! Whether a number is authorised is not checked here. [`modified::check`] compares a note with the stored record of
//! the receipt that it modifies.
//!
//! Sources have short names: *format* is the authority's description of the e-CF format of October 2025, *IT* its
//! Informe Técnico of August 2022, *recorded* a verdict seen in a real answer.

mod causes;
mod currency;
mod discounts;
mod excise;
mod explain;
mod fillers;
mod finding;
mod header;
mod items;
mod judge;
pub mod modified;
mod obligations;
mod paging;
mod parties;
mod percentages;
mod policy;
mod references;
mod retentions;
mod subtotals;
mod sums;
mod taxes;
mod text_quality;
mod totals;
mod years;

use std::sync::LazyLock;

use rust_decimal::Decimal;

use crate::document::{Document, Item};
use crate::draft::Given;
use crate::field::Presence;
use crate::totals::{CarriedTaxes, Computed, IscRates, LineAmounts, Tolerance};
use crate::violation::{Grade, Violation, sort_causes_first};
use crate::{Environment, Fecha, Monto, ReceiptType};

pub use explain::{Explanation, explain};
pub(crate) use fillers::filler;
pub(crate) use finding::Findings;
pub use judge::judge;
pub use policy::{OnConditional, UnknownPolicy, split};
pub(crate) use references::advise_indicator;
pub(crate) use text_quality::complaints;

/// The public description of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleInfo {
    /// The permanent code, such as `TOTALES-03`.
    pub code: &'static str,
    /// The grade of a finding of the rule; within a tolerance it is only a notice.
    pub grade: Grade,
    /// The norm, or the verdict in which the rule was seen.
    pub source: &'static str,
    /// The condition that holds in a valid document.
    pub summary: &'static str,
}

/// The inputs of the rules, in addition to the document.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The type the document is issued as.
    pub receipt_type: ReceiptType,
    /// The destination: certification documents are years old.
    pub environment: Environment,
    /// The day in Santo Domingo.
    pub today: Fecha,
    /// The computed amounts.
    pub computed: &'a Computed,
    /// The rates of the excise taxes used for `computed`.
    pub rates: &'a IscRates,
}

/// All findings about the document, causes before effects.
pub fn check(document: &Document, context: &Context<'_>) -> Vec<Violation> {
    examine(document, context, None)
}

/// The same for a document that was completed from the amounts in `given`.
fn examine(document: &Document, context: &Context<'_>, given: Option<&Given>) -> Vec<Violation> {
    let mut violations = find(document, context, given);
    if !violations.is_empty() {
        violations = causes::trace(violations, document, context, given);
        sort_causes_first(&mut violations);
    }
    violations
}

/// The findings of each rule by itself, without the search for causes.
fn find(document: &Document, context: &Context<'_>, given: Option<&Given>) -> Vec<Violation> {
    let mut violations = run(document, context, given);
    obligations::drop_forbidden(&mut violations, context.receipt_type);
    violations
}

fn run(document: &Document, context: &Context<'_>, given: Option<&Given>) -> Vec<Violation> {
    let case = Case::new(document, context, given);
    let mut violations = Vec::new();
    for rule in TABLES.iter().copied().flatten() {
        (rule.check)(&case, &mut Findings::new(&rule.info, &mut violations));
    }
    violations
}

/// A rule with its check.
#[derive(Debug, Clone, Copy)]
struct Rule {
    info: RuleInfo,
    check: fn(&Case<'_>, &mut Findings<'_>),
}

impl Rule {
    const fn new(
        grade: Grade,
        code: &'static str,
        source: &'static str,
        summary: &'static str,
        check: fn(&Case<'_>, &mut Findings<'_>),
    ) -> Self {
        let info = RuleInfo {
            code,
            grade,
            source,
            summary,
        };
        Self { info, check }
    }

    /// A rule whose breach is rejected.
    const fn rejected(
        code: &'static str,
        source: &'static str,
        summary: &'static str,
        check: fn(&Case<'_>, &mut Findings<'_>),
    ) -> Self {
        Self::new(Grade::Rejected, code, source, summary, check)
    }

    /// A rule whose breach is accepted conditionally.
    const fn conditional(
        code: &'static str,
        source: &'static str,
        summary: &'static str,
        check: fn(&Case<'_>, &mut Findings<'_>),
    ) -> Self {
        Self::new(Grade::Conditional, code, source, summary, check)
    }

    /// A rule whose violation is only reported.
    const fn notice(
        code: &'static str,
        source: &'static str,
        summary: &'static str,
        check: fn(&Case<'_>, &mut Findings<'_>),
    ) -> Self {
        Self::new(Grade::Notice, code, source, summary, check)
    }
}

/// The document, with values that several rules need.
struct Case<'a> {
    document: &'a Document,
    receipt_type: ReceiptType,
    environment: Environment,
    today: Fecha,
    computed: &'a Computed,
    rates: &'a IscRates,
    lines: &'a [Item],
    /// The amounts as the caller stated them, when the service filled in the others.
    given: Option<&'a Given>,
    carried: CarriedTaxes,
    /// Whether the sums can be computed: each line has the fields that its amount needs, and a group that its type
    /// allows. Otherwise the cause is reported, and sums are not compared.
    sums_are_known: bool,
    /// The tolerance for amounts of the header: one peso for each line.
    tolerance: Tolerance,
}

impl<'a> Case<'a> {
    fn new(document: &'a Document, context: &Context<'a>, given: Option<&'a Given>) -> Self {
        let lines = document.detalles_items.item.as_slice();
        let computed = context.computed;
        let is_known = |(item, amounts): (&Item, &LineAmounts)| {
            (item.monto_item.is_some() || amounts.monto_item.is_some())
                && item
                    .indicador_facturacion
                    .is_some_and(|indicator| items::allows(context.receipt_type, indicator))
        };
        Self {
            document,
            receipt_type: context.receipt_type,
            environment: context.environment,
            today: context.today,
            computed,
            rates: context.rates,
            lines,
            given,
            carried: CarriedTaxes::of(context.receipt_type),
            sums_are_known: computed.problems.is_empty() && lines.iter().zip(&computed.lines).all(is_known),
            tolerance: Tolerance::of_header(lines.len()),
        }
    }

    /// MontoTotal, when it is known.
    fn monto_total(&self) -> Option<Decimal> {
        self.document.encabezado.totales.monto_total.as_ref().map(Monto::value)
    }

    /// The obligation of an element in this type.
    fn presence(&self, path: &[String]) -> Option<Presence> {
        obligations::presence(path, self.receipt_type)
    }

    /// Whether the type is one of these.
    fn is_one_of(&self, types: &[ReceiptType]) -> bool {
        types.contains(&self.receipt_type)
    }
}

/// The sum of the given amounts; `None` when none is given, or when the sum overflows.
fn sum<'a>(amounts: impl Iterator<Item = Option<&'a Monto>>) -> Option<Decimal> {
    let mut given = amounts.flatten().map(Monto::value);
    let first = given.next()?;
    given.try_fold(first, Decimal::checked_add)
}

/// Zero, with the scale of an amount.
const ZERO: Decimal = Decimal::from_parts(0, 0, 0, false, 2);

/// The tables of all files. Their order is irrelevant, because findings are sorted.
const TABLES: &[&[Rule]] = &[
    header::RULES,
    parties::RULES,
    totals::RULES,
    taxes::RULES,
    retentions::RULES,
    currency::RULES,
    items::RULES,
    excise::RULES,
    subtotals::RULES,
    discounts::RULES,
    paging::RULES,
    references::RULES,
    percentages::RULES,
    years::RULES,
];

/// Rules outside of the tables: some need stored amounts, others are checked while reading, and one is derived from
/// other findings.
const ELSEWHERE: &[&[RuleInfo]] = &[modified::RULES, text_quality::RULES, &[fillers::RULE, causes::REVERSED]];

/// All rules.
pub static CATALOGUE: LazyLock<Vec<RuleInfo>> = LazyLock::new(|| {
    let judged = TABLES.iter().copied().flatten().map(|rule| rule.info);
    judged.chain(ELSEWHERE.iter().copied().flatten().copied()).collect()
});

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_code_is_given_once_and_says_block_and_number() {
        let mut seen = HashSet::new();
        for rule in CATALOGUE.iter() {
            assert!(seen.insert(rule.code), "{} is given twice", rule.code);
            let (block, number) = rule.code.split_once('-').unwrap();
            let named = block.bytes().all(|letter| letter.is_ascii_uppercase());
            assert!(
                named && number.len() == 2 && number.parse::<u32>().is_ok(),
                "{}",
                rule.code
            );
            assert!(!rule.source.is_empty() && !rule.summary.ends_with('.'), "{}", rule.code);
        }
    }

    #[test]
    fn sums_are_of_what_is_there() {
        let amount = |text: &str| text.parse::<Monto>().unwrap();
        let (one, two) = (amount("1.10"), amount("2.20"));
        assert_eq!(
            sum([Some(&one), None, Some(&two)].into_iter()),
            Some(amount("3.30").value())
        );
        assert_eq!(sum([None, None].into_iter()), None);
    }
}
