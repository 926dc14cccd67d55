//! JSON bodies, including JSON inside a JSON string.

use super::{Body, MAX_DEPTH, Record, Value, html, xml};

/// How many levels of JSON strings that hold JSON are unwrapped.
const MAX_WRAPS: usize = 3;

pub(super) fn read(text: &str) -> Option<Body> {
    unwrap(text, 0)
}

fn unwrap(text: &str, wraps: usize) -> Option<Body> {
    match serde_json::from_str(text).ok()? {
        serde_json::Value::String(inner) => {
            let inner = inner.trim();
            if inner.is_empty() {
                return Some(Body::Empty);
            }
            let nested = match inner.as_bytes().first() {
                Some(b'{' | b'[' | b'"') if wraps < MAX_WRAPS => unwrap(inner, wraps + 1),
                Some(b'<') if html::is_page(inner) => Some(Body::Html(html::words(inner))),
                Some(b'<') => xml::read(inner),
                _ => None,
            };
            Some(nested.unwrap_or_else(|| Body::Text(inner.to_owned())))
        }
        serde_json::Value::Object(members) => Some(Body::Record(record(members, 1)?)),
        serde_json::Value::Array(items) => Some(Body::List(
            items.into_iter().map(|item| value(item, 1)).collect::<Option<_>>()?,
        )),
        _ => None,
    }
}

fn record(members: serde_json::Map<String, serde_json::Value>, depth: usize) -> Option<Record> {
    let mut record = Record::default();
    for (name, member) in members {
        record.push(&name, value(member, depth)?);
    }
    Some(record)
}

fn value(json: serde_json::Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    Some(match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(truth) => Value::Text(truth.to_string()),
        serde_json::Value::Number(number) => Value::Text(number.to_string()),
        serde_json::Value::String(text) => Value::Text(text),
        serde_json::Value::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| value(item, depth + 1))
                .collect::<Option<_>>()?,
        ),
        serde_json::Value::Object(members) => Value::Record(record(members, depth + 1)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_inside_a_json_string_is_opened() {
        let expected = read(r#"{"mensaje":"x"}"#);
        assert!(expected.is_some());
        assert_eq!(read(r#""{\"mensaje\":\"x\"}""#), expected);
        assert_eq!(read(r#""\"{\\\"mensaje\\\":\\\"x\\\"}\"""#), expected);
    }

    #[test]
    fn a_json_string_of_words_is_their_text() {
        assert_eq!(
            read(r#""El RNC no está delegado""#),
            Some(Body::Text("El RNC no está delegado".into()))
        );
        assert_eq!(read(r#""{no json""#), Some(Body::Text("{no json".into())));
    }

    #[test]
    fn what_nests_too_deep_is_not_a_record() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(60), "]".repeat(60));
        assert_eq!(read(&deep), None);
    }
}
