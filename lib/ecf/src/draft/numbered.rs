//! A receipt with its number, ready to be signed.

use crate::{Document, Encf, Fecha, FechaHora, Monto, Ncf, ReceiptType, Rnc};

/// A complete receipt with its number. Only the signature and the signing time are missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    encf: Encf,
    document: Document,
}

impl Numbered {
    /// For documents whose mandatory fields were checked.
    pub(super) fn new(encf: Encf, document: Document) -> Self {
        Self { encf, document }
    }

    /// The number.
    pub fn encf(&self) -> Encf {
        self.encf
    }

    /// The type of the receipt.
    pub fn receipt_type(&self) -> ReceiptType {
        self.encf.receipt_type()
    }

    /// The content.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The canonical bytes of the receipt with this signing time, without a signature.
    pub fn to_xml(&self, signed_at: FechaHora) -> Vec<u8> {
        self.document.write(Some(signed_at))
    }

    /// The issuer.
    pub fn rnc_emisor(&self) -> &Rnc {
        self.document
            .encabezado
            .emisor
            .rnc_emisor
            .as_ref()
            .expect("RNCEmisor is mandatory in every type")
    }

    /// The buyer, if a Dominican number is given.
    pub fn rnc_comprador(&self) -> Option<&Rnc> {
        self.document.encabezado.comprador.rnc_comprador.as_ref()
    }

    /// The day of issue.
    pub fn fecha_emision(&self) -> Fecha {
        self.document
            .encabezado
            .emisor
            .fecha_emision
            .expect("FechaEmision is mandatory in every type")
    }

    /// The total, whose `Display` gives the text in the document.
    pub fn monto_total(&self) -> &Monto {
        self.document
            .encabezado
            .totales
            .monto_total
            .as_ref()
            .expect("MontoTotal is mandatory in every type")
    }

    /// The ITBIS of the whole receipt.
    pub fn total_itbis(&self) -> Option<&Monto> {
        self.document.encabezado.totales.total_itbis.as_ref()
    }

    /// The receipt it modifies or replaces.
    pub fn ncf_modificado(&self) -> Option<&Ncf> {
        self.document.informacion_referencia.ncf_modificado.as_ref()
    }

    /// Whether a summary is sent instead: a consumer invoice below [`SUMMARY_THRESHOLD`](crate::SUMMARY_THRESHOLD).
    pub fn goes_as_summary(&self) -> bool {
        self.document.goes_as_summary()
    }
}
