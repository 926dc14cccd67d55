//! A receipt in the API.
//!
//! Absent optional fields are `null`, not omitted, so that a reader sees every field.

use std::collections::BTreeMap;

use ecf::catalogue::EstadoAprobacion;
use ecf::{EventDerivedStage, StampHosts, failure_said};
use ecf_language::Bilingual;
use ecf_store::{
    Receipt,
    receipts::{BuyerAnswer, BuyerDelivery},
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::Spoken;

use super::{ExplanationView, Instant, SecurityCode, TaxauthArtifact, TaxauthResponse, TrackId};

/// A receipt and its state.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DocumentView {
    pub public_id: String,
    pub idempotency_key: String,
    pub external_id: Option<String>,
    /// Two digits, such as `31`.
    pub ecf_type: String,
    pub environment: String,
    pub encf: Option<String>,
    /// One of the states that `GET /api/v1/ecf/states` lists.
    pub status: String,
    /// The buyer's RNC; `null` where the document has none.
    pub rnc_comprador: Option<String>,
    /// The buyer's name; `null` where the document has none, and for receipts of before 2026-12 that the operator has not
    /// filled in.
    pub razon_social_comprador: Option<String>,
    /// `MontoTotal` as the document writes it.
    #[schema(example = "1180.00")]
    pub monto_total: String,
    /// `TotalITBIS` as the document writes it; `null` as for the buyer's name.
    #[schema(example = "180.00")]
    pub total_itbis: Option<String>,
    /// `FechaEmision` as the document writes it: `dd-MM-yyyy`.
    #[schema(example = "27-11-2026")]
    pub fecha_emision: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Instant,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub scheduled_for: Option<Instant>,
    #[serde(flatten)]
    pub track_id: TrackId,
    #[serde(flatten)]
    pub security_code: SecurityCode,
    /// The address in the QR code of the printed receipt.
    pub electronic_stamp: Option<String>,
    /// `FechaHoraFirma` as signed: `dd-MM-yyyy HH:mm:ss`, local time.
    pub sign_date: Option<String>,
    /// When the tax authority took it; `null` also for a `failed` receipt that it refused.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub submitted_at: Option<Instant>,
    /// When its state became final; `null` for `failed`, which can be retried.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub completed_at: Option<Instant>,
    pub error_code: Option<String>,
    #[schema(value_type = Option<String>)]
    pub error_message: Option<Spoken>,
    /// What the tax authority's messages mean, where that is known, and why a `failed` receipt stopped; left out when there is
    /// nothing to explain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<ExplanationView>,
    /// The delivery of the receipt to its buyer; absent when the buyer does not receive electronically.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buyer_delivery: Option<BuyerDeliveryView>,
    /// The buyer's approval or rejection; absent until it arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buyer_answer: Option<BuyerAnswerView>,
    /// The stages of `event_derived_stages` in `GET /api/v1/ecf/states` that the receipt has reached, in order of time.
    pub stages: Vec<ReachedStageView>,
}

/// A stage that a receipt reached beside its state.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ReachedStageView {
    /// `notified`, `buyer_approved` or `buyer_rejected`.
    #[schema(example = "notified")]
    pub name: &'static str,
    /// The webhook event that announces the stage.
    #[schema(example = "accepted")]
    pub event: &'static str,
    /// When the receipt reached it.
    #[schema(value_type = String, format = DateTime)]
    pub at: Instant,
}

impl ReachedStageView {
    fn all_of(receipt: &Receipt) -> Vec<Self> {
        let notified = receipt.notified_at.zip(EventDerivedStage::notified(receipt.state));
        let answered = receipt.buyer.answer.as_ref().map(|answer| {
            let stage = match answer.estado {
                EstadoAprobacion::Aceptado => EventDerivedStage::BUYER_APPROVED,
                EstadoAprobacion::Rechazado => EventDerivedStage::BUYER_REJECTED,
            };
            (answer.received_at, stage)
        });
        let mut reached: Vec<_> = notified.into_iter().chain(answered).collect();
        reached.sort_by_key(|(at, _)| *at);
        let view = |(at, stage): (Timestamp, EventDerivedStage)| Self {
            name: stage.name,
            event: stage.event,
            at: at.into(),
        };
        reached.into_iter().map(view).collect()
    }
}

/// A receipt's way to its buyer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BuyerDeliveryView {
    /// `pending`, `received` (acknowledged with an ARECF), `not_received` (the ARECF says why), `unverified` (the ARECF is not
    /// acceptable), `not_listed` (the buyer is not in the directory), `not_sent` or `given_up`.
    pub status: &'static str,
    /// The reason, or what went wrong last.
    #[schema(value_type = Option<String>)]
    pub reason: Option<Spoken>,
    pub attempts: u32,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Instant,
}

impl From<&BuyerDelivery> for BuyerDeliveryView {
    fn from(delivery: &BuyerDelivery) -> Self {
        Self {
            status: delivery.state.as_str(),
            reason: delivery.words.clone().map(Into::into),
            attempts: delivery.attempts,
            updated_at: delivery.at.into(),
        }
    }
}

/// A buyer's commercial approval or rejection.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BuyerAnswerView {
    /// `approved` or `rejected`.
    pub status: &'static str,
    /// The buyer's reason for the rejection.
    pub reason: Option<String>,
    /// Who signed it: the subject of the certificate.
    pub signer: String,
    /// Whether the certificate was issued by an authority that this deployment trusts. Another answer is provisional: that of a
    /// trusted signer replaces it.
    pub signer_trusted: bool,
    #[schema(value_type = String, format = DateTime)]
    pub received_at: Instant,
}

