//! `GET …/runs/{id}/files`: what a person uploads in the portal, as a ZIP.

use std::collections::BTreeSet;
use std::io::{Cursor, Write as _};

use axum::extract::State;
use bytes::Bytes;
use ecf_api::{ApiError, Caller, CodedError, Download, PathId, ValidationError};
use ecf_evidence::Paper;
use ecf_language::say;
use ecf_runtime::MOST_FILE_BYTES;
use ecf_store::{
    ArtifactKind, Receipt, RunId,
    runs::{Run, RunKind},
};
use ecf_workbook::Phase;
use ecf_workbook::run::RowState;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::App;
use crate::rows::{Record, Row, rows};
use crate::show::find;

/// For the person who stands before the portal.
const LEEME: &str = include_str!("LEEME.txt");
const LEEME_SIMULATION: &str = include_str!("LEEME-simulacion.txt");

/// Less than the 10 MB that the portal takes in step 5: what one answer can have, beside the invoices.
const MOST_PRINTED_BYTES: usize = MOST_FILE_BYTES - 256 * 1_024;

/// Descargar los archivos que se cargan en el portal
///
/// A ZIP of the signed full invoices below RD$250,000.00, under the names that the authority prescribes, and instructions in Spanish.
/// An invoice is in it once its summary was accepted. For a simulation also the print of one receipt of each kind, in the folder RI.
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
        (status = 409, description = "`no_files_yet`: no summary was accepted yet; `prints_too_large`: the prints do not fit into an answer", body = CodedError),
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
    let prints = prints(&app, &caller, &run, &rows).await?;
    if invoices.is_empty() && prints.is_empty() {
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
    let read_me = match run.kind {
        RunKind::Data => LEEME,
        RunKind::Simulation => LEEME_SIMULATION,
    };
    add("LEEME.txt", read_me.as_bytes()).map_err(ApiError::internal)?;
    for (name, bytes) in invoices.iter().chain(&prints) {
        add(name, bytes).map_err(ApiError::internal)?;
    }
    let bytes = zip.finish().map_err(ApiError::internal)?.into_inner();
    Ok(Download::new(
        bytes,
        "application/zip",
        format!("certificacion-{id}.zip"),
    ))
}

/// One print of each kind that the portal asks for in step 5, of a simulation.
async fn prints(app: &App, caller: &Caller, run: &Run, rows: &[Row]) -> Result<Vec<(String, Bytes)>, ApiError> {
    let mut kinds = BTreeSet::new();
    let mut prints: Vec<(String, Bytes)> = Vec::new();
    let accepted = |row: &&Row| row.entry.state == RowState::Accepted;
    for row in rows.iter().filter(accepted).filter(|_| run.kind == RunKind::Simulation) {
        let Some(Record::Receipt(receipt)) = &row.record else {
            continue;
        };
        let (Some(signed), kind) = (
            &receipt.fiscal.signed,
            (row.entry.which.receipt_type(), row.entry.phase),
        ) else {
            continue;
        };
        if !kinds.insert(kind) {
            continue;
        }
        let printed = app.files.printed(receipt, signed, Paper::default()).await;
        let printed = printed.map_err(ApiError::internal)?;
        prints.push((format!("RI/{}{}.pdf", caller.rnc, signed.encf), printed));
    }
    let total: usize = prints.iter().map(|(_, bytes)| bytes.len()).sum();
    if total > MOST_PRINTED_BYTES {
        let message = say!(
            "the prints have {total} bytes, and an answer takes {MOST_PRINTED_BYTES}: use a smaller logo",
            "las representaciones impresas tienen {total} bytes y una respuesta admite {MOST_PRINTED_BYTES}: use un logo más pequeño"
        );
        return Err(ApiError::conflict("prints_too_large", message));
    }
    Ok(prints)
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
