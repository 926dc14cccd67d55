//! The tokens of a well-formed document within [`Limits`].
//!
//! Well-formed means all rules of XML 1.0 and its namespaces for a document without a document type declaration:
//! characters, names, nesting, one root. Names in start tags and literal text are scanned exactly once, which is why no
//! general parser is used: finding the markup alone took one three times the whole time budget of a verification. The
//! tests compare this reader with quick-xml.

use std::ops::Range;

use super::attributes::{self, Attribute};
use super::characters::{
    NameScan, TextScan, first_forbidden, is_blank, is_blank_byte, is_qualified_name, is_unprefixed_name,
};
use super::encoding::other_than_utf8;
use super::{Limits, XmlError, XmlErrorKind, excerpt};

/// A piece of the document. Attributes are unparsed, because most tags have none.
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
    /// The offset of `attributes` in the document.
    pub(crate) attributes_offset: usize,
}

pub(crate) struct Reader<'a> {
    /// The document up to the end of the range that is read.
    text: &'a str,
    /// The offset where reading started.
    start: usize,
    /// The offset of the next token.
    at: usize,
    position: Range<usize>,
    is_plain: bool,
    limits: Limits,
    open: Vec<&'a str>,
    root_seen: bool,
    /// `<a/>` becomes a start and an end.
    pending_end: bool,
}

/// Checks the size and the encoding of the whole document, and returns it as text.
pub(crate) fn decode<'a>(xml: &'a [u8], limits: &Limits) -> Result<&'a str, XmlError> {
    if xml.len() > limits.max_bytes {
        return Err(XmlErrorKind::TooLarge {
            bytes: xml.len(),
            limit: limits.max_bytes,
        }
        .at(0));
    }
    if xml.starts_with(b"\xEF\xBB\xBF") {
        return Err(XmlErrorKind::ByteOrderMark.at(0));
    }
    // If the document names another encoding, that is the cause of an invalid byte.
    let refused = |kind: XmlErrorKind, offset| match other_than_utf8(xml) {
        Some(encoding) => XmlErrorKind::Encoding(encoding).at(0),
        None => kind.at(offset),
    };
    let text = std::str::from_utf8(xml).map_err(|error| refused(XmlErrorKind::NotUtf8, error.valid_up_to()))?;
    match first_forbidden(text) {
        Some((offset, c)) => Err(refused(XmlErrorKind::ForbiddenCharacter(u32::from(c)), offset)),
        None => Ok(text),
    }
}

impl<'a> Reader<'a> {
    /// Reads `range` of a text that [`decode`] has checked: the whole document, or one element of it.
    pub(crate) fn new(document: &'a str, range: Range<usize>, limits: &Limits) -> Self {
        Self {
            text: &document[..range.end],
            start: range.start,
            at: range.start,
            position: range.start..range.start,
            is_plain: false,
            limits: *limits,
            open: Vec::new(),
            root_seen: false,
            pending_end: false,
        }
    }

    /// The position of the last token in the document; empty for the implied end of `<a/>`.
    pub(crate) fn position(&self) -> Range<usize> {
        self.position.clone()
    }

