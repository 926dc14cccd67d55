//! A buyer's answer to a receipt that we issued (ACECF): verified, and compared with the receipt.
//!
//! An answer repeats fields of the receipt. Amounts are compared by value, since the authority's own sender writes them
//! without decimals. The first answer of a trusted signer is final. An answer of an unknown signer is provisional until
//! then.

use ecf::catalogue::EstadoAprobacion;
use ecf::messages::Acecf;
use ecf::messages::acecf::DetalleAprobacionComercial;
use ecf::{Amounts, Encf, Monto, ReceiptState, structure};
use ecf_certificates::{Judge, SignedBy, Signer, TrustError};
use ecf_language::{Bilingual, Say, say};
use ecf_store::{
    AnnouncementId, ArtifactKind, Artifacts, ContentHash, Receipt, Scope, StoreError, Table,
    receipts::{AnswerRecorded, BuyerAnswer},
};
use ecf_webhooks::News;
use jiff::Timestamp;
use xmldsig::{Limits, Verified};

/// Why an answer is rejected: a code and a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .why.en)]
pub struct NotTaken {
    pub code: &'static str,
    pub why: Bilingual,
}

/// A signed answer.
#[derive(Debug, Clone)]
pub struct SignedAnswer {
    pub detail: DetalleAprobacionComercial,
    pub estado: EstadoAprobacion,
    pub signer: Signer,
    /// Whether the signer's certificate chain is trusted.
    pub signer_trusted: bool,
}

impl NotTaken {
    /// A rejection with this code and this reason.
    pub fn because(code: &'static str, why: Bilingual) -> Self {
        Self { code, why }
    }
}

/// Reads and verifies an answer, which must conform to the official schema, and judges its signer.
///
/// # Errors
/// When the trusted authorities cannot be read. The inner error has code `signature` or `structure` and a reason.
pub async fn read(
    judge: &Judge,
    document: &[u8],
    limits: &Limits,
    now: Timestamp,
) -> Result<Result<SignedAnswer, NotTaken>, TrustError> {
    let (verified, detail, estado) = match parse(document, limits) {
        Ok(parsed) => parsed,
        Err(refused) => return Ok(Err(refused)),
    };
    let Some(buyer) = &detail.rnc_comprador else {
        return Ok(Err(NotTaken::because(
            "structure",
            say!("RNCComprador is missing", "falta RNCComprador"),
        )));
    };
    let signed = SignedBy {
        chain: (&verified).into(),
        signed_at: detail.fecha_hora_aprobacion_comercial.and_then(|at| at.instant()),
        taxpayer: Some(buyer),
    };
    Ok(match judge.judge(signed, now).await?.accepted() {
        Ok((signer, signer_trusted)) => Ok(SignedAnswer {
            estado,
            signer,
            signer_trusted,
            detail,
        }),
        Err(refusal) => Err(NotTaken::because("signature", refusal.say())),
    })
}

fn parse(
    document: &[u8],
    limits: &Limits,
) -> Result<(Verified, DetalleAprobacionComercial, EstadoAprobacion), NotTaken> {
    let document = document.strip_prefix("\u{feff}".as_bytes()).unwrap_or(document);
    let form = structure::check(document, None);
    let form = form.map_err(|error| NotTaken::because("structure", error.say()))?;
    let verified = xmldsig::verify(document, limits);
    let verified = verified.map_err(|error| NotTaken::because("signature", error.say()))?;
    if let Some(first) = form.first() {
        let message = &first.message;
        let why = say!([message], "{}: {message}", "{}: {message}", first.path.join("/"));
        return Err(NotTaken::because("structure", why));
    }
    let acecf = Acecf::from_xml(&verified.document);
    let acecf = acecf.map_err(|error| NotTaken::because("structure", error.say()))?;
    let detail = acecf.detalle_aprobacion_comercial;
    let Some(estado) = detail.estado else {
        return Err(NotTaken::because(
            "structure",
            say!("Estado is missing", "falta Estado"),
        ));
    };
    Ok((verified, detail, estado))
}

