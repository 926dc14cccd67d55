//! Applies the advice of a finding.

use ecf::Violation;
use serde_json::{Map, Value, json};

/// The change at a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Done {
    /// It was set to a value; empty when any value is accepted.
    Set(String),
    Removed,
    /// A change at another place.
    Elsewhere,
}

/// The change that a finding asks for at its field.
pub(crate) fn asked(found: &Violation) -> Done {
    let expected = found.expected.as_deref().unwrap_or_default();
    match (found.code, found.kind) {
        ("IMPUESTO-02" | "IMPUESTO-03" | "IMPUESTO-04" | "CALCULO-02" | "DESCUENTO-05" | "ISC-06", _) => {
            Done::Elsewhere
        }
        (_, "extra_forbidden") => Done::Removed,
        _ if expected == "no such field" => Done::Removed,
        _ if expected.parse::<rust_decimal::Decimal>().is_ok() => Done::Set(expected.to_owned()),
        _ => Done::Set(String::new()),
    }
}

/// A value for a missing field, or for one without a valid value.
fn sample(found: &Violation) -> Value {
    match found.path.last().unwrap().as_str() {
        "FechaLimitePago" => json!("27-12-2026"),
        "IndicadorMontoGravado" => json!(0),
        "IndicadorFacturacion" => json!(1),
        "PrecioUnitarioItem" => json!("100"),
        "GradosAlcohol" => json!("5.00"),
        "CantidadReferencia" => json!("24"),
        "PrecioUnitarioReferencia" => json!("75.00"),
        "TablaSubcantidad" => json!({"SubcantidadItem": [{"Subcantidad": "0.355", "CodigoSubcantidad": 15}]}),
        "Subcantidad" => json!("0.355"),
        "CodigoSubcantidad" => json!(15),
        "TipoImpuesto" => json!("002"),
        "TipoIngresos" => json!("01"),
        "Comprador" => json!({"RNCComprador": "198000012", "RazonSocialComprador": "Cliente SRL"}),
        "RNCComprador" => json!("198000012"),
        "RazonSocialComprador" => json!("Cliente SRL"),
        "Retencion" => json!({"IndicadorAgenteRetencionoPercepcion": 1, "MontoISRRetenido": "0.00"}),
        "MontoITBISRetenido" | "MontoISRRetenido" => json!("0.00"),
        "IndicadorAgenteRetencionoPercepcion" => json!(1),
        "SubDescuentoPorcentaje" => json!("10.00"),
        "MontoSubDescuento" => json!("1.00"),
        "TablaSubDescuento" => {
            let amount = found.expected.as_ref().unwrap().rsplit(' ').next().unwrap();
            json!({"SubDescuento": [{"TipoSubDescuento": "$", "MontoSubDescuento": amount}]})
        }
        "ValorDescuentooRecargo" => json!("10.00"),
        "TipoValor" => json!("%"),
        "IndicadorFacturacionDescuentooRecargo" => json!(4),
        "IndicadorBienoServicio" => json!(2),
        other => panic!("no value for {other}: {found:#?}"),
    }
}

/// Applies the advice of a finding.
pub(crate) fn apply(payload: &mut Value, found: &Violation) -> Done {
    let path: Vec<&str> = found.path.iter().map(String::as_str).collect();
    let taxes = ["Encabezado", "Totales", "ImpuestosAdicionales", "ImpuestoAdicional"];
    match found.code {
        // `… with TipoImpuesto 002, TasaImpuestoAdicional 2.00, OtrosImpuestosAdicionales 20.00`.
        "IMPUESTO-02" => {
            let (_, fields) = found.expected.as_ref().unwrap().split_once(" with ").unwrap();
            let entry: Map<String, Value> = fields
                .split(", ")
                .map(|field| field.split_once(' ').unwrap())
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .collect();
            list(payload, &taxes).push(Value::Object(entry));
        }
        // The entry, whose code the finding names.
        "IMPUESTO-03" | "IMPUESTO-04" => {
            let (index, list_path) = path[..path.len() - 1].split_last().unwrap();
            list(payload, list_path).remove(index.parse().unwrap());
        }
        // The groups of the lines: `1 or 4`.
        "DESCUENTO-05" => {
            let group = found.expected.as_ref().unwrap().split(' ').next().unwrap();
            if group == "no" {
                payload["DescuentosORecargos"] = Value::Null;
            } else {
                set(payload, &path, Some(json!(group)));
            }
        }
        // The discounts that exceed the amount that they reduce.
        "CALCULO-02" => {
            payload["DescuentosORecargos"] = Value::Null;
        }
        // The specific tax that an ad valorem tax requires: `006 and 023`.
        "ISC-06" => {
            let specific = found.expected.as_ref().unwrap().split(' ').next().unwrap();
            let steps = [&path[..], &["ImpuestoAdicional"]].concat();
            list(payload, &steps).push(json!({ "TipoImpuesto": specific }));
        }
        _ => {
            let asked = asked(found);
            let value = match &asked {
                Done::Removed => None,
                Done::Set(value) if value.is_empty() => Some(sample(found)),
                Done::Set(value) => Some(json!(value)),
                Done::Elsewhere => panic!("{found:#?}"),
            };
            set(payload, &path, value);
            return asked;
        }
    }
    Done::Elsewhere
}

fn list<'p>(payload: &'p mut Value, path: &[&str]) -> &'p mut Vec<Value> {
    let list = slot(payload, path);
    if list.is_null() {
        *list = json!([]);
    }
    list.as_array_mut().unwrap()
}

fn slot<'p>(value: &'p mut Value, path: &[&str]) -> &'p mut Value {
    let Some((step, rest)) = path.split_first() else {
        return value;
    };
    let inner = match step.parse::<usize>() {
        Ok(index) => &mut value[index],
        Err(_) => &mut value[*step],
    };
    slot(inner, rest)
}

fn set(payload: &mut Value, path: &[&str], value: Option<Value>) {
    let (last, above) = path.split_last().unwrap();
    let parent = slot(payload, above);
    match value {
        Some(value) => parent[*last] = value,
        None => {
            if let Some(members) = parent.as_object_mut() {
                members.remove(*last);
            }
        }
    }
}
