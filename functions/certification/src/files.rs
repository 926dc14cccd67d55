//! `GET …/runs/{id}/files`: what a person uploads in the portal, as a ZIP.

use std::io::{Cursor, Write as _};

use axum::extract::State;
use ecf_api::{ApiError, Caller, CodedError, Download, PathId, ValidationError};
use ecf_language::say;
use ecf_store::{ArtifactKind, Receipt, RunId};
use ecf_workbook::Phase;
use ecf_workbook::run::RowState;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::App;
use crate::rows::{Record, Row, rows};
use crate::show::find;

/// For the person who stands before the portal.
const LEEME: &str = include_str!("LEEME.txt");

/// Descargar los archivos que se cargan en el portal
///
/// A ZIP of the signed full invoices below RD$250,000.00, under the names that the authority prescribes, and instructions in Spanish.
/// An invoice is in it once its summary was accepted.
#[utoipa::path(
    get,
    path = "/api/v1/client/certification/runs/{run_id}/files",
    operation_id = "certification_files",
    tag = "Certificacion",
    params(("run_id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "The files", content((Vec<u8> = "application/zip"))),
        (status = 401, description = "The key is wrong, expired or revoked", body = CodedError),
        (status = 404, description = "No such run", body = CodedError),
        (status = 409, description = "`no_files_yet`: no summary was accepted yet", body = CodedError),
        (status = 422, description = "A missing key", body = ValidationError),
    ),
    security(("api_key" = ["read"])),
)]
pub(crate) async fn files(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId<RunId>,
) -> Result<Download, ApiError> {
    let (store, scope, now) = (&app.store, &caller.scope, app.clock.now());
    let run = find(&app, &caller, &id).await?;
    let book = store.books.of(&store.artifacts, scope, &caller.rnc, &run, now).await?;
    let rows = rows(&store.table, scope, &run, &book).await?;
    let mut invoices = Vec::new();
    for receipt in rows.iter().filter_map(uploadable) {
        let signed = receipt.fiscal.signed.as_ref();
        let signed = signed.ok_or_else(|| ApiError::internal("an accepted summary has no signed invoice"))?;
        let (at, kind) = (receipt.created_at, ArtifactKind::SignedXml);
        let xml = store
            .artifacts
            .get(scope, at, &receipt.public_id, kind, &signed.signed_xml);
        let xml = xml
            .await?
            .ok_or_else(|| ApiError::internal("the signed invoice is not in the bucket"))?;
        invoices.push((format!("{}{}.xml", caller.rnc, signed.encf), xml));
    }
    if invoices.is_empty() {
        let message = say!(
            "no summary of a consumer invoice was accepted yet, so there is nothing to upload",
            "todavía no se aceptó ningún resumen de una factura de consumo, así que no hay nada que cargar"
        );
        return Err(ApiError::conflict("no_files_yet", message));
    }
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, bytes: &[u8]| {
        zip.start_file(name, SimpleFileOptions::default())?;
        zip.write_all(bytes).map_err(zip::result::ZipError::from)
    };
    add("LEEME.txt", LEEME.as_bytes()).map_err(ApiError::internal)?;
    for (name, xml) in &invoices {
        add(name, xml).map_err(ApiError::internal)?;
    }
    let bytes = zip.finish().map_err(ApiError::internal)?.into_inner();
    Ok(Download::new(
        bytes,
        "application/zip",
        format!("certificacion-{id}.zip"),
    ))
}

/// The receipt whose full invoice a person uploads: its summary was accepted.
fn uploadable(row: &Row) -> Option<&Receipt> {
    match &row.record {
        Some(Record::Receipt(receipt))
            if row.entry.phase == Phase::Summaries
                && row.entry.state == RowState::Accepted
                && receipt.is_sent_as_summary() =>
        {
            Some(receipt)
        }
        _ => None,
    }
}
