//! A buyer's acknowledgement of receipt (ARECF): parsing, signature and content.

use ecf::catalogue::{CodigoMotivoNoRecibido, EstadoAcuse};
use ecf::messages::Arecf;
use ecf::{Encf, Rnc};
use ecf_certificates::{Judge, SignedBy, TrustError};
use ecf_language::{Bilingual, Say, say};
use jiff::Timestamp;
use xmldsig::{Limits, Verified};

/// The content of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acknowledged {
    Received,
    /// With the buyer's reason, if the ARECF gives one.
    NotReceived(Option<CodigoMotivoNoRecibido>),
}

/// The receipt that must be acknowledged, and the buyer who must sign.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    pub rnc_emisor: &'a Rnc,
    pub rnc_comprador: &'a Rnc,
    pub encf: &'a Encf,
}

/// Reads an acknowledgement, verifies its signer, and compares it with the expected receipt.
///
/// # Errors
/// When the trusted authorities cannot be read. The inner error says what is wrong with the acknowledgement.
pub async fn read(
    judge: &Judge,
    bytes: &[u8],
    expected: Expected<'_>,
    now: Timestamp,
) -> Result<Result<Acknowledged, Bilingual>, TrustError> {
    let verified = match verify(bytes) {
        Ok(verified) => verified,
        Err(why) => return Ok(Err(why)),
    };
    let signed = SignedBy {
        chain: (&verified).into(),
        signed_at: None,
        taxpayer: Some(expected.rnc_comprador),
    };
    Ok(match judge.judge(signed, now).await?.accepted() {
        Ok(_) => content(&verified, expected),
        Err(refusal) => {
            let why = refusal.say();
            Err(say!(
                [why],
                "its certificate is not acceptable: {why}",
                "su certificado no es aceptable: {why}"
            ))
        }
    })
}

fn verify(bytes: &[u8]) -> Result<Verified, Bilingual> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let verified = xmldsig::verify(bytes, &Limits::default());
    verified.map_err(|error| {
        let why = error.say();
        say!(
            [why],
            "its signature does not verify: {why}",
            "no se pudo verificar su firma: {why}"
        )
    })
}

fn content(verified: &Verified, expected: Expected<'_>) -> Result<Acknowledged, Bilingual> {
    let arecf = Arecf::from_xml(&verified.document).map_err(|error| {
        let why = error.say();
        say!([why], "it is no ARECF: {why}", "no es un ARECF: {why}")
    })?;
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
        return Err(say!(
            "its {field} is not the receipt's",
            "su {field} no es el del comprobante"
        ));
    }
    match detail.estado {
        Some(EstadoAcuse::Recibido) => Ok(Acknowledged::Received),
        Some(EstadoAcuse::NoRecibido) => Ok(Acknowledged::NotReceived(detail.codigo_motivo_no_recibido)),
        None => Err(say!("its Estado is missing", "le falta el Estado")),
    }
}
