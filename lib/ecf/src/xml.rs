//! Received XML as the same tree as JSON: elements become members, repeated elements a list, empty elements null.
//!
//! Document types are refused, so only XML's own five entities exist; depth is bounded.

mod encoding;

use std::collections::HashMap;

use ecf_language::{Bilingual, Say};
use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};
use thiserror::Error;

use crate::{Node, Piece, UnknownReceiptType};

/// Why bytes are not a document of the expected kind.
#[derive(Debug, Error)]
pub enum XmlError {
    /// The bytes are not UTF-8.
    #[error("the document is not UTF-8: byte {offset} is wrong")]
    Utf8 {
        /// The first invalid byte, counted from 0.
        offset: usize,
    },
    /// Another encoding, by the first bytes or by the declaration.
    #[error("the document is in the encoding {found}: only UTF-8 is read")]
    Encoding {
        /// The encoding.
        found: String,
    },
    /// Another version of XML.
    #[error("the document is XML {found}: only XML 1.0 is read")]
    Version {
        /// The version.
        found: String,
    },
    /// The text is not well-formed XML.
    #[error("the document is not well-formed at byte {offset}")]
    Syntax {
        /// Counted from 0.
        offset: u64,
        /// The parser's error.
        source: quick_xml::Error,
    },
    /// An entity that XML itself does not define.
    #[error("the document uses the unknown entity &{name};")]
    Entity {
        /// Its name.
        name: String,
    },
    /// A document type declaration, which is never needed and may be harmful.
    #[error("the document declares a document type")]
    Doctype,
    /// Elements are nested deeper than the limit.
    #[error("the document nests deeper than {} levels", Node::MAX_DEPTH)]
    TooDeep,
    /// More elements than any real document has.
    #[error("the document has more than {MOST_ELEMENTS} elements")]
    TooManyElements,
    /// The root element is missing or not closed.
    #[error("the document has no complete root element")]
    NoRoot,
    /// The root is that of another document.
    #[error("the root element is {given}, {expected} was expected")]
    Root {
        /// The root as received.
        given: String,
        /// The expected root.
        expected: &'static str,
    },
    /// The type of the receipt is missing or unknown.
    #[error("TipoeCF cannot be read")]
    ReceiptType(#[from] UnknownReceiptType),
}

impl Say for XmlError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Utf8 { offset } => format!("el documento no es UTF-8: el byte {offset} está mal"),
            Self::Encoding { found } => format!("el documento está en la codificación {found}: solo se lee UTF-8"),
            Self::Version { found } => format!("el documento es XML {found}: solo se lee XML 1.0"),
            Self::Syntax { offset, .. } => format!("el documento no es XML bien formado en el byte {offset}"),
            Self::Entity { name } => format!("el documento usa la entidad desconocida &{name};"),
            Self::Doctype => "el documento declara un tipo de documento".to_owned(),
            Self::TooDeep => format!("el documento tiene más de {} niveles", Node::MAX_DEPTH),
            Self::TooManyElements => format!("el documento tiene más de {MOST_ELEMENTS} elementos"),
            Self::NoRoot => "el documento no tiene un elemento raíz completo".to_owned(),
            Self::Root { given, expected } => format!("el elemento raíz es {given}, se esperaba {expected}"),
            Self::ReceiptType(_) => "no se puede leer TipoeCF".to_owned(),
        };
        Bilingual::of(self, spanish)
    }
}

/// An element that is still open.
struct Open {
    name: Piece,
    members: Vec<(Piece, Node)>,
    /// The index of each name in `members`, once there are more members than a block has.
    places: HashMap<Piece, usize>,
    text: String,
}

/// More than in a note of 10,000 lines with twenty fields each. An element takes about a hundred bytes of memory.
const MOST_ELEMENTS: usize = 250_000;

/// Members that are searched one by one; no block has more.
const FEW_MEMBERS: usize = 64;

impl XmlError {
    /// Whether the document may be valid in its own encoding or XML version, which is not supported here.
    pub fn is_of_encoding(&self) -> bool {
        matches!(self, Self::Utf8 { .. } | Self::Encoding { .. } | Self::Version { .. })
    }
}

impl Open {
    fn close(self) -> (Piece, Node) {
        let node = if !self.members.is_empty() {
            Node::Object(self.members)
        } else if self.text.trim().is_empty() {
            Node::Null
        } else {
            Node::Text(self.text.into())
        };
        (self.name, node)
    }

    /// Adds a child; a repeated name becomes a list.
    fn add(&mut self, name: Piece, node: Node) {
        match self.place(&name).map(|place| &mut self.members[place].1) {
            Some(Node::Array(elements)) => elements.push(node),
            Some(one) => *one = Node::Array(vec![std::mem::replace(one, Node::Null), node]),
            None => {
                if self.members.len() >= FEW_MEMBERS {
                    self.places.insert(name.clone(), self.members.len());
                }
                self.members.push((name, node));
            }
        }
    }

    /// The index of a known name. A map keeps documents with thousands of names fast.
    fn place(&self, name: &Piece) -> Option<usize> {
        let few = &self.members[..self.members.len().min(FEW_MEMBERS)];
        let place = few.iter().rposition(|(known, _)| known == name);
        place.or_else(|| self.places.get(name).copied())
    }
}

/// The content of the root element, which must have this name. Namespaces are ignored.
pub(crate) fn parse_root(bytes: &[u8], expected: &'static str) -> Result<Node, XmlError> {
    root_of(decode(bytes)?, expected, None)
}

