//! Looks up the obligations of the fields that findings are about.

use crate::codes;
use crate::document::Document;
use crate::field::{Block as _, Field, Presence};
use crate::{ReceiptType, Violation};

/// The obligation of the element at a path in this type. A forbidden element forbids its content too. `None` when the
/// table has no such path.
pub(super) fn presence(path: &[String], receipt_type: ReceiptType) -> Option<Presence> {
    let mut fields: Option<&[Field]> = Some(Document::FIELDS);
    let mut last = None;
    for step in path.iter().filter(|step| step.parse::<usize>().is_err()) {
        let field = fields?.iter().find(|field| field.name == step)?;
        let presence = field.obligations.presence(receipt_type);
        if presence == Presence::Forbidden {
            return Some(presence);
        }
        last = Some(presence);
        fields = field.children;
    }
    last
}

/// Drops findings about fields that the type forbids. Such a field is one finding; that its value is wrong, or that a
/// related field is missing, does not help.
pub(super) fn drop_forbidden(violations: &mut Vec<Violation>, receipt_type: ReceiptType) {
    violations.retain(|violation| {
        violation.code == codes::NOT_ALLOWED || presence(&violation.path, receipt_type) != Some(Presence::Forbidden)
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value, json};

    use super::*;
    use crate::field::{Form, Reader, Source};
    use crate::rules::{Context, run};
    use crate::totals::{IscRates, compute};
    use crate::{Amounts, Environment, Grade, Node};

    /// Documents of all types that violate no rule.
    fn bases() -> Vec<(ReceiptType, Value)> {
        let bases: Value = serde_json::from_str(include_str!("../../tests/rules/bases.json")).unwrap();
        let bases = bases.as_object().unwrap().values();
        bases
            .map(|base| (base["type"].as_str().unwrap().parse().unwrap(), base["payload"].clone()))
            .collect()
    }

    /// Values that a field may have, as JSON.
    fn samples(field: &Field, receipt_type: ReceiptType) -> Vec<Value> {
        match field.form {
            Form::Code(catalogue) => {
                // Enough to cover each class of additional tax, and all codes of short lists.
                let step = (catalogue.len() / 12).max(1);
                catalogue.iter().step_by(step).map(|(code, _)| json!(code)).collect()
            }
            Form::Decimal { .. } => vec![json!("0.01"), json!("300000.00")],
            Form::Integer { min, max } => vec![json!(min), json!(max.of(receipt_type).min(min + 1))],
            Form::Fecha => vec![json!("01-01-2020"), json!("31-12-2030")],
            Form::Rnc => vec![json!("198000012")],
            Form::Ncf => [
                "E320000000009",
                "E410000000009",
                "E440000000009",
                "B0200000009",
                "E340000000009",
            ]
            .map(|number| json!(number))
            .to_vec(),
            _ => vec![json!("Texto")],
        }
    }

    /// The paths of all fields that a type may have, with sample values; a list has its first element.
    fn fields(fields: &[Field], receipt_type: ReceiptType, above: &[&str], out: &mut Vec<(Vec<String>, Vec<Value>)>) {
        for field in fields {
            if field.obligations.presence(receipt_type) == Presence::Forbidden {
                continue;
            }
            let mut path = [above, &[field.name]].concat();
            if field.repeated {
                path.push("0");
            }
            match field.children {
                Some(children) => self::fields(children, receipt_type, &path, out),
                None => out.push((
                    path.iter().map(|&step| step.to_owned()).collect(),
                    samples(field, receipt_type),
                )),
            }
        }
    }

    /// Sets the value at a path, or removes it.
    fn set(value: &mut Value, path: &[String], new: Option<&Value>) {
        let (step, rest) = path.split_first().unwrap();
        let slot = match step.parse::<usize>() {
            Ok(index) => {
                if !value.is_array() {
                    *value = json!([]);
                }
                let list = value.as_array_mut().unwrap();
                if list.len() <= index {
                    list.push(Value::Null);
                }
                &mut list[index]
            }
            Err(_) => {
                if !value.is_object() {
                    *value = Value::Object(Map::new());
                }
                value.as_object_mut().unwrap().entry(step).or_insert(Value::Null)
            }
        };
        match (rest, new) {
            ([], new) => *slot = new.cloned().unwrap_or(Value::Null),
            (rest, new) => set(slot, rest, new),
        }
    }

    /// The findings of the rules alone, without structure checks.
    fn findings(receipt_type: ReceiptType, payload: &Value) -> Vec<Violation> {
        let node = Node::parse(payload.to_string().as_bytes()).unwrap();
        let document: Document = Reader::new(receipt_type, Amounts::Scaled, Source::Caller).block(&node);
        let rates = IscRates::of(Environment::TesteCF);
        let computed = compute(&document, receipt_type, &rates);
        let context = Context {
            receipt_type,
            environment: Environment::Ecf,
            today: "27-11-2026".parse().unwrap(),
            computed: &computed,
            rates: &rates,
        };
        run(&document, &context, None)
    }

    /// The findings about documents of a type with each field set to each sample value, and with each field removed.
    fn demanded(receipt_type: ReceiptType) -> BTreeSet<(&'static str, Grade, Vec<String>)> {
        let mut table = Vec::new();
        fields(Document::FIELDS, receipt_type, &[], &mut table);
        let mut demanded = BTreeSet::new();
        for (_, base) in bases().into_iter().filter(|(base, _)| *base == receipt_type) {
            for (path, values) in &table {
                for value in values.iter().map(Some).chain([None]) {
                    let mut payload = base.clone();
                    set(&mut payload, path, value);
                    let found = findings(receipt_type, &payload).into_iter();
                    demanded.extend(found.filter(|found| found.kind == "missing").map(|found| {
                        let names = found.path.into_iter().filter(|step| step.parse::<usize>().is_err());
                        (found.code, found.grade, names.collect())
                    }));
                }
            }
        }
        demanded
    }

    /// Optional fields that a rule requires nevertheless, with the source. Currently none.
    const DEMANDED_ALTHOUGH_OPTIONAL: [(&str, &str, &str); 0] = [];

    #[test]
    fn c1_no_rule_demands_a_field_that_the_table_forbids_or_leaves_open() {
        let mut days = Vec::new();
        let mut all = BTreeSet::new();
        for receipt_type in ReceiptType::ALL {
            for (code, grade, path) in demanded(receipt_type) {
                let field = path.last().unwrap().clone();
                let told = format!("{code} demands {field} in type {receipt_type}");
                match presence(&path, receipt_type).unwrap() {
                    Presence::Forbidden => panic!("{told}, which forbids it"),
                    Presence::Optional if grade > Grade::Notice => {
                        let mut listed = DEMANDED_ALTHOUGH_OPTIONAL.iter();
                        let known = listed.any(|(rule, name, _)| *rule == code && *name == field);
                        assert!(known, "{told}, where it is optional");
                    }
                    _ => {}
                }
                if code == "IDDOC-01" {
                    days.push(receipt_type.as_str());
                }
                all.insert((code, field));
            }
        }
        assert_eq!(days, ["31", "32", "33", "34", "41", "44", "45", "46"]);
        // The documents cover enough to reveal the rules' requirements.
        assert!(all.len() >= 30, "{all:#?}");
    }

    #[test]
    fn c6_nothing_is_said_beside_the_finding_that_a_field_is_not_allowed() {
        let at = |path: &str, code, kind| {
            let path = path.split('/').map(str::to_owned).collect();
            Violation::rejected(path, code, kind, ecf_language::Bilingual::default())
        };
        let mut found = vec![
            at("DetallesItems/Item/0/GradosAlcohol", "ISC-04", "missing"),
            at(
                "DetallesItems/Item/0/TablaSubcantidad/SubcantidadItem/0/Subcantidad",
                "ISC-02",
                "missing",
            ),
            at(
                "DetallesItems/Item/0/GradosAlcohol",
                codes::NOT_ALLOWED,
                "extra_forbidden",
            ),
            at("DetallesItems/Item/0/NombreItem", "ESTRUCTURA-01", "missing"),
            at("DetallesItems/Item/0/Grados", "ESTRUCTURA-04", "extra_forbidden"),
        ];
        drop_forbidden(&mut found, ReceiptType::E44);
        let codes: Vec<_> = found.iter().map(|violation| violation.code).collect();
        assert_eq!(codes, [codes::NOT_ALLOWED, "ESTRUCTURA-01", "ESTRUCTURA-04"]);
    }
}
