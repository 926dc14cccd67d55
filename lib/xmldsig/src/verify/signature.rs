//! The `Signature` element, read into plain values. Anything outside the profile is refused by name.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::VerifyError;
use crate::algorithms;
use crate::c14n::Method;
use crate::c14n::document::Found;
use crate::c14n::namespaces::{Scopes, split};
use crate::xml::attributes::{self, Attribute};
use crate::xml::characters::is_blank;
use crate::xml::reader::{Reader, Tag, Token};
use crate::xml::{Limits, excerpt};

/// Upper bound of the certificates in a signature; more than a chain has.
const MOST_CERTIFICATES: usize = 8;

pub(super) struct Signature {
    /// The range of `SignedInfo` in the document.
    pub(super) signed_info: Range<usize>,
    /// `SignatureValue` without white space.
    pub(super) value: String,
    /// Base64 text of the certificates in `KeyInfo`, without white space.
    pub(super) certificates: Vec<String>,
    pub(super) has_blank_text: bool,
    canonicalization: Algorithm,
    method: Algorithm,
    references: Vec<ReferenceText>,
}

/// A `Reference` as it is written.
struct ReferenceText {
    uri: Option<String>,
    transforms: Vec<Algorithm>,
    digest_method: Algorithm,
    digest_value: String,
}

/// The `Algorithm` of an element.
struct Algorithm {
    uri: String,
    /// Whether it has parameters, such as a truncation length or a prefix list. The profile allows none.
    has_parameters: bool,
}

/// A `Reference` that the profile allows.
pub(super) struct Reference {
    pub(super) method: Method,
    pub(super) digest: [u8; 32],
}

impl Signature {
    pub(super) fn read(document: &str, found: &Found<'_>, limits: &Limits) -> Result<Self, VerifyError> {
        let root = Element::read(document, found, limits)?;
        let [signed_info, value, key_info] = root.children_named(["SignedInfo", "SignatureValue", "KeyInfo"])?;
        let (fixed, references) = signed_info.split_children(2)?;
        let [canonicalization, method] = named(fixed, ["CanonicalizationMethod", "SignatureMethod"], signed_info)?;
        Ok(Self {
            signed_info: signed_info.range.clone(),
            value: without_blanks(value.only_text()?),
            certificates: certificates(key_info)?,
            has_blank_text: root.has_blank_text(),
            canonicalization: canonicalization.algorithm()?,
            method: method.algorithm()?,
            references: references.iter().map(ReferenceText::read).collect::<Result<_, _>>()?,
        })
    }

    /// The canonicalisation method of `SignedInfo`, if both methods are allowed.
    pub(super) fn algorithms(&self) -> Result<Method, VerifyError> {
        if self.method.uri != algorithms::RSA_SHA256 {
            return Err(VerifyError::SignatureMethod(excerpt(&self.method.uri)));
        }
        let Some(method) = Method::from_uri(&self.canonicalization.uri) else {
            return Err(VerifyError::Canonicalization(excerpt(&self.canonicalization.uri)));
        };
        without_parameters([&self.method, &self.canonicalization])?;
        Ok(method)
    }

    pub(super) fn reference(&self) -> Result<Reference, VerifyError> {
        let [reference] = self.references.as_slice() else {
            return Err(VerifyError::References {
                found: self.references.len(),
            });
        };
        if reference.uri.as_deref() != Some("") {
            return Err(VerifyError::ReferenceUri(reference.uri.as_deref().map(excerpt)));
        }
        let method = match reference.transforms.as_slice() {
            [enveloped] if enveloped.uri == algorithms::ENVELOPED => Some(Method::Inclusive),
            [enveloped, c14n] if enveloped.uri == algorithms::ENVELOPED => Method::from_uri(&c14n.uri),
            _ => None,
        };
        let Some(method) = method else {
            let found = reference
                .transforms
                .iter()
                .map(|transform| excerpt(&transform.uri))
                .collect();
            return Err(VerifyError::Transforms { found });
        };
        if reference.digest_method.uri != algorithms::SHA256 {
            return Err(VerifyError::DigestMethod(excerpt(&reference.digest_method.uri)));
        }
        without_parameters(reference.transforms.iter().chain([&reference.digest_method]))?;
        let digest = STANDARD
            .decode(&reference.digest_value)
            .map_err(|_| VerifyError::Base64 { element: "DigestValue" })?;
        let digest = digest
            .try_into()
            .map_err(|digest: Vec<u8>| VerifyError::DigestLength { found: digest.len() })?;
        Ok(Reference { method, digest })
    }
}

