//! JSON as a tree that keeps the order of members and the decimal text of numbers, so that no float is involved.

mod excerpt;
mod hash;
mod parse;

use compact_str::CompactString;
use ecf_language::{Bilingual, Say, say};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use thiserror::Error;

/// A name, a text or a number of a tree. Short ones, which are most, need no allocation.
pub type Piece = CompactString;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// `null`, which always means "absent".
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as written.
    Number(Piece),
    /// A text.
    Text(Piece),
    /// A list.
    Array(Vec<Node>),
    /// Members in their original order.
    Object(Vec<(Piece, Node)>),
}

/// Why bytes are not accepted as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JsonError {
    /// The bytes are not UTF-8.
    #[error("the body is not UTF-8: byte {offset} is wrong")]
    Utf8 {
        /// The first invalid byte, counted from 0.
        offset: usize,
    },
    /// The bytes are UTF-16, which JSON must not use in transit (RFC 8259, section 8.1).
    #[error("the body is UTF-16: send it as UTF-8")]
    Utf16,
    /// The text is not JSON.
    #[error("the body is not JSON: {reason} at line {line}, column {column} (byte {offset})")]
    Syntax {
        /// The parser's expectation.
        reason: String,
        /// Counted from 1.
        line: usize,
        /// Counted in bytes from 1.
        column: usize,
        /// Counted in bytes from 0.
        offset: usize,
    },
    /// An object contains a member twice.
    #[error("the member {key:?} is given twice, again at line {line}, column {column} (byte {offset})")]
    DuplicateKey {
        /// The name.
        key: String,
        /// The line of the second one, counted from 1.
        line: usize,
        /// Counted in bytes from 1.
        column: usize,
        /// Counted in bytes from 0.
        offset: usize,
    },
    /// Lists and objects are nested deeper than [`Node::MAX_DEPTH`].
    #[error("the body nests deeper than {} levels at byte {offset}", Node::MAX_DEPTH)]
    TooDeep {
        /// Counted in bytes from 0.
        offset: usize,
    },
}

impl Say for JsonError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Utf8 { offset } => format!("el cuerpo no es UTF-8: el byte {offset} está mal"),
            Self::Utf16 => "el cuerpo es UTF-16: envíelo en UTF-8".to_owned(),
            // The reason is the parser's, in English.
            Self::Syntax {
                line, column, offset, ..
            } => {
                format!("el cuerpo no es JSON en la línea {line}, columna {column} (byte {offset})")
            }
            Self::DuplicateKey {
                key,
                line,
                column,
                offset,
            } => format!(
                "el miembro {key:?} aparece dos veces, la segunda en la línea {line}, columna {column} (byte {offset})"
            ),
            Self::TooDeep { offset } => {
                format!("el cuerpo tiene más de {} niveles en el byte {offset}", Node::MAX_DEPTH)
            }
        };
        Bilingual::of(self, spanish)
    }
}

impl Node {
    /// Upper bound of nested lists and objects.
    pub const MAX_DEPTH: usize = 32;

    /// Reads one JSON value. A leading UTF-8 byte-order mark is skipped (RFC 8259, section 8.1).
    ///
    /// # Errors
    ///
    /// When the bytes are not UTF-8 or not JSON, contain a member twice, or are nested deeper than [`Node::MAX_DEPTH`].
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonError> {
        parse::parse(bytes)
    }

    /// The bytes after a UTF-8 byte-order mark.
    pub fn without_mark(bytes: &[u8]) -> &[u8] {
        bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
    }

    /// The value as shown in an error: complete if it is short, otherwise a text with its first characters.
    pub fn excerpt(&self) -> Self {
        excerpt::excerpt(self)
    }

    /// SHA-256 of the value, independent of the order of members and the spelling of numbers: `1`, `1.0` and `1e0` are
    /// equal. A number and a text differ.
    pub fn payload_hash(&self) -> [u8; 32] {
        hash::payload_hash(self)
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&[(Piece, Node)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The elements of a list.
    pub fn as_array(&self) -> Option<&[Node]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The text of a string; `None` for a number.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a string or a number.
    pub fn as_scalar(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            _ => None,
        }
    }

    /// The value of `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The member with this name; `None` if it is absent or this is not an object.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_object()?
            .iter()
            .find(|(name, _)| &**name == key)
            .map(|(_, value)| value)
    }

