//! Namespace declarations in scope, as far as a document without namespaces needs them.

use std::ops::ControlFlow;

use quick_xml::events::BytesStart;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// The attributes that a schema allows on every element.
const HINTS: [&str; 2] = ["schemaLocation", "noNamespaceSchemaLocation"];
/// No sender declares more; the rest of a tag is not read.
const MOST_DECLARATIONS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// The depth of the element that declares, the prefix and the address.
    declared: Vec<(usize, String, String)>,
}

impl Namespaces {
    /// Takes the declarations of a tag.
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

    /// Drops the declarations of the element that ends.
    pub(super) fn leave(&mut self, depth: usize) {
        while self.declared.last().is_some_and(|(of, ..)| *of == depth) {
            self.declared.pop();
        }
    }

    /// The address of a prefix; of the default namespace for an empty one.
    pub(super) fn address(&self, prefix: &str) -> Option<&str> {
        let (.., address) = self.declared.iter().rev().find(|(_, declared, _)| declared == prefix)?;
        Some(address.as_str()).filter(|address| !address.is_empty())
    }

    /// The first attribute that no schema allows: any but declarations and hints about the schema.
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

/// Visits name and value of each attribute. A malformed one ends the visit: the signature check refuses such documents by name.
fn attributes<B>(tag: &BytesStart<'_>, mut visit: impl FnMut(&str, &str) -> ControlFlow<B>) -> ControlFlow<B> {
    for attribute in tag.attributes().with_checks(false).flatten() {
        visit(attribute.key.as_ref(), &attribute.value)?;
    }
    ControlFlow::Continue(())
}