impl ReferenceText {
    fn read(element: &Element<'_>) -> Result<Self, VerifyError> {
        element.must_be("Reference")?;
        let (transforms, rest) = match element.children.first() {
            Some(first) if first.is("Transforms") => (first.children.as_slice(), &element.children[1..]),
            _ => (&[][..], element.children.as_slice()),
        };
        for transform in transforms {
            transform.must_be("Transform")?;
        }
        let [digest_method, digest_value] = named(rest, ["DigestMethod", "DigestValue"], element)?;
        Ok(Self {
            uri: element.attribute("URI").map(str::to_owned),
            transforms: transforms.iter().map(Element::algorithm).collect::<Result<_, _>>()?,
            digest_method: digest_method.algorithm()?,
            digest_value: without_blanks(digest_value.only_text()?),
        })
    }
}

/// The certificates in `KeyInfo`. Other content is ignored, because `KeyInfo` is not signed.
fn certificates(key_info: &Element<'_>) -> Result<Vec<String>, VerifyError> {
    let data = key_info.children.iter().filter(|child| child.is("X509Data"));
    let certificates = data
        .flat_map(|data| data.children.iter())
        .filter(|child| child.is("X509Certificate"));
    let texts: Vec<String> = certificates
        .map(|certificate| certificate.only_text().map(without_blanks))
        .collect::<Result<_, _>>()?;
    if texts.len() > MOST_CERTIFICATES {
        return Err(structure(format!(
            "KeyInfo has {} certificates, at most {MOST_CERTIFICATES} are read",
            texts.len()
        )));
    }
    Ok(texts)
}

/// An element of the signature, as a tree. Signatures are small, and a tree is the simplest form to check.
struct Element<'a> {
    name: &'a str,
    in_signature_namespace: bool,
    attributes: Vec<Attribute<'a>>,
    children: Vec<Self>,
    text: String,
    has_blank_text: bool,
    range: Range<usize>,
}

