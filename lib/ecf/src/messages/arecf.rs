//! ARECF: the receiver confirms that an e-CF arrived, or says why it was refused. It does not judge the content.

use super::{MessageError, read, write};
use crate::catalogue::{CodigoMotivoNoRecibido, EstadoAcuse, Version};
use crate::{Encf, FechaHora, Rnc};

pub(crate) const ROOT: &str = "ARECF";

block! {
    /// An acknowledgement of receipt.
    pub struct Arecf {
        detalle_acusede_recibo: DetalleAcusedeRecibo, "DetalleAcusedeRecibo", "1", "What is acknowledged";
    }
}

block! {
    /// The content of the acknowledgement.
    pub struct DetalleAcusedeRecibo {
        version: Option<Version>, "Version", "1", "Version of the format";
        rnc_emisor: Option<Rnc>, "RNCEmisor", "1", "Issuer of the e-CF";
        rnc_comprador: Option<Rnc>, "RNCComprador", "1", "Who acknowledges";
        encf: Option<Encf>, "eNCF", "1", "Number of the e-CF";
        estado: Option<EstadoAcuse>, "Estado", "1", "Received or not";
        codigo_motivo_no_recibido: Option<CodigoMotivoNoRecibido>, "CodigoMotivoNoRecibido", "2", "Why not; only when not received";
        fecha_hora_acuse_recibo: Option<FechaHora>, "FechaHoraAcuseRecibo", "1", "When";
    }
}

impl Arecf {
    /// The e-CF was received.
    pub fn received(rnc_emisor: Rnc, rnc_comprador: Rnc, encf: Encf, at: FechaHora) -> Self {
        Self::new(rnc_emisor, rnc_comprador, encf, None, at)
    }

    /// The e-CF was refused.
    pub fn not_received(
        rnc_emisor: Rnc,
        rnc_comprador: Rnc,
        encf: Encf,
        reason: CodigoMotivoNoRecibido,
        at: FechaHora,
    ) -> Self {
        Self::new(rnc_emisor, rnc_comprador, encf, Some(reason), at)
    }

    fn new(
        rnc_emisor: Rnc,
        rnc_comprador: Rnc,
        encf: Encf,
        reason: Option<CodigoMotivoNoRecibido>,
        at: FechaHora,
    ) -> Self {
        let estado = if reason.is_some() {
            EstadoAcuse::NoRecibido
        } else {
            EstadoAcuse::Recibido
        };
        Self {
            detalle_acusede_recibo: DetalleAcusedeRecibo {
                version: Some(Version::V1),
                rnc_emisor: Some(rnc_emisor),
                rnc_comprador: Some(rnc_comprador),
                encf: Some(encf),
                estado: Some(estado),
                codigo_motivo_no_recibido: reason,
                fecha_hora_acuse_recibo: Some(at),
            },
        }
    }

    /// The canonical bytes without a signature.
    pub fn to_xml(&self) -> Vec<u8> {
        write(ROOT, self)
    }

    /// Reads an acknowledgement, signed or not.
    ///
    /// # Errors
    ///
    /// When the bytes are not XML or another document, or when fields are invalid or missing.
    pub fn from_xml(bytes: &[u8]) -> Result<Self, MessageError> {
        read(bytes, ROOT)
    }
}
