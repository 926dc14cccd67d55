//! A whole document in canonical form, without its signature.

use std::ops::Range;

use super::Method;
use super::writer::{Context, Started, Writer};
use crate::xml::reader::{Reader, Token};
use crate::xml::{Limits, XmlError};

pub(crate) struct Options {
    pub(crate) method: Method,
    /// Leave out text nodes that consist only of blanks, as the authority does when it loads a document.
    pub(crate) drop_blank_text: bool,
    pub(crate) signatures: Signatures,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signatures {
    /// Signatures are content like any other.
    Keep,
    /// The enveloped-signature transform: signatures that are children of the root are left out. All signatures are
    /// reported.
    CutOut,
}

pub(crate) struct Document<'a> {
    pub(crate) bytes: Vec<u8>,
    /// The offset of the root's end tag in `bytes`.
    pub(crate) root_end: usize,
    /// The context that children of the root inherit.
    pub(crate) root_context: Context<'a>,
    pub(crate) found: Vec<Found<'a>>,
    /// Whether any text node consists only of blanks.
    pub(crate) has_blank_text: bool,
    /// Whether any namespace is declared. Otherwise both methods give the same bytes.
    pub(crate) has_namespaces: bool,
}

/// A `Signature` element.
pub(crate) struct Found<'a> {
    pub(crate) range: Range<usize>,
    /// The context that its children inherit, from itself and from the root.
    pub(crate) context: Context<'a>,
    pub(crate) is_child_of_root: bool,
}

/// Signatures beyond this number are not counted, because only one is allowed.
const MOST_FOUND: usize = 8;

pub(crate) fn read<'a>(text: &'a str, options: &Options, limits: &Limits) -> Result<Document<'a>, XmlError> {
    let mut reader = Reader::new(text, 0..text.len(), limits);
    let watch = options.signatures == Signatures::CutOut;
    let mut writer = Writer::new(text, options.method, options.drop_blank_text, watch, limits);
    let mut root_end = None;
    let mut root_context = Context::default();
    let mut found = Vec::new();
    let mut has_namespaces = false;
    loop {
        if writer.leaves_are_verbatim() {
            writer.leaves(reader.plain_leaves());
        }
        match reader.next()? {
            Token::Start(tag) => {
                let start = reader.position().start;
                let started = writer.start(&tag, reader.is_plain(), reader.position())?;
                has_namespaces |= writer.namespaces_in_scope() && started == Started::Written;
                if started == Started::Written && reader.depth() == 1 {
                    root_context = writer.context();
                }
                if started == Started::Signature {
                    let is_child_of_root = reader.depth() == 2;
                    let mut context = writer.context();
                    context
                        .xml_attributes
                        .splice(0..0, root_context.xml_attributes.iter().cloned());
                    let end = skip_element(&mut reader)?;
                    writer.leave();
                    if found.len() < MOST_FOUND {
                        found.push(Found {
                            range: start..end,
                            context,
                            is_child_of_root,
                        });
                    }
                    if reader.depth() == 0 {
                        // The root itself is a signature, so nothing remains.
                        root_end = Some(writer.len());
                    }
                }
            }
            Token::End(name) => {
                writer.end(name, reader.position());
                if reader.depth() == 0 {
                    root_end = Some(writer.len() - name.len() - "</>".len());
                }
            }
            Token::Text(source) => writer.text(source, reader.is_plain(), reader.position())?,
            Token::Reference(character) => writer.reference(character, reader.position()),
            Token::Cdata(source) => writer.cdata(source),
            Token::Comment => writer.comment(),
            Token::Instruction { target, data } if reader.depth() > 0 => writer.instruction(target, data),
            Token::Instruction { target, data } if root_end.is_none() => {
                writer.instruction(target, data);
                writer.line_feed();
            }
            Token::Instruction { target, data } => {
                writer.line_feed();
                writer.instruction(target, data);
            }
            Token::EndOfDocument => break,
        }
    }
    Ok(Document {
        root_end: root_end.unwrap_or_default(),
        root_context,
        found,
        has_blank_text: writer.blank_text_seen(),
        has_namespaces,
        bytes: writer.into_bytes(),
    })
}