    /// The JSON name of this kind of value.
    pub fn kind(&self) -> Bilingual {
        match self {
            Self::Null => Bilingual::same("null"),
            Self::Bool(_) => say!("a boolean", "un booleano"),
            Self::Number(_) => say!("a number", "un número"),
            Self::Text(_) => say!("a text", "un texto"),
            Self::Array(_) => say!("a list", "una lista"),
            Self::Object(_) => say!("an object", "un objeto"),
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            // A raw value is the only way to give serde_json a number as text.
            Self::Number(text) => match RawValue::from_string(text.to_string()) {
                Ok(raw) => raw.serialize(serializer),
                Err(_) => serializer.serialize_str(text),
            },
            Self::Text(text) => serializer.serialize_str(text),
            Self::Array(elements) => serializer.collect_seq(elements),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn order_and_the_text_of_numbers_are_kept() {
        let text = r#"{"b":1.10,"a":[true,null,"ñ\n",-0.0,82.60000000000001,1E400]}"#;
        let node = Node::parse(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&node).unwrap(), text);
        assert_eq!(node.get("b").and_then(Node::as_scalar), Some("1.10"));
        assert_eq!(node.get("c"), None);
    }

    #[test]
    fn faults_are_placed_to_the_byte() {
        let utf8 = Node::parse(b"{\"a\":\"\xD1\"}").unwrap_err();
        assert_eq!(utf8, JsonError::Utf8 { offset: 6 });
        let Err(JsonError::Syntax {
            line, column, offset, ..
        }) = Node::parse(b"{\n  \"a\": 1,\n  \"b\": }")
        else {
            panic!("a syntax error was expected");
        };
        assert_eq!((line, column, offset), (3, 8, 19));
        let Err(JsonError::Syntax { line, offset, .. }) = Node::parse(b"{\"a\":\n[1,\"\\ud800\"]}") else {
            panic!("a lone surrogate is no text");
        };
        assert_eq!(line, 2);
        assert!((9..=17).contains(&offset), "{offset}");
    }

    #[test]
    fn a5_a_byte_order_mark_is_skipped_and_counted_in_offsets() {
        let plain = r#"{"a":[1,"ñ"]}"#;
        let marked = format!("\u{feff}{plain}");
        let (plain, marked) = (
            Node::parse(plain.as_bytes()).unwrap(),
            Node::parse(marked.as_bytes()).unwrap(),
        );
        assert_eq!(plain, marked);
        assert_eq!(plain.payload_hash(), marked.payload_hash());
        let Err(JsonError::Syntax {
            line, column, offset, ..
        }) = Node::parse("\u{feff}{\"a\":}".as_bytes())
        else {
            panic!("a syntax error was expected");
        };
        assert_eq!((line, column, offset), (1, 6, 8));
        assert_eq!(Node::parse(b"\xEF\xBB\xBF\"\xD1\""), Err(JsonError::Utf8 { offset: 4 }));
        let twice = Node::parse("\u{feff}{\"a\":1,\"a\":2}".as_bytes());
        assert!(
            matches!(twice, Err(JsonError::DuplicateKey { offset: 10, .. })),
            "{twice:?}"
        );
        // Only one mark is allowed, at the start.
        assert!(Node::parse("\u{feff}\u{feff}{}".as_bytes()).is_err());
        assert!(Node::parse("{}\u{feff}".as_bytes()).is_err());
    }

    #[test]
    fn a5_utf_16_is_named() {
        let text = r#"{"a":1}"#;
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            [b"\xFF\xFE", little.as_slice()].concat(),
            [b"\xFE\xFF", big.as_slice()].concat(),
            little,
            big,
        ] {
            assert_eq!(Node::parse(&bytes), Err(JsonError::Utf16));
        }
        assert!(JsonError::Utf16.to_string().contains("UTF-16"));
        assert!(matches!(Node::parse(b"\0\0\0{"), Err(JsonError::Syntax { .. })));
    }

    #[test]
    fn a_member_given_twice_is_an_error_that_names_it() {
        let error = Node::parse(b"{\"a\":{\n \"x\":1,\"y\":2,\"\\u0078\":3}}").unwrap_err();
        let expected = JsonError::DuplicateKey {
            key: "x".to_owned(),
            line: 2,
            column: 14,
            offset: 20,
        };
        assert_eq!(error, expected);
    }

    #[test]
    fn nesting_ends_at_the_limit() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Node::parse(nested(Node::MAX_DEPTH).as_bytes()).is_ok());
        assert!(matches!(
            Node::parse(nested(Node::MAX_DEPTH + 1).as_bytes()),
            Err(JsonError::TooDeep { .. })
        ));
        assert!(Node::parse(nested(100_000).as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_and_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Node::parse(&bytes);
        }

        #[test]
        fn what_serde_json_reads_is_read_alike(bytes in "[\\[\\]{}:,\"\\\\u01ae. \n-]{0,40}") {
            let theirs = serde_json::from_str::<serde_json::Value>(&bytes);
            match Node::parse(bytes.as_bytes()) {
                Ok(node) => prop_assert_eq!(serde_json::to_value(&node).unwrap(), theirs.unwrap()),
                // serde_json keeps the last of two equal members, and refuses numbers that a float cannot hold.
                Err(JsonError::DuplicateKey { .. }) => {}
                Err(_) => prop_assert!(theirs.is_err(), "{bytes}"),
            }
        }

        #[test]
        fn what_is_written_is_read_back(text in "\\PC{0,20}", number in -1_000_000_i64..1_000_000) {
            let node = Node::Object(vec![
                (text.as_str().into(), Node::Number(number.to_string().into())),
                ("list".into(), Node::Array(vec![Node::Text(text.as_str().into()), Node::Null, Node::Bool(true)])),
            ]);
            prop_assume!(text != "list");
            prop_assert_eq!(Node::parse(&serde_json::to_vec(&node).unwrap()), Ok(node));
        }
    }
}
