//! The JSON schema of a block for one receipt type, in the dialect of OpenAPI 3.1.
//!
//! A value has one declared type, because client generators turn two into an unnamed class. The reader accepts more:
//! JSON numbers for texts and amounts, texts for codes and counts. Amounts are declared as texts: floating-point
//! numbers lose digits in most languages, and certification prescribes the exact text (`100.00`).

use serde_json::{Map, Value, json};

use super::{Catalogue, Class, Field, Form, Presence, Sign};
use crate::ReceiptType;
use crate::totals::{ALWAYS_COMPUTED, COMPUTED_FOR_LINES};

/// An object with the fields that this type may carry.
pub(crate) fn block_schema(fields: &[Field], receipt_type: ReceiptType) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields {
        let presence = field.obligations.presence(receipt_type);
        if presence == Presence::Forbidden || is_filled_in(field.name) {
            continue;
        }
        if presence == Presence::Mandatory && !is_assigned(field.name, receipt_type) {
            required.push(field.name);
        }
        properties.insert(field.name.to_owned(), field_schema(field, presence, receipt_type));
    }
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Fields that are never read from a payload.
fn is_filled_in(name: &str) -> bool {
    name == "FechaHoraFirma"
}

/// Fields that are mandatory in the document and filled in when the payload omits them.
fn is_assigned(name: &str, receipt_type: ReceiptType) -> bool {
    matches!(name, "Version" | "TipoeCF" | "eNCF" | "FechaVencimientoSecuencia")
        // A consumer may stay anonymous.
        || (name == "Comprador" && receipt_type == ReceiptType::E32)
        || ALWAYS_COMPUTED.contains(&name)
        || COMPUTED_FOR_LINES.contains(&name)
}

fn field_schema(field: &Field, presence: Presence, receipt_type: ReceiptType) -> Value {
    let mut schema = match field.children {
        Some(children) => {
            let mut block = block_schema(children, receipt_type);
            block["title"] = json!(field.block);
            block
        }
        None => value_schema(&field.form, receipt_type),
    };
    if field.repeated {
        // Lines without a number are numbered by position.
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|name| name != "NumeroLinea");
        }
        schema = json!({"type": "array", "items": schema, "maxItems": field.limit.of(receipt_type)});
        if presence == Presence::Mandatory {
            schema["minItems"] = json!(1);
        }
    }
    let description = match (&field.form, presence) {
        (Form::Code(catalogue), _) if catalogue.len() <= WORTH_LISTING => {
            let words: Vec<String> = catalogue
                .iter()
                .filter(|(_, words)| !words.is_empty())
                .map(|(code, words)| format!("{code} {words}"))
                .collect();
            if words.is_empty() {
                field.description.to_owned()
            } else {
                format!("{}: {}", field.description, words.join(", "))
            }
        }
        _ => field.description.to_owned(),
    };
    let above_zero = if is_above_zero(&field.form, receipt_type) {
        ". Above zero"
    } else {
        ""
    };
    let conditional = if presence == Presence::Conditional {
        ". Conditional"
    } else {
        ""
    };
    schema["description"] = json!(format!("{description}{above_zero}{conditional}"));
    schema
}

/// Whether zero is excluded. A pattern would need a look-ahead, which some generators reject.
fn is_above_zero(form: &Form, receipt_type: ReceiptType) -> bool {
    match form {
        Form::Decimal { sign, .. } => match sign {
            Sign::Positive => true,
            Sign::PositiveButIn41 => receipt_type != ReceiptType::E41,
            Sign::NotNegative | Sign::Signed => false,
        },
        _ => false,
    }
}

/// Upper bound of a catalogue that is listed; a longer one is described by a pattern.
const WORTH_LISTING: usize = 64;

fn value_schema(form: &Form, receipt_type: ReceiptType) -> Value {
    match *form {
        Form::Block => json!({"type": "object"}),
        Form::Text { max, class } => {
            let mut schema = json!({"type": "string", "minLength": 1, "maxLength": max});
            if let Some(pattern) = class_pattern(class, receipt_type) {
                schema["pattern"] = json!(pattern);
            }
            if class == Class::Email {
                schema = json!({"type": "string", "format": "email", "maxLength": max});
            }
            schema
        }
        Form::Decimal { integers, scale, sign } => {
            let sign = if sign == Sign::Signed { "[+-]?" } else { "" };
            json!({"type": "string", "pattern": format!("^{sign}[0-9]{{1,{integers}}}(\\.[0-9]{{1,{scale}}})?$")})
        }
        Form::Integer { min, max } => {
            let max = max.of(receipt_type);
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        Form::Code(catalogue) => code_schema(catalogue),
        Form::Fecha => {
            json!({"type": "string", "pattern": "^[0-3]?[0-9]-[01]?[0-9]-(19|20)[0-9]{2}$", "examples": ["27-11-2026"]})
        }
        Form::FechaHora => json!({
            "type": "string",
            "pattern": "^[0-3][0-9]-[01][0-9]-(19|20)[0-9]{2} [0-2]?[0-9]:[0-5]?[0-9]:[0-5]?[0-9]$",
            "examples": ["27-11-2026 09:30:00"],
        }),
        Form::Rnc => json!({"type": "string", "pattern": "^([0-9]{9}|[0-9]{11})$"}),
        Form::Encf => json!({"type": "string", "pattern": format!("^[Ee]{receipt_type}[0-9]{{10}}$")}),
        Form::Ncf => json!({"type": "string", "pattern": "^([Ee][0-9]{12}|[Bb][0-9]{10}|[AaPp][0-9]{18})$"}),
        Form::ReceiptType => json!({"type": "string", "enum": [receipt_type.as_str()]}),
    }
}

fn class_pattern(class: Class, receipt_type: ReceiptType) -> Option<&'static str> {
    const LETTERS: &str = "^[a-zA-ZñÑáéíóúÁÉÍÓÚ, ]*$";
    const PLACE: &str = "^[^0-9]{2,}[a-zA-ZñÑáéíóúÁÉÍÓÚ]$";
    match class {
        Class::Digits => Some("^[0-9]+$"),
        Class::DigitsButIn45 if receipt_type != ReceiptType::E45 => Some("^[0-9]+$"),
        Class::Letters => Some(LETTERS),
        Class::Destination if receipt_type == ReceiptType::E47 => Some(LETTERS),
        Class::Place | Class::Destination => Some(PLACE),
        Class::Telephone => Some("^[0-9]{3}-[0-9]{3}-[0-9]{4}$"),
        Class::Free | Class::DigitsButIn45 | Class::Words | Class::Email | Class::Exactly(_) => None,
    }
}

fn code_schema(catalogue: Catalogue) -> Value {
    if catalogue.len() > WORTH_LISTING {
        let digits = catalogue[0].0.len();
        return json!({"type": "string", "pattern": format!("^[0-9]{{{digits}}}$")});
    }
    let codes = || catalogue.iter().map(|(code, _)| *code);
    // As a number, `01` would lose its zero.
    let numbers: Option<Vec<u32>> = codes()
        .map(|code| code.parse().ok().filter(|number: &u32| number.to_string() == code))
        .collect();
    match numbers {
        Some(numbers) => json!({"type": "integer", "enum": numbers}),
        None => json!({"type": "string", "enum": codes().collect::<Vec<_>>()}),
    }
}
