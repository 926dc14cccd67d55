//! Numbering and signing: of the receipt, and of the summary that is sent instead of a consumer invoice below the
//! threshold.

use std::sync::Arc;

use bytes::Bytes;
use ecf::messages::Rfce;
use ecf::{Ecf, FechaHora, Node, Numbered};
use ecf_api::ApiError;
use ecf_certificates::usable_identity;
use ecf_store::{
    CompanyId, ContentHash, Receipt, ReceiptId, Scope, StoreError,
    numbers::Range,
    receipts::{Created, Signed, SignedLater},
};
use jiff::Timestamp;
use xmldsig::Identity;

use crate::App;
use crate::check::refused;
use crate::numbering::{Number, take};

/// A locked number is skipped. Upper bound of the numbers that are skipped in a row: above it the cause is not a race,
/// but a range that was used elsewhere.
const NUMBER_ATTEMPTS: usize = 20;

/// The signed bytes and their hashes for the record.
struct SignedDocument {
    signed: Signed,
    xml: Bytes,
    rfce: Option<Bytes>,
}

/// A numbered and signed document whose bytes are stored; the record is still missing.
struct Ready {
    numbered: Numbered,
    signed: Signed,
    chosen_by_caller: bool,
    /// The range that counts the number once it is used, if the caller numbers that range.
    counts_in: Option<Box<Range>>,
}

/// The company's signing identity, if the vault answers.
pub(crate) enum Signer {
    Here(Arc<Identity>),
    /// The vault does not answer now; a retry may succeed.
    OutOfReach(StoreError),
}

/// The identity that signs for the company now. It is read before a number is taken, because a failure afterwards would
/// waste the number. The profile is cached for a minute, so a renewed certificate signs within a minute.
///
/// # Errors
/// Fails when the company has no certificate, or one that does not open or is not valid now.
pub(crate) async fn signer(app: &App, company: &CompanyId, now: Timestamp) -> Result<Signer, ApiError> {
    let company = app.company(company).await?;
    match app.identities.of_company(&company, now).await {
        Err(error) if error.is_retryable() => Ok(Signer::OutOfReach(error)),
        found => Ok(Signer::Here(usable_identity(found, now)?)),
    }
}

/// The result of writing the record of a signed document.
pub(crate) trait Written {
    /// Whether another receipt has the number.
    fn is_number_taken(&self) -> bool;
}

impl Written for Created {
    fn is_number_taken(&self) -> bool {
        matches!(self, Self::NumberTaken)
    }
}

impl Written for SignedLater {
    fn is_number_taken(&self) -> bool {
        matches!(self, Self::NumberTaken)
    }
}

/// Writes the record of a signed document together with the lock of its number.
pub(crate) trait Record: Sync {
    type Written: Written + Send;

    fn write(
        &self,
        numbered: Numbered,
        signed: Signed,
        now: Timestamp,
    ) -> impl Future<Output = Result<Self::Written, ApiError>> + Send;
}

/// A document before numbering and signing, and its receipt.
pub(crate) struct Unsigned<'d> {
    pub(crate) scope: &'d Scope,
    pub(crate) id: &'d ReceiptId,
    /// The creation time of the receipt; `None` means the time of signing.
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) ecf: &'d Ecf,
    /// The summary that a certification workbook prescribes, without its security code.
    pub(crate) summary: Option<&'d Node>,
    pub(crate) identity: &'d Identity,
}

