//! Namespace declarations: those in scope, and those that the output already has.

use std::borrow::Cow;

use crate::xml::{XmlError, XmlErrorKind, excerpt};

pub(crate) const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";

/// Receipts declare two; this upper bound keeps look-ups short for hostile documents.
const MOST_IN_SCOPE: usize = 128;

/// A prefix (empty for the default namespace) and its namespace (empty for none).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding<'a> {
    pub(crate) prefix: &'a str,
    pub(crate) uri: Cow<'a, str>,
    /// Depth of the element that declares it.
    depth: usize,
}

/// A stack of bindings; the nearest binding of a prefix applies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scopes<'a> {
    bindings: Vec<Binding<'a>>,
}

impl<'a> Scopes<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.bindings.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.bindings.len()
    }

    /// Adds a declaration found at `offset`, after the checks of "Namespaces in XML 1.0", section 3.
    pub(crate) fn declare(
        &mut self,
        prefix: &'a str,
        uri: Cow<'a, str>,
        depth: usize,
        offset: usize,
    ) -> Result<(), XmlError> {
        let reserved = match prefix {
            "xml" => uri != XML_NAMESPACE,
            "xmlns" => true,
            "" => uri == XML_NAMESPACE || uri == XMLNS_NAMESPACE,
            _ => uri.is_empty() || uri == XML_NAMESPACE || uri == XMLNS_NAMESPACE,
        };
        if reserved {
            return Err(XmlErrorKind::NamespaceDeclaration(excerpt(prefix)).at(offset));
        }
        if !uri.is_empty() && !is_absolute(&uri) {
            return Err(XmlErrorKind::RelativeNamespace(excerpt(&uri)).at(offset));
        }
        if self.bindings.len() == MOST_IN_SCOPE {
            return Err(XmlErrorKind::TooManyNamespaces { limit: MOST_IN_SCOPE }.at(offset));
        }
        self.bindings.push(Binding { prefix, uri, depth });
        Ok(())
    }

    /// Records a declaration that was written to the output.
    pub(crate) fn note(&mut self, prefix: &'a str, uri: Cow<'a, str>, depth: usize) {
        self.bindings.push(Binding { prefix, uri, depth });
    }

    /// Removes the bindings of elements deeper than `depth`.
    pub(crate) fn leave_to(&mut self, depth: usize) {
        while self.bindings.last().is_some_and(|binding| binding.depth > depth) {
            self.bindings.pop();
        }
    }

    /// The namespace of the nearest binding of `prefix`.
    pub(crate) fn nearest(&self, prefix: &str) -> Option<&Cow<'a, str>> {
        self.bindings
            .iter()
            .rev()
            .find(|binding| binding.prefix == prefix)
            .map(|binding| &binding.uri)
    }

    /// The namespace of `prefix`; empty for none.
    pub(crate) fn resolve(&self, prefix: &str, offset: usize) -> Result<&str, XmlError> {
        match self.nearest(prefix) {
            Some(uri) => Ok(uri),
            None if prefix.is_empty() => Ok(""),
            None if prefix == "xml" => Ok(XML_NAMESPACE),
            None => Err(XmlErrorKind::UnboundPrefix(excerpt(prefix)).at(offset)),
        }
    }

    /// The bindings from index `first` on, in order of declaration.
    pub(crate) fn since(&self, first: usize) -> &[Binding<'a>] {
        &self.bindings[first..]
    }

    /// The bindings as if one enclosing element had declared all of them.
    pub(crate) fn into_context(mut self) -> Self {
        for binding in &mut self.bindings {
            binding.depth = 0;
        }
        self
    }
}

/// The prefix and the local part of a qualified name.
pub(crate) fn split(name: &str) -> (&str, &str) {
    name.split_once(':').unwrap_or(("", name))
}

/// Whether it starts with a scheme and a colon (RFC 3986, section 3.1).
fn is_absolute(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_declaration_counts_until_its_element_ends() {
        let mut scopes = Scopes::default();
        scopes.declare("a", "urn:1".into(), 1, 0).unwrap();
        scopes.declare("a", "urn:2".into(), 2, 0).unwrap();
        assert_eq!(scopes.resolve("a", 0).unwrap(), "urn:2");
        scopes.leave_to(1);
        assert_eq!(scopes.resolve("a", 0).unwrap(), "urn:1");
        assert_eq!(scopes.resolve("", 0).unwrap(), "");
        assert_eq!(scopes.resolve("xml", 0).unwrap(), XML_NAMESPACE);
        assert!(scopes.resolve("b", 0).is_err());
    }

    #[test]
    fn forbidden_declarations_are_refused() {
        let mut scopes = Scopes::default();
        for (prefix, uri) in [
            ("xmlns", "urn:x"),
            ("xml", "urn:x"),
            ("a", ""),
            ("a", XML_NAMESPACE),
            ("", XML_NAMESPACE),
            ("a", XMLNS_NAMESPACE),
            ("a", "relative"),
            ("", "../x"),
            ("", "1x:y"),
        ] {
            assert!(scopes.declare(prefix, uri.into(), 1, 0).is_err(), "{prefix}={uri}");
        }
        assert!(scopes.declare("xml", XML_NAMESPACE.into(), 1, 0).is_ok());
        assert!(scopes.declare("", "".into(), 1, 0).is_ok());
    }
}
