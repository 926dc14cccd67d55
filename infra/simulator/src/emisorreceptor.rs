//! The other taxpayer, which the authority plays in pre-certification: the documents that it writes and signs.
//!
//! Its documents use the authority's own dialect, which the authority's schemas forbid in part: `<Version>1</Version>`,
//! no XML declaration, expired numbers, totals without decimals in approvals. Receivers must accept them.

use base64::{Engine, prelude::BASE64_STANDARD};
use bergshamra::{DsigContext, KeysManager, keys::loader::load_pem_auto};
use jiff::Timestamp;

use crate::{dates, xml::Element};

/// Identity of the other taxpayer. Its certificate and key serve no other purpose and are not secret.
pub(crate) const RNC: &str = "131880738";
const NAME: &str = "EMISOR RECEPTOR SIMULADO";
const KEY: &[u8] = include_bytes!("emisorreceptor/key.pem");
const CERTIFICATE: &[u8] = include_bytes!("emisorreceptor/certificate.der");

/// Receipt types that issuers send to buyers.
pub(crate) const EXCHANGED: [u8; 4] = [31, 33, 34, 44];

/// A defect that a test can request in a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Defecto {
    /// An element is missing.
    Estructura,
    /// The document was changed after it was signed.
    Firma,
    /// It is not signed.
    SinFirma,
    /// The last number is used again.
    Duplicado,
    /// The receipt names another buyer.
    Comprador,
    /// The type is not exchanged between taxpayers.
    Tipo,
}

impl Defecto {
    /// The `CodigoMotivoNoRecibido` that a receiver must answer.
    pub(crate) fn motivo(self) -> &'static str {
        match self {
            Self::Estructura | Self::Tipo => "1",
            Self::Firma | Self::SinFirma => "2",
            Self::Duplicado => "3",
            Self::Comprador => "4",
        }
    }
}

/// The simulator could not sign its own document: a bug in the simulator.
#[derive(Debug, thiserror::Error)]
#[error("the simulator's own signature cannot be made: {0}")]
pub(crate) struct SignError(String);

/// An unsigned receipt to a buyer.
pub(crate) fn receipt(tipo: u8, encf: &str, comprador: &str, defecto: Option<Defecto>, now: Timestamp) -> Element {
    let day = dates::day_first(dates::local(now).date());
    let tipo = match defecto {
        Some(Defecto::Tipo) => 32,
        _ => tipo,
    };
    let encf = match defecto {
        Some(Defecto::Tipo) => format!("E32{}", &encf[3..]),
        _ => encf.to_owned(),
    };
    let mut id_doc = Element::new("IdDoc")
        .with("TipoeCF", tipo.to_string())
        .with("eNCF", encf);
    if !matches!(tipo, 32 | 34) {
        id_doc = id_doc.with("FechaVencimientoSecuencia", "31-12-2020");
    }
    if tipo == 34 {
        id_doc = id_doc.with("IndicadorNotaCredito", "0");
    }
    if defecto != Some(Defecto::Estructura) {
        id_doc = id_doc.with("TipoIngresos", "01");
    }
    id_doc = id_doc.with("TipoPago", "1");
    let comprador = match defecto {
        Some(Defecto::Comprador) => "101672919",
        _ => comprador,
    };
    let encabezado = Element::new("Encabezado")
        .with("Version", "1")
        .child(id_doc)
        .child(
            Element::new("Emisor")
                .with("RNCEmisor", RNC)
                .with("RazonSocialEmisor", NAME)
                .with("DireccionEmisor", "Avenida México 48")
                .with("FechaEmision", day.clone()),
        )
        .child(
            Element::new("Comprador")
                .with("RNCComprador", comprador)
                .with("RazonSocialComprador", "COMPRADOR SIMULADO"),
        )
        .child(
            Element::new("Totales")
                .with("MontoExento", "35400.00")
                .with("MontoTotal", "35400.00"),
        );
    let item = Element::new("Item")
        .with("NumeroLinea", "1")
        .with("IndicadorFacturacion", "4")
        .with("NombreItem", "SERVICIO SIMULADO")
        .with("IndicadorBienoServicio", "2")
        .with("CantidadItem", "1.00")
        .with("PrecioUnitarioItem", "35400.0000")
        .with("MontoItem", "35400.00");
    let mut root = Element::new("ECF")
        .child(encabezado)
        .child(Element::new("DetallesItems").child(item));
    if matches!(tipo, 33 | 34) {
        root = root.child(
            Element::new("InformacionReferencia")
                .with("NCFModificado", "E310000000001")
                .with("FechaNCFModificado", day)
                .with("CodigoModificacion", "3"),
        );
    }
    root.with("FechaHoraFirma", dates::date_time(now))
}

