//! `POST /fe/aprobacioncomercial/api/ecf`: a buyer approves or rejects a receipt of ours.
//!
//! An approval must be signed and repeat what the receipt says; amounts are compared by value, since the authority's own sender
//! writes them without decimals. The first answer to a receipt is final: the same again is 200, another one 400.

use axum::Json;
use axum::response::{IntoResponse, Response};
use ecf::catalogue::EstadoAprobacion;
use ecf::messages::Acecf;
use ecf::messages::acecf::DetalleAprobacionComercial;
use ecf::{Amounts, Monto, ReceiptState};
use ecf_api::ApiError;
use ecf_store::{Answered, ArtifactKind, BuyerAnswer, ContentHash, Receipt};
use ecf_webhooks::News;
use http::HeaderMap;
use serde::Serialize;

use crate::address::Address;
use crate::{App, limits, upload};

/// What the authority's own service answers.
#[derive(Debug, Serialize)]
struct ReceivedView {
    codigo: &'static str,
    estado: &'static str,
    mensaje: [&'static str; 0],
}

pub(crate) async fn approve(
    app: &App,
    address: &Address,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, ApiError> {
    let now = app.clock.now();
    let published = app.published(address, headers, now).await?;
    let document =
        upload::document(headers, body).ok_or_else(|| refused("no_document", "the request carries no XML"))?;
    let verified = xmldsig::verify(upload::without_mark(document), &limits());
    let verified = verified.map_err(|error| refused("signature", error.to_string()))?;
    let detail = Acecf::from_xml(&verified.document)
        .map_err(|error| refused("structure", error.to_string()))?
        .detalle_aprobacion_comercial;
    let signed_at = detail.fecha_hora_aprobacion_comercial.and_then(|at| at.instant());
    let usable = verified.certificate.check_usable_at(signed_at.unwrap_or(now));
    usable.map_err(|error| refused("signature", error.to_string()))?;
    let recipient = match published {
        Some(recipient) => recipient,
        None => {
            let named = app.named(address, headers, detail.rnc_emisor.as_ref(), now).await?;
            named.ok_or_else(|| refused("unknown_issuer", "RNCEmisor is nobody who receives here"))?
        }
    };
    let scope = &recipient.scope;
    let receipt = match &detail.encf {
        Some(encf) if detail.rnc_emisor.as_ref() == Some(&recipient.company.rnc) => {
            app.table.receipt_by_encf(scope, encf).await?
        }
        _ => None,
    };
    let receipt =
        receipt.ok_or_else(|| refused("receipt_not_found", "no receipt of ours has this RNCEmisor and eNCF"))?;
    check(&detail, &receipt)?;
    let Some(estado) = detail.estado else {
        return Err(refused("structure", "Estado is missing"));
    };
    let answer = BuyerAnswer {
        estado,
        reason: detail.detalle_motivo_rechazo.as_ref().map(ToString::to_string),
        acecf: ContentHash::of(document),
        received_at: now,
        signer: verified.certificate.subject.clone(),
    };
    let put = app.artifacts.put(
        scope,
        receipt.created_at,
        &receipt.public_id,
        ArtifactKind::Acecf,
        document.to_vec(),
    );
    put.await?;
    let news = News::ApprovalReceived {
        receipt: &receipt,
        answer: &answer,
    };
    let news = news.announcement(scope, recipient.company.rnc.as_str(), now);
    match app
        .table
        .record_buyer_answer(scope, &receipt.public_id, &answer, &news)
        .await?
    {
        Answered::Now => {
            tracing::info!(receipt.id = %receipt.public_id, estado = ?estado, "a buyer answered a receipt");
            app.tell(scope, &news.id).await;
        }
        Answered::Already(earlier) if earlier.estado == estado => {}
        Answered::Already(_) => {
            return Err(refused(
                "answered_already",
                "the buyer gave another answer to this receipt before",
            ));
        }
    }
    let view = ReceivedView {
        codigo: "1",
        estado: match estado {
            EstadoAprobacion::Aceptado => "Aprobación Comercial Recibida",
            EstadoAprobacion::Rechazado => "Rechazo Comercial Recibido",
        },
        mensaje: [],
    };
    Ok(Json(view).into_response())
}

/// An approval repeats the receipt that it is about.
fn check(detail: &DetalleAprobacionComercial, receipt: &Receipt) -> Result<(), ApiError> {
    if !receipt.ecf_type.is_approved_by_buyers() {
        let why = format!("receipts of type {} are not approved", receipt.ecf_type);
        return Err(refused("type_not_approved", why));
    }
    if receipt.encf().is_none()
        || matches!(
            receipt.state,
            ReceiptState::Rejected | ReceiptState::Cancelled | ReceiptState::Incapacity
        )
    {
        let why = format!("the receipt is {}: it is not valid", receipt.state);
        return Err(refused("receipt_not_valid", why));
    }
    let differs = |field: &str, given: &dyn std::fmt::Display| {
        refused("differs_from_receipt", format!("{field} {given} is not the receipt's"))
    };
    if let Some(given) = detail.fecha_emision.filter(|given| *given != receipt.fecha_emision) {
        return Err(differs("FechaEmision", &given));
    }
    let total = Monto::parse(&receipt.monto_total, Amounts::Verbatim);
    let total = total.map_err(|error| ApiError::internal(format!("MontoTotal of {}: {error}", receipt.public_id)))?;
    if let Some(given) = detail
        .monto_total
        .as_ref()
        .filter(|given| given.value() != total.value())
    {
        return Err(differs("MontoTotal", given));
    }
    let buyer = detail.rnc_comprador.as_ref();
    if let Some(given) = buyer.filter(|given| receipt.rnc_comprador.as_deref() != Some(given.as_str())) {
        return Err(differs("RNCComprador", given));
    }
    Ok(())
}

fn refused(code: &'static str, why: impl Into<String>) -> ApiError {
    ApiError::bad_request(code, why.into())
}
