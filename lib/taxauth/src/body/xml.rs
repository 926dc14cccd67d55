//! XML bodies: elements become named values, repeated elements repeat the name, attributes and namespaces are ignored.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::{Body, MAX_DEPTH, Record, Value};

/// An element whose end is not read yet.
struct Open {
    name: String,
    text: String,
    children: Record,
}

/// Reads a document; `None` when it is not well formed, is nested too deep or declares a document type.
pub(super) fn read(text: &str) -> Option<Body> {
    let (_, root) = root(text)?;
    Some(match root {
        Value::Null => Body::Empty,
        Value::Text(text) if text.trim().is_empty() => Body::Empty,
        Value::Text(text) => Body::Text(text.trim().to_owned()),
        Value::List(items) => Body::List(items),
        // `ArrayOf…` roots hold only records: the .NET serialization of a list.
        Value::Record(record) if record.values().all(|(_, value)| matches!(value, Value::Record(_))) => {
            Body::List(record.values().map(|(_, value)| value.clone()).collect())
        }
        Value::Record(record) => Body::Record(record),
    })
}

/// The local name of the root element and its content.
pub(super) fn root(text: &str) -> Option<(String, Value)> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => {
                if root.is_some() || open.len() >= MAX_DEPTH {
                    return None;
                }
                open.push(Open {
                    name: tag.local_name().as_ref().to_owned(),
                    text: String::new(),
                    children: Record::default(),
                });
            }
            Event::Empty(tag) => {
                let name = tag.local_name().as_ref().to_owned();
                close(&mut open, &mut root, name, Value::Null)?;
            }
            Event::End(_) => {
                let Open { name, text, children } = open.pop()?;
                let value = if children == Record::default() {
                    Value::Text(text)
                } else {
                    Value::Record(children)
                };
                close(&mut open, &mut root, name, value)?;
            }
            Event::Text(text) => push_text(&mut open, &text.xml10_content())?,
            Event::CData(text) => push_text(&mut open, &text.xml10_content())?,
            Event::GeneralRef(reference) => {
                let character = match reference.resolve_char_ref().ok()? {
                    Some(character) => character.to_string(),
                    None => quick_xml::escape::resolve_predefined_entity(&reference)?.to_owned(),
                };
                push_text(&mut open, &character)?;
            }
            Event::DocType(_) => return None,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => return if open.is_empty() { root } else { None },
        }
    }
}

fn close(open: &mut [Open], root: &mut Option<(String, Value)>, name: String, value: Value) -> Option<()> {
    match open.last_mut() {
        Some(parent) => parent.children.push(&name, value),
        None if root.is_none() => *root = Some((name, value)),
        None => return None,
    }
    Some(())
}

fn push_text(open: &mut [Open], text: &str) -> Option<()> {
    match open.last_mut() {
        Some(element) => element.text.push_str(text),
        None if text.trim().is_empty() => {}
        None => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_become_names_and_may_repeat() {
        let body = read(
            "<?xml version=\"1.0\"?><Respuesta xmlns:i=\"u\"><codigo>2</codigo><a:estado xmlns:a=\"v\">Rechazado</a:estado>\
             <mensajes><valor>A &amp; B &#x41;</valor></mensajes><mensajes><valor><![CDATA[<c>]]></valor></mensajes><encf/></Respuesta>",
        );
        let Some(Body::Record(record)) = body else {
            panic!("{body:?}")
        };
        assert_eq!(record.text("codigo"), Some("2"));
        assert_eq!(record.text("estado"), Some("Rechazado"));
        assert_eq!(record.text("encf"), None);
        let messages: Vec<_> = record
            .all("mensajes")
            .map(|value| match value {
                Value::Record(message) => message.text("valor").map(str::to_owned),
                _ => None,
            })
            .collect();
        assert_eq!(messages, [Some("A & B A".to_owned()), Some("<c>".to_owned())]);
    }

    #[test]
    fn a_root_of_records_alone_is_a_list() {
        let body = read(
            "<ArrayOfTrackingDetalle><TrackingDetalle><trackId>a</trackId></TrackingDetalle>\
             <TrackingDetalle><trackId>b</trackId></TrackingDetalle></ArrayOfTrackingDetalle>",
        );
        assert!(matches!(body, Some(Body::List(items)) if items.len() == 2));
    }

    #[test]
    fn a_root_of_text_is_text() {
        let body =
            read("<string xmlns=\"http://schemas.microsoft.com/2003/10/Serialization/\">Firma inválida</string>");
        assert_eq!(body, Some(Body::Text("Firma inválida".into())));
        assert_eq!(read("<string/>"), Some(Body::Empty));
    }

    #[test]
    fn what_is_not_well_formed_or_declares_a_type_is_refused() {
        for text in [
            "<a><b></a>",
            "<a>",
            "<a/><b/>",
            "<a>&unknown;</a>",
            "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
            "<a/>text",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&format!("{}{}", "<a>".repeat(40), "</a>".repeat(40))), None);
    }
}
