//! One file of a receipt.
//!
//! An absent file has one of two errors: 409 `artifact_not_ready` means that it will exist later, 404
//! `artifact_not_applicable` that it never will. XML is served byte for byte as it was signed and sent.

use bytes::Bytes;
use ecf::{Amounts, Monto, ReceiptState, ReceiptType, SUMMARY_THRESHOLD};
use ecf_api::{ApiError, Download, Fields, FromFields, as_object};
use ecf_evidence::{Files, Paper, PrintError};
use ecf_language::{Bilingual, say};
use ecf_ri::Format;
use ecf_store::{
    ArtifactKind, Artifacts, ContentHash, Receipt,
    receipts::{DeliveryState, Signed},
};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// How a file is wanted: what concerns the printed representation; all others are frozen. A wrong value is an error all the same.
#[derive(Debug, Clone, Copy, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PaperQuery {
    /// `true` makes the printed representation (RI) anew; all other files are frozen and served as they are.
    #[param(required = false, default = false)]
    refresh: bool,
    /// The paper of the RI.
    #[param(required = false, value_type = PaperName, inline)]
    format: Format,
}

/// The name of a paper, as the contract has it.
struct PaperName;

impl ToSchema for PaperName {}

impl PartialSchema for PaperName {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(Format::ALL.map(Format::as_str)))
            .default(Some(Format::default().as_str().into()))
            .into()
    }
}

impl From<PaperQuery> for Paper {
    fn from(PaperQuery { refresh, format }: PaperQuery) -> Self {
        Self { format, refresh }
    }
}

impl FromFields for PaperQuery {
    fn read(fields: &mut Fields) -> Option<Self> {
        let papers = Format::ALL.map(|format| (format.as_str(), format));
        let refresh = fields.boolean("refresh").or(false);
        let format = fields.choice("format", &papers).or(Format::default());
        Some(Self { refresh, format })
    }
}

/// Returns one file of a receipt.
///
/// # Errors
/// 409 when the file does not exist yet, 404 when the receipt never has it; failures of the store.
pub(crate) async fn artifact(
    files: &Files,
    receipt: &Receipt,
    kind: ArtifactKind,
    paper: Paper,
) -> Result<Download, ApiError> {
    let artifacts = files.artifacts();
    let bytes = match kind {
        ArtifactKind::SignedXml => signed_xml(artifacts, receipt).await?,
        ArtifactKind::GeneratedXml => {
            let signed = signed_xml(artifacts, receipt).await?;
            let generated = xmldsig::without_signature(&signed);
            let generated =
                generated.ok_or_else(|| ApiError::internal("the signed document has no signature of ours"))?;
            generated.into()
        }
        ArtifactKind::Rfce => rfce(artifacts, receipt).await?,
        ArtifactKind::TaxauthResponse => response(receipt)?,
        ArtifactKind::Ri => {
            let printed = files.printed(receipt, signed(receipt)?, paper).await;
            printed.map_err(unprinted)?
        }
        ArtifactKind::Acecf => acecf(artifacts, receipt).await?,
        ArtifactKind::Arecf => arecf(artifacts, receipt).await?,
        ArtifactKind::Payload | ArtifactKind::ReceivedXml | ArtifactKind::Anecf | ArtifactKind::Workbook => {
            return Err(ApiError::not_found());
        }
    };
    let mut document = match receipt.encf() {
        Some(encf) => format!("{}{encf}", receipt.fiscal.company_rnc),
        None => receipt.public_id.to_string(),
    };
    if kind == ArtifactKind::Ri && paper.format != Format::default() {
        document = format!("{document}-{}", paper.format);
    }
    let download = Download::new(bytes.clone(), kind.content_type(), kind.file_name(&document));
    if download.fits() {
        return Ok(download);
    }
    let name = stored_name(files, receipt, kind, paper, bytes).await?;
    let (scope, id, disposition) = (&receipt.scope, &receipt.public_id, download.disposition());
    let link = artifacts.link(scope, receipt.created_at, id, kind, &name, &disposition);
    Ok(download.at(link.await?))
}

/// The name of the file in the bucket. A file that is derived from another one is stored now.
async fn stored_name(
    files: &Files,
    receipt: &Receipt,
    kind: ArtifactKind,
    paper: Paper,
    bytes: Bytes,
) -> Result<ContentHash, ApiError> {
    match kind {
        ArtifactKind::Ri => Ok(files.printed_name(receipt, signed(receipt)?, paper).await?),
        ArtifactKind::GeneratedXml => {
            let (scope, created_at, id) = (&receipt.scope, receipt.created_at, &receipt.public_id);
            let (artifacts, hash) = (files.artifacts(), ContentHash::of(&bytes));
            match artifacts.get(scope, created_at, id, kind, &hash).await? {
                Some(_) => Ok(hash),
                None => Ok(artifacts.put(scope, created_at, id, kind, bytes).await?),
            }
        }
        _ => Ok(ContentHash::of(&bytes)),
    }
}

fn unprinted(error: PrintError) -> ApiError {
    match error {
        PrintError::Store(error) => error.into(),
        // Every receipt that was signed here can be printed.
        error => ApiError::internal(error),
    }
}

