//! Values of a document that the simulator stores because later requests ask for them.

use serde::{Deserialize, Serialize};

use crate::{document::Document, xml::Element};

/// Values exactly as the document states them; absent values are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) rnc_emisor: String,
    /// In upper case.
    pub(crate) encf: String,
    pub(crate) razon_social_emisor: Option<String>,
    pub(crate) rnc_comprador: Option<String>,
    pub(crate) razon_social_comprador: Option<String>,
    pub(crate) identificador_extranjero: Option<String>,
    pub(crate) fecha_emision: Option<String>,
    pub(crate) fecha_firma: Option<String>,
    pub(crate) monto_total: Option<String>,
    pub(crate) total_itbis: Option<String>,
    /// The security code: computed from the receipt's own signature, or stated in its summary.
    pub(crate) codigo_seguridad: String,
    /// In upper case.
    pub(crate) ncf_modificado: Option<String>,
    pub(crate) codigo_modificacion: Option<String>,
}

impl Facts {
    /// Reads an `ECF` or `RFCE`. Missing elements are reported by the structure check, not here.
    pub(crate) fn of_receipt(document: &Document) -> Self {
        let root = &document.root;
        let owned = |path: &[&str]| root.text_at(path).map(str::to_owned);
        let header = |block, name| owned(&["Encabezado", block, name]);
        Self {
            rnc_emisor: header("Emisor", "RNCEmisor").unwrap_or_default(),
            encf: header("IdDoc", "eNCF").unwrap_or_default().to_ascii_uppercase(),
            razon_social_emisor: header("Emisor", "RazonSocialEmisor"),
            rnc_comprador: header("Comprador", "RNCComprador"),
            razon_social_comprador: header("Comprador", "RazonSocialComprador"),
            identificador_extranjero: header("Comprador", "IdentificadorExtranjero"),
            fecha_emision: header("Emisor", "FechaEmision"),
            fecha_firma: owned(&["FechaHoraFirma"]),
            monto_total: header("Totales", "MontoTotal"),
            total_itbis: header("Totales", "TotalITBIS"),
            codigo_seguridad: owned(&["Encabezado", "CodigoSeguridadeCF"]).unwrap_or_else(|| document.security_code()),
            ncf_modificado: owned(&["InformacionReferencia", "NCFModificado"]).map(|one| one.to_ascii_uppercase()),
            codigo_modificacion: owned(&["InformacionReferencia", "CodigoModificacion"]),
        }
    }

    /// Reads an `ACECF`.
    pub(crate) fn of_approval(root: &Element) -> Self {
        let value = |name| root.text_at(&["DetalleAprobacionComercial", name]).map(str::to_owned);
        Self {
            rnc_emisor: value("RNCEmisor").unwrap_or_default(),
            encf: value("eNCF").unwrap_or_default().to_ascii_uppercase(),
            rnc_comprador: value("RNCComprador"),
            fecha_emision: value("FechaEmision"),
            monto_total: value("MontoTotal"),
            ..Self::default()
        }
    }
}
