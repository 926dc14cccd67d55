//! Writes tags and text as canonical bytes.

use std::borrow::Cow;
use std::ops::Range;

use super::Method;
use super::escape;
use super::namespaces::{Scopes, split};
use crate::algorithms;
use crate::xml::attributes::{self, Attribute};
use crate::xml::characters::is_blank;
use crate::xml::reader::{Reader, Tag, Token};
use crate::xml::{Limits, XmlError, XmlErrorKind};

/// What a subtree inherits from its ancestors in inclusive canonicalisation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context<'a> {
    pub(crate) scopes: Scopes<'a>,
    /// `xml:` attributes of the ancestors, the nearest last.
    pub(crate) xml_attributes: Vec<Attribute<'a>>,
}

/// The result of a start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Started {
    Written,
    /// A `Signature` element, which is not written. Call [`Writer::leave`] at its end.
    Signature,
}

/// Upper bound of the attributes of a document, because attributes take more time than other bytes. Receipts have a
/// handful.
const MOST_ATTRIBUTES: usize = 10_000;

/// Most of a document is canonical already. Consecutive pieces of that kind are not copied one by one: they extend
/// `verbatim`, which is copied before anything else is written.
pub(crate) struct Writer<'a> {
    source: &'a str,
    /// The range of `source` that follows `out` but is not copied yet.
    verbatim: Range<usize>,
    method: Method,
    drop_blank_text: bool,
    /// Report `Signature` elements instead of writing them.
    watch: bool,
    max_attributes: usize,
    /// The number of attributes so far.
    attribute_count: usize,
    out: Vec<u8>,
    depth: usize,
    scopes: Scopes<'a>,
    /// The declarations that the output has. Differs from `scopes` only in exclusive canonicalisation and inside a
    /// context.
    rendered: Scopes<'a>,
    /// Set until the first element of a subtree is written.
    inherited: Option<Vec<Attribute<'a>>>,
    attributes: Vec<Attribute<'a>>,
    run: Option<Run>,
    blank_text_seen: bool,
}

/// Text since the last markup: one text node.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    is_blank: bool,
}

impl<'a> Writer<'a> {
    /// Writes the document `source`.
    pub(crate) fn new(source: &'a str, method: Method, drop_blank_text: bool, watch: bool, limits: &Limits) -> Self {
        Self {
            source,
            verbatim: 0..0,
            method,
            drop_blank_text,
            watch,
            max_attributes: limits.max_attributes,
            attribute_count: 0,
            out: Vec::new(),
            depth: 0,
            scopes: Scopes::default(),
            rendered: Scopes::default(),
            inherited: None,
            attributes: Vec::new(),
            run: None,
            blank_text_seen: false,
        }
    }

    /// Writes one element of `source`, whose ancestors are described by `context`.
    pub(crate) fn subtree(
        source: &'a str,
        method: Method,
        drop_blank_text: bool,
        context: &Context<'a>,
        limits: &Limits,
    ) -> Self {
        let mut writer = Self::new(source, method, drop_blank_text, false, limits);
        writer.scopes = context.scopes.clone().into_context();
        writer.inherited = Some(context.xml_attributes.clone());
        writer
    }

    /// `name_is_plain`: see [`Reader::is_plain`]. `position`: the range of the tag in the source.
    pub(crate) fn start(
        &mut self,
        tag: &Tag<'a>,
        name_is_plain: bool,
        position: Range<usize>,
    ) -> Result<Started, XmlError> {
        self.end_run();
        self.depth += 1;
        if name_is_plain && self.is_bare(tag) {
            if position.len() == tag.name.len() + "<>".len() {
                self.write_verbatim(position);
            } else {
                self.write(&[b"<", tag.name.as_bytes(), b">"]);
            }
            return Ok(Started::Written);
        }
        self.start_with_namespaces(tag)
    }

    /// Whether only the name has to be written, as for nearly every element of a receipt.
    fn is_bare(&self, tag: &Tag<'_>) -> bool {
        self.leaves_are_verbatim() && tag.attributes.is_empty() && tag.name != "Signature"
    }

    /// Whether an element without attributes and prefix gets no declarations here.
    pub(crate) fn leaves_are_verbatim(&self) -> bool {
        // Inclusive form writes a declaration only where it is made, exclusive form also where it is used.
        match self.method {
            Method::Inclusive => self.inherited.is_none(),
            Method::Exclusive => self.scopes.is_empty(),
        }
    }

    /// Writes elements that [`Reader::plain_leaves`] skipped, if [`Self::leaves_are_verbatim`].
    pub(crate) fn leaves(&mut self, position: Range<usize>) {
        if !position.is_empty() {
            self.end_run();
            self.write_verbatim(position);
        }
    }