/// Whether buyers approve receipts of this number's type.
///
/// # Errors
/// `type_not_approved`.
pub fn may_be_approved(encf: &Encf) -> Result<(), NotTaken> {
    let ecf_type = encf.receipt_type();
    if ecf_type.is_approved_by_buyers() {
        return Ok(());
    }
    let why = say!(
        "receipts of type {ecf_type} are not approved",
        "los comprobantes del tipo {ecf_type} no se aprueban"
    );
    Err(NotTaken::because("type_not_approved", why))
}

/// Checks that an answer matches the receipt that it names.
///
/// # Errors
/// The field that does not match, or that the record holds no amount to compare.
pub fn compare(detail: &DetalleAprobacionComercial, receipt: &Receipt) -> Result<(), NotTaken> {
    if !receipt.fiscal.ecf_type.is_approved_by_buyers() {
        let why = say!(
            "receipts of type {} are not approved",
            "los comprobantes del tipo {} no se aprueban",
            receipt.fiscal.ecf_type
        );
        return Err(NotTaken::because("type_not_approved", why));
    }
    let is_valid = matches!(
        receipt.state,
        ReceiptState::Accepted | ReceiptState::ConditionallyAccepted
    );
    if !is_valid {
        let why = say!(
            "the receipt is {}: only what the tax authority accepted can be answered",
            "el comprobante está {}: solo se puede responder lo que la DGII aceptó",
            receipt.state
        );
        return Err(NotTaken::because("receipt_not_valid", why));
    }
    let differs = |field: &str, given: &dyn std::fmt::Display| {
        NotTaken::because(
            "differs_from_receipt",
            say!(
                "{field} {given} is not the receipt's",
                "{field} {given} no es el del comprobante"
            ),
        )
    };
    if let Some(given) = detail
        .fecha_emision
        .filter(|given| *given != receipt.fiscal.fecha_emision)
    {
        return Err(differs("FechaEmision", &given));
    }
    let total = Monto::parse(&receipt.fiscal.monto_total, Amounts::Verbatim).ok();
    let is_other = |given: &&Monto| total.as_ref().is_none_or(|total| total.value() != given.value());
    if let Some(given) = detail.monto_total.as_ref().filter(is_other) {
        return Err(differs("MontoTotal", given));
    }
    let buyer = detail.rnc_comprador.as_ref();
    if let Some(given) = buyer.filter(|given| receipt.fiscal.rnc_comprador.as_deref() != Some(given.as_str())) {
        return Err(differs("RNCComprador", given));
    }
    Ok(())
}

/// Stores an answer on its receipt together with its announcement, bytes first. The first answer stays, unless it was
/// provisional and the new one has a trusted signer. Returns the announcement to publish, if there is one.
///
/// # Errors
/// Failures of the store. The inner error is `answered_already` when the buyer gave a different answer before.
pub async fn store(
    table: &Table,
    artifacts: &Artifacts,
    scope: &Scope,
    receipt: &Receipt,
    answer: &SignedAnswer,
    document: &[u8],
    now: Timestamp,
) -> Result<Result<Option<AnnouncementId>, NotTaken>, StoreError> {
    let kept = BuyerAnswer {
        estado: answer.estado,
        reason: (answer.detail.detalle_motivo_rechazo.as_ref()).map(|reason| reason.to_string().into()),
        acecf: ContentHash::of(document),
        received_at: now,
        signer: answer.signer.subject.as_str().into(),
        signer_trusted: answer.signer_trusted,
    };
    let id = &receipt.public_id;
    artifacts
        .put(scope, receipt.created_at, id, ArtifactKind::Acecf, document.to_vec())
        .await?;
    let news = News::ApprovalReceived { receipt, answer: &kept };
    let news = news.announcement(scope, receipt.fiscal.company_rnc.as_str(), now);
    Ok(match table.record_buyer_answer(scope, id, &kept, &news).await? {
        AnswerRecorded::Now => {
            tracing::info!(receipt.id = %id, estado = kept.estado.code(), "a buyer answered a receipt");
            Ok(Some(news.id))
        }
        AnswerRecorded::Already(earlier) if earlier.estado == answer.estado => Ok(None),
        AnswerRecorded::Already(_) => Err(NotTaken::because(
            "answered_already",
            say!(
                "the buyer gave another answer to this receipt before",
                "el comprador ya dio otra respuesta a este comprobante"
            ),
        )),
    })
}
