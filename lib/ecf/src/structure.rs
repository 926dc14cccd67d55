//! Checks the form of received XML against the official schema: order of elements, repetition, empty elements,
//! attributes, namespaces, text between elements.
//!
//! Reading a document ([`Document::from_xml`](crate::Document::from_xml)) takes elements by name and ignores the rest.
//! This check parses the same bytes again and compares them with the order of the field table. Reading checks presence
//! and values; [`merge`] joins both results.

mod level;
mod namespaces;

use crate::codes;
use std::collections::HashSet;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::document::{Document, ROOT};
use crate::field::{Block, Field};
use crate::messages::{self, Acecf, Anecf, Arecf, Rfce, Semilla};
use crate::violation::{Violation, sort_in_document_order};
use crate::xml::{self, XmlError};
use crate::{Node, ReceiptType};
use level::Walk;

/// Upper bound of the faults of one document.
const MOST_FAULTS: usize = 100;

/// Finds faults in the form of a document: an e-CF or one of the messages, with or without signature. A document with
/// another root is not checked. The receipt's type decides which elements may be empty; a message has no type.
///
/// # Errors
///
/// When the bytes are not XML in UTF-8.
pub fn check(bytes: &[u8], receipt_type: Option<ReceiptType>) -> Result<Vec<Violation>, XmlError> {
    let text = xml::decode(bytes)?;
    let mut reader = Reader::from_str(text.strip_prefix('\u{FEFF}').unwrap_or(text));
    let mut walk = Walk::new(receipt_type.unwrap_or(messages::ANY_TYPE));
    loop {
        let event = reader.read_event().map_err(|source| XmlError::Syntax {
            offset: reader.error_position(),
            source,
        })?;
        match event {
            Event::Start(tag) => {
                if walk.depth() == Node::MAX_DEPTH {
                    return Err(XmlError::TooDeep);
                }
                walk.start(&tag);
            }
            Event::Empty(tag) => {
                walk.start(&tag);
                walk.end();
            }
            Event::End(_) => walk.end(),
            Event::Text(content) => walk.text(&content.xml10_content()),
            Event::CData(content) => walk.text(&content.xml10_content()),
            Event::GeneralRef(reference) => {
                let mut buffer = [0; 4];
                let character = xml::resolve(&reference, reader.buffer_position())?;
                walk.text(character.encode_utf8(&mut buffer));
            }
            Event::DocType(_) => return Err(XmlError::Doctype),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::Eof => break,
        }
        if walk.faults.len() >= MOST_FAULTS {
            break;
        }
    }
    walk.faults.truncate(MOST_FAULTS);
    Ok(walk.faults)
}

/// The field table of a root element.
fn table(root: &str) -> Option<&'static [Field]> {
    match root {
        ROOT => Some(Document::FIELDS),
        messages::rfce::ROOT => Some(Rfce::FIELDS),
        messages::acecf::ROOT => Some(Acecf::FIELDS),
        messages::arecf::ROOT => Some(Arecf::FIELDS),
        messages::anecf::ROOT => Some(Anecf::FIELDS),
        messages::semilla::ROOT => Some(Semilla::FIELDS),
        _ => None,
    }
}

