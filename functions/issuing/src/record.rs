//! The record of a receipt, built from the request.

use std::time::Duration;

use ecf::{Numbered, ReceiptState};
use ecf_runtime::Metric;
use ecf_store::{
    NextStep, Receipt, ReceiptId, StoreError,
    receipts::{NewReceipt, Particulars},
};
use jiff::Timestamp;

use crate::App;
use crate::issuer::Issuer;
use crate::request::{IssueQuery, IssueRequest};

/// The request and its issuer.
pub(crate) struct Issuance<'r> {
    pub(crate) issuer: &'r Issuer,
    pub(crate) request: &'r IssueRequest,
    pub(crate) query: &'r IssueQuery,
    /// The company's setting to hold notes until the verdict on what they modify.
    pub(crate) holds_notes: bool,
    pub(crate) id: ReceiptId,
    pub(crate) payload_hash: [u8; 32],
}

/// The record of a document, without number and signature.
pub(crate) fn new_receipt(
    issuance: &Issuance<'_>,
    numbered: &Numbered,
    state: ReceiptState,
    now: Timestamp,
) -> NewReceipt {
    let request = issuance.request;
    NewReceipt {
        public_id: issuance.id,
        company_rnc: issuance.issuer.rnc.clone(),
        idempotency_key: request.idempotency_key.clone(),
        payload_hash: issuance.payload_hash,
        ecf_type: request.ecf_type,
        external_id: request.external_id.clone(),
        mode: issuance.query.mode,
        state,
        created_at: now,
        scheduled_for: request.scheduled_for,
        monto_total: numbered.monto_total().to_string(),
        rnc_comprador: numbered.rnc_comprador().map(ToString::to_string),
        fecha_emision: numbered.fecha_emision(),
        particulars: particulars(numbered),
        signed: None,
        payload: None,
        note: None,
    }
}

/// What lists show of the document.
pub(crate) fn particulars(numbered: &Numbered) -> Particulars {
    Particulars {
        razon_social_comprador: numbered.razon_social_comprador().map(ToString::to_string),
        total_itbis: numbered.total_itbis().map(ToString::to_string),
    }
}

/// Reports an issued receipt to the operator: in the log and as a metric.
pub(crate) fn report_issued(app: &App, receipt: &Receipt) {
    tracing::info!(receipt.id = %receipt.public_id, company.id = %receipt.scope.company, ecf_type = %receipt.fiscal.ecf_type, "receipt issued");
    let environment = receipt.scope.environment.as_str();
    app.metrics
        .emit(environment, &[(Metric::ReceiptsIssued, 1)], app.clock.now());
}

/// Enqueues the submission of a signed receipt.
pub(crate) async fn send(app: &App, receipt: &Receipt) -> Result<(), StoreError> {
    app.queues.send_next(receipt, NextStep::Send, Duration::ZERO).await
}