async fn signed_xml(artifacts: &Artifacts, receipt: &Receipt) -> Result<Bytes, ApiError> {
    let signed = signed(receipt)?;
    stored(artifacts, receipt, ArtifactKind::SignedXml, &signed.signed_xml).await
}

async fn rfce(artifacts: &Artifacts, receipt: &Receipt) -> Result<Bytes, ApiError> {
    if !goes_as_summary(receipt) {
        let message = say!(
            "an RFCE is of a type 32 below RD$250,000.00; this is a type {} of RD${}",
            "un RFCE es de un tipo 32 menor de RD$250,000.00; este es un tipo {} de RD${}",
            receipt.fiscal.ecf_type,
            receipt.fiscal.monto_total
        );
        return Err(not_applicable(message));
    }
    match &signed(receipt)?.rfce {
        Some(hash) => stored(artifacts, receipt, ArtifactKind::Rfce, hash).await,
        None => Err(ApiError::internal("a summary was not kept with its receipt")),
    }
}

/// Whether the receipt is sent as a summary. Before it is signed, its type and amount decide.
fn goes_as_summary(receipt: &Receipt) -> bool {
    let below = |monto: Monto| monto.value() < SUMMARY_THRESHOLD;
    receipt.is_sent_as_summary()
        || receipt.fiscal.signed.is_none()
            && receipt.fiscal.ecf_type == ReceiptType::E32
            && Monto::parse(&receipt.fiscal.monto_total, Amounts::Verbatim).is_ok_and(below)
}

fn response(receipt: &Receipt) -> Result<Bytes, ApiError> {
    if let Some(response) = receipt.taxauth_response.as_deref().and_then(as_object) {
        return Ok(Bytes::from(response.get().to_owned()));
    }
    match receipt.state {
        state if state.is_final() => Err(not_applicable(say!(
            "the receipt is {state}: the tax authority never answered about it",
            "el comprobante está {state}: la DGII nunca respondió sobre él"
        ))),
        state => Err(not_ready(say!(
            "the receipt is {state}: the tax authority has not answered yet",
            "el comprobante está {state}: la DGII aún no responde"
        ))),
    }
}

async fn arecf(artifacts: &Artifacts, receipt: &Receipt) -> Result<Bytes, ApiError> {
    let delivery = receipt.buyer.delivery.as_ref();
    if let Some(hash) = delivery.and_then(|delivery| delivery.arecf.as_ref()) {
        return stored(artifacts, receipt, ArtifactKind::Arecf, hash).await;
    }
    match delivery.map(|delivery| delivery.state) {
        None | Some(DeliveryState::Pending) if receipt.fiscal.ecf_type.is_approved_by_buyers() => Err(not_ready(say!(
            "the buyer has not acknowledged the receipt",
            "el comprador no ha acusado recibo del comprobante"
        ))),
        None => Err(not_applicable(say!(
            "receipts of type {} are not sent to their buyers",
            "los comprobantes del tipo {} no se envían a su comprador",
            receipt.fiscal.ecf_type
        ))),
        Some(state) => Err(not_applicable(say!(
            "the buyer acknowledged nothing: the delivery is {}",
            "el comprador no acusó recibo: la entrega está en {}",
            state.as_str()
        ))),
    }
}

async fn acecf(artifacts: &Artifacts, receipt: &Receipt) -> Result<Bytes, ApiError> {
    match &receipt.buyer.answer {
        Some(answer) => stored(artifacts, receipt, ArtifactKind::Acecf, &answer.acecf).await,
        None if receipt.fiscal.ecf_type.is_approved_by_buyers() => Err(not_ready(say!(
            "the buyer has neither approved nor rejected the receipt",
            "el comprador no ha aprobado ni rechazado el comprobante"
        ))),
        None => Err(not_applicable(say!(
            "receipts of type {} are not approved by their buyers",
            "los comprobantes del tipo {} no los aprueba su comprador",
            receipt.fiscal.ecf_type
        ))),
    }
}

fn signed(receipt: &Receipt) -> Result<&Signed, ApiError> {
    receipt.fiscal.signed.as_ref().ok_or_else(|| match receipt.state {
        state @ (ReceiptState::Cancelled | ReceiptState::Incapacity) => not_applicable(say!(
            "the receipt is {state}: it was never signed",
            "el comprobante está {state}: nunca se firmó"
        )),
        state => not_ready(say!(
            "the receipt is {state}: it is not signed yet",
            "el comprobante está {state}: aún no se firma"
        )),
    })
}

async fn stored(
    artifacts: &Artifacts,
    receipt: &Receipt,
    kind: ArtifactKind,
    hash: &ContentHash,
) -> Result<Bytes, ApiError> {
    let (scope, id) = (&receipt.scope, &receipt.public_id);
    let bytes = artifacts.get(scope, receipt.created_at, id, kind, hash).await?;
    bytes.ok_or_else(|| ApiError::internal(format!("the {} of {id} is not in the bucket", kind.as_str())))
}

fn not_ready(message: Bilingual) -> ApiError {
    ApiError::conflict("artifact_not_ready", message)
}

fn not_applicable(message: Bilingual) -> ApiError {
    ApiError::missing("artifact_not_applicable", message)
}
