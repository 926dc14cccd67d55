//! The body of an answer in any format, as one small tree of named texts.
//!
//! The authority answers in JSON, XML, plain text, JSON inside a JSON string, and HTML; one service may use several of
//! them. Names differ in case, and numbers may be strings. Parsing never fails: a body that is not a record becomes
//! text, and the callers decide what it means.

mod html;
mod json;
mod xml;

/// The deepest nesting that is parsed; a deeper body becomes text.
const MAX_DEPTH: usize = 32;

/// A parsed body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    Empty,
    /// An HTML page, as its title or its first words.
    Html(String),
    Text(String),
    Record(Record),
    List(Vec<Value>),
}

/// A value inside a body. Numbers and booleans keep their text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Text(String),
    Record(Record),
    List(Vec<Value>),
}

/// Named values in their order. A name may repeat (XML).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Record(Vec<(String, Value)>);

impl Body {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}').trim();
        match text.as_bytes().first() {
            None => Self::Empty,
            Some(b'<') if html::is_page(text) => Self::Html(html::words(text)),
            Some(b'<') => xml::read(text).unwrap_or_else(|| Self::Html(html::words(text))),
            Some(b'{' | b'[' | b'"') => json::read(text).unwrap_or_else(|| Self::Text(text.to_owned())),
            Some(_) if text == "null" => Self::Empty,
            Some(_) => Self::Text(text.to_owned()),
        }
    }

    /// A record, or a list of exactly one record.
    pub(crate) fn as_record(&self) -> Option<&Record> {
        match self {
            Self::Record(record) => Some(record),
            Self::List(items) => match items.as_slice() {
                [Value::Record(record)] => Some(record),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Record {
    pub(crate) fn push(&mut self, name: &str, value: Value) {
        self.0.push((plain(name), value));
    }

    /// Every value with this name, lists flattened. The name is given in its [`plain`] form.
    pub(crate) fn all<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a Value> + use<'a, 'n> {
        self.0
            .iter()
            .filter(move |(own, _)| own == name)
            .flat_map(|(_, value)| match value {
                Value::List(items) => items.as_slice(),
                one => std::slice::from_ref(one),
            })
    }

    /// The first text with this name, unless it is blank.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.all(name).find_map(Value::as_text)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl Value {
    /// The text, unless it is blank.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }
}

/// The local name of an XML document's root; `None` if the bytes are not XML.
pub(crate) fn xml_root(bytes: &[u8]) -> Option<String> {
    let (name, _) = xml::root(std::str::from_utf8(bytes).ok()?)?;
    Some(name)
}

/// A name or word in normalized form: lower case, without accents and separators. `trackId`, `TrackID` and `track_id`
/// become equal, and so do `Código` and `codigo`.
pub(crate) fn plain(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .filter(|c| c.is_alphanumeric())
        .map(|c| match c {
            'á' => 'a',
            'é' => 'e',
            'í' => 'i',
            'ó' => 'o',
            'ú' | 'ü' => 'u',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(body: &str) -> Record {
        match Body::read(body.as_bytes()) {
            Body::Record(record) => record,
            other => panic!("{body} is {other:?}"),
        }
    }

    #[test]
    fn names_are_compared_without_case_accents_or_separators() {
        for name in ["trackId", "TrackID", "track_id", "TRACKID"] {
            assert_eq!(
                record(&format!("{{\"{name}\": \"a\"}}")).text("trackid"),
                Some("a"),
                "{name}"
            );
        }
        assert_eq!(record("{\"Código\": 7}").text("codigo"), Some("7"));
    }

    #[test]
    fn a_byte_order_mark_and_blanks_around_do_not_matter() {
        assert_eq!(record("\u{feff}\r\n {\"a\": 1}\n").text("a"), Some("1"));
    }

    #[test]
    fn an_empty_body_is_empty_in_every_spelling() {
        for body in ["", "  \r\n", "null", "\u{feff}", "\"\"", "\" \""] {
            assert_eq!(Body::read(body.as_bytes()), Body::Empty, "{body:?}");
        }
    }

    #[test]
    fn text_that_only_looks_like_json_is_text() {
        assert_eq!(Body::read(b"{broken"), Body::Text("{broken".into()));
        assert_eq!(
            Body::read(b"Archivo no v\xe1lido"),
            Body::Text("Archivo no v\u{fffd}lido".into())
        );
    }

    #[test]
    fn a_list_of_one_record_is_a_record_to_who_asks() {
        assert!(Body::read(b"[{\"a\":1}]").as_record().is_some());
        assert!(Body::read(b"[{\"a\":1},{\"a\":2}]").as_record().is_none());
    }
}