/// Joins the faults of form with those of reading, in document order. One cause is reported once: an element that is
/// repeated or empty is also read as a list or as missing.
#[must_use]
pub fn merge(form: Vec<Violation>, read: Vec<Violation>) -> Vec<Violation> {
    const CONSEQUENCES: [&str; 3] = [codes::MISSING, codes::NOT_AN_OBJECT, codes::NOT_A_VALUE];
    let explained: HashSet<&[String]> = form.iter().map(|fault| fault.path.as_slice()).collect();
    let mut merged: Vec<Violation> = read
        .into_iter()
        .filter(|fault| !(CONSEQUENCES.contains(&fault.code) && explained.contains(fault.path.as_slice())))
        .collect();
    // For an unknown name, the fault of reading is better: it proposes the nearest name.
    let known: HashSet<(Vec<String>, &str)> = merged.iter().map(|fault| (fault.path.clone(), fault.code)).collect();
    merged.extend(
        form.into_iter()
            .filter(|fault| !known.contains(&(fault.path.clone(), fault.code))),
    );
    sort_in_document_order(&mut merged);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    const GOOD: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ECF xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
        xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" xsi:noNamespaceSchemaLocation=\"e-CF-31.xsd\">\n  <Encabezado>\n    \
        <Emisor><RNCEmisor>130000001</RNCEmisor><NombreComercial>A</NombreComercial><TablaTelefonoEmisor>\
        <TelefonoEmisor>809-555-0100</TelefonoEmisor><TelefonoEmisor>809-555-0101</TelefonoEmisor></TablaTelefonoEmisor></Emisor>\
        <!-- c --></Encabezado><DetallesItems><Item><NombreItem>a &amp; b</NombreItem></Item><Item><NombreItem><![CDATA[c]]></NombreItem>\
        </Item></DetallesItems><Signature xmlns=\"http://www.w3.org/2000/09/xmldsig#\"><SignedInfo a=\"b\"/>x</Signature></ECF>\n";

    fn faults(xml: &str) -> Vec<(String, &'static str)> {
        let found = check(xml.as_bytes(), Some(ReceiptType::E31)).unwrap();
        found
            .into_iter()
            .map(|fault| (fault.path.join("/"), fault.code))
            .collect()
    }

    fn one(path: &str, code: &'static str) -> Vec<(String, &'static str)> {
        vec![(path.to_owned(), code)]
    }

    #[track_caller]
    fn mutated(from: &str, to: &str) -> Vec<(String, &'static str)> {
        assert!(GOOD.contains(from), "{from}");
        faults(&GOOD.replacen(from, to, 1))
    }

    #[test]
    fn c11_declarations_comments_and_blanks_between_elements_are_no_faults() {
        assert_eq!(faults(GOOD), []);
        assert_eq!(faults("<Postulacion a=\"1\">x<b/></Postulacion>"), []);
    }

    #[test]
    fn c11_elements_out_of_order_are_named() {
        let swapped = "<NombreComercial>A</NombreComercial><RNCEmisor>130000001</RNCEmisor>";
        assert_eq!(
            mutated(
                "<RNCEmisor>130000001</RNCEmisor><NombreComercial>A</NombreComercial>",
                swapped
            ),
            one("Encabezado/Emisor/RNCEmisor", "ESTRUCTURA-50")
        );
        assert_eq!(
            mutated("</ECF>", "<FechaHoraFirma>1</FechaHoraFirma></ECF>"),
            one("FechaHoraFirma", "ESTRUCTURA-50")
        );
        assert_eq!(
            mutated("</ECF>", "<Signature/></ECF>"),
            one("Signature", "ESTRUCTURA-03")
        );
    }

    #[test]
    fn c11_an_element_that_stands_twice_is_named() {
        let twice = "<NombreComercial>A</NombreComercial><NombreComercial>B</NombreComercial>";
        assert_eq!(
            mutated("<NombreComercial>A</NombreComercial>", twice),
            one("Encabezado/Emisor/NombreComercial", "ESTRUCTURA-03")
        );
        assert_eq!(
            mutated(
                "<DetallesItems>",
                "<DetallesItems><Item><NombreItem>0</NombreItem></Item></DetallesItems><DetallesItems>"
            ),
            one("DetallesItems", "ESTRUCTURA-03")
        );
    }

    #[test]
    fn c11_an_empty_element_is_named_with_its_place() {
        for empty in [
            "<NombreItem/>",
            "<NombreItem></NombreItem>",
            "<NombreItem> \n</NombreItem>",
            "<NombreItem><!-- a --></NombreItem>",
        ] {
            assert_eq!(
                mutated("<NombreItem><![CDATA[c]]></NombreItem>", empty),
                one("DetallesItems/Item/1/NombreItem", "ESTRUCTURA-51"),
                "{empty}"
            );
        }
    }

    #[test]
    fn c11_what_the_schema_lets_be_empty_is_no_fault() {
        // It has no mandatory child.
        assert_eq!(
            mutated("<DetallesItems>", "<DetallesItems><Item><OtraMonedaDetalle/></Item>"),
            []
        );
        // The schema sets a maximum length but no minimum.
        let reason = "<ACECF><DetalleAprobacionComercial><DetalleMotivoRechazo/></DetalleAprobacionComercial></ACECF>";
        assert_eq!(check(reason.as_bytes(), None).unwrap(), []);
    }

    #[test]
    fn c11_attributes_namespaces_and_text_between_elements_are_named() {
        for (from, to, path, code) in [
            ("<Emisor>", "<Emisor id=\"1\">", "Encabezado/Emisor", "ESTRUCTURA-52"),
            (
                "<Emisor>",
                "<Emisor xml:lang=\"es\">",
                "Encabezado/Emisor",
                "ESTRUCTURA-52",
            ),
            (
                "<Emisor>",
                "<Emisor xsi:nil=\"true\">",
                "Encabezado/Emisor",
                "ESTRUCTURA-52",
            ),
            ("<ECF ", "<ECF Id=\"x\" ", "", "ESTRUCTURA-52"),
            ("<ECF ", "<ECF xmlns=\"urn:x\" ", "", "ESTRUCTURA-53"),
            (
                "<Emisor>",
                "<Emisor xmlns=\"urn:x\">",
                "Encabezado/Emisor",
                "ESTRUCTURA-53",
            ),
            ("<Emisor>", "text<Emisor>", "Encabezado", "ESTRUCTURA-54"),
            ("<Emisor>", "<![CDATA[text]]><Emisor>", "Encabezado", "ESTRUCTURA-54"),
            ("<Emisor>", "&#65;<Emisor>", "Encabezado", "ESTRUCTURA-54"),
            (
                "130000001",
                "<eNCF>1</eNCF>",
                "Encabezado/Emisor/RNCEmisor",
                "ESTRUCTURA-06",
            ),
            ("<Emisor>", "<Nada/><Emisor>", "Encabezado/Nada", "ESTRUCTURA-04"),
        ] {
            assert_eq!(mutated(from, to), one(path, code), "{to}");
        }
        let prefixed = "<xsi:Emisor></xsi:Emisor>";
        assert_eq!(
            mutated("<Emisor>", &format!("{prefixed}<Emisor>"))[0],
            ("Encabezado/Emisor".to_owned(), "ESTRUCTURA-53")
        );
        // Inside an element that resets the namespace, none applies.
        assert_eq!(mutated("<RNCEmisor>", "<RNCEmisor xmlns:a=\"urn:a\" xmlns=\"\">"), []);
    }

    #[test]
    fn c11_one_cause_is_reported_once() {
        let xml = "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>43</TipoeCF><eNCF/></IdDoc><Emisor><Nada/>\
                   <RNCEmisor>130000001</RNCEmisor><RNCEmisor>130000001</RNCEmisor></Emisor></Encabezado></ECF>";
        let read = Document::from_xml(xml.as_bytes()).unwrap().violations;
        let merged = merge(check(xml.as_bytes(), Some(ReceiptType::E31)).unwrap(), read);
        let told: Vec<(String, &str)> = merged
            .iter()
            .filter(|fault| ["eNCF", "Nada", "RNCEmisor"].contains(&fault.path.last().map_or("", String::as_str)))
            .map(|fault| (fault.path.join("/"), fault.code))
            .collect();
        assert_eq!(
            told,
            [
                ("Encabezado/IdDoc/eNCF".to_owned(), "ESTRUCTURA-51"),
                ("Encabezado/Emisor/RNCEmisor".to_owned(), "ESTRUCTURA-03"),
                ("Encabezado/Emisor/Nada".to_owned(), "ESTRUCTURA-04"),
            ]
        );
    }

    #[test]
    fn c11_a_stranger_cannot_make_the_list_of_faults_long() {
        let many: String = (0..5_000).map(|number| format!("<a{number} b=\"c\"/>")).collect();
        assert_eq!(faults(&format!("<ECF>{many}</ECF>")).len(), MOST_FAULTS);
        let declarations: String = (0..5_000).map(|number| format!(" xmlns:n{number}=\"urn:n\"")).collect();
        assert_eq!(
            faults(&format!("<ECF{declarations}><Encabezado>x</Encabezado></ECF>"))[0].1,
            "ESTRUCTURA-52"
        );
    }
}