/// The content of the root element up to the end of its child `last`, in any encoding and version; only ASCII text is
/// reliable. Content after `last` is not read.
pub(crate) fn parse_beginning(bytes: &[u8], expected: &'static str, last: &str) -> Result<Node, XmlError> {
    root_of(&encoding::decode_lossy(bytes), expected, Some(last))
}

/// The text of a document in UTF-8 and XML 1.0.
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, XmlError> {
    encoding::check(bytes)?;
    std::str::from_utf8(bytes).map_err(|error| XmlError::Utf8 {
        offset: error.valid_up_to(),
    })
}

fn root_of(text: &str, expected: &'static str, last: Option<&str>) -> Result<Node, XmlError> {
    let (given, node) = parse(text.strip_prefix('\u{FEFF}').unwrap_or(text), last)?;
    if &*given == expected {
        Ok(node)
    } else {
        Err(XmlError::Root {
            given: given.into(),
            expected,
        })
    }
}

/// `last`: the child of the root after which reading stops.
fn parse(text: &str, last: Option<&str>) -> Result<(Piece, Node), XmlError> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Open> = Vec::new();
    let (mut root, mut elements) = (None, 0);
    loop {
        let event = reader.read_event().map_err(|source| XmlError::Syntax {
            offset: reader.error_position(),
            source,
        })?;
        let mut closed = None;
        elements += usize::from(matches!(event, Event::Start(_) | Event::Empty(_)));
        if elements > MOST_ELEMENTS {
            return Err(XmlError::TooManyElements);
        }
        match event {
            Event::Start(tag) => {
                if open.len() == Node::MAX_DEPTH {
                    return Err(XmlError::TooDeep);
                }
                let name = tag.local_name().into_inner().into();
                open.push(Open {
                    name,
                    members: Vec::new(),
                    places: HashMap::new(),
                    text: String::new(),
                });
            }
            Event::Empty(tag) => closed = Some((tag.local_name().into_inner().into(), Node::Null)),
            Event::End(_) => closed = open.pop().map(Open::close),
            Event::Text(content) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&content.xml10_content());
                }
            }
            Event::CData(content) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&content.xml10_content());
                }
            }
            Event::GeneralRef(reference) => {
                let character = resolve(&reference, reader.buffer_position())?;
                if let Some(element) = open.last_mut() {
                    element.text.push(character);
                }
            }
            Event::DocType(_) => return Err(XmlError::Doctype),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::Eof => break,
        }
        if let Some((name, node)) = closed {
            match open.last_mut() {
                Some(parent) => {
                    let is_last = last.is_some_and(|last| *name == *last);
                    parent.add(name, node);
                    if let (true, [_]) = (is_last, open.as_slice()) {
                        root = open.pop().map(Open::close);
                        break;
                    }
                }
                // A second root is not allowed.
                None if root.is_some() => return Err(XmlError::NoRoot),
                None => root = Some((name, node)),
            }
        }
    }
    if open.is_empty() {
        root.ok_or(XmlError::NoRoot)
    } else {
        Err(XmlError::NoRoot)
    }
}

pub(crate) fn resolve(reference: &BytesRef<'_>, offset: u64) -> Result<char, XmlError> {
    if let Some(character) = reference
        .resolve_char_ref()
        .map_err(|source| XmlError::Syntax { offset, source })?
    {
        return Ok(character);
    }
    let name: &str = reference;
    match name {
        "amp" => Ok('&'),
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        _ => Err(XmlError::Entity { name: name.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn elements_become_members_lists_and_null() {
        let xml = "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- c --><x:R xmlns:x=\"u\" a=\"1\">\r\n <a>1</a>\
                   <a>2 &amp; &#xD1;<![CDATA[<b>]]></a><b/><c> </c><d><e>é</e></d></x:R>";
        let node = parse_root(xml.as_bytes(), "R").unwrap();
        let expected = r#"{"a":["1","2 & Ñ<b>"],"b":null,"c":null,"d":{"e":"é"}}"#;
        assert_eq!(serde_json::to_string(&node).unwrap(), expected);
    }

    #[test]
    fn what_is_no_sound_document_is_refused() {
        let refused = |text: &str| parse_root(text.as_bytes(), "R").unwrap_err();
        assert!(matches!(
            refused("<!DOCTYPE R [<!ENTITY e \"x\">]><R>&e;</R>"),
            XmlError::Doctype
        ));
        assert!(matches!(refused("<R>&e;</R>"), XmlError::Entity { .. }));
        assert!(matches!(refused("<R><a></R>"), XmlError::Syntax { .. }));
        assert!(matches!(
            refused("<R><a></a>"),
            XmlError::NoRoot | XmlError::Syntax { .. }
        ));
        assert!(matches!(refused("<R/><R/>"), XmlError::NoRoot));
        assert!(matches!(refused(&"<R>".repeat(50)), XmlError::TooDeep));
        assert!(matches!(refused("<S/>"), XmlError::Root { .. }));
        assert!(matches!(
            parse_root(b"<R>\xD1</R>", "R"),
            Err(XmlError::Utf8 { offset: 3 })
        ));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_never_panics(text in "[<>/&;#xRab \"=!\\[\\]-]{0,40}") {
            let _ = parse_root(text.as_bytes(), "R");
        }
    }
}
