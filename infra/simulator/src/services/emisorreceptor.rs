//! `emisorreceptor`: plays another taxpayer, in pre-certification. It offers the services that every taxpayer offers,
//! and sends receipts and approvals on demand.

use std::time::Duration;

use axum::{
    Router,
    body::Bytes,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::{StatusCode, header};
use serde::Deserialize;

use super::autenticacion;
use crate::{
    App,
    answer::Answer,
    call::Caller,
    document::Document,
    emisorreceptor::{self, Defecto},
    environment::Environment,
    facts::Facts,
    failure::Failure,
    signature,
    state::{Exchanged, Kind, NewDocument},
    structure,
    upload::Upload,
    verdict::{Codigo, Verdict},
    xml::Element,
};

/// Timeout of a request to the other side.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Types whose buyers send an approval or rejection.
const APPROVED: [&str; 5] = ["E31", "E33", "E34", "E44", "E45"];

pub(super) fn routes() -> Router<App> {
    let base = "/emisorreceptor";
    Router::new()
        .route(
            &format!("{base}/fe/autenticacion/api/semilla"),
            get(autenticacion::semilla),
        )
        .route(
            &format!("{base}/fe/autenticacion/api/validacioncertificado"),
            post(autenticacion::validar_semilla),
        )
        .route(&format!("{base}/fe/recepcion/api/ecf"), post(recibir))
        .route(
            &format!("{base}/fe/aprobacioncomercial/api/ecf"),
            post(recibir_aprobacion),
        )
        .route(&format!("{base}/api/emision/emisioncomprobantes"), post(emitir))
        .route(&format!("{base}/api/emision/consultaacuserecibo"), get(consultar_acuse))
        .route(&format!("{base}/api/emision/envioaprobacioncomercial"), post(aprobar))
}

/// Receives a receipt and acknowledges it at once, as the buyer that the receipt names.
async fn recibir(State(app): State<App>, _: Caller, request: Request) -> Result<Response, Failure> {
    let upload = Upload::take(request).await?;
    let document = upload.document().map_err(|refusal| Failure::refused(refusal.valor))?;
    let value = |path: &[&str]| document.root.text_at(path).unwrap_or_default().to_owned();
    let rnc_emisor = value(&["Encabezado", "Emisor", "RNCEmisor"]);
    let rnc_comprador = value(&["Encabezado", "Comprador", "RNCComprador"]);
    let encf = value(&["Encabezado", "IdDoc", "eNCF"]).to_ascii_uppercase();
    if rnc_emisor.is_empty() || encf.is_empty() {
        return Err(Failure::refused("El archivo no es un e-CF."));
    }
    let known = app.state.exchanged()?;
    let is_duplicate = known.iter().any(|one| {
        (one.sentido.as_str(), one.tipo.as_str(), one.estado.as_str()) == ("recibido", "ECF", "0")
            && one.rnc_emisor == rnc_emisor
            && one.encf == encf
    });
    let now = app.now();
    let xml = document.source.clone();
    let tipo = value(&["Encabezado", "IdDoc", "TipoeCF"]).parse().unwrap_or(0);
    let motivo = tokio::task::spawn_blocking(move || {
        let faults = structure::faults_of_receipt(&document.root, tipo);
        if !faults.is_empty() || !emisorreceptor::EXCHANGED.contains(&tipo) {
            return Some("1");
        }
        match signature::verify(&document) {
            Ok(signer) if signer.is_in_force(now) => is_duplicate.then_some("3"),
            _ => Some("2"),
        }
    })
    .await?;
    let arecf = emisorreceptor::acknowledgement(&rnc_emisor, &rnc_comprador, &encf, motivo, now);
    let arecf = signed(&emisorreceptor::text(&arecf)).await?;
    app.state.add_exchanged(&Exchanged {
        sentido: "recibido".to_owned(),
        tipo: "ECF".to_owned(),
        rnc_emisor,
        rnc_comprador,
        encf,
        estado: if motivo.is_some() { "1" } else { "0" }.to_owned(),
        mensajes: motivo.map(str::to_owned).into_iter().collect(),
        xml,
    })?;
    Ok(([(header::CONTENT_TYPE, "application/xml")], arecf).into_response())
}

/// Receives an approval: 200 or 400.
async fn recibir_aprobacion(State(app): State<App>, _: Caller, request: Request) -> Result<Response, Failure> {
    let upload = Upload::take(request).await?;
    let document = upload.document().map_err(|refusal| Failure::refused(refusal.valor))?;
    let facts = crate::facts::Facts::of_approval(&document.root);
    let (now, xml) = (app.now(), document.source.clone());
    let is_good = tokio::task::spawn_blocking(move || {
        structure::faults_of_message(&document.root, "ACECF").is_empty()
            && signature::verify(&document).is_ok_and(|signer| signer.is_in_force(now))
    })
    .await?;
    app.state.add_exchanged(&Exchanged {
        sentido: "recibido".to_owned(),
        tipo: "ACECF".to_owned(),
        rnc_emisor: facts.rnc_emisor,
        rnc_comprador: facts.rnc_comprador.unwrap_or_default(),
        encf: facts.encf,
        estado: if is_good { "200" } else { "400" }.to_owned(),
        mensajes: Vec::new(),
        xml,
    })?;
    Ok(if is_good {
        StatusCode::OK
    } else {
        StatusCode::BAD_REQUEST
    }
    .into_response())
}

/// The receipt to send and its receiver. `defecto` is an addition of the simulator.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Emision {
    rnc: String,
    tipo_encf: serde_json::Value,
    url_recepcion: String,
    #[serde(default)]
    url_autenticacion: Option<String>,
    #[serde(default)]
    defecto: Option<Defecto>,
}

