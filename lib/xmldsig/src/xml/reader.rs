//! The tokens of a well-formed document within [`Limits`].
//!
//! quick-xml finds the markup; what it leaves to its callers is checked here: characters, names, nesting, one root, no document
//! type declaration, and that nothing but blanks stands outside of the root.

use std::ops::Range;

use quick_xml::events::Event;

use super::attributes::{self, Attribute};
use super::characters::{first_forbidden, is_blank, is_blank_byte, is_qualified_name, is_unprefixed_name};
use super::{Limits, XmlError, XmlErrorKind, excerpt};

/// A piece of the document. Attributes are still raw: most tags have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Start(Tag<'a>),
    End(&'a str),
    Text(&'a str),
    Cdata(&'a str),
    Reference(char),
    Comment,
    Instruction { target: &'a str, data: &'a str },
    EndOfDocument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag<'a> {
    pub(crate) name: &'a str,
    pub(crate) attributes: &'a str,
    /// Where `attributes` starts in the document.
    pub(crate) attributes_offset: usize,
}

pub(crate) struct Reader<'a> {
    text: &'a str,
    base: usize,
    parser: quick_xml::Reader<&'a [u8]>,
    limits: Limits,
    open: Vec<&'a str>,
    root_seen: bool,
    /// `<a/>` is told as a start and an end.
    pending_end: bool,
    position: Range<usize>,
}

/// Checks what concerns the bytes as a whole, and hands them out as text.
pub(crate) fn decode<'a>(xml: &'a [u8], limits: &Limits) -> Result<&'a str, XmlError> {
    if xml.len() > limits.max_bytes {
        return Err(XmlErrorKind::TooLarge {
            bytes: xml.len(),
            limit: limits.max_bytes,
        }
        .at(0));
    }
    if xml.starts_with(b"\xEF\xBB\xBF") || xml.starts_with(b"\xFE\xFF") || xml.starts_with(b"\xFF\xFE") {
        return Err(XmlErrorKind::ByteOrderMark.at(0));
    }
    let text = std::str::from_utf8(xml).map_err(|error| XmlErrorKind::NotUtf8.at(error.valid_up_to()))?;
    match first_forbidden(text) {
        Some((offset, c)) => Err(XmlErrorKind::ForbiddenCharacter(u32::from(c)).at(offset)),
        None => Ok(text),
    }
}

impl<'a> Reader<'a> {
    /// Reads `range` of a text that [`decode`] has passed: the whole document, or one element of it.
    pub(crate) fn new(document: &'a str, range: Range<usize>, limits: &Limits) -> Self {
        let text = &document[range.clone()];
        let mut parser = quick_xml::Reader::from_reader(text.as_bytes());
        let config = parser.config_mut();
        config.check_comments = true;
        // Names are compared here, where they are kept for the canonical end tags anyway.
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        Self {
            text,
            base: range.start,
            parser,
            limits: *limits,
            open: Vec::new(),
            root_seen: false,
            pending_end: false,
            position: 0..0,
        }
    }

    /// Where the last token stands in the document. The made-up end of `<a/>` stands where its start does.
    pub(crate) fn position(&self) -> Range<usize> {
        self.base + self.position.start..self.base + self.position.end
    }

