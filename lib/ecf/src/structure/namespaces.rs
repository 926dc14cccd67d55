//! Namespace declarations in scope, as far as a document without namespaces requires.

use std::ops::ControlFlow;

use quick_xml::events::BytesStart;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// The attributes that a schema allows on every element.
const HINTS: [&str; 2] = ["schemaLocation", "noNamespaceSchemaLocation"];
/// Upper bound of attributes that are read of a tag; no real sender declares more.
const MOST_DECLARATIONS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// The depth of the declaring element, the prefix and the namespace.
    declared: Vec<(usize, String, String)>,
}

impl Namespaces {
    /// Adds the declarations of a tag.
    pub(super) fn enter(&mut self, tag: &BytesStart<'_>, depth: usize) {
        let _ = attributes(tag, |name, value| {
            let prefix = match name.strip_prefix("xmlns") {
                Some("") => "",
                Some(rest) if rest.starts_with(':') => &rest[1..],
                _ => return ControlFlow::Continue(()),
            };
            if self.declared.len() >= MOST_DECLARATIONS {
                return ControlFlow::Break(());
            }
            self.declared.push((depth, prefix.to_owned(), value.to_owned()));
            ControlFlow::Continue(())
        });
    }

    /// Removes the declarations of the element that ends.
    pub(super) fn leave(&mut self, depth: usize) {
        while self.declared.last().is_some_and(|(of, ..)| *of == depth) {
            self.declared.pop();
        }
    }

    /// The namespace of a prefix; an empty prefix means the default namespace.
    pub(super) fn address(&self, prefix: &str) -> Option<&str> {
        let (.., address) = self.declared.iter().rev().find(|(_, declared, _)| declared == prefix)?;
        Some(address.as_str()).filter(|address| !address.is_empty())
    }

    /// The first attribute that no schema allows: not a namespace declaration and not a schema hint.
    pub(super) fn first_foreign_attribute(&self, tag: &BytesStart<'_>) -> Option<String> {
        let mut count = 0;
        let found = attributes(tag, |name, _| {
            count += 1;
            let is_allowed = match name.split_once(':') {
                Some(("xmlns", _)) => true,
                Some((prefix, local)) => HINTS.contains(&local) && self.address(prefix) == Some(XSI),
                None => name == "xmlns",
            };
            if is_allowed && count <= MOST_DECLARATIONS {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(name.to_owned())
            }
        });
        found.break_value()
    }
}

/// Visits the name and value of each attribute. A malformed attribute ends the visit: signature verification refuses
/// such documents by name.
fn attributes<B>(tag: &BytesStart<'_>, mut visit: impl FnMut(&str, &str) -> ControlFlow<B>) -> ControlFlow<B> {
    for attribute in tag.attributes().with_checks(false).flatten() {
        visit(attribute.key.as_ref(), &attribute.value)?;
    }
    ControlFlow::Continue(())
}