/// Reads to the end of the element that was just started; returns the offset of that end.
fn skip_element(reader: &mut Reader<'_>) -> Result<usize, XmlError> {
    let depth = reader.depth();
    while reader.depth() >= depth {
        reader.next()?;
    }
    Ok(reader.position().end)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::c14n::canonicalize;

    fn both(xml: &str, method: Method) -> String {
        String::from_utf8(canonicalize(xml.as_bytes(), method, &Limits::default()).unwrap()).unwrap()
    }

    #[test]
    fn namespaces_are_written_where_they_change() {
        let source = "<a xmlns:y='urn:y' xmlns:x='urn:x' xmlns='urn:d'><b xmlns:x='urn:x' xmlns='urn:d' x:q='1'/><c xmlns=''><d/></c></a>";
        assert_eq!(
            both(source, Method::Inclusive),
            "<a xmlns=\"urn:d\" xmlns:x=\"urn:x\" xmlns:y=\"urn:y\"><b x:q=\"1\"></b><c xmlns=\"\"><d></d></c></a>"
        );
        assert_eq!(
            both(source, Method::Exclusive),
            "<a xmlns=\"urn:d\"><b xmlns:x=\"urn:x\" x:q=\"1\"></b><c xmlns=\"\"><d></d></c></a>"
        );
    }

    #[test]
    fn attributes_are_sorted_by_namespace_then_name() {
        let source = "<e1 z='z' a:attr='1' b:attr='2' attr='3' xml:lang='es' attr2='4' xmlns:a='http://www.w3.org' xmlns:b='http://www.ietf.org'/>";
        assert_eq!(
            both(source, Method::Inclusive),
            "<e1 xmlns:a=\"http://www.w3.org\" xmlns:b=\"http://www.ietf.org\" attr=\"3\" attr2=\"4\" z=\"z\" b:attr=\"2\" a:attr=\"1\" xml:lang=\"es\"></e1>"
        );
    }

    #[test]
    fn comments_vanish_and_instructions_outside_of_the_root_stand_on_their_own_lines() {
        let source = "<?xml version='1.0'?>\n<?a  b ?><!-- x -->\n<r>1<!-- y -->2<?c?></r>\n<!-- z --><?d e?> <?f?>\n";
        assert_eq!(
            both(source, Method::Inclusive),
            "<?a b ?>\n<r>12<?c?></r>\n<?d e?>\n<?f?>"
        );
    }

    #[test]
    fn a_signature_below_the_root_is_cut_out_and_told() {
        let source = "<r><a/><s:Signature xmlns:s='http://www.w3.org/2000/09/xmldsig#'><s:x/></s:Signature>t</r>";
        let options = Options {
            method: Method::Inclusive,
            drop_blank_text: false,
            signatures: Signatures::CutOut,
        };
        let document = read(source, &options, &Limits::default()).unwrap();
        assert_eq!(document.bytes, b"<r><a></a>t</r>");
        assert_eq!(document.root_end, "<r><a></a>t".len());
        assert_eq!(document.found.len(), 1);
        assert!(document.found[0].is_child_of_root);
        assert!(source[document.found[0].range.clone()].starts_with("<s:Signature"));
        assert!(source[document.found[0].range.clone()].ends_with("</s:Signature>"));
        assert!(!document.has_namespaces);
    }

    #[test]
    fn blank_text_is_dropped_only_when_it_is_literal_and_alone() {
        let source = "<r> <a> x </a>\n<b>&#32;</b><c><![CDATA[ ]]></c> <!-- --> <d> </d></r>";
        let options = Options {
            method: Method::Inclusive,
            drop_blank_text: true,
            signatures: Signatures::Keep,
        };
        let document = read(source, &options, &Limits::default()).unwrap();
        assert_eq!(document.bytes, b"<r><a> x </a><b> </b><c> </c><d></d></r>");
        assert!(document.has_blank_text);
    }
}
