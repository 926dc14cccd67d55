//! ACECF: a buyer's commercial approval or rejection of an e-CF.

use super::{MessageError, read, read_members, write};
use crate::catalogue::{EstadoAprobacion, Version};
use crate::field::{Block as _, Place, Source, places_of, text};
use crate::{Encf, Fecha, FechaHora, Monto, Node, Rnc, Texto, Violation};

pub(crate) const ROOT: &str = "ACECF";

block! {
    /// A commercial approval or rejection.
    pub struct Acecf {
        detalle_aprobacion_comercial: DetalleAprobacionComercial, "DetalleAprobacionComercial", "1", "What is approved or rejected";
    }
}

block! {
    /// The content of an approval or rejection.
    pub struct DetalleAprobacionComercial {
        version: Option<Version>, "Version", "1", "Version of the format";
        rnc_emisor: Option<Rnc>, "RNCEmisor", "1", "Issuer of the e-CF";
        encf: Option<Encf>, "eNCF", "1", "Number of the e-CF";
        fecha_emision: Option<Fecha>, "FechaEmision", "1", "Its day of issue";
        monto_total: Option<Monto>, "MontoTotal", "1", "Its total, with two decimals";
        rnc_comprador: Option<Rnc>, "RNCComprador", "1", "Who approves or rejects";
        estado: Option<EstadoAprobacion>, "Estado", "1", "Approved or rejected";
        detalle_motivo_rechazo: Option<Texto> = text(250), "DetalleMotivoRechazo", "2", "Why; only when rejected";
        fecha_hora_aprobacion_comercial: Option<FechaHora>, "FechaHoraAprobacionComercial", "1", "When";
    }
}

/// The e-CF that the buyer answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Its issuer.
    pub rnc_emisor: Rnc,
    /// Its number.
    pub encf: Encf,
    /// Its day of issue.
    pub fecha_emision: Fecha,
    /// Its total.
    pub monto_total: Monto,
    /// Its buyer, the sender of the answer.
    pub rnc_comprador: Rnc,
}

impl Acecf {
    /// The buyer approves.
    pub fn approved(answered: Answered, at: FechaHora) -> Self {
        Self::new(answered, EstadoAprobacion::Aceptado, None, at)
    }

    /// The buyer rejects, with or without a reason.
    pub fn rejected(answered: Answered, reason: Option<Texto>, at: FechaHora) -> Self {
        Self::new(answered, EstadoAprobacion::Rechazado, reason, at)
    }

    fn new(answered: Answered, estado: EstadoAprobacion, reason: Option<Texto>, at: FechaHora) -> Self {
        Self {
            detalle_aprobacion_comercial: DetalleAprobacionComercial {
                version: Some(Version::V1),
                rnc_emisor: Some(answered.rnc_emisor),
                encf: Some(answered.encf),
                fecha_emision: Some(answered.fecha_emision),
                // The schema requires exactly two decimals, regardless of the e-CF.
                monto_total: Some(answered.monto_total.with_two_decimals()),
                rnc_comprador: Some(answered.rnc_comprador),
                estado: Some(estado),
                detalle_motivo_rechazo: reason,
                fecha_hora_aprobacion_comercial: Some(at),
            },
        }
    }

    /// Reads an approval or rejection from a tree that has the shape of its XML. The total gets two decimals.
    ///
    /// # Errors
    ///
    /// Every field that is invalid, unknown or missing.
    pub fn from_node(node: &Node) -> Result<Self, Vec<Violation>> {
        let mut acecf: Self = read_members(node, Source::Caller)?;
        let total = &mut acecf.detalle_aprobacion_comercial.monto_total;
        *total = total.as_ref().map(Monto::with_two_decimals);
        Ok(acecf)
    }

    /// The places of all values of an approval, in the order of the schema.
    pub fn places() -> Vec<Place> {
        places_of(Self::FIELDS)
    }

    /// The canonical bytes without a signature.
    pub fn to_xml(&self) -> Vec<u8> {
        write(ROOT, self)
    }

    /// Reads an approval, signed or not. The authority's own simulation writes totals without decimals.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML or another document, or when fields are invalid or missing.
    pub fn from_xml(bytes: &[u8]) -> Result<Self, MessageError> {
        read(bytes, ROOT)
    }
}