impl<'a> Element<'a> {
    fn read(document: &'a str, found: &Found<'a>, limits: &Limits) -> Result<Self, VerifyError> {
        let mut reader = Reader::new(document, found.range.clone(), limits);
        let mut scopes = found.context.scopes.clone().into_context();
        let mut open: Vec<Self> = Vec::new();
        loop {
            match reader.next()? {
                Token::Start(tag) => {
                    open.push(Self::start(
                        &tag,
                        reader.position(),
                        reader.depth(),
                        &mut scopes,
                        limits,
                    )?);
                }
                Token::End(_) => {
                    scopes.leave_to(reader.depth());
                    let Some(mut element) = open.pop() else { break };
                    element.range.end = reader.position().end;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => return Ok(element),
                    }
                }
                Token::Text(text) | Token::Cdata(text) => {
                    if let Some(element) = open.last_mut() {
                        element.has_blank_text |= is_blank(text);
                        element.text.push_str(text);
                    }
                }
                Token::Reference(character) => {
                    if let Some(element) = open.last_mut() {
                        element.text.push(character);
                    }
                }
                Token::Comment => {}
                Token::Instruction { target, .. } => {
                    return Err(structure(format!("processing instruction {:?} in it", excerpt(target))));
                }
                Token::EndOfDocument => break,
            }
        }
        Err(structure("it does not end".to_owned()))
    }

    fn start(
        tag: &Tag<'a>,
        position: Range<usize>,
        depth: usize,
        scopes: &mut Scopes<'a>,
        limits: &Limits,
    ) -> Result<Self, VerifyError> {
        let at = tag.attributes_offset;
        let mut all = Vec::new();
        attributes::parse(tag.attributes, at, limits.max_attributes, &mut all)?;
        let (declarations, attributes): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|attribute| attribute.name == "xmlns" || attribute.name.starts_with("xmlns:"));
        for declaration in declarations {
            let prefix = declaration.name.strip_prefix("xmlns:").unwrap_or_default();
            scopes.declare(prefix, declaration.value, depth, at)?;
        }
        let (prefix, local) = split(tag.name);
        Ok(Self {
            name: local,
            in_signature_namespace: scopes.resolve(prefix, at)? == algorithms::NAMESPACE,
            attributes,
            children: Vec::new(),
            text: String::new(),
            has_blank_text: false,
            range: position,
        })
    }

    fn is(&self, name: &str) -> bool {
        self.in_signature_namespace && self.name == name
    }

    fn must_be(&self, name: &str) -> Result<(), VerifyError> {
        if self.is(name) {
            Ok(())
        } else {
            Err(structure(format!("{:?} where {name} must be", excerpt(self.name))))
        }
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|attribute| attribute.name == name)
            .map(|attribute| &*attribute.value)
    }

    fn algorithm(&self) -> Result<Algorithm, VerifyError> {
        let has_parameters = !self.children.is_empty() || !is_blank(&self.text);
        match self.attribute("Algorithm") {
            Some(uri) => Ok(Algorithm {
                uri: uri.to_owned(),
                has_parameters,
            }),
            None => Err(structure(format!("{} names no algorithm", self.name))),
        }
    }

    fn only_text(&self) -> Result<&str, VerifyError> {
        if self.children.is_empty() {
            Ok(&self.text)
        } else {
            Err(structure(format!("{} has elements in it", self.name)))
        }
    }

    fn children_named<const N: usize>(&self, names: [&str; N]) -> Result<[&Self; N], VerifyError> {
        if !is_blank(&self.text) {
            return Err(structure(format!("{} has text in it", self.name)));
        }
        named(&self.children, names, self)
    }

    fn split_children(&self, at: usize) -> Result<(&[Self], &[Self]), VerifyError> {
        if !is_blank(&self.text) {
            return Err(structure(format!("{} has text in it", self.name)));
        }
        self.children
            .split_at_checked(at)
            .ok_or_else(|| structure(format!("{} lacks elements", self.name)))
    }

    fn has_blank_text(&self) -> bool {
        self.has_blank_text || self.children.iter().any(Self::has_blank_text)
    }
}

/// The elements, if their names are exactly `names` in this order.
fn named<'e, 'a, const N: usize>(
    elements: &'e [Element<'a>],
    names: [&str; N],
    parent: &Element<'_>,
) -> Result<[&'e Element<'a>; N], VerifyError> {
    for (element, name) in elements.iter().zip(names) {
        element.must_be(name)?;
    }
    if let Some(extra) = elements.get(N) {
        return Err(structure(format!(
            "{:?} in {} is not allowed",
            excerpt(extra.name),
            parent.name
        )));
    }
    let found: Vec<&Element<'a>> = elements.iter().collect();
    found
        .try_into()
        .map_err(|_| structure(format!("{} lacks elements", parent.name)))
}

fn without_parameters<'s>(algorithms: impl IntoIterator<Item = &'s Algorithm>) -> Result<(), VerifyError> {
    match algorithms.into_iter().find(|algorithm| algorithm.has_parameters) {
        Some(algorithm) => Err(structure(format!("{:?} has parameters", excerpt(&algorithm.uri)))),
        None => Ok(()),
    }
}

fn without_blanks(text: &str) -> String {
    text.split([' ', '\t', '\n', '\r']).collect()
}

fn structure(what: String) -> VerifyError {
    VerifyError::Structure(what)
}
