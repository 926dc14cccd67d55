//! Canonical bytes of tags and text.

use std::borrow::Cow;

use super::Method;
use super::escape;
use super::namespaces::{Scopes, split};
use crate::algorithms;
use crate::xml::attributes::{self, Attribute};
use crate::xml::characters::is_blank;
use crate::xml::reader::{Reader, Tag, Token};
use crate::xml::{Limits, XmlError, XmlErrorKind};

/// What surrounds a subtree: all that inclusive canonicalisation inherits from the ancestors.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context<'a> {
    pub(crate) scopes: Scopes<'a>,
    /// `xml:` attributes of the ancestors, the nearest last.
    pub(crate) xml_attributes: Vec<Attribute<'a>>,
}

/// What a start tag turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Started {
    Written,
    /// A `Signature` element, not written: [`Writer::leave`] it when it has ended.
    Signature,
}

pub(crate) struct Writer<'a> {
    method: Method,
    drop_blank_text: bool,
    /// Tell `Signature` elements instead of writing them.
    watch: bool,
    max_attributes: usize,
    out: Vec<u8>,
    depth: usize,
    scopes: Scopes<'a>,
    /// What the output carries. Only differs from `scopes` in exclusive canonicalisation and inside of a context.
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
    /// Writes a whole document of about `size` bytes.
    pub(crate) fn new(method: Method, drop_blank_text: bool, watch: bool, size: usize, limits: &Limits) -> Self {
        Self {
            method,
            drop_blank_text,
            watch,
            max_attributes: limits.max_attributes,
            out: Vec::with_capacity(size),
            depth: 0,
            scopes: Scopes::default(),
            rendered: Scopes::default(),
            inherited: None,
            attributes: Vec::new(),
            run: None,
            blank_text_seen: false,
        }
    }

    /// Writes one element that stands inside of `context`.
    pub(crate) fn subtree(method: Method, drop_blank_text: bool, context: &Context<'a>, limits: &Limits) -> Self {
        let mut writer = Self::new(method, drop_blank_text, false, 1024, limits);
        writer.scopes = context.scopes.clone().into_context();
        writer.inherited = Some(context.xml_attributes.clone());
        writer
    }

    pub(crate) fn start(&mut self, tag: &Tag<'a>) -> Result<Started, XmlError> {
        self.end_run();
        self.depth += 1;
        // Nearly every element of a receipt: no attributes, and no namespace anywhere around.
        if tag.attributes.is_empty() && self.scopes.is_empty() && self.inherited.is_none() && !tag.name.contains(':') {
            self.out.push(b'<');
            self.out.extend_from_slice(tag.name.as_bytes());
            self.out.push(b'>');
            return Ok(Started::Written);
        }
        self.start_with_namespaces(tag)
    }

    fn start_with_namespaces(&mut self, tag: &Tag<'a>) -> Result<Started, XmlError> {
        let at = tag.attributes_offset;
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes::parse(tag.attributes, at, self.max_attributes, &mut attributes)?;
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
        self.out.push(b'<');
        self.out.extend_from_slice(name.as_bytes());
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
            self.out.push(b' ');
            self.out.extend_from_slice(attribute.name.as_bytes());
            self.out.extend_from_slice(b"=\"");
            escape::attribute(&mut self.out, &attribute.value);
            self.out.push(b'"');
        }
        self.out.push(b'>');
        Ok(())
    }

    /// Writes what `prefix` stands for here, unless the output carries it already.
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
        // For a prefix, empty cannot be: so this also says "not carried yet".
        if carried == uri {
            return Ok(());
        }
        self.out
            .extend_from_slice(if prefix.is_empty() { b" xmlns" } else { b" xmlns:" });
        self.out.extend_from_slice(prefix.as_bytes());
        self.out.extend_from_slice(b"=\"");
        escape::attribute(&mut self.out, &uri);
        self.out.push(b'"');
        self.rendered.note(prefix, uri, self.depth);
        Ok(())
    }

    /// By namespace, then by local name; two attributes that are the same after resolution are an error.
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
        // Every key was just seen to resolve.
        attributes.sort_by(|left, right| key(left).unwrap_or_default().cmp(&key(right).unwrap_or_default()));
        match attributes
            .windows(2)
            .find(|pair| key(&pair[0]).ok() == key(&pair[1]).ok())
        {
            Some(pair) => Err(XmlErrorKind::DuplicateAttribute(pair[1].name.to_owned()).at(at)),
            None => Ok(()),
        }
    }

    pub(crate) fn end(&mut self, name: &str) {
        self.end_run();
        self.out.extend_from_slice(b"</");
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b'>');
        self.leave();
    }

    /// Leaves an element without writing its end tag.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
        self.scopes.leave_to(self.depth);
        self.rendered.leave_to(self.depth);
    }

    /// Literal text between markup and references.
    pub(crate) fn text(&mut self, source: &str, at: usize) -> Result<(), XmlError> {
        let start = self.out.len();
        let run = self.run.get_or_insert(Run { start, is_blank: true });
        run.is_blank = run.is_blank && is_blank(source);
        // `&` and `<` end a text token. No early exit, so that it is vector code.
        if !source
            .bytes()
            .fold(false, |found, byte| found | (byte == b'>') | (byte == b'\r'))
        {
            self.out.extend_from_slice(source.as_bytes());
            return Ok(());
        }
        if source.contains("]]>") {
            return Err(XmlErrorKind::CdataEndInText.at(at));
        }
        escape::with_line_ends(&mut self.out, source, escape::text);
        Ok(())
    }

    /// A character that was written as a reference: never part of a blank node that may be dropped.
    pub(crate) fn reference(&mut self, character: char) {
        let start = self.out.len();
        self.run.get_or_insert(Run { start, is_blank: false }).is_blank = false;
        escape::text(&mut self.out, character.encode_utf8(&mut [0; 4]));
    }

    pub(crate) fn cdata(&mut self, source: &str) {
        self.end_run();
        escape::with_line_ends(&mut self.out, source, escape::text);
    }

    pub(crate) fn comment(&mut self) {
        self.end_run();
    }

    pub(crate) fn instruction(&mut self, target: &str, data: &str) {
        self.end_run();
        self.out.extend_from_slice(b"<?");
        self.out.extend_from_slice(target.as_bytes());
        if !data.is_empty() {
            self.out.push(b' ');
            escape::with_line_ends(&mut self.out, data, |out, part| out.extend_from_slice(part.as_bytes()));
        }
        self.out.extend_from_slice(b"?>");
    }

    /// A line feed, which separates the root from processing instructions beside it.
    pub(crate) fn line_feed(&mut self) {
        self.out.push(b'\n');
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        if run.is_blank {
            self.blank_text_seen = true;
            if self.drop_blank_text {
                self.out.truncate(run.start);
            }
        }
    }

    /// What a subtree at this place inherits: the ancestors' declarations and `xml:` attributes of the last start tag.
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
        self.out.len()
    }

    pub(crate) fn blank_text_seen(&self) -> bool {
        self.blank_text_seen
    }

    pub(crate) fn namespaces_in_scope(&self) -> bool {
        !self.scopes.is_empty()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out
    }
}

/// Canonical XML 1.0, section 2.4: the first element of a subtree gets the ancestors' `xml:` attributes that it does not have itself.
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

/// Canonical bytes of one element, which starts where `reader` does.
pub(crate) fn subtree<'a>(
    reader: &mut Reader<'a>,
    method: Method,
    drop_blank_text: bool,
    context: &Context<'a>,
    limits: &Limits,
) -> Result<Vec<u8>, XmlError> {
    let mut writer = Writer::subtree(method, drop_blank_text, context, limits);
    loop {
        match reader.next()? {
            Token::Start(tag) => {
                writer.start(&tag)?;
            }
            Token::End(name) => writer.end(name),
            Token::Text(text) => writer.text(text, reader.position().start)?,
            Token::Reference(character) => writer.reference(character),
            Token::Cdata(text) => writer.cdata(text),
            Token::Comment => writer.comment(),
            Token::Instruction { target, data } => writer.instruction(target, data),
            Token::EndOfDocument => return Ok(writer.into_bytes()),
        }
    }
}