/// Sends a receipt and returns it.
async fn emitir(State(app): State<App>, caller: Caller, body: Bytes) -> Result<Response, Failure> {
    let order: Emision = read(&body, "EmisionComprobanteModel")?;
    let tipo = order.tipo_encf.to_string().trim_matches('"').parse().unwrap_or(0);
    if !emisorreceptor::EXCHANGED.contains(&tipo) {
        return Err(Failure::refused(
            "El tipo de e-CF no aplica para envío a otro contribuyente.",
        ));
    }
    let now = app.now();
    let known = app.state.exchanged()?;
    let last = known
        .iter()
        .rfind(|one| one.sentido == "enviado" && one.tipo == "ECF" && one.rnc_comprador == order.rnc);
    let (encf, xml) = match (order.defecto, last) {
        (Some(Defecto::Duplicado), Some(last)) => (last.encf.clone(), last.xml.clone()),
        _ => {
            let encf = format!("E{tipo}{:010}", known.len() + 1);
            let receipt = emisorreceptor::receipt(tipo, &encf, &order.rnc, order.defecto, now);
            let text = emisorreceptor::text(&receipt);
            let xml = match order.defecto {
                Some(Defecto::SinFirma) => text,
                Some(Defecto::Firma) => signed(&text).await?.replace("SERVICIO SIMULADO", "OTRO SERVICIO"),
                _ => signed(&text).await?,
            };
            (
                receipt
                    .text_at(&["Encabezado", "IdDoc", "eNCF"])
                    .unwrap_or_default()
                    .to_owned(),
                xml,
            )
        }
    };
    if order.defecto.is_none() {
        accept(&app, caller.environment, &xml, now)?;
    }
    let name = format!("{}{encf}.xml", emisorreceptor::RNC);
    // Written exactly as the authority's own sender writes it.
    let part = format!(
        "Content-Disposition: form-data; name=\"xml\"; filename=\"{name}\"\r\nContent-Type: multipart/form-data;\r\n"
    );
    let address = format!("{}/fe/recepcion/api/ecf", order.url_recepcion.trim_end_matches('/'));
    let sent = send(&address, order.url_autenticacion.as_deref(), ("--", &part), &xml).await;
    let (estado, mensajes) = match sent {
        Ok((status, arecf)) => judge(status, &arecf, &encf, order.defecto, now).await?,
        Err(why) => ("No recibido", vec![why]),
    };
    app.state.add_exchanged(&Exchanged {
        sentido: "enviado".to_owned(),
        tipo: "ECF".to_owned(),
        rnc_emisor: emisorreceptor::RNC.to_owned(),
        rnc_comprador: order.rnc,
        encf,
        estado: estado.to_owned(),
        mensajes,
        xml: xml.clone(),
    })?;
    Ok(([(header::CONTENT_TYPE, "application/xml")], xml).into_response())
}

/// Records a receipt as submitted to the authority and accepted, so that its buyer may query it.
fn accept(app: &App, environment: Environment, xml: &str, now: jiff::Timestamp) -> Result<(), Failure> {
    let Ok(document) = Document::read(xml.as_bytes()) else {
        return Ok(());
    };
    app.state.add_document(&NewDocument {
        environment,
        kind: Kind::Ecf,
        sha256: &document.sha256,
        received_at: now,
        visible_at: now,
        verdict: &Verdict::accepted(Vec::new()),
        facts: &Facts::of_receipt(&document),
    })?;
    Ok(())
}

