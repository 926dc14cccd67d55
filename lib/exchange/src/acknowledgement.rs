//! A buyer's acknowledgement of receipt (ARECF): whether it is one, and what it says.

use ecf::catalogue::{CodigoMotivoNoRecibido, EstadoAcuse};
use ecf::messages::Arecf;
use ecf::{Encf, Rnc};
use jiff::Timestamp;
use xmldsig::Limits;

/// What a buyer says of a receipt that was sent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acknowledged {
    Received,
    /// The reason, if one is given.
    NotReceived(Option<CodigoMotivoNoRecibido>),
}

/// Which receipt must be acknowledged by whom.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    pub rnc_emisor: &'a Rnc,
    pub rnc_comprador: &'a Rnc,
    pub encf: &'a Encf,
}

/// Reads an acknowledgement: signed by a certificate that is valid, and about this receipt.
///
/// # Errors
/// What is wrong with it.
pub fn read(bytes: &[u8], expected: Expected<'_>, now: Timestamp) -> Result<Acknowledged, String> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let verified = xmldsig::verify(bytes, &Limits::default());
    let verified = verified.map_err(|error| format!("its signature does not verify: {error}"))?;
    let usable = verified.certificate.check_usable_at(now);
    usable.map_err(|error| format!("its certificate is not acceptable: {error}"))?;
    let arecf = Arecf::from_xml(&verified.document).map_err(|error| format!("it is no ARECF: {error}"))?;
    let detail = arecf.detalle_acusede_recibo;
    let about = [
        ("RNCEmisor", detail.rnc_emisor.as_ref() == Some(expected.rnc_emisor)),
        (
            "RNCComprador",
            detail.rnc_comprador.as_ref() == Some(expected.rnc_comprador),
        ),
        ("eNCF", detail.encf.as_ref() == Some(expected.encf)),
    ];
    if let Some((field, _)) = about.iter().find(|(_, fits)| !fits) {
        return Err(format!("its {field} is not the receipt's"));
    }
    match detail.estado {
        Some(EstadoAcuse::Recibido) => Ok(Acknowledged::Received),
        Some(EstadoAcuse::NoRecibido) => Ok(Acknowledged::NotReceived(detail.codigo_motivo_no_recibido)),
        None => Err("its Estado is missing".to_owned()),
    }
}
