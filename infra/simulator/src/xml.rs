//! A minimal XML reader and writer: a tree of each received document, and the text of the simulator's responses.
//!
//! The reader rejects constructs that a receipt must not contain: a document type, a processing instruction, deep
//! nesting.

use quick_xml::{Reader, XmlVersion, escape::resolve_predefined_entity, events::Event};

/// Upper bound of nesting; the authority's documents stay far below it.
const MAX_DEPTH: usize = 24;

/// An element with its text and its children; comments are dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) children: Vec<Element>,
}

/// Why bytes cannot be read as an XML document.
#[derive(Debug, thiserror::Error)]
pub(crate) enum XmlError {
    #[error("not UTF-8")]
    Encoding,
    #[error("not well-formed at byte {position}")]
    Malformed { position: u64 },
    #[error("a document type or processing instruction is not allowed")]
    Forbidden,
    #[error("nested deeper than {MAX_DEPTH}")]
    TooDeep,
}

impl Element {
    /// A new element for a response.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Adds a child that holds only text.
    pub(crate) fn with(mut self, name: &str, text: impl Into<String>) -> Self {
        self.children.push(Self {
            name: name.to_owned(),
            text: text.into(),
            ..Self::default()
        });
        self
    }

    /// Adds a child.
    pub(crate) fn child(mut self, child: Element) -> Self {
        self.children.push(child);
        self
    }

    /// Adds an attribute.
    pub(crate) fn attribute(mut self, name: &str, value: &str) -> Self {
        self.attributes.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Reads one document.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, XmlError> {
        let source = std::str::from_utf8(bytes).map_err(|_| XmlError::Encoding)?;
        let mut reader = Reader::from_str(source);
        let mut open: Vec<Element> = Vec::new();
        let mut root = None;
        loop {
            let position = reader.buffer_position();
            let malformed = || XmlError::Malformed { position };
            let event = reader.read_event().map_err(|_| malformed())?;
            match event {
                Event::Start(start) => {
                    if open.len() == MAX_DEPTH {
                        return Err(XmlError::TooDeep);
                    }
                    if root.is_some() {
                        return Err(malformed());
                    }
                    open.push(opened(&start).ok_or_else(malformed)?);
                }
                Event::Empty(start) => {
                    let element = opened(&start).ok_or_else(malformed)?;
                    close(element, &mut open, &mut root).ok_or_else(malformed)?;
                }
                Event::End(_) => {
                    let element = open.pop().ok_or_else(malformed)?;
                    close(element, &mut open, &mut root).ok_or_else(malformed)?;
                }
                Event::Text(text) => match open.last_mut() {
                    Some(element) => element.text.push_str(&text.xml_content(XmlVersion::Implicit1_0)),
                    None if text.trim().is_empty() => {}
                    None => return Err(malformed()),
                },
                Event::CData(text) => {
                    let element = open.last_mut().ok_or_else(malformed)?;
                    element.text.push_str(&text.xml_content(XmlVersion::Implicit1_0));
                }
                Event::GeneralRef(reference) => {
                    let element = open.last_mut().ok_or_else(malformed)?;
                    if let Some(character) = reference.resolve_char_ref().map_err(|_| malformed())? {
                        element.text.push(character);
                    } else {
                        element
                            .text
                            .push_str(resolve_predefined_entity(&reference).ok_or_else(malformed)?);
                    }
                }
                Event::DocType(_) | Event::PI(_) => return Err(XmlError::Forbidden),
                Event::Decl(_) | Event::Comment(_) => {}
                Event::Eof => break,
            }
        }
        if !open.is_empty() {
            return Err(XmlError::Malformed {
                position: reader.buffer_position(),
            });
        }
        root.ok_or(XmlError::Malformed { position: 0 })
    }

    /// The first child of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The element at the end of a path of child names.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Element> {
        path.iter().try_fold(self, |element, name| element.get(name))
    }

    /// The text at the end of a path of child names.
    pub(crate) fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path).map(|element| element.text.as_str())
    }

    /// The value of an attribute.
    pub(crate) fn attribute_value(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The document as text, with an XML declaration.
    pub(crate) fn document(&self) -> String {
        let mut out = String::from(r#"<?xml version="1.0" encoding="utf-8"?>"#);
        self.write(&mut out, None);
        out
    }

    /// The document indented by two spaces, as the authority sends its seed.
    pub(crate) fn indented_document(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
        self.write(&mut out, Some(0));
        out
    }

    /// The element as text, without a declaration.
    pub(crate) fn write(&self, out: &mut String, indent: Option<usize>) {
        let line = |out: &mut String, depth: usize| {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        };
        out.push('<');
        out.push_str(&self.name);
        for (name, value) in &self.attributes {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            escape(value, out);
            out.push('"');
        }
        out.push('>');
        escape(&self.text, out);
        for child in &self.children {
            if let Some(depth) = indent {
                line(out, depth + 1);
            }
            child.write(out, indent.map(|depth| depth + 1));
        }
        if let (Some(depth), false) = (indent, self.children.is_empty()) {
            line(out, depth);
        }
        out.push_str("</");
        out.push_str(&self.name);
        out.push('>');
    }
}

fn opened(start: &quick_xml::events::BytesStart<'_>) -> Option<Element> {
    let mut element = Element::new(start.name().as_ref());
    for attribute in start.attributes() {
        let attribute = attribute.ok()?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
        element
            .attributes
            .push((attribute.key.as_ref().to_owned(), value.into_owned()));
    }
    Some(element)
}

fn close(element: Element, open: &mut [Element], root: &mut Option<Element>) -> Option<()> {
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None if root.is_none() => *root = Some(element),
        None => return None,
    }
    Some(())
}

fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn text_with_references_and_cdata_is_read_as_one() {
        let element = Element::parse(b"<a><b>x &amp; &#39;y&#x27;<![CDATA[<z>]]></b></a>").unwrap();
        assert_eq!(element.text_at(&["b"]), Some("x & 'y'<z>"));
    }

    #[test]
    fn what_is_no_single_plain_document_is_refused() {
        let deep = "<a>".repeat(40) + &"</a>".repeat(40);
        for bad in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "<a/><b/>",
            "<!DOCTYPE a><a/>",
            "<a><?x y?></a>",
            "<a>&nbsp;</a>",
            &deep,
        ] {
            assert!(Element::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(matches!(Element::parse(b"<a>\xff</a>"), Err(XmlError::Encoding)));
    }

    #[test]
    fn the_writer_escapes_and_indents() {
        let element = Element::new("r").attribute("k", "a\"b").with("v", "1 < 2 & 3");
        assert_eq!(
            element.indented_document(),
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<r k=\"a&quot;b\">\n  <v>1 &lt; 2 &amp; 3</v>\n</r>"
        );
        assert_eq!(Element::parse(element.document().as_bytes()).unwrap(), element);
    }
}