/// Checks an acknowledgement: it must be signed, name the receipt, and state the reason that the defect requires.
async fn judge(
    status: u16,
    arecf: &[u8],
    encf: &str,
    defecto: Option<Defecto>,
    now: jiff::Timestamp,
) -> Result<(&'static str, Vec<String>), Failure> {
    let Ok(document) = Document::read(arecf) else {
        return Ok((
            "Rechazado",
            vec![format!("El acuse no es un XML válido (HTTP {status}).")],
        ));
    };
    let value = |name: &str| {
        document
            .root
            .text_at(&["DetalleAcusedeRecibo", name])
            .unwrap_or_default()
    };
    let mut mensajes = Vec::new();
    if document.root.name != "ARECF" || value("eNCF") != encf {
        mensajes.push("El acuse no es del e-CF enviado.".to_owned());
    }
    let expected = defecto.map_or("", Defecto::motivo);
    if value("CodigoMotivoNoRecibido") != expected {
        mensajes.push(format!(
            "CodigoMotivoNoRecibido debe ser '{expected}', no '{}'.",
            value("CodigoMotivoNoRecibido")
        ));
    }
    let verified = tokio::task::spawn_blocking(move || signature::verify(&document)).await?;
    if !verified.is_ok_and(|signer| signer.is_in_force(now)) {
        mensajes.push("La firma del acuse no es válida.".to_owned());
    }
    let estado = if mensajes.is_empty() { "Aceptado" } else { "Rechazado" };
    Ok((estado, mensajes))
}

/// The verdict on the acknowledgement of a sent receipt.
async fn consultar_acuse(State(app): State<App>, caller: Caller) -> Result<Response, Failure> {
    let (Some(rnc), Some(encf)) = (caller.params.get(&["rnc"]), caller.params.get(&["encf"])) else {
        return Err(Failure::refused("Los parámetros Rnc y Encf son requeridos."));
    };
    let known = app.state.exchanged()?;
    let sent = known
        .iter()
        .rfind(|one| one.sentido == "enviado" && one.rnc_comprador == rnc && one.encf.eq_ignore_ascii_case(encf));
    let (estado, mensajes) = sent.map_or(("No encontrado", Vec::new()), |one| {
        (one.estado.as_str(), one.mensajes.clone())
    });
    Ok(Answer::new("RespuestaConsultaAcuseRecibo")
        .field("rnc", rnc)
        .field("encf", encf)
        .field("estado", estado)
        .field("mensajes", mensajes)
        .respond(caller.form))
}

/// The receipt to approve, and the address of its issuer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Aprobacion {
    url_aprobacion_comercial: String,
    #[serde(default)]
    url_autenticacion: Option<String>,
    rnc: String,
    encf: String,
    estado_aprobacion: serde_json::Value,
}

/// Sends the buyer's approval or rejection of an accepted receipt, and returns it.
async fn aprobar(State(app): State<App>, caller: Caller, body: Bytes) -> Result<Response, Failure> {
    let order: Aprobacion = read(&body, "EnvioAprobacionComercialModel")?;
    let encf = order.encf.to_ascii_uppercase();
    if !APPROVED.iter().any(|tipo| encf.starts_with(tipo)) {
        return Err(Failure::refused("El tipo de e-CF no requiere aprobación comercial."));
    }
    let now = app.now();
    let records = app.state.documents_by_number(caller.environment, &order.rnc, &encf)?;
    let record = records.iter().find(|record| {
        let codigo = record.codigo_at(now);
        matches!(codigo, Codigo::Aceptado | Codigo::AceptadoCondicional)
    });
    let Some(facts) = record.map(|record| &record.facts) else {
        return Err(Failure::refused("La factura no fue encontrada."));
    };
    let estado = order.estado_aprobacion.to_string();
    let approval = emisorreceptor::approval(
        &emisorreceptor::Approval {
            rnc_emisor: &order.rnc,
            encf: &encf,
            fecha_emision: facts.fecha_emision.as_deref().unwrap_or_default(),
            monto_total: facts.monto_total.as_deref().unwrap_or_default(),
            rnc_comprador: facts.rnc_comprador.as_deref().unwrap_or(emisorreceptor::RNC),
            estado: estado.trim_matches('"'),
        },
        now,
    );
    let xml = signed(&emisorreceptor::text(&approval)).await?;
    // As the authority's own sender writes it: no quotes, no type, no dashes before the boundary.
    let part = "Content-Disposition: form-data; name=xml; filename=aprobacionComercial.xml; filename*=utf-8''aprobacionComercial.xml\r\n";
    let base = order.url_aprobacion_comercial.trim_end_matches('/');
    let address = format!("{base}/fe/aprobacioncomercial/api/ecf");
    let sent = send(&address, order.url_autenticacion.as_deref(), ("", part), &xml).await;
    let (estado, mensajes) = match sent {
        Ok((status, body)) => (status.to_string(), vec![String::from_utf8_lossy(&body).into_owned()]),
        Err(why) => ("0".to_owned(), vec![why]),
    };
    app.state.add_exchanged(&Exchanged {
        sentido: "enviado".to_owned(),
        tipo: "ACECF".to_owned(),
        rnc_emisor: order.rnc,
        rnc_comprador: facts.rnc_comprador.clone().unwrap_or_default(),
        encf,
        estado,
        mensajes,
        xml: xml.clone(),
    })?;
    Ok(([(header::CONTENT_TYPE, "application/xml")], xml).into_response())
}