    fn start_with_namespaces(&mut self, tag: &Tag<'a>) -> Result<Started, XmlError> {
        let at = tag.attributes_offset;
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes::parse(tag.attributes, at, self.max_attributes, &mut attributes)?;
        self.attribute_count += attributes.len();
        if self.attribute_count > MOST_ATTRIBUTES {
            return Err(XmlErrorKind::TooManyAttributesInAll { limit: MOST_ATTRIBUTES }.at(at));
        }
        let first_own = self.scopes.len();
        for attribute in &mut attributes {
            if let Some(prefix) = declared_prefix(attribute.name) {
                self.scopes
                    .declare(prefix, std::mem::take(&mut attribute.value), self.depth, at)?;
            }
        }
        attributes.retain(|attribute| declared_prefix(attribute.name).is_none());
        let (prefix, local) = split(tag.name);
        if prefix == "xmlns" {
            return Err(XmlErrorKind::NamespaceDeclaration(prefix.to_owned()).at(at));
        }
        let namespace = self.scopes.resolve(prefix, at)?;
        let is_signature = self.watch && local == "Signature" && namespace == algorithms::NAMESPACE;
        if !is_signature {
            let inherited = self.inherited.take();
            let is_apex = inherited.is_some();
            if let (Some(inherited), Method::Inclusive) = (inherited, self.method) {
                inherit(&mut attributes, inherited);
            }
            self.write_start(tag.name, &mut attributes, if is_apex { 0 } else { first_own }, at)?;
        }
        self.attributes = attributes;
        Ok(if is_signature {
            Started::Signature
        } else {
            Started::Written
        })
    }

    fn write_start(
        &mut self,
        name: &'a str,
        attributes: &mut [Attribute<'a>],
        first_new: usize,
        at: usize,
    ) -> Result<(), XmlError> {
        self.write(&[b"<", name.as_bytes()]);
        let mut prefixes: Vec<&'a str> = match self.method {
            Method::Inclusive => self
                .scopes
                .since(first_new)
                .iter()
                .map(|binding| binding.prefix)
                .collect(),
            // Attributes without a prefix use no namespace.
            Method::Exclusive => std::iter::once(split(name).0)
                .chain(
                    attributes
                        .iter()
                        .map(|attribute| split(attribute.name).0)
                        .filter(|prefix| !prefix.is_empty()),
                )
                .collect(),
        };
        prefixes.sort_unstable();
        prefixes.dedup();
        for prefix in prefixes {
            self.write_declaration(prefix, at)?;
        }
        self.sort_attributes(attributes, at)?;
        for attribute in attributes.iter() {
            self.write(&[b" ", attribute.name.as_bytes(), b"=\""]);
            escape::attribute(&mut self.out, &attribute.value);
            self.write(&[b"\""]);
        }
        self.write(&[b">"]);
        Ok(())
    }

