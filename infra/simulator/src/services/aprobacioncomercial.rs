//! `aprobacioncomercial`: the buyer's approval or rejection of an accepted receipt.

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
    routing::post,
};
use rust_decimal::Decimal;

use crate::{
    App,
    answer::Answer,
    call::Caller,
    data_test,
    document::Document,
    encf::Encf,
    environment::Environment,
    facts::Facts,
    failure::Failure,
    signature,
    state::{Kind, NewDocument, StateError},
    structure,
    upload::Upload,
    verdict::{Mensaje, Verdict},
};

/// Types that a buyer approves or rejects.
const APPROVABLE: [u8; 5] = [31, 33, 34, 44, 45];

pub(super) fn routes() -> Router<App> {
    Router::new().route("/aprobacioncomercial/api/aprobacioncomercial", post(recibir))
}

async fn recibir(State(app): State<App>, caller: Caller, request: Request) -> Result<Response, Failure> {
    let upload = Upload::take(request).await?;
    let outcome = match upload.document() {
        Err(refusal) => Err(refusal.valor),
        Ok(document) => {
            let environment = caller.environment;
            tokio::task::spawn_blocking(move || keep(&app, environment, &document)).await??
        }
    };
    let (codigo, estado, mensaje) = match outcome {
        Ok(()) => ("1", "Aprobación Comercial Aprobada.", Vec::new()),
        Err(why) => ("2", "Aprobacion Comercial Rechazada.", vec![why]),
    };
    Ok(Answer::new("RespuestaAprobacionComercial")
        .field("mensaje", mensaje)
        .field("estado", estado)
        .field("codigo", codigo)
        .respond(caller.form))
}

/// Checks an approval and stores it; the inner result is the authority's answer.
fn keep(app: &App, environment: Environment, document: &Document) -> Result<Result<(), String>, StateError> {
    let facts = Facts::of_approval(&document.root);
    let outcome = judge(app, environment, document, &facts)?;
    let verdict = match &outcome {
        Ok(()) => Verdict::accepted(Vec::new()),
        Err(why) => Verdict::rejected_free(vec![Mensaje::new("0", why.clone())]),
    };
    let verdict = data_test::judge(&app.state, environment, Kind::Acecf, document, &facts, verdict)?;
    let outcome = match verdict.mensajes.first() {
        Some(mensaje) => Err(mensaje.valor.clone()),
        None => Ok(()),
    };
    let now = app.now();
    app.state.add_document(&NewDocument {
        environment,
        kind: Kind::Acecf,
        sha256: &document.sha256,
        received_at: now,
        visible_at: now,
        verdict: &verdict,
        facts: &facts,
    })?;
    Ok(outcome)
}

fn judge(
    app: &App,
    environment: Environment,
    document: &Document,
    facts: &Facts,
) -> Result<Result<(), String>, StateError> {
    let refuse = |why: &str| Ok(Err(why.to_owned()));
    let faults = structure::faults_of_message(&document.root, "ACECF");
    if !faults.is_empty() {
        return Ok(Err(format!(
            "La estructura del archivo no es válida. {}",
            faults.join(" ")
        )));
    }
    let signer = match signature::verify(document) {
        Ok(signer) if signer.is_in_force(app.now()) => signer,
        _ => return refuse("La firma del documento no es válida."),
    };
    let buyer = facts.rnc_comprador.as_deref().unwrap_or_default();
    if !app
        .state
        .settings()
        .is_delegated(&signer.fingerprint, &signer.owner, buyer)
    {
        return refuse("El RNC del certificado no está delegado para el RNC comprador.");
    }
    if Encf::parse(&facts.encf).is_none_or(|encf| !APPROVABLE.contains(&encf.tipo)) {
        return refuse("El tipo de e-CF no requiere aprobación comercial.");
    }
    // The receipts of a data test were issued by the authority's own taxpayer, outside of any record.
    if data_test::of(&app.state, environment, buyer).is_some() {
        return Ok(Ok(()));
    }
    let records = app
        .state
        .documents_by_number(environment, &facts.rnc_emisor, &facts.encf)?;
    let amount = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<Decimal>().ok());
    let fits = records.iter().any(|record| {
        record.codigo_at(app.now()).is_accepted()
            && record.facts.rnc_comprador.as_deref() == Some(buyer)
            && record.facts.fecha_emision == facts.fecha_emision
            && amount(&record.facts.monto_total) == amount(&facts.monto_total)
    });
    if records.is_empty() {
        return refuse("La factura no fue encontrada.");
    }
    if fits {
        Ok(Ok(()))
    } else {
        refuse("No se encontró un e-CF válido para esta aprobación.")
    }
}