    /// How many elements are open after the last token.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn next(&mut self) -> Result<Token<'a>, XmlError> {
        if self.pending_end {
            self.pending_end = false;
            return self.close(None);
        }
        loop {
            let start = self.parser_position();
            let event = match self.parser.read_event() {
                Ok(event) => event,
                Err(error) => return Err(XmlErrorKind::Syntax(excerpt(&error.to_string())).at(self.base + start)),
            };
            let end = self.parser_position();
            self.position = start..end;
            match event {
                Event::Start(_) => return self.open(start + 1..end - 1),
                Event::Empty(_) => {
                    self.pending_end = true;
                    return self.open(start + 1..end - 2);
                }
                Event::End(_) => return self.close(Some(self.text[start + 2..end - 1].trim_end_matches(BLANKS))),
                Event::Text(_) => {
                    let text = &self.text[start..end];
                    if !self.open.is_empty() {
                        return Ok(Token::Text(text));
                    }
                    if !is_blank(text) {
                        return Err(self.error(XmlErrorKind::ContentOutsideRoot));
                    }
                }
                Event::GeneralRef(_) if self.open.is_empty() => {
                    return Err(self.error(XmlErrorKind::ContentOutsideRoot));
                }
                Event::GeneralRef(_) => {
                    return attributes::resolve(&self.text[start + 1..end - 1], self.base + start)
                        .map(Token::Reference);
                }
                Event::CData(_) if self.open.is_empty() => return Err(self.error(XmlErrorKind::ContentOutsideRoot)),
                Event::CData(_) => return Ok(Token::Cdata(&self.text[start + 9..end - 3])),
                Event::Comment(_) => return Ok(Token::Comment),
                Event::Decl(_) => self.declaration(start, end)?,
                Event::PI(_) => return self.instruction(&self.text[start + 2..end - 2]),
                Event::DocType(_) => return Err(self.error(XmlErrorKind::Doctype)),
                Event::Eof => {
                    return match self.open.last() {
                        Some(name) => Err(self.error(XmlErrorKind::Unclosed(excerpt(name)))),
                        None if self.root_seen => Ok(Token::EndOfDocument),
                        None => Err(self.error(XmlErrorKind::NoRoot)),
                    };
                }
            }
        }
    }

    fn parser_position(&self) -> usize {
        // The whole text is in memory: its length fits.
        usize::try_from(self.parser.buffer_position()).unwrap_or(usize::MAX)
    }

    fn error(&self, kind: XmlErrorKind) -> XmlError {
        kind.at(self.base + self.position.start)
    }

    /// `inside`: between `<` and `>` or `/>`.
    fn open(&mut self, inside: Range<usize>) -> Result<Token<'a>, XmlError> {
        let raw = &self.text[inside.clone()];
        let name_length = raw.bytes().position(is_blank_byte).unwrap_or(raw.len());
        let (name, attributes) = raw.split_at(name_length);
        if self.open.is_empty() && self.root_seen {
            return Err(self.error(XmlErrorKind::ContentOutsideRoot));
        }
        if !is_qualified_name(name) {
            return Err(self.error(XmlErrorKind::Name(excerpt(name))));
        }
        if self.open.len() == self.limits.max_depth {
            return Err(self.error(XmlErrorKind::TooDeep {
                limit: self.limits.max_depth,
            }));
        }
        self.root_seen = true;
        self.open.push(name);
        Ok(Token::Start(Tag {
            name,
            attributes,
            attributes_offset: self.base + inside.start + name_length,
        }))
    }

    fn close(&mut self, written: Option<&str>) -> Result<Token<'a>, XmlError> {
        match (self.open.pop(), written) {
            (Some(expected), Some(found)) if expected != found => Err(self.error(XmlErrorKind::EndTag {
                expected: excerpt(expected),
                found: excerpt(found),
            })),
            (Some(name), _) => Ok(Token::End(name)),
            (None, _) => Err(self.error(XmlErrorKind::ContentOutsideRoot)),
        }
    }

    fn declaration(&self, start: usize, end: usize) -> Result<(), XmlError> {
        if start != 0 || self.base != 0 {
            return Err(self.error(XmlErrorKind::Declaration));
        }
        let mut parts: Vec<Attribute<'_>> = Vec::new();
        attributes::parse(&self.text[start + "<?xml".len()..end - 2], "<?xml".len(), 3, &mut parts)?;
        let mut parts = parts.into_iter().peekable();
        match parts.next() {
            Some(Attribute { name: "version", value }) if value == "1.0" => {}
            Some(Attribute { name: "version", value }) => {
                return Err(self.error(XmlErrorKind::Version(excerpt(&value))));
            }
            _ => return Err(self.error(XmlErrorKind::Declaration)),
        }
        if let Some(encoding) = parts.next_if(|part| part.name == "encoding")
            && !encoding.value.eq_ignore_ascii_case("utf-8")
        {
            return Err(self.error(XmlErrorKind::Encoding(excerpt(&encoding.value))));
        }
        let standalone = parts.next_if(|part| part.name == "standalone");
        let standalone_is_right = standalone.is_none_or(|part| matches!(&*part.value, "yes" | "no"));
        if standalone_is_right && parts.next().is_none() {
            Ok(())
        } else {
            Err(self.error(XmlErrorKind::Declaration))
        }
    }

    fn instruction(&self, content: &'a str) -> Result<Token<'a>, XmlError> {
        let target_length = content.bytes().position(is_blank_byte).unwrap_or(content.len());
        let (target, data) = content.split_at(target_length);
        if target.eq_ignore_ascii_case("xml") {
            return Err(self.error(XmlErrorKind::Declaration));
        }
        if !is_unprefixed_name(target) {
            return Err(self.error(XmlErrorKind::Name(excerpt(target))));
        }
        Ok(Token::Instruction {
            target,
            data: data.trim_start_matches(BLANKS),
        })
    }
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(xml: &[u8]) -> Result<usize, XmlErrorKind> {
        let limits = Limits {
            max_bytes: 1000,
            max_depth: 4,
            max_attributes: 4,
        };
        let text = decode(xml, &limits).map_err(|error| error.kind)?;
        let mut reader = Reader::new(text, 0..text.len(), &limits);
        let mut count = 0;
        loop {
            match reader.next() {
                Ok(Token::EndOfDocument) => return Ok(count),
                Ok(_) => count += 1,
                Err(error) => return Err(error.kind),
            }
        }
    }

    #[test]
    fn tokens_carry_the_source_text() {
        let text = "<?xml version='1.0'?>\n<a x='1'>t&amp;<b/><![CDATA[c]]><?p  d ?></a >";
        let mut reader = Reader::new(text, 0..text.len(), &Limits::default());
        let mut seen = Vec::new();
        loop {
            match reader.next() {
                Ok(Token::EndOfDocument) => break,
                Ok(Token::Start(tag)) => {
                    seen.push(format!("<{}|{}@{}", tag.name, tag.attributes, &text[reader.position()]))
                }
                Ok(token) => seen.push(format!("{token:?}")),
                Err(error) => panic!("{error}"),
            }
        }
        let expected = [
            "<a| x='1'@<a x='1'>",
            "Text(\"t\")",
            "Reference('&')",
            "<b|@<b/>",
            "End(\"b\")",
            "Cdata(\"c\")",
            "Instruction { target: \"p\", data: \"d \" }",
            "End(\"a\")",
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn what_is_not_well_formed_is_refused() {
        for bad in [
            "",
            " ",
            "text",
            "<a>",
            "</a>",
            "<a></b>",
            "<a/><b/>",
            "<a/>x",
            "x<a/>",
            "<a/>&amp;",
            "<![CDATA[x]]><a/>",
            "<1/>",
            "<a:b:c/>",
            "<a",
            "<a b",
            "<>",
            "< a/>",
            "<a></ a>",
            "<a>&</a>",
            "<a>& b</a>",
            "<a>&#0;</a>",
            "<a>&x;</a>",
            "<a><!-- -- --></a>",
            "<!-->",
            "<!--->",
            "<a><?xml version='1.0'?></a>",
            " <?xml version='1.0'?><a/>",
            "<?xml?><a/>",
            "<?xml version='1.0' x='1'?><a/>",
            "<?xml encoding='utf-8'?><a/>",
            "<?xml version='1.0' standalone='maybe'?><a/>",
            "<?XML a?><a/>",
            "<? a?><a/>",
            "<a><![CDATA[</a>",
            "<a><![cdata[x]]></a>",
            "<a>\u{0}</a>",
        ] {
            assert!(tokens(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn limits_and_encodings_have_their_own_errors() {
        assert_eq!(
            tokens(b"<a><b><c><d><e/></d></c></b></a>"),
            Err(XmlErrorKind::TooDeep { limit: 4 })
        );
        assert_eq!(
            tokens(&[b' '; 1001]),
            Err(XmlErrorKind::TooLarge {
                bytes: 1001,
                limit: 1000
            })
        );
        assert_eq!(tokens(b"\xEF\xBB\xBF<a/>"), Err(XmlErrorKind::ByteOrderMark));
        assert_eq!(tokens(b"<a>\xF1</a>"), Err(XmlErrorKind::NotUtf8));
        assert_eq!(tokens(b"<!DOCTYPE a><a/>"), Err(XmlErrorKind::Doctype));
        assert_eq!(
            tokens(b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>"),
            Err(XmlErrorKind::Doctype)
        );
        assert_eq!(
            tokens(b"<?xml version='1.1'?><a/>"),
            Err(XmlErrorKind::Version("1.1".to_owned()))
        );
        assert_eq!(
            tokens(b"<?xml version='1.0' encoding='ISO-8859-1'?><a/>"),
            Err(XmlErrorKind::Encoding("ISO-8859-1".to_owned()))
        );
        assert_eq!(
            tokens(b"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\" ?><a/>"),
            Ok(2)
        );
    }
}