    /// Declares `prefix` here, unless the output already has the same declaration.
    fn write_declaration(&mut self, prefix: &'a str, at: usize) -> Result<(), XmlError> {
        if prefix == "xml" {
            return Ok(());
        }
        let uri: Cow<'a, str> = match self.scopes.nearest(prefix) {
            Some(uri) => uri.clone(),
            None if prefix.is_empty() => Cow::Borrowed(""),
            None => return self.scopes.resolve(prefix, at).map(|_| ()),
        };
        let carried = self.rendered.nearest(prefix).map_or("", |carried| carried);
        // A prefix never has an empty namespace, so "" also means "not declared yet".
        if carried == uri {
            return Ok(());
        }
        let name: [&[u8]; 3] = if prefix.is_empty() {
            [b" xmlns", b"", b"=\""]
        } else {
            [b" xmlns:", prefix.as_bytes(), b"=\""]
        };
        self.write(&name);
        escape::attribute(&mut self.out, &uri);
        self.write(&[b"\""]);
        self.rendered.note(prefix, uri, self.depth);
        Ok(())
    }

    /// Sorts by namespace, then by local name. Two equal attributes are an error.
    fn sort_attributes(&self, attributes: &mut [Attribute<'a>], at: usize) -> Result<(), XmlError> {
        let key = |attribute: &Attribute<'a>| {
            let (prefix, local) = split(attribute.name);
            let namespace = if prefix.is_empty() {
                Ok("")
            } else {
                self.scopes.resolve(prefix, at)
            };
            namespace.map(|namespace| (namespace, local))
        };
        for attribute in attributes.iter() {
            key(attribute)?;
        }
        // The loop above resolved every key.
        attributes.sort_by(|left, right| key(left).unwrap_or_default().cmp(&key(right).unwrap_or_default()));
        match attributes
            .windows(2)
            .find(|pair| key(&pair[0]).ok() == key(&pair[1]).ok())
        {
            Some(pair) => Err(XmlErrorKind::DuplicateAttribute(pair[1].name.to_owned()).at(at)),
            None => Ok(()),
        }
    }

    /// `position`: the range of the tag in the source; empty for `<a/>`.
    pub(crate) fn end(&mut self, name: &str, position: Range<usize>) {
        self.end_run();
        if position.len() == name.len() + "</>".len() {
            self.write_verbatim(position);
        } else {
            self.write(&[b"</", name.as_bytes(), b">"]);
        }
        self.leave();
    }

    /// Leaves an element without writing its end tag.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
        self.scopes.leave_to(self.depth);
        self.rendered.leave_to(self.depth);
    }

    /// Writes literal text between markup and references. `is_plain`: see [`Reader::is_plain`].
    pub(crate) fn text(&mut self, text: &str, is_plain: bool, position: Range<usize>) -> Result<(), XmlError> {
        let start = self.len();
        let run = self.run.get_or_insert(Run { start, is_blank: true });
        run.is_blank = run.is_blank && is_blank(text);
        if is_plain {
            self.write_verbatim(position);
            return Ok(());
        }
        if text.contains("]]>") {
            return Err(XmlErrorKind::CdataEndInText.at(position.start));
        }
        self.flush();
        escape::with_line_ends(&mut self.out, text, escape::text);
        Ok(())
    }

    /// Writes a character that the source has as a reference. It never counts as a blank that may be dropped.
    pub(crate) fn reference(&mut self, character: char, position: Range<usize>) {
        let start = self.len();
        self.run.get_or_insert(Run { start, is_blank: false }).is_blank = false;
        if matches!(&self.source[position.clone()], "&amp;" | "&lt;" | "&gt;") {
            self.write_verbatim(position);
        } else {
            self.flush();
            escape::text(&mut self.out, character.encode_utf8(&mut [0; 4]));
        }
    }

    pub(crate) fn cdata(&mut self, source: &str) {
        self.end_run();
        self.flush();
        escape::with_line_ends(&mut self.out, source, escape::text);
    }

    pub(crate) fn comment(&mut self) {
        self.end_run();
    }

    pub(crate) fn instruction(&mut self, target: &str, data: &str) {
        self.end_run();
        self.write(&[b"<?", target.as_bytes()]);
        if !data.is_empty() {
            self.write(&[b" "]);
            escape::with_line_ends(&mut self.out, data, |out, part| {
                out.extend_from_slice(part.as_bytes());
            });
        }
        self.write(&[b"?>"]);
    }

    /// Writes a line feed between the root and a processing instruction.
    pub(crate) fn line_feed(&mut self) {
        self.write(&[b"\n"]);
    }

    /// Writes a piece of the source unchanged.
    fn write_verbatim(&mut self, piece: Range<usize>) {
        if self.verbatim.end != piece.start {
            self.flush();
            self.verbatim.start = piece.start;
        }
        self.verbatim.end = piece.end;
    }

    fn write(&mut self, parts: &[&[u8]]) {
        self.flush();
        for part in parts {
            self.out.extend_from_slice(part);
        }
    }

    fn flush(&mut self) {
        let piece = &self.source[self.verbatim.clone()];
        self.out.extend_from_slice(piece.as_bytes());
        self.verbatim.start = self.verbatim.end;
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        if run.is_blank {
            self.blank_text_seen = true;
            if self.drop_blank_text {
                self.flush();
                self.out.truncate(run.start);
            }
        }
    }

    /// The context that a subtree inherits here: the ancestors' declarations, and `xml:` attributes of the last start
    /// tag.
    pub(crate) fn context(&self) -> Context<'a> {
        let xml_attributes = self
            .attributes
            .iter()
            .filter(|attribute| split(attribute.name).0 == "xml")
            .cloned()
            .collect();
        Context {
            scopes: self.scopes.clone(),
            xml_attributes,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.out.len() + self.verbatim.len()
    }

    pub(crate) fn blank_text_seen(&self) -> bool {
        self.blank_text_seen
    }

    pub(crate) fn namespaces_in_scope(&self) -> bool {
        !self.scopes.is_empty()
    }

    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.flush();
        self.out
    }
}

/// Canonical XML 1.0, section 2.4: the first element of a subtree inherits the ancestors' `xml:` attributes that it
/// lacks.
fn inherit<'a>(own: &mut Vec<Attribute<'a>>, inherited: Vec<Attribute<'a>>) {
    for attribute in inherited.into_iter().rev() {
        if !own.iter().any(|other| other.name == attribute.name) {
            own.push(attribute);
        }
    }
}

fn declared_prefix(name: &str) -> Option<&str> {
    match name.strip_prefix("xmlns")? {
        "" => Some(""),
        rest => rest.strip_prefix(':'),
    }
}

/// The canonical bytes of the element in `range` of `source`.
pub(crate) fn subtree(
    source: &str,
    range: Range<usize>,
    method: Method,
    drop_blank_text: bool,
    context: &Context<'_>,
    limits: &Limits,
) -> Result<Vec<u8>, XmlError> {
    let mut reader = Reader::new(source, range, limits);
    let mut writer = Writer::subtree(source, method, drop_blank_text, context, limits);
    loop {
        match reader.next()? {
            Token::Start(tag) => {
                writer.start(&tag, reader.is_plain(), reader.position())?;
            }
            Token::End(name) => writer.end(name, reader.position()),
            Token::Text(text) => writer.text(text, reader.is_plain(), reader.position())?,
            Token::Reference(character) => writer.reference(character, reader.position()),
            Token::Cdata(text) => writer.cdata(text),
            Token::Comment => writer.comment(),
            Token::Instruction { target, data } => writer.instruction(target, data),
            Token::EndOfDocument => return Ok(writer.into_bytes()),
        }
    }
}
