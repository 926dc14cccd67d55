//! Responses in the two formats of the authority's services: JSON, or XML when `Accept` asks for it.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use rust_decimal::Decimal;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, value::RawValue};

use crate::xml::Element;

/// The format that a client asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Xml,
}

impl Form {
    /// JSON unless the first acceptable type is an XML one.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let accept = headers
            .get(header::ACCEPT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let first = accept
            .split(',')
            .find(|one| one.contains("json") || one.contains("xml") || one.contains("*/*"));
        if first.is_some_and(|one| one.contains("xml")) {
            Self::Xml
        } else {
            Self::Json
        }
    }
}

/// One object of a response: the XML element's name and its fields in order.
#[derive(Debug)]
pub(crate) struct Answer {
    name: &'static str,
    fields: Vec<(Name, Content)>,
}

#[derive(Debug)]
enum Content {
    Value(Value),
    /// A JSON number with exactly the digits of the amount.
    Amount(Decimal),
    Records(Vec<Answer>),
}

/// A field's name. It may differ between JSON and XML.
#[derive(Debug, Clone, Copy)]
struct Name {
    json: &'static str,
    xml: &'static str,
}

impl Answer {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            fields: Vec::new(),
        }
    }

    /// Adds a field; a list of texts repeats its element in XML.
    pub(crate) fn field(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.field_named(name, name, value)
    }

    /// Adds a field whose JSON and XML names differ.
    pub(crate) fn field_named(mut self, json: &'static str, xml: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((Name { json, xml }, Content::Value(value.into())));
        self
    }

    /// Adds an amount, a number in JSON.
    pub(crate) fn amount(mut self, name: &'static str, amount: Decimal) -> Self {
        self.fields
            .push((Name { json: name, xml: name }, Content::Amount(amount)));
        self
    }

    /// Adds a list of records.
    pub(crate) fn records(mut self, name: &'static str, records: Vec<Answer>) -> Self {
        self.fields
            .push((Name { json: name, xml: name }, Content::Records(records)));
        self
    }

    /// Answers 200.
    pub(crate) fn respond(self, form: Form) -> Response {
        self.respond_with(StatusCode::OK, form)
    }

    /// Answers with a status.
    pub(crate) fn respond_with(self, status: StatusCode, form: Form) -> Response {
        match form {
            Form::Json => json(status, &self),
            Form::Xml => xml(status, &self.to_xml(self.name)),
        }
    }

    /// Answers 200 with a list: a JSON array, or XML records inside one enclosing element.
    pub(crate) fn respond_list(around: &str, list: Vec<Self>, form: Form) -> Response {
        match form {
            Form::Json => json(StatusCode::OK, &list),
            Form::Xml => {
                let around = Element::new(around);
                xml(
                    StatusCode::OK,
                    &list.iter().fold(around, |all, one| all.child(one.to_xml(one.name))),
                )
            }
        }
    }

    fn to_xml(&self, name: &str) -> Element {
        let mut element = Element::new(name);
        for (name, content) in &self.fields {
            element = match content {
                Content::Value(Value::Null) => element,
                Content::Value(Value::Array(texts)) => {
                    texts.iter().fold(element, |all, one| all.with(name.xml, text(one)))
                }
                Content::Value(one) => element.with(name.xml, text(one)),
                Content::Amount(amount) => element.with(name.xml, amount.to_string()),
                Content::Records(records) => records.iter().fold(element, |all, one| all.child(one.to_xml(name.xml))),
            };
        }
        element
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (name, content) in &self.fields {
            match content {
                Content::Value(value) => map.serialize_entry(name.json, value)?,
                Content::Records(records) => map.serialize_entry(name.json, records)?,
                Content::Amount(amount) => {
                    let digits = RawValue::from_string(amount.to_string()).map_err(serde::ser::Error::custom)?;
                    map.serialize_entry(name.json, &digits)?;
                }
            }
        }
        map.end()
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let text = serde_json::to_string(value).expect("texts and numbers are always JSON");
    (
        status,
        [(header::CONTENT_TYPE, "application/json; charset=utf-8")],
        text,
    )
        .into_response()
}

fn xml(status: StatusCode, element: &Element) -> Response {
    (
        status,
        [(header::CONTENT_TYPE, "application/xml; charset=utf-8")],
        element.document(),
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn the_first_acceptable_form_wins_and_json_is_the_default() {
        for (accept, form) in [
            ("", Form::Json),
            ("*/*", Form::Json),
            ("application/json", Form::Json),
            ("application/xml", Form::Xml),
            ("text/xml, application/json", Form::Xml),
            ("application/json, text/xml", Form::Json),
            ("text/plain, application/xml", Form::Xml),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, http::HeaderValue::from_static(accept));
            assert_eq!(Form::of(&headers), form, "{accept}");
        }
    }

    #[test]
    fn both_forms_come_from_one_record() {
        let message = Answer::new("mensajes").field("valor", "x").field("codigo", 7);
        let answer = Answer::new("Respuesta")
            .field_named("eNCF", "encf", "E31")
            .field("nada", Value::Null)
            .amount("montoTotal", Decimal::new(1050, 2))
            .records("mensajes", vec![message]);
        assert_eq!(
            serde_json::to_string(&answer).unwrap(),
            r#"{"eNCF":"E31","nada":null,"montoTotal":10.50,"mensajes":[{"valor":"x","codigo":7}]}"#
        );
        let mut xml = String::new();
        answer.to_xml("Respuesta").write(&mut xml, None);
        assert_eq!(
            xml,
            "<Respuesta><encf>E31</encf><montoTotal>10.50</montoTotal><mensajes><valor>x</valor><codigo>7</codigo></mensajes></Respuesta>"
        );
    }
}
