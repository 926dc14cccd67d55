//! The document model: blocks of plain fields in the order of the official schemas.
//!
//! Each field is valid by itself; only the combination can be wrong. A block without content is not written.

#[cfg(test)]
mod against_reference;
mod comprador;
mod descuento;
mod emisor;
mod encabezado;
mod id_doc;
mod informaciones_adicionales;
mod item;
mod otra_moneda;
mod paginacion;
mod received;
mod referencia;
mod subtotal;
mod totales;
mod transporte;

pub use comprador::Comprador;
pub use descuento::{DescuentoORecargo, DescuentosORecargos};
pub use emisor::{Emisor, TablaTelefonoEmisor};
pub use encabezado::Encabezado;
pub use id_doc::{FormaDePago, IdDoc, TablaFormasPago};
pub use informaciones_adicionales::InformacionesAdicionales;
pub use item::{
    CodigosItem, DetallesItems, ImpuestoAdicionalItem, Item, Mineria, OtraMonedaDetalle, Retencion, SubDescuento,
    SubRecargo, SubcantidadItem, TablaCodigosItem, TablaImpuestoAdicional, TablaSubDescuento, TablaSubRecargo,
    TablaSubcantidad,
};
pub use otra_moneda::{ImpuestoAdicionalOtraMoneda, ImpuestosAdicionalesOtraMoneda, OtraMoneda};
pub use paginacion::{Pagina, Paginacion, SubtotalImpuestoAdicional};
pub use received::{Heading, Received};
pub use referencia::InformacionReferencia;
pub use subtotal::{Subtotal, Subtotales};
pub use totales::{ImpuestoAdicional, ImpuestosAdicionales, Totales};
pub use transporte::Transporte;

use crate::draft::is_below_threshold;
use crate::field::{Block as _, block_schema, element, places_of};
pub use crate::field::{Kind, Place, Step};
use crate::{FechaHora, ReceiptType};

/// The root element.
pub(crate) const ROOT: &str = "ECF";
/// The element that signing fills in: the last one before the signature.
pub(crate) const FECHA_HORA_FIRMA: &str = "FechaHoraFirma";

block! {
    /// A receipt without its signature.
    pub struct Document {
        encabezado: Encabezado, "Encabezado", "1111111111", "Everything but the lines";
        detalles_items: DetallesItems, "DetallesItems", "1111111111", "The lines";
        subtotales: Subtotales, "Subtotales", "3333333333", "Informative sums over some of the lines";
        descuentos_o_recargos: DescuentosORecargos, "DescuentosORecargos", "2222202220", "Discounts and surcharges of the whole receipt";
        paginacion: Paginacion, "Paginacion", "2222222222", "The printed pages, when there is more than one";
        informacion_referencia: InformacionReferencia, "InformacionReferencia", "2211222222", "The receipt that is modified or replaced";
        fecha_hora_firma: Option<FechaHora>, "FechaHoraFirma", "1111111111", "When it was signed";
    }
}

impl Document {
    /// The canonical bytes of the current content; absent fields are left out.
    pub fn to_xml(&self) -> Vec<u8> {
        self.write(None)
    }

    /// Whether a summary is sent instead: a consumer invoice below [`SUMMARY_THRESHOLD`](crate::SUMMARY_THRESHOLD).
    pub fn goes_as_summary(&self) -> bool {
        self.encabezado.id_doc.tipo_ecf == Some(ReceiptType::E32) && is_below_threshold(self)
    }

    /// The canonical bytes. `signed_at` is used if the document does not contain a signing time.
    pub(crate) fn write(&self, signed_at: Option<FechaHora>) -> Vec<u8> {
        // Initial capacity for the header and for each line, so that memory is allocated once.
        const HEADER: usize = 4_096;
        const LINE: usize = 768;
        let mut out = Vec::with_capacity(HEADER + self.detalles_items.item.len() * LINE);
        element(ROOT, &mut out, |out| {
            self.write_members(out);
            if let Some(signed_at) = signed_at {
                element(FECHA_HORA_FIRMA, out, |out| {
                    out.extend_from_slice(signed_at.to_string().as_bytes())
                });
            }
        });
        out
    }
}

/// The JSON schema of this type's payload, in the dialect of OpenAPI 3.1. The `title` of each block names its kind; a
/// kind has one form in a receipt type.
pub fn json_schema(receipt_type: ReceiptType) -> serde_json::Value {
    block_schema(Document::FIELDS, receipt_type)
}

/// The places of all values of a receipt, in the order of the schemas; no type has all of them.
pub fn places() -> Vec<Place> {
    places_of(Document::FIELDS)
}
