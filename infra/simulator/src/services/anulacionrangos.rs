//! `anulacionrangos`: annuls ranges of numbers that the issuer will never use.

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
    routing::post,
};

use crate::{
    App, answer::Answer, call::Caller, document::Document, encf::Encf, environment::Environment, failure::Failure,
    signature, state::StateError, structure, upload::Upload, xml::Element,
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/anulacionrangos/api/operaciones/anularrango", post(anular))
}

/// The result of the whole request.
#[derive(Debug)]
struct AnnulmentResult {
    codigo: &'static str,
    mensajes: Vec<String>,
}

impl AnnulmentResult {
    fn refused(why: impl Into<String>) -> Self {
        Self {
            codigo: "2",
            mensajes: vec![why.into()],
        }
    }
}

async fn anular(State(app): State<App>, caller: Caller, request: Request) -> Result<Response, Failure> {
    let upload = Upload::take(request).await?;
    let (rnc, outcome) = match upload.document() {
        Err(refusal) => (String::new(), AnnulmentResult::refused(refusal.valor)),
        Ok(document) => {
            let (app, environment) = (app.clone(), caller.environment);
            let rnc = document
                .root
                .text_at(&["Encabezado", "RncEmisor"])
                .unwrap_or_default()
                .to_owned();
            let judged = tokio::task::spawn_blocking(move || judge(&app, environment, &document)).await??;
            (rnc, judged)
        }
    };
    let nombre = app
        .state
        .settings()
        .registry
        .remove(&rnc)
        .map(|taxpayer| taxpayer.nombre)
        .unwrap_or_default();
    Ok(Answer::new("RespuestaAnulacionRango")
        .field("rnc", rnc)
        .field("codigo", outcome.codigo)
        .field("nombre", nombre)
        .field("mensajes", outcome.mensajes)
        .respond(caller.form))
}

fn judge(app: &App, environment: Environment, document: &Document) -> Result<AnnulmentResult, StateError> {
    let root = &document.root;
    let faults = structure::faults_of_message(root, "ANECF");
    if !faults.is_empty() {
        return Ok(AnnulmentResult::refused(format!(
            "El tipo o la estructura del documento no es válida. {}",
            faults.join(" ")
        )));
    }
    let signer = match signature::verify(document) {
        Ok(signer) if signer.is_in_force(app.now()) => signer,
        _ => return Ok(AnnulmentResult::refused("La firma del documento no es válida.")),
    };
    let rnc = root.text_at(&["Encabezado", "RncEmisor"]).unwrap_or_default();
    if !app
        .state
        .settings()
        .is_delegated(&signer.fingerprint, &signer.owner, rnc)
    {
        return Ok(AnnulmentResult::refused(format!(
            "El RNC del certificado no está delegado para el RNC {rnc}."
        )));
    }
    let ranges = match ranges(root) {
        Ok(ranges) => ranges,
        Err(why) => return Ok(AnnulmentResult::refused(why)),
    };
    annul(app, environment, rnc, &ranges)
}

/// Reads the ranges and compares the stated counts with them.
fn ranges(root: &Element) -> Result<Vec<(Encf, Encf)>, String> {
    let count = |element: &Element| {
        element
            .text_at(&["CantidadeNCFAnulados"])
            .and_then(|text| text.parse().ok())
    };
    let (mut ranges, mut all) = (Vec::new(), 0u64);
    for (index, entry) in root
        .get("DetalleAnulacion")
        .into_iter()
        .flat_map(|detail| &detail.children)
        .enumerate()
    {
        if entry.text_at(&["NoLinea"]) != Some(&(index + 1).to_string()) {
            return Err("NoLinea no está en orden.".to_owned());
        }
        let mut of_entry = 0u64;
        for range in entry
            .get("TablaRangoSecuenciasAnuladaseNCF")
            .into_iter()
            .flat_map(|table| &table.children)
        {
            let bound = |name| range.text_at(&[name]).and_then(Encf::parse);
            let Some((first, last)) = bound("SecuenciaeNCFDesde").zip(bound("SecuenciaeNCFHasta")) else {
                return Err("Una secuencia no es válida.".to_owned());
            };
            let tipo = entry.text_at(&["TipoeCF"]).and_then(|text| text.parse().ok());
            if tipo != Some(first.tipo) || tipo != Some(last.tipo) {
                return Err("El tipo de las secuencias no corresponde a TipoeCF.".to_owned());
            }
            if first.number > last.number {
                return Err("SecuenciaeNCFDesde es mayor que SecuenciaeNCFHasta.".to_owned());
            }
            of_entry += last.number - first.number + 1;
            ranges.push((first, last));
        }
        if count(entry) != Some(of_entry) {
            return Err(format!(
                "CantidadeNCFAnulados de la línea {} debe ser {of_entry}.",
                index + 1
            ));
        }
        all += of_entry;
    }
    let stated = root.get("Encabezado").and_then(count);
    if stated == Some(all) {
        Ok(ranges)
    } else {
        Err(format!("CantidadeNCFAnulados debe ser {all}."))
    }
}

/// Annuls every valid range; the messages name the ranges that were rejected.
fn annul(
    app: &App,
    environment: Environment,
    rnc: &str,
    ranges: &[(Encf, Encf)],
) -> Result<AnnulmentResult, StateError> {
    let _turn = app.judging.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut refused = Vec::new();
    for (first, last) in ranges {
        let (from, to) = (first.to_string(), last.to_string());
        let used = app.state.is_used(environment, rnc, &from, &to)?;
        if used
            || app
                .state
                .is_annulled(environment, rnc, first.tipo, first.number, last.number)?
        {
            refused.push(format!("Las secuencias {from} a {to} han sido utilizadas."));
        } else {
            app.state
                .add_annulment(environment, rnc, first.tipo, first.number, last.number)?;
        }
    }
    if refused.is_empty() {
        return Ok(AnnulmentResult {
            codigo: "1",
            mensajes: vec!["Secuencias anuladas.".to_owned()],
        });
    }
    if refused.len() < ranges.len() {
        refused.insert(0, "Secuencias anuladas, excepto las del detalle.".to_owned());
    }
    Ok(AnnulmentResult {
        codigo: "2",
        mensajes: refused,
    })
}
