//! Reading the receipt of another issuer from its XML, as far as it can be read.

use super::{Document, ROOT};
use crate::field::{Checker, Reader, Source, Stage};
use crate::violation::{Violation, sort_in_document_order};
use crate::xml::{self, XmlError};
use crate::{Amounts, ReceiptType};

/// A receipt read from XML.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// What could be read. Amounts keep the text they came with.
    pub document: Document,
    /// The type that the receipt claims to be.
    pub receipt_type: ReceiptType,
    /// What could not be read, is missing or must not be there; in document order.
    pub violations: Vec<Violation>,
}

impl Document {
    /// Reads a receipt, signed or not. The signature is left out: who needs trust verifies the bytes first.
    ///
    /// # Errors
    ///
    /// When the bytes are no XML, the root is no `ECF`, or no type can be read. Faults of single fields are listed in
    /// [`Received::violations`].
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
        sort_in_document_order(&mut violations);
        Ok(Received {
            document,
            receipt_type,
            violations,
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
    fn other_documents_are_refused() {
        assert!(matches!(Document::from_xml(b"<RFCE/>"), Err(XmlError::Root { .. })));
        assert!(matches!(Document::from_xml(b"<ECF/>"), Err(XmlError::ReceiptType(_))));
        assert!(matches!(Document::from_xml(b"no XML"), Err(XmlError::NoRoot)));
    }
}