impl From<&BuyerAnswer> for BuyerAnswerView {
    fn from(answer: &BuyerAnswer) -> Self {
        Self {
            status: match answer.estado {
                EstadoAprobacion::Aceptado => "approved",
                EstadoAprobacion::Rechazado => "rejected",
            },
            reason: answer.reason.clone().map(Into::into),
            signer: answer.signer.clone().into(),
            signer_trusted: answer.signer_trusted,
            received_at: answer.received_at.into(),
        }
    }
}

impl DocumentView {
    /// The view of a receipt; its stamp uses these hosts.
    pub fn of(receipt: &Receipt, hosts: &StampHosts) -> Self {
        let signed = receipt.fiscal.signed.as_ref();
        let particulars = receipt.fiscal.particulars.clone().unwrap_or_default();
        Self {
            public_id: receipt.public_id.to_string(),
            idempotency_key: receipt.idempotency_key.clone(),
            external_id: receipt.external_id.clone(),
            ecf_type: receipt.fiscal.ecf_type.as_str().to_owned(),
            environment: receipt.scope.environment.as_str().to_owned(),
            encf: signed.map(|signed| signed.encf.to_string()),
            status: receipt.state.to_string(),
            rnc_comprador: receipt.fiscal.rnc_comprador.clone(),
            razon_social_comprador: particulars.razon_social_comprador,
            monto_total: receipt.fiscal.monto_total.clone(),
            total_itbis: particulars.total_itbis,
            fecha_emision: receipt.fiscal.fecha_emision.to_string(),
            created_at: receipt.created_at.into(),
            updated_at: receipt.updated_at.into(),
            scheduled_for: receipt.scheduled_for.map(Instant),
            track_id: receipt.sending.track_id.clone().into(),
            security_code: signed.map(|signed| signed.security_code.clone()).into(),
            electronic_stamp: receipt.electronic_stamp(hosts),
            sign_date: signed.map(|signed| signed.sign_date.clone()),
            submitted_at: receipt.sending.submitted_at.map(Instant),
            completed_at: receipt.completed_at.map(Instant),
            error_code: receipt.error_code.clone(),
            error_message: error_message(receipt).map(Spoken),
            explanations: ExplanationView::all_of(receipt),
            buyer_delivery: receipt.buyer.delivery.as_ref().map(Into::into),
            buyer_answer: receipt.buyer.answer.as_ref().map(Into::into),
            stages: ReachedStageView::all_of(receipt),
        }
    }
}

/// The reason of a failure, or the authority's words.
pub fn error_message(receipt: &Receipt) -> Option<Bilingual> {
    let stored = receipt.error_message.as_deref()?;
    Some(failure_said(receipt.error_code.as_deref().unwrap_or_default(), stored))
}

/// A receipt with the tax authority's answer and its files.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FullDocumentView {
    #[serde(flatten)]
    pub document: DocumentView,
    #[serde(flatten)]
    pub response: TaxauthResponse,
    pub artifacts: ArtifactsView,
    /// How many hours the receipt had been waiting for the tax authority when somebody was alarmed about it last; 72 is the
    /// legal limit.
    pub delivery_alarm_hours: Option<u32>,
}

impl FullDocumentView {
    /// The view of a receipt; its stamp uses these hosts, and the deployment retains documents for `retention_years`.
    pub fn of(receipt: &Receipt, hosts: &StampHosts, retention_years: u32) -> Self {
        Self {
            document: DocumentView::of(receipt, hosts),
            response: TaxauthResponse::of(receipt.taxauth_response.as_deref()),
            artifacts: ArtifactsView::of(receipt, retention_years),
            delivery_alarm_hours: receipt.alarms.delivery_hours,
        }
    }
}

/// Which files of a receipt can be downloaded.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ArtifactsView {
    pub generated_xml: bool,
    pub signed_xml: bool,
    pub rfce: bool,
    pub ri: bool,
    #[serde(flatten)]
    pub response: TaxauthArtifact,
    /// The path of each existing file.
    pub links: BTreeMap<&'static str, String>,
    /// Whole years for which this deployment retains them.
    pub retention_years: u32,
}

impl ArtifactsView {
    /// The files of this receipt.
    pub fn of(receipt: &Receipt, retention_years: u32) -> Self {
        let is_signed = receipt.fiscal.signed.is_some();
        let has_rfce = receipt
            .fiscal
            .signed
            .as_ref()
            .is_some_and(|signed| signed.rfce.is_some());
        let has_response = receipt.taxauth_response.is_some();
        // The generated XML is the signed one without its signature; the RI is rendered on request.
        let files = [
            ("generated_xml", "generated-xml", is_signed),
            ("signed_xml", "signed-xml", is_signed),
            ("rfce", "rfce", has_rfce),
            ("ri", "ri", is_signed),
            ("taxauth_response", "taxauth-response", has_response),
            ("dgii_response", "dgii-response", has_response),
            (
                "arecf",
                "arecf",
                receipt
                    .buyer
                    .delivery
                    .as_ref()
                    .is_some_and(|delivery| delivery.arecf.is_some()),
            ),
            ("acecf", "acecf", receipt.buyer.answer.is_some()),
        ];
        let there = files.into_iter().filter(|(_, _, is_there)| *is_there);
        let id = receipt.public_id;
        let links = there.map(|(name, file, _)| (name, format!("/api/v1/client/documents/{id}/artifacts/{file}")));
        Self {
            generated_xml: is_signed,
            signed_xml: is_signed,
            rfce: has_rfce,
            ri: is_signed,
            response: has_response.into(),
            links: links.collect(),
            retention_years,
        }
    }
}

#[cfg(test)]
mod tests;