    /// Whether the name of the last start tag is ASCII without a prefix, or the last text has neither `>` nor carriage
    /// return.
    ///
    /// Not a part of the token: as a single byte in it, the flag made each return wait for memory, a quarter of the
    /// time of a verification.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The number of open elements after the last token.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn next(&mut self) -> Result<Token<'a>, XmlError> {
        if self.pending_end {
            self.pending_end = false;
            self.position = self.at..self.at;
            let name = self.open.pop().unwrap_or_default();
            return Ok(Token::End(name));
        }
        loop {
            self.position = self.at..self.at;
            let token = match self.text.as_bytes()[self.at..] {
                [] => return self.end_of_document(),
                [b'<', b'/', ..] => self.end_tag()?,
                [b'<', b'?', ..] => match self.instruction()? {
                    Some(token) => token,
                    None => continue,
                },
                [b'<', b'!', ..] => self.comment_or_cdata()?,
                [b'<', ..] => self.start_tag()?,
                [b'&', ..] => self.reference()?,
                _ => match self.literal_text()? {
                    Some(token) => token,
                    None => continue,
                },
            };
            return Ok(token);
        }
    }

    /// Skips the following elements that contain only text and are their own canonical form: without attributes,
    /// prefix, and references other than those of canonical text. Most of a receipt consists of them. Returns an empty
    /// range if there are none.
    ///
    /// Elements named `Signature` and text that starts with a blank are left to [`Self::next`], since a caller may
    /// remove them.
    pub(crate) fn plain_leaves(&mut self) -> Range<usize> {
        let start = self.at;
        let depth = self.open.len();
        if depth > 0 && depth < self.limits.max_depth && !self.pending_end {
            while let Some(length) = plain_leaf(&self.text.as_bytes()[self.at..]) {
                self.at += length;
            }
        }
        start..self.at
    }

    /// Ends the current token at `end`.
    fn advance(&mut self, end: usize) {
        self.position.end = end;
        self.at = end;
    }

    fn error(&self, kind: XmlErrorKind) -> XmlError {
        kind.at(self.position.start)
    }

    fn unreadable(&self, what: &str) -> XmlError {
        self.error(XmlErrorKind::Syntax(what.to_owned()))
    }

    fn end_of_document(&self) -> Result<Token<'a>, XmlError> {
        match self.open.last() {
            Some(name) => Err(self.error(XmlErrorKind::Unclosed(excerpt(name)))),
            None if self.root_seen => Ok(Token::EndOfDocument),
            None => Err(self.error(XmlErrorKind::NoRoot)),
        }
    }

    fn start_tag(&mut self) -> Result<Token<'a>, XmlError> {
        let bytes = self.text.as_bytes();
        let name_start = self.at + 1;
        let scan = NameScan::of(&bytes[name_start..]);
        let name_end = name_start + scan.length;
        let Some(&after_name) = bytes.get(name_end) else {
            return Err(self.unreadable("a tag does not end"));
        };
        // The name ends at an ASCII byte, so the slice does not cut a character.
        let name = &self.text[name_start..name_end];
        if !(scan.is_plain || is_qualified_name(name)) {
            return Err(self.error(XmlErrorKind::Name(excerpt(name))));
        }
        if self.open.is_empty() && self.root_seen {
            return Err(self.error(XmlErrorKind::ContentOutsideRoot));
        }
        if self.open.len() == self.limits.max_depth {
            return Err(self.error(XmlErrorKind::TooDeep {
                limit: self.limits.max_depth,
            }));
        }
        let close = if after_name == b'>' {
            name_end
        } else {
            self.end_of_attributes(name_end)?
        };
        self.pending_end = bytes[close - 1] == b'/';
        let attributes = &self.text[name_end..close - usize::from(self.pending_end)];
        self.root_seen = true;
        self.open.push(name);
        self.advance(close + 1);
        self.is_plain = scan.is_plain;
        Ok(Token::Start(Tag {
            name,
            attributes,
            attributes_offset: name_end,
        }))
    }

    /// The offset of the `>` that is outside of attribute values.
    fn end_of_attributes(&self, from: usize) -> Result<usize, XmlError> {
        let mut quote = None;
        for (at, &byte) in self.text.as_bytes().iter().enumerate().skip(from) {
            match (quote, byte) {
                (None, b'>') => return Ok(at),
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), byte) if open == byte => quote = None,
                (_, b'<') => break,
                _ => {}
            }
        }
        Err(self.unreadable("a tag does not end"))
    }

    fn end_tag(&mut self) -> Result<Token<'a>, XmlError> {
        let name_start = self.at + 2;
        let rest = &self.text[name_start..];
        let Some(&name) = self.open.last() else {
            return Err(self.error(XmlErrorKind::ContentOutsideRoot));
        };
        if rest.as_bytes().get(name.len()) == Some(&b'>') && rest.as_bytes().starts_with(name.as_bytes()) {
            self.open.pop();
            self.advance(name_start + name.len() + 1);
            return Ok(Token::End(name));
        }
        let after_name = rest.strip_prefix(name).map(|after| after.trim_start_matches(BLANKS));
        let Some(after_tag) = after_name.and_then(|after| after.strip_prefix('>')) else {
            let found = rest.split_once('>').map_or(rest, |(found, _)| found);
            return Err(self.error(XmlErrorKind::EndTag {
                expected: excerpt(name),
                found: excerpt(found),
            }));
        };
        self.open.pop();
        self.advance(self.text.len() - after_tag.len());
        Ok(Token::End(name))
    }

    /// `None` for blanks outside of the root.
    fn literal_text(&mut self) -> Result<Option<Token<'a>>, XmlError> {
        let start = self.at;
        let scan = TextScan::of(&self.text.as_bytes()[start..]);
        self.advance(start + scan.length);
        let text = &self.text[start..self.at];
        if !self.open.is_empty() {
            self.is_plain = scan.is_plain;
            return Ok(Some(Token::Text(text)));
        }
        if is_blank(text) {
            Ok(None)
        } else {
            Err(self.error(XmlErrorKind::ContentOutsideRoot))
        }
    }

    fn reference(&mut self) -> Result<Token<'a>, XmlError> {
        if self.open.is_empty() {
            return Err(self.error(XmlErrorKind::ContentOutsideRoot));
        }
        let rest = &self.text[self.at + 1..];
        let Some(length) = rest.bytes().take(LONGEST_REFERENCE).position(|b| b == b';') else {
            let name: String = rest.chars().take(LONGEST_REFERENCE).collect();
            return Err(self.error(XmlErrorKind::UnknownEntity(name)));
        };
        let character = attributes::resolve(&rest[..length], self.at)?;
        self.advance(self.at + 1 + length + 1);
        Ok(Token::Reference(character))
    }

    fn comment_or_cdata(&mut self) -> Result<Token<'a>, XmlError> {
        let rest = &self.text[self.at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            // The first `--` must belong to `-->`.
            return match comment.find("--") {
                Some(length) if comment[length..].starts_with("-->") => {
                    self.advance(self.at + "<!--".len() + length + "-->".len());
                    Ok(Token::Comment)
                }
                Some(_) => Err(self.unreadable("\"--\" in a comment")),
                None => Err(self.unreadable("a comment does not end")),
            };
        }
        if let Some(section) = rest.strip_prefix("<![CDATA[") {
            if self.open.is_empty() {
                return Err(self.error(XmlErrorKind::ContentOutsideRoot));
            }
            let Some((content, _)) = section.split_once("]]>") else {
                return Err(self.unreadable("a CDATA section does not end"));
            };
            self.advance(self.at + "<![CDATA[".len() + content.len() + "]]>".len());
            return Ok(Token::Cdata(content));
        }
        let is_doctype = rest
            .get(..9)
            .is_some_and(|start| start.eq_ignore_ascii_case("<!DOCTYPE"));
        Err(if is_doctype {
            self.error(XmlErrorKind::Doctype)
        } else {
            self.unreadable("unknown markup after \"<!\"")
        })
    }

    /// `None` for the XML declaration.
    fn instruction(&mut self) -> Result<Option<Token<'a>>, XmlError> {
        let Some((content, _)) = self.text[self.at + 2..].split_once("?>") else {
            return Err(self.unreadable("a processing instruction does not end"));
        };
        let target_length = content.bytes().position(is_blank_byte).unwrap_or(content.len());
        let (target, data) = content.split_at(target_length);
        let start = self.at;
        self.advance(start + 2 + content.len() + 2);
        if target == "xml" && start == 0 && self.start == 0 {
            self.declaration(data, start + 2 + target_length)?;
            return Ok(None);
        }
        if target.eq_ignore_ascii_case("xml") {
            return Err(self.error(XmlErrorKind::Declaration));
        }
        if !is_unprefixed_name(target) {
            return Err(self.error(XmlErrorKind::Name(excerpt(target))));
        }
        Ok(Some(Token::Instruction {
            target,
            data: data.trim_start_matches(BLANKS),
        }))
    }

    fn declaration(&self, data: &str, offset: usize) -> Result<(), XmlError> {
        let mut parts: Vec<Attribute<'_>> = Vec::new();
        attributes::parse(data, offset, 3, &mut parts)?;
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
}

/// The length of the `<name>text</name>` at the start, if it is its own canonical form.
fn plain_leaf(bytes: &[u8]) -> Option<usize> {
    let (b'<', inside) = bytes.split_first()? else {
        return None;
    };
    let scan = NameScan::of(inside);
    let (name, mut rest) = inside.split_at(scan.length);
    if !scan.is_plain || name == b"Signature" {
        return None;
    }
    rest = rest.strip_prefix(b">")?;
    if rest.first().copied().is_some_and(is_blank_byte) {
        return None;
    }
    loop {
        let text = TextScan::of(rest);
        if !text.is_plain {
            return None;
        }
        rest = &rest[text.length..];
        match rest {
            [b'&', b'a', b'm', b'p', b';', after @ ..] | [b'&', b'l' | b'g', b't', b';', after @ ..] => rest = after,
            _ => break,
        }
    }
    let after = rest.strip_prefix(b"</")?.strip_prefix(name)?.strip_prefix(b">")?;
    Some(bytes.len() - after.len())
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// `#x10FFFF` with a few leading zeros.
const LONGEST_REFERENCE: usize = 32;

#[cfg(test)]
mod tests;
