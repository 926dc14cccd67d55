//! Following a finding never leads to the opposite finding, and following the findings in order always ends in a
//! receipt that is issued.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod apply;
mod receipts;

use std::collections::BTreeMap;

use ecf::rules::{OnConditional, judge};
use ecf::totals::IscRates;
use ecf::{Amounts, Draft, Environment, Grade, Node, ReceiptType, Violation};
use proptest::prelude::*;
use serde_json::Value;

use apply::{Done, apply};

/// The findings that stop the receipt outside production; empty when it is issued.
fn refusals(receipt_type: ReceiptType, payload: &Value) -> Vec<Violation> {
    let node = Node::parse(payload.to_string().as_bytes()).unwrap();
    let rates = IscRates::of(Environment::TesteCF);
    let (draft, _) = match Draft::read(receipt_type, &node, Amounts::Scaled) {
        Ok(read) => read,
        Err(found) => return found,
    };
    let today = "27-11-2026".parse().unwrap();
    let judged = judge(draft, Environment::TesteCF, today, &rates, OnConditional::Refuse);
    judged.err().unwrap_or_default()
}

/// Whether a finding reverts an earlier change of its field.
fn contradicts(done: &BTreeMap<String, Done>, found: &Violation) -> bool {
    let path = found.path.join("/");
    match (done.get(&path), apply::asked(found)) {
        (Some(Done::Removed), Done::Set(_)) | (Some(Done::Set(_)), Done::Removed) => true,
        // If one finding leaves the value open, another may specify it.
        (Some(Done::Set(value)), Done::Set(wanted)) => !value.is_empty() && !wanted.is_empty() && *value != wanted,
        _ => false,
    }
}

fn told(found: &[Violation]) -> Vec<String> {
    found
        .iter()
        .map(|found| format!("{} {} {}", found.code, found.path.join("/"), found.message.en))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn c6_following_the_first_finding_each_time_ends_in_a_receipt(case in receipts::receipt()) {
        let (receipt_type, mut payload) = case;
        let mut done = BTreeMap::new();
        let mut way = Vec::new();
        loop {
            let found = refusals(receipt_type, &payload);
            let Some(first) = found.first() else { break };
            way.push(format!("{} {}: {}", first.code, first.path.join("/"), first.message.en));
            prop_assert!(way.len() < 60, "no end: {:#?}\n{payload:#}", &way[50..]);
            prop_assert!(!contradicts(&done, first), "{:#?}\nafter {way:#?}\n{payload:#}", first);
            done.insert(first.path.join("/"), apply(&mut payload, first));
        }
    }

    #[test]
    fn c6_the_advice_of_a_finding_never_leads_to_the_opposite_finding(case in receipts::receipt()) {
        let (receipt_type, payload) = case;
        for advice in refusals(receipt_type, &payload) {
            let mut advised = payload.clone();
            let done = apply(&mut advised, &advice);
            let done = BTreeMap::from([(advice.path.join("/"), done)]);
            let after = refusals(receipt_type, &advised);
            let opposite: Vec<_> = after.into_iter().filter(|found| contradicts(&done, found)).collect();
            prop_assert!(opposite.is_empty(), "{:#?}\nafter {advice:#?}\n{payload:#}", told(&opposite));
        }
    }

    /// A cause comes before its effects: lines before sums, parts before their sum.
    #[test]
    fn c5_a_refusal_has_lines_before_sums(case in receipts::receipt()) {
        let (receipt_type, payload) = case;
        let found = refusals(receipt_type, &payload);
        let is_sum = |found: &Violation| found.path.get(1).is_some_and(|step| step == "Totales");
        let is_line = |found: &Violation| found.path[0] == "DetallesItems";
        // Faults of reading stop the receipt before amounts are computed, and are in document order.
        let computed = found.iter().any(|found| found.difference.is_some());
        let first_sum = found.iter().position(is_sum).unwrap_or(found.len());
        prop_assert!(!computed || !found[first_sum..].iter().any(is_line), "{:#?}", told(&found));
        let stops = |found: &Violation| found.grade > Grade::Notice;
        prop_assert!(found.is_empty() || found.iter().any(stops), "{:#?}", told(&found));
    }
}
