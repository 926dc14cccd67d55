//! The meaning of the tax authority's messages, and of our reasons of `failed`, beside their original text.

use ecf::rules::{Explanation, explain};
use ecf::{FailReason, ReceiptState};
use ecf_language::say;
use ecf_store::Receipt;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::Spoken;

/// Our reading of one message of the tax authority, or of the `error_code` of a `failed` receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ExplanationView {
    /// The message's code, unchanged.
    pub codigo: String,
    /// The message, unchanged.
    pub mensaje: String,
    /// The field that it is about, as a path in the document; null when it is about the whole submission.
    pub field: Option<&'static str>,
    /// The line that it names, counted from 1.
    pub line: Option<u32>,
    /// The code of the additional tax that it names.
    pub tipo_impuesto: Option<String>,
    /// What is wrong.
    #[schema(value_type = String)]
    pub cause: Spoken,
    /// What to do about it.
    #[schema(value_type = String)]
    pub fix: Spoken,
    /// The rules of this service that find it beforehand.
    pub rules: &'static [&'static str],
}

impl ExplanationView {
    /// The explanation of every known message in the stored answer. A `failed` receipt has at least one explanation.
    pub fn all_of(receipt: &Receipt) -> Vec<Self> {
        let mut messages = Vec::new();
        if let Some(answer) = &receipt.taxauth_response
            && let Ok(answer) = serde_json::from_str(answer)
        {
            collect(&answer, &mut messages);
        }
        if messages.is_empty()
            && let (Some(codigo), Some(mensaje)) = (&receipt.error_code, &receipt.error_message)
        {
            messages.push((codigo.clone(), mensaje.clone()));
        }
        let explained: Vec<_> = messages.into_iter().filter_map(Self::of).collect();
        match (receipt.state, explained.is_empty()) {
            (ReceiptState::Failed, true) => Self::of_failure(receipt).into_iter().collect(),
            _ => explained,
        }
    }

    fn of_failure(receipt: &Receipt) -> Option<Self> {
        let codigo = receipt.error_code.clone()?;
        let is_rule = codigo.contains('-') && codigo.starts_with(|first: char| first.is_ascii_uppercase());
        let (cause, fix) = match codigo.parse::<FailReason>() {
            Ok(reason) => (reason.cause(), reason.fix()),
            Err(_) if is_rule => (
                say!(
                    "the stored document no longer passes this rule",
                    "el documento guardado ya no cumple esta regla"
                ),
                say!(
                    "correct it and send it with a new idempotency_key",
                    "corríjalo y envíelo con una idempotency_key nueva"
                ),
            ),
            Err(_) => (FailReason::Refused.cause(), FailReason::Refused.fix()),
        };
        Some(Self {
            codigo,
            mensaje: receipt.error_message.clone().unwrap_or_default(),
            field: None,
            line: None,
            tipo_impuesto: None,
            cause: Spoken(cause),
            fix: Spoken(fix),
            rules: &[],
        })
    }

    fn of((codigo, mensaje): (String, String)) -> Option<Self> {
        let Explanation {
            field,
            line,
            tipo_impuesto,
            cause,
            fix,
            rules,
        } = explain(&codigo, &mensaje)?;
        Some(Self {
            codigo,
            mensaje,
            field,
            line,
            tipo_impuesto,
            cause: cause.into(),
            fix: fix.into(),
            rules,
        })
    }
}

/// Collects the pairs of code and text from all formats of the authority's answers.
fn collect(answer: &Value, messages: &mut Vec<(String, String)>) {
    match answer {
        Value::Array(items) => items.iter().for_each(|item| collect(item, messages)),
        Value::Object(members) => {
            let text = |name: &str| {
                let (_, value) = members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
                match value {
                    Value::String(text) => Some(text.clone()),
                    Value::Number(number) => Some(number.to_string()),
                    _ => None,
                }
            };
            if let (Some(codigo), Some(valor)) = (text("codigo"), text("valor").or_else(|| text("mensaje"))) {
                messages.push((codigo, valor));
            }
            members.values().for_each(|value| collect(value, messages));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_found_in_every_shape_of_an_answer() {
        let expected = vec![("614".to_owned(), "NCF Modificado no emitido.".to_owned())];
        for answer in [
            json!({ "codigo": 2, "estado": "Rechazado", "mensajes": [{ "valor": "NCF Modificado no emitido.", "codigo": "614" }] }),
            json!({ "Mensajes": { "Codigo": 614, "Valor": "NCF Modificado no emitido." } }),
            json!([{ "codigo": "614", "mensaje": "NCF Modificado no emitido." }]),
        ] {
            let mut messages = Vec::new();
            collect(&answer, &mut messages);
            assert_eq!(messages, expected, "{answer}");
        }
    }
}