/// Reads a request body in JSON, or in XML with the same names.
fn read<T: serde::de::DeserializeOwned>(body: &[u8], root: &str) -> Result<T, Failure> {
    let unreadable = |why: &dyn std::fmt::Display| Failure::refused(format!("La solicitud no es válida: {why}"));
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    if body.trim_ascii_start().first() != Some(&b'<') {
        return serde_json::from_slice(body).map_err(|error| unreadable(&error));
    }
    let element = Element::parse(body).map_err(|error| unreadable(&error))?;
    if element.name != root {
        return Err(unreadable(&format!("se espera {root}")));
    }
    let members = element.children.into_iter();
    let members = members.map(|child| (child.name, serde_json::Value::String(child.text)));
    serde_json::from_value(members.collect()).map_err(|error| unreadable(&error))
}

async fn signed(xml: &str) -> Result<String, Failure> {
    let xml = xml.to_owned();
    let signed = tokio::task::spawn_blocking(move || emisorreceptor::sign(&xml)).await?;
    signed.map_err(|error| Failure::refused(error.to_string()))
}

/// Posts a form with one part, formatted by hand like the authority's. Returns status and body, or why the request
/// failed.
async fn send(
    address: &str,
    authentication: Option<&str>,
    (dashes, part): (&str, &str),
    xml: &str,
) -> Result<(u16, Vec<u8>), String> {
    let http = reqwest::Client::builder()
        .timeout(TIME_LIMIT)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| error.to_string())?;
    let token = match authentication.filter(|base| !base.is_empty()) {
        Some(base) => Some(token(&http, base.trim_end_matches('/')).await?),
        None => None,
    };
    let boundary = "5f3c2a80d1";
    let body = format!("{dashes}{boundary}\r\n{part}\r\n{xml}\r\n{dashes}{boundary}--\r\n");
    post_form(&http, address, token.as_deref(), boundary, body).await
}

async fn token(http: &reqwest::Client, base: &str) -> Result<String, String> {
    let told = |error: reqwest::Error| error.without_url().to_string();
    let seed = http
        .get(format!("{base}/fe/autenticacion/api/semilla"))
        .send()
        .await
        .map_err(told)?;
    let seed = seed.text().await.map_err(told)?;
    let document = Document::read(seed.as_bytes()).map_err(|error| error.to_string())?;
    let signed = signed(&document.source).await.map_err(|error| error.to_string())?;
    let boundary = "5f3c2a80d1";
    let part = "Content-Disposition: form-data; name=\"xml\"; filename=\"semilla.xml\"\r\nContent-Type: text/xml\r\n";
    let body = format!("--{boundary}\r\n{part}\r\n{signed}\r\n--{boundary}--\r\n");
    let address = format!("{base}/fe/autenticacion/api/validacioncertificado");
    let (status, body) = post_form(http, &address, None, boundary, body).await?;
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&body);
    let answer: serde_json::Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let token = answer["token"].as_str().map(str::to_owned);
    token.ok_or_else(|| format!("HTTP {status} sin token"))
}

async fn post_form(
    http: &reqwest::Client,
    address: &str,
    token: Option<&str>,
    boundary: &str,
    body: String,
) -> Result<(u16, Vec<u8>), String> {
    let told = |error: reqwest::Error| error.without_url().to_string();
    let mut request = http
        .post(address)
        .header(
            header::CONTENT_TYPE,
            format!("multipart/form-data; boundary={boundary}"),
        )
        .header(header::ACCEPT, "application/json")
        .body(body);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.map_err(told)?;
    let status = answer.status().as_u16();
    Ok((status, answer.bytes().await.map_err(told)?.to_vec()))
}
