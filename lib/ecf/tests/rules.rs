//! Each rule has cases in `rules/cases.json`: documents that pass, and documents that violate only this rule. A case is
//! one of the documents of `rules/bases.json` with changes by path; `null` removes a field.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;

use ecf::rules::modified::{self, Modified};
use ecf::rules::{CATALOGUE, Context, check};
use ecf::totals::{IscRates, compute};
use ecf::{Amounts, Draft, Environment, Grade, Node, ReceiptState, ReceiptType, Violation};
use serde_json::{Map, Value};

const BASES: &str = include_str!("rules/bases.json");
const CASES: &str = include_str!("rules/cases.json");

/// Abbreviations of paths in the cases, and the paths that they stand for.
const SHORT: [(&str, &str); 12] = [
    ("IdDoc", "Encabezado/IdDoc"),
    ("Emisor", "Encabezado/Emisor"),
    ("Comprador", "Encabezado/Comprador"),
    ("InformacionesAdicionales", "Encabezado/InformacionesAdicionales"),
    ("Totales", "Encabezado/Totales"),
    ("OtraMoneda", "Encabezado/OtraMoneda"),
    ("Item", "DetallesItems/Item"),
    ("Subtotales", "Subtotales"),
    ("Entry", "DescuentosORecargos/DescuentoORecargo"),
    ("Pagina", "Paginacion/Pagina"),
    ("Paginacion", "Paginacion"),
    ("Ref", "InformacionReferencia"),
];

fn long(path: &str) -> String {
    let (start, rest) = path.split_once('/').unwrap_or((path, ""));
    let (_, place) = SHORT.iter().find(|(short, _)| *short == start).unwrap();
    format!("{place}/{rest}").trim_end_matches('/').to_owned()
}

/// Sets, adds or removes the value at a path.
fn change(value: &mut Value, steps: &[&str], new: &Value) {
    let [step, rest @ ..] = steps else {
        *value = new.clone();
        return;
    };
    if let Ok(index) = step.parse::<usize>() {
        if value.is_null() {
            *value = Value::Array(Vec::new());
        }
        let list = value.as_array_mut().unwrap();
        if rest.is_empty() && new.is_null() {
            list.remove(index);
            return;
        }
        if index == list.len() {
            list.push(Value::Null);
        }
        change(&mut list[index], rest, new);
    } else {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        let members = value.as_object_mut().unwrap();
        change(members.entry(*step).or_insert(Value::Null), rest, new);
    }
}

/// The document of a case, with its type.
fn document(case: &Value) -> (ReceiptType, Node) {
    let bases: Value = serde_json::from_str(BASES).unwrap();
    let base = &bases[case["base"].as_str().unwrap()];
    let mut payload = base["payload"].clone();
    for (path, new) in case["change"].as_object().unwrap() {
        let path = long(path);
        change(&mut payload, &path.split('/').collect::<Vec<_>>(), new);
    }
    let receipt_type = base["type"].as_str().unwrap().parse().unwrap();
    (receipt_type, Node::parse(payload.to_string().as_bytes()).unwrap())
}

/// The findings about a document in production, without completion.
fn findings(receipt_type: ReceiptType, payload: &Node) -> Vec<Violation> {
    let rates = IscRates::of(Environment::Ecf);
    let (draft, mut told) = Draft::read(receipt_type, payload, Amounts::Verbatim).unwrap();
    let computed = compute(draft.document(), receipt_type, &rates);
    let context = Context {
        receipt_type,
        environment: Environment::Ecf,
        today: "27-11-2026".parse().unwrap(),
        computed: &computed,
        rates: &rates,
    };
    told.extend(check(draft.document(), &context));
    told
}

fn cases() -> BTreeMap<String, Value> {
    serde_json::from_str(CASES).unwrap()
}

fn list<'c>(case: &'c Value, kind: &str) -> impl Iterator<Item = &'c Value> {
    case[kind].as_array().unwrap().iter()
}