/// Takes a number, signs, stores the bytes, and writes the record together with the lock; repeats with the next number
/// while the number is locked. A number of the caller is tried once. Also returns the range that counts the number, if
/// the caller numbers that range.
///
/// # Errors
/// The errors of numbering, signing and writing; also when [`NUMBER_ATTEMPTS`] numbers in a row are locked.
pub(crate) async fn with_a_number<R: Record>(
    app: &App,
    document: &Unsigned<'_>,
    record: &R,
) -> Result<(R::Written, Option<Box<Range>>), ApiError> {
    for _ in 0..NUMBER_ATTEMPTS {
        let now = app.clock.now();
        let Ready {
            numbered,
            signed,
            chosen_by_caller,
            counts_in,
        } = number_and_sign(app, document, now).await?;
        let encf = signed.encf;
        let written = record.write(numbered, signed, now).await?;
        if chosen_by_caller || !written.is_number_taken() {
            return Ok((written, counts_in));
        }
        tracing::warn!(receipt.id = %document.id, %encf, "a number of the range was locked already; taking the next");
        app.table.pass_if_annulled(document.scope, &encf).await?;
    }
    Err(ApiError::unavailable(std::time::Duration::from_secs(1)).caused_by("twenty numbers in a row were locked"))
}

/// Takes a number, signs now and stores the bytes, under the month in which the receipt was created.
///
/// # Errors
/// Fails when no number is available, or when the document does not fit its range.
async fn number_and_sign(app: &App, document: &Unsigned<'_>, now: Timestamp) -> Result<Ready, ApiError> {
    let Unsigned {
        scope,
        id,
        created_at,
        ecf,
        summary,
        identity,
    } = *document;
    let Number {
        encf,
        valid_until,
        chosen_by_caller,
        counts_in,
    } = take(app, scope, ecf, now).await?;
    let numbered = ecf
        .clone()
        .numbered(encf, valid_until)
        .map_err(|violation| refused(vec![*violation]))?;
    let SignedDocument { signed, xml, rfce } = sign(&numbered, summary, identity, now)?;
    app.artifacts
        .put_signed(scope, created_at.unwrap_or(now), id, xml, rfce)
        .await?;
    Ok(Ready {
        numbered,
        signed,
        chosen_by_caller,
        counts_in,
    })
}

/// Counts a number that the caller chose, after a receipt has it. Housekeeping repairs a lost count.
pub(crate) async fn count_number(app: &App, receipt: &Receipt, counts_in: Option<&Range>) {
    let Some(range) = counts_in else { return };
    let now = app.clock.now();
    let counted = app
        .table
        .count_callers_number(&receipt.scope, range, receipt, now)
        .await;
    if let Err(error) = counted {
        tracing::warn!(receipt.id = %receipt.public_id, range = %range.id(), error = %ecf_runtime::telemetry::chain(&error), "the use of a number was not counted");
    }
}

/// Signs a numbered receipt now. The receipt is signed once, because its summary carries the security code of these
/// bytes. A prescribed summary is written as it is.
///
/// # Errors
/// Fails when the certificate cannot sign, or when the prescribed summary is invalid.
fn sign(
    numbered: &Numbered,
    prescribed: Option<&Node>,
    identity: &Identity,
    now: Timestamp,
) -> Result<SignedDocument, ApiError> {
    let firma = FechaHora::at(now);
    let full = xmldsig::sign(&numbered.to_xml(firma), identity).map_err(ApiError::internal)?;
    // The security code is the beginning of the signature's text, case preserved (signature guide, "Código de
    // seguridad").
    let security_code: String = full.signature_value.chars().take(6).collect();
    let rfce = if numbered.goes_as_summary() {
        let summary = match prescribed {
            Some(node) => Rfce::prescribed(node, &security_code).map_err(refused)?,
            None => Rfce::of(numbered, &security_code).map_err(ApiError::internal)?,
        };
        Some(
            xmldsig::sign(&summary.to_xml(), identity)
                .map_err(ApiError::internal)?
                .xml,
        )
    } else {
        None
    };
    let signed = Signed {
        encf: numbered.encf(),
        sign_date: firma.to_string(),
        security_code,
        signed_xml: ContentHash::of(&full.xml),
        rfce: rfce.as_deref().map(ContentHash::of),
    };
    Ok(SignedDocument {
        signed,
        xml: full.xml.into(),
        rfce: rfce.map(Bytes::from),
    })
}
