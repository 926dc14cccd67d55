//! `POST /fe/aprobacioncomercial/api/ecf`: a buyer approves or rejects a receipt of ours.
//!
//! The first answer of a trusted signer is final: the same answer again is 200, a different one 400. The answer of any
//! other signer is provisional, and its mismatches all get the same error.

use axum::Json;
use axum::response::{IntoResponse, Response};
use ecf::catalogue::EstadoAprobacion;
use ecf_api::ApiError;
use ecf_exchange::answer::{self, NotTaken};
use ecf_language::{Bilingual, say};
use serde::Serialize;

use crate::{App, Call, limits, upload};

/// The response of the authority's own service.
#[derive(Debug, Serialize)]
struct ReceivedView {
    codigo: &'static str,
    estado: &'static str,
    mensaje: [&'static str; 0],
}

pub(crate) async fn approve(app: &App, call: &Call, body: &[u8]) -> Result<Response, ApiError> {
    let now = app.clock.now();
    let published = app.published(call, now).await?;
    let document = upload::document(&call.headers, body).ok_or_else(|| {
        refused(
            "no_document",
            say!("the request carries no XML", "la petición no trae XML"),
        )
    })?;
    let signed = answer::read(&app.judge, document, &limits(), now).await?;
    if !signed.as_ref().is_ok_and(|signed| signed.signer_trusted) {
        app.limit(call.visitor, "aprobacioncomercial", now).await?;
    }
    let signed = signed.map_err(not_taken)?;
    let detail = &signed.detail;
    let recipient = match published {
        Some(recipient) => recipient,
        None => {
            let named = app.named(call, detail.rnc_emisor.as_ref(), now).await?;
            named.ok_or_else(|| {
                refused(
                    "unknown_issuer",
                    say!("RNCEmisor does not receive here", "RNCEmisor no recibe aquí"),
                )
            })?
        }
    };
    let scope = &recipient.scope;
    let receipt = match &detail.encf {
        Some(encf) if detail.rnc_emisor.as_ref() == Some(&recipient.company.rnc) => {
            app.table.receipt_by_encf(scope, encf).await?
        }
        _ => None,
    };
    let receipt = receipt.ok_or_else(receipt_not_found)?;
    answer::compare(detail, &receipt).map_err(|why| {
        if signed.signer_trusted {
            not_taken(why)
        } else {
            // The difference would reveal the receipt to a stranger.
            receipt_not_found()
        }
    })?;
    let kept = answer::store(&app.table, &app.artifacts, scope, &receipt, &signed, document, now).await?;
    if let Some(news) = kept.map_err(not_taken)? {
        app.enqueue_announcement(scope, &news).await;
    }
    let view = ReceivedView {
        codigo: "1",
        estado: match signed.estado {
            EstadoAprobacion::Aceptado => "Aprobación Comercial Recibida",
            EstadoAprobacion::Rechazado => "Rechazo Comercial Recibido",
        },
        mensaje: [],
    };
    Ok(Json(view).into_response())
}

fn receipt_not_found() -> ApiError {
    refused(
        "receipt_not_found",
        say!(
            "no receipt of ours that can be answered fits this message",
            "ningún comprobante nuestro que se pueda responder corresponde a este mensaje"
        ),
    )
}

fn not_taken(NotTaken { code, why }: NotTaken) -> ApiError {
    ApiError::bad_request(code, why)
}

fn refused(code: &'static str, why: Bilingual) -> ApiError {
    ApiError::bad_request(code, why)
}