#[test]
fn every_rule_has_documents_that_pass_and_documents_that_break_it() {
    let cases = cases();
    for rule in CATALOGUE.iter().filter(|rule| !STORED.contains(&rule.code)) {
        let case = cases
            .get(rule.code)
            .unwrap_or_else(|| panic!("{} has no case", rule.code));
        assert!(
            list(case, "good").count() > 0 && list(case, "bad").count() > 0,
            "{}",
            rule.code
        );
    }
    for code in cases.keys() {
        assert!(CATALOGUE.iter().any(|rule| rule.code == code), "{code} is no rule");
    }
}

#[test]
fn documents_that_pass_raise_nothing() {
    for (code, case) in cases() {
        for good in list(&case, "good") {
            let (receipt_type, payload) = document(good);
            let found = findings(receipt_type, &payload);
            assert_eq!(found, [], "{code} {good}");
        }
    }
}

#[test]
fn documents_that_break_a_rule_raise_it_alone_and_at_the_field() {
    let mut wrong = Vec::new();
    for (code, case) in cases() {
        let rule = CATALOGUE.iter().find(|rule| rule.code == code).unwrap();
        for bad in list(&case, "bad") {
            let (receipt_type, payload) = document(bad);
            let found = findings(receipt_type, &payload);
            let beside: Vec<&str> = bad["beside"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|code| code.as_str().unwrap())
                .collect();
            let at = long(bad["at"].as_str().unwrap());
            let told = found
                .iter()
                .any(|violation| violation.code == code && violation.path.join("/") == at);
            let graded = found
                .iter()
                .filter(|violation| violation.code == code)
                .map(|violation| violation.grade)
                .max();
            let alone = found
                .iter()
                .all(|violation| violation.code == code || beside.contains(&violation.code));
            if !told || !alone || graded.is_none_or(|worst| worst > rule.grade) {
                let found: Vec<_> = found
                    .iter()
                    .map(|violation| {
                        format!(
                            "{} {:?} {}: {}",
                            violation.code,
                            violation.grade,
                            violation.path.join("/"),
                            violation.message.en
                        )
                    })
                    .collect();
                wrong.push(format!("{code} at {at}, {bad}: {found:#?}"));
            }
        }
        let worst = list(&case, "bad").filter_map(|bad| {
            let (receipt_type, payload) = document(bad);
            let found = findings(receipt_type, &payload);
            found
                .iter()
                .filter(|violation| violation.code == code)
                .map(|violation| violation.grade)
                .max()
        });
        if worst.max() != Some(rule.grade) {
            wrong.push(format!("{code}: no document breaks it with grade {:?}", rule.grade));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules about the stored record of the modified receipt, which a separate function checks.
const STORED: [&str; 8] = [
    "REFERENCIA-20",
    "REFERENCIA-21",
    "REFERENCIA-22",
    "REFERENCIA-23",
    "REFERENCIA-24",
    "REFERENCIA-25",
    "REFERENCIA-26",
    "REFERENCIA-27",
];

/// An accepted receipt that the credit note of 118.00 among the bases annuls exactly.
fn accepted() -> Modified<'static> {
    Modified {
        state: ReceiptState::Accepted,
        number_is_free: false,
        balance: "118.00".parse().unwrap(),
        annulled: false,
        has_open_debits: false,
        fecha_emision: "20-11-2026".parse().unwrap(),
        rnc_comprador: Some("198000012"),
    }
}

/// The findings about a note with this change and the receipt that it modifies.
fn against(change: &Value, modified: &Modified<'_>) -> Vec<Violation> {
    let (receipt_type, payload) = document(&serde_json::json!({ "base": "34", "change": change }));
    let (draft, _) = Draft::read(receipt_type, &payload, Amounts::Verbatim).unwrap();
    let found = modified::check(draft.document(), receipt_type, modified);
    assert!(found.iter().all(|violation| violation.grade == Grade::Rejected));
    found
}

fn with_code(code: u32) -> Value {
    serde_json::json!({ "Ref/CodigoModificacion": code })
}

#[test]
fn a_note_fits_what_is_left_of_the_modified_receipt() {
    let annulled = Modified {
        annulled: true,
        ..accepted()
    };
    let open = Modified {
        has_open_debits: true,
        ..accepted()
    };
    let left = |balance: &str| Modified {
        balance: balance.parse().unwrap(),
        ..accepted()
    };
    for (code, modified, expected) in [
        (3, left("118.00"), None),
        (3, left("117.99"), Some("REFERENCIA-21")),
        (3, annulled, Some("REFERENCIA-22")),
        (3, open, None),
        (1, left("118.00"), None),
        (1, left("118.01"), Some("REFERENCIA-20")),
        (1, left("100.00"), Some("REFERENCIA-20")),
        (1, open, Some("REFERENCIA-26")),
        (4, annulled, None),
    ] {
        let found = against(&with_code(code), &modified);
        let codes: Vec<_> = found.iter().map(|violation| violation.code).collect();
        assert_eq!(codes, Vec::from_iter(expected), "code {code}, {modified:?}");
    }
    let found = against(&with_code(3), &left("100.00"));
    let [violation] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(violation.path.join("/"), "Encabezado/Totales/MontoTotal");
    assert_eq!(
        [&violation.given, &violation.expected, &violation.difference].map(|sum| sum.as_deref().unwrap()),
        ["118.00", "100.00", "-18.00"]
    );
}

#[test]
fn a_note_modifies_a_receipt_that_is_valid_or_may_still_be() {
    for state in ReceiptState::ALL {
        for number_is_free in [false, true] {
            let modified = Modified {
                state,
                number_is_free,
                ..accepted()
            };
            let is_permanently_invalid = match state {
                ReceiptState::Rejected => !number_is_free,
                ReceiptState::Cancelled | ReceiptState::Incapacity => true,
                _ => false,
            };
            let found = against(&with_code(3), &modified);
            let told = found.iter().any(|violation| violation.code == "REFERENCIA-23");
            assert_eq!(
                (told, found.len()),
                (is_permanently_invalid, usize::from(is_permanently_invalid)),
                "{state} {number_is_free}"
            );
        }
    }
}

#[test]
fn a_note_has_buyer_and_day_of_the_modified_receipt() {
    for (change, rnc_comprador, expected) in [
        (serde_json::json!({}), Some("198000012"), vec![]),
        (serde_json::json!({}), Some("198000029"), vec!["REFERENCIA-24"]),
        (serde_json::json!({}), None, vec!["REFERENCIA-24"]),
        (serde_json::json!({ "Comprador/RNCComprador": null }), None, vec![]),
        (
            serde_json::json!({ "Comprador/RNCComprador": null }),
            Some("198000012"),
            vec!["REFERENCIA-24"],
        ),
        (
            serde_json::json!({ "Ref/FechaNCFModificado": "21-11-2026", "Comprador/RNCComprador": null }),
            Some("198000012"),
            vec!["REFERENCIA-24", "REFERENCIA-25"],
        ),
    ] {
        let found = against(
            &change,
            &Modified {
                rnc_comprador,
                ..accepted()
            },
        );
        let codes: Vec<_> = found.iter().map(|violation| violation.code).collect();
        assert_eq!(codes, expected, "{change} {rnc_comprador:?}");
    }
}

#[test]
fn a_note_on_what_another_taxpayer_issued_is_not_held_against_our_own_number() {
    let invalid = Modified {
        state: ReceiptState::Cancelled,
        ..accepted()
    };
    let other = serde_json::json!({ "Ref/RNCOtroContribuyente": "198000029" });
    assert_eq!(against(&other, &invalid), []);
    let own = serde_json::json!({ "Ref/RNCOtroContribuyente": "199000013" });
    assert_eq!(against(&own, &invalid).len(), 1);
}

#[test]
fn p6_every_finding_is_in_spanish_too() {
    let english = ["the", "is", "of", "and", "not", "are", "was", "with", "must", "which"];
    let mut seen = 0;
    for bad in cases()
        .values()
        .flat_map(|case| list(case, "bad").cloned().collect::<Vec<_>>())
    {
        let (receipt_type, payload) = document(&bad);
        for Violation { code, message, .. } in findings(receipt_type, &payload) {
            seen += 1;
            assert_ne!(message.en, message.es, "{code}");
            let mut words = message.es.split(|character: char| !character.is_alphanumeric());
            assert_eq!(
                words.find(|word| english.contains(word)),
                None,
                "{code}: {}",
                message.es
            );
        }
    }
    assert!(seen > 150, "{seen} findings");
}
