//! Reads the receipt of another issuer from XML, as far as it is readable.

use super::{Document, FECHA_HORA_FIRMA, ROOT};
use crate::draft::too_many_lines;
use crate::field::{Block as _, Checker, Field, Reader, Source, Stage};
use crate::violation::{Violation, sort_in_document_order};
use crate::xml::{self, XmlError};
use crate::{Amounts, Encf, Node, ReceiptType, Rnc};

/// A receipt read from XML.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// The readable fields. Amounts keep their original text.
    pub document: Document,
    /// The type that the receipt states.
    pub receipt_type: ReceiptType,
    /// Fields that are unreadable, missing or forbidden, in document order.
    pub violations: Vec<Violation>,
}

impl Document {
    /// Reads a receipt, signed or not. The signature is ignored: a caller that needs trust verifies the bytes first.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML, the root is not `ECF`, or the type is unreadable. Faults of single fields are listed
    /// in [`Received::violations`].
    pub fn from_xml(bytes: &[u8]) -> Result<Received, XmlError> {
        let root = xml::parse_root(bytes, ROOT)?;
        let given = ["Encabezado", "IdDoc", "TipoeCF"]
            .iter()
            .try_fold(&root, |node, name| node.get(name));
        let given = given.and_then(|node| node.as_scalar()).unwrap_or_default();
        let receipt_type: ReceiptType = given.trim().parse()?;
        let mut reader = Reader::new(receipt_type, Amounts::Verbatim, Source::Received);
        let document: Self = reader.block(&root);
        let mut violations = reader.violations;
        Checker::check_beside(&document, receipt_type, Stage::Whole, &mut violations);
        violations.extend(too_many_lines(&document, receipt_type));
        sort_in_document_order(&mut violations);
        Ok(Received {
            document,
            receipt_type,
            violations,
        })
    }

    /// A document as the payload of a request: its elements as members, every list as a list, without signature and
    /// signing time.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML, or the root is not `ECF`.
    pub fn payload_from_xml(bytes: &[u8]) -> Result<Node, XmlError> {
        let mut root = xml::parse_root(bytes, ROOT)?;
        if let Node::Object(members) = &mut root {
            members.retain(|(name, _)| !matches!(name.as_str(), FECHA_HORA_FIRMA | SIGNATURE));
        }
        with_lists(&mut root, Self::FIELDS);
        Ok(root)
    }
}

/// The element that contains the signature.
const SIGNATURE: &str = "Signature";

/// XML does not distinguish an element from a list with one element; the declaration of the fields does.
fn with_lists(node: &mut Node, fields: &[Field]) {
    let Node::Object(members) = node else {
        return;
    };
    for (name, value) in members {
        let Some(field) = fields.iter().find(|field| *field.name == **name) else {
            continue;
        };
        if field.repeated && !matches!(value, Node::Array(_) | Node::Null) {
            *value = Node::Array(vec![std::mem::replace(value, Node::Null)]);
        }
        let children = field.children.unwrap_or_default();
        match value {
            Node::Array(elements) => elements.iter_mut().for_each(|element| with_lists(element, children)),
            one => with_lists(one, children),
        }
    }
}

/// Issuer, buyer and number: the fields that an answer must name even if the rest of the receipt is invalid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heading {
    /// The issuer.
    pub rnc_emisor: Option<Rnc>,
    /// The buyer.
    pub rnc_comprador: Option<Rnc>,
    /// The number.
    pub encf: Option<Encf>,
}

impl Heading {
    /// Reads the heading of a receipt of any type and in any encoding. Content after `Encabezado` is not read.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML, or the root is not `ECF`.
    pub fn from_xml(bytes: &[u8]) -> Result<Self, XmlError> {
        let root = xml::parse_beginning(bytes, ROOT, "Encabezado")?;
        let text = |block: &str, name: &str| {
            let node = root.get("Encabezado")?.get(block)?.get(name)?;
            node.as_scalar().map(str::trim)
        };
        Ok(Self {
            rnc_emisor: text("Emisor", "RNCEmisor").and_then(|text| text.parse().ok()),
            rnc_comprador: text("Comprador", "RNCComprador").and_then(|text| text.parse().ok()),
            encf: text("IdDoc", "eNCF").and_then(|text| text.parse().ok()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "<?xml version=\"1.0\"?><ECF><Encabezado><Version>1</Version><IdDoc><TipoeCF>43</TipoeCF>";

    #[test]
    fn the_quirks_of_the_authoritys_own_documents_are_read() {
        let xml = format!("{START}<eNCF>e430000000001</eNCF></IdDoc><Emisor><Sucursal/></Emisor></Encabezado></ECF>");
        let received = Document::from_xml(xml.as_bytes()).unwrap();
        assert_eq!(received.receipt_type, ReceiptType::E43);
        assert!(received.document.encabezado.version.is_some());
        assert_eq!(received.document.encabezado.emisor.sucursal, None);
        let missing: Vec<String> = received
            .violations
            .iter()
            .map(|violation| violation.path.join("/"))
            .collect();
        assert_eq!(
            missing,
            [
                "Encabezado/IdDoc/FechaVencimientoSecuencia",
                "Encabezado/Emisor",
                "Encabezado/Totales",
                "DetallesItems",
                "FechaHoraFirma",
            ]
        );
    }

    #[test]
    fn a_document_is_shown_as_the_payload_of_a_request() {
        let xml = "<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF><TablaFormasPago><FormaDePago><FormaPago>1</FormaPago>\
</FormaDePago></TablaFormasPago></IdDoc></Encabezado><DetallesItems><Item><NombreItem>A &amp; B</NombreItem></Item>\
</DetallesItems><FechaHoraFirma>27-11-2026 10:00:00</FechaHoraFirma><Signature><SignedInfo/></Signature></ECF>";
        let payload = Document::payload_from_xml(xml.as_bytes()).unwrap();
        let expected = serde_json::json!({
            "Encabezado": { "IdDoc": { "TipoeCF": "31", "TablaFormasPago": { "FormaDePago": [{ "FormaPago": "1" }] } } },
            "DetallesItems": { "Item": [{ "NombreItem": "A & B" }] },
        });
        assert_eq!(serde_json::to_value(payload).unwrap(), expected);
        assert!(Document::payload_from_xml(b"<RFCE/>").is_err());
    }

    #[test]
    fn the_heading_is_read_whatever_the_type() {
        let xml = b"<ECF><Encabezado><IdDoc><TipoeCF>99</TipoeCF><eNCF> E310000000001 </eNCF></IdDoc>\
<Emisor><RNCEmisor>130000001</RNCEmisor></Emisor><Comprador><RNCComprador>1</RNCComprador></Comprador></Encabezado></ECF>";
        let heading = Heading::from_xml(xml).unwrap();
        assert_eq!(heading.encf, "E310000000001".parse().ok());
        assert_eq!(heading.rnc_emisor, "130000001".parse().ok());
        assert_eq!(heading.rnc_comprador, None);
        assert_eq!(Heading::from_xml(b"<ECF/>").unwrap(), Heading::default());
        assert!(Heading::from_xml(b"<RFCE/>").is_err());
    }

    #[test]
    fn other_documents_are_refused() {
        assert!(matches!(Document::from_xml(b"<RFCE/>"), Err(XmlError::Root { .. })));
        assert!(matches!(Document::from_xml(b"<ECF/>"), Err(XmlError::ReceiptType(_))));
        assert!(matches!(Document::from_xml(b"no XML"), Err(XmlError::NoRoot)));
    }
}