/// The other taxpayer's answer to a receipt.
pub(crate) struct Approval<'a> {
    pub(crate) rnc_emisor: &'a str,
    pub(crate) encf: &'a str,
    pub(crate) fecha_emision: &'a str,
    pub(crate) monto_total: &'a str,
    pub(crate) rnc_comprador: &'a str,
    pub(crate) estado: &'a str,
}

/// An unsigned approval or rejection. A total of whole pesos is written without decimals.
pub(crate) fn approval(of: &Approval<'_>, now: Timestamp) -> Element {
    let monto = of.monto_total.strip_suffix(".00").unwrap_or(of.monto_total);
    let mut detail = Element::new("DetalleAprobacionComercial")
        .with("Version", "1")
        .with("RNCEmisor", of.rnc_emisor)
        .with("eNCF", of.encf)
        .with("FechaEmision", of.fecha_emision)
        .with("MontoTotal", monto)
        .with("RNCComprador", of.rnc_comprador)
        .with("Estado", of.estado);
    if of.estado == "2" {
        detail = detail.with("DetalleMotivoRechazo", "Rechazo simulado");
    }
    Element::new("ACECF").child(detail.with("FechaHoraAprobacionComercial", dates::date_time(now)))
}

/// An unsigned acknowledgement of receipt.
pub(crate) fn acknowledgement(
    rnc_emisor: &str,
    rnc_comprador: &str,
    encf: &str,
    motivo: Option<&str>,
    now: Timestamp,
) -> Element {
    let mut detail = Element::new("DetalleAcusedeRecibo")
        .with("Version", "1.0")
        .with("RNCEmisor", rnc_emisor)
        .with("RNCComprador", rnc_comprador)
        .with("eNCF", encf)
        .with("Estado", if motivo.is_some() { "1" } else { "0" });
    if let Some(motivo) = motivo {
        detail = detail.with("CodigoMotivoNoRecibido", motivo);
    }
    Element::new("ARECF").child(detail.with("FechaHoraAcuseRecibo", dates::date_time(now)))
}

/// A document as text, without an XML declaration.
pub(crate) fn text(document: &Element) -> String {
    let mut out = String::new();
    document.write(&mut out, None);
    out
}

/// Signs a document in the authority's profile.
pub(crate) fn sign(xml: &str) -> Result<String, SignError> {
    let template = format!(
        "<Signature xmlns=\"http://www.w3.org/2000/09/xmldsig#\"><SignedInfo>\
         <CanonicalizationMethod Algorithm=\"http://www.w3.org/TR/2001/REC-xml-c14n-20010315\"/>\
         <SignatureMethod Algorithm=\"http://www.w3.org/2001/04/xmldsig-more#rsa-sha256\"/>\
         <Reference URI=\"\"><Transforms>\
         <Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\"/></Transforms>\
         <DigestMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"/><DigestValue></DigestValue>\
         </Reference></SignedInfo><SignatureValue></SignatureValue>\
         <KeyInfo><X509Data><X509Certificate>{}</X509Certificate></X509Data></KeyInfo></Signature>",
        BASE64_STANDARD.encode(CERTIFICATE)
    );
    let end = xml.rfind("</").ok_or_else(|| SignError("no end tag".to_owned()))?;
    let with_template = format!("{}{template}{}", &xml[..end], &xml[end..]);
    let mut keys = KeysManager::new();
    keys.add_key(load_pem_auto(KEY, None).map_err(|error| SignError(error.to_string()))?);
    bergshamra::sign(&DsigContext::new(keys), &with_template).map_err(|error| SignError(error.to_string()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::{document::Document, signature, structure};

    #[test]
    fn what_it_signs_verifies_and_is_right_but_for_its_dialect() {
        let now: Timestamp = "2026-11-27T16:00:00Z".parse().unwrap();
        for tipo in EXCHANGED {
            let encf = format!("E{tipo}0000000001");
            let signed = sign(&text(&receipt(tipo, &encf, "130000001", None, now))).unwrap();
            let document = Document::read(signed.as_bytes()).unwrap();
            assert!(signature::verify(&document).unwrap().is_in_force(now));
            let faults = structure::faults_of_receipt(&document.root, tipo);
            assert!(faults.is_empty(), "{tipo}: {faults:?}");
        }
        let of = Approval {
            rnc_emisor: "130000001",
            encf: "E310000000001",
            fecha_emision: "27-11-2026",
            monto_total: "1180.00",
            rnc_comprador: RNC,
            estado: "2",
        };
        let approval = text(&approval(&of, now));
        assert!(approval.contains("<Version>1</Version>") && approval.contains("<MontoTotal>1180</MontoTotal>"));
    }
}
