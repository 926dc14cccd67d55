//! Fault injection: errors that a test configures for the next matching requests.
//!
//! [`intercept`] runs before every service. It also counts responses and answers 503 during a maintenance window.

use std::time::Duration;

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    App,
    environment::{Environment, Service},
    failure::Failure,
    params::Params,
    verdict::{Mensaje, Verdict},
};

/// Upper bound of a request body. It exceeds the upload limit of every service.
const MOST_BODY_BYTES: usize = 24 * 1024 * 1024;
/// Default delay before a timeout fault answers. It exceeds the timeout of every client.
const NO_ANSWER: Duration = Duration::from_secs(300);
const MAINTENANCE_PAGE: &str = "<!DOCTYPE html><html><head><title>Servicio en mantenimiento</title></head>\
     <body><h1>Servicio no disponible temporalmente</h1></body></html>";
const ERROR_PAGE: &str = "<!DOCTYPE html><html><head><title>Error</title></head>\
     <body><h1>Server Error</h1><p>An error occurred while processing the request.</p></body></html>";

/// A fault that was configured through the control service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultOrder {
    /// A service's path segment, or `*`.
    pub(crate) service: String,
    /// Restricts the fault to the services of one host: `ecf`, `fc` or `statusecf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    /// Restricts the fault to one environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ambiente: Option<String>,
    /// Restricts the fault to requests about one issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rnc: Option<String>,
    /// Restricts the fault to requests about one number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) encf: Option<String>,
    pub(crate) fault: FaultKind,
    /// How many requests meet the fault; `None` means every request until the fault is cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delay_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) codigo: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mensaje: Option<String>,
    #[serde(default, rename = "secuenciaUtilizada", skip_serializing_if = "Option::is_none")]
    pub(crate) secuencia_utilizada: Option<bool>,
}

/// The kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FaultKind {
    /// The request is served after `delay_ms`.
    Delay,
    /// Answers `status`, with `body` as JSON or text if given. The request is not processed.
    Status,
    /// Waits for `delay_ms`, then answers 504. The request is not processed.
    Timeout,
    /// The request is processed, and the connection closes without a response.
    LoseAnswer,
    /// An HTML page.
    Html,
    /// `body` as plain text.
    Text,
    /// A JSON string served as plain text.
    JsonString,
    /// `{"mensaje": …}`.
    Mensaje,
    /// `{"error": …}`.
    Error,
    /// `{"mensajes": [{valor, codigo}]}`.
    Mensajes,
    /// `{"mensajes": […]}` with bare strings.
    MensajesText,
    /// The `ProblemDetails` body that ASP.NET writes for an invalid request.
    ProblemDetails,
    /// An empty HTML response. The authority answers so when a signature is wrong.
    Empty,
    /// 200 with bytes that are neither JSON nor XML.
    Garbage,
    /// 503 with a page.
    Maintenance,
    /// The document gets a track id but is not stored: no query finds it.
    Forget,
    /// The document is rejected with `codigo`, `mensaje`, `secuenciaUtilizada`.
    Reject,
    /// The document is conditionally accepted with `codigo`, `mensaje`.
    Conditional,
}

/// The part of a request that a fault can select by.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    pub(crate) service: Service,
    pub(crate) environment: Option<Environment>,
    pub(crate) rnc: Option<&'a str>,
    pub(crate) encf: Option<&'a str>,
}

/// Request extension: the service must not store this document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forgotten;

/// Request extension: the service must answer with this verdict.
#[derive(Debug, Clone)]
pub(crate) struct Forced(pub(crate) Verdict);

impl FaultOrder {
    /// Whether the fault applies to this request.
    pub(crate) fn is_for(&self, target: &Target<'_>) -> bool {
        let fits = |wanted: &Option<String>, given: Option<&str>| {
            wanted
                .as_deref()
                .is_none_or(|wanted| given.is_some_and(|given| wanted.eq_ignore_ascii_case(given)))
        };
        (self.service == "*" || Service::parse(&self.service) == Some(target.service))
            && fits(&self.host, Some(target.service.host()))
            && fits(&self.ambiente, target.environment.map(Environment::segment))
            && fits(&self.rnc, target.rnc)
            && fits(&self.encf, target.encf)
    }

    /// Why the fault cannot be carried out; `None` if it can.
    pub(crate) fn problem(&self) -> Option<String> {
        let uploads = [Service::Recepcion, Service::RecepcionFc];
        let service = Service::parse(&self.service);
        if self.service != "*" && service.is_none() {
            return Some(format!("unknown service {}", self.service));
        }
        if self
            .ambiente
            .as_deref()
            .is_some_and(|one| Environment::parse(one).is_none())
        {
            return Some("ambiente must be testecf, certecf or ecf".to_owned());
        }
        if self.host.as_deref().is_some_and(|one| {
            !Service::ALL
                .iter()
                .any(|service| one.eq_ignore_ascii_case(service.host()))
        }) {
            return Some("host must be ecf, fc or statusecf".to_owned());
        }
        if self.times == Some(0) {
            return Some("times must be at least 1".to_owned());
        }
        if self.status.is_some_and(|status| !(200..=599).contains(&status)) {
            return Some("status must be between 200 and 599".to_owned());
        }
        match self.fault {
            FaultKind::Delay if self.delay_ms.is_none() => Some("delay needs delay_ms".to_owned()),
            FaultKind::Status if self.status.is_none() => Some("status needs status".to_owned()),
            FaultKind::Reject | FaultKind::Conditional if !service.is_some_and(|one| uploads.contains(&one)) => {
                Some("only recepcion and recepcionfc reach verdicts".to_owned())
            }
            FaultKind::Forget if service != Some(Service::Recepcion) => {
                Some("only recepcion gives track ids".to_owned())
            }
            _ => None,
        }
    }

    /// The fault's name in `GET /struck`: its kind, followed by its status if it has one.
    pub(crate) fn name(&self) -> String {
        let kind = serde_json::to_value(self.fault).unwrap_or_default();
        let kind = kind.as_str().unwrap_or_default();
        match self.status {
            Some(status) => format!("{kind} {status}"),
            None => kind.to_owned(),
        }
    }

    fn message(&self) -> &str {
        self.mensaje
            .as_deref()
            .or(self.body.as_deref())
            .unwrap_or("No se pudo procesar la solicitud.")
    }

    fn forced(&self, codigo: &str) -> Vec<Mensaje> {
        vec![Mensaje::new(self.codigo.as_deref().unwrap_or(codigo), self.message())]
    }

    fn answer(&self, otherwise: u16, content_type: &'static str, body: impl Into<Body>) -> Response {
        let status = StatusCode::from_u16(self.status.unwrap_or(otherwise)).unwrap_or(StatusCode::BAD_REQUEST);
        let mut response = (status, [(header::CONTENT_TYPE, content_type)], body.into()).into_response();
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    fn json(&self, body: &serde_json::Value) -> Response {
        self.answer(400, "application/json; charset=utf-8", body.to_string())
    }

    /// The response of a fault that replaces the service.
    fn refusal(&self) -> Response {
        let message = self.message();
        let codigo = self.codigo.as_deref().unwrap_or("0");
        match self.fault {
            FaultKind::Html => self.answer(500, "text/html; charset=utf-8", ERROR_PAGE),
            FaultKind::Text => self.answer(400, "text/plain; charset=utf-8", message.to_owned()),
            FaultKind::JsonString => self.answer(400, "text/plain; charset=utf-8", json!(message).to_string()),
            FaultKind::Mensaje => self.json(&json!({ "mensaje": message })),
            FaultKind::Error => self.json(&json!({ "error": message })),
            FaultKind::Mensajes => self.json(&json!({ "mensajes": [{ "valor": message, "codigo": codigo }] })),
            FaultKind::MensajesText => self.json(&json!({ "mensajes": [message] })),
            FaultKind::ProblemDetails => self.answer(
                400,
                "application/problem+json; charset=utf-8",
                json!({
                    "type": "https://tools.ietf.org/html/rfc7231#section-6.5.1",
                    "title": "One or more validation errors occurred.",
                    "status": self.status.unwrap_or(400),
                    "errors": { "xml": [message] },
                })
                .to_string(),
            ),
            FaultKind::Empty => self.answer(400, "text/html", Body::empty()),
            FaultKind::Garbage => self.answer(200, "application/json", &b"\x00\xff{]<not json nor xml"[..]),
            FaultKind::Maintenance => self.answer(503, "text/html; charset=utf-8", MAINTENANCE_PAGE),
            FaultKind::Timeout => self.answer(504, "text/plain", Body::empty()),
            _ => {
                let body = self.body.clone().unwrap_or_default();
                let is_json = serde_json::from_str::<serde_json::Value>(&body).is_ok();
                self.answer(400, if is_json { "application/json" } else { "text/plain" }, body)
            }
        }
    }
}

/// The service that [`intercept`] guards.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) app: App,
    pub(crate) service: Service,
    pub(crate) environment: Option<Environment>,
}

/// Passes a request to its service, unless a fault or a maintenance window answers it.
pub(crate) async fn intercept(State(post): State<Post>, request: Request, next: Next) -> Result<Response, Failure> {
    let response = serve(&post, request, next).await?;
    post.app
        .state
        .count_request(post.service.segment(), response.status().as_u16())?;
    Ok(response)
}

async fn serve(post: &Post, request: Request, next: Next) -> Result<Response, Failure> {
    let app = &post.app;
    let closed = post
        .environment
        .is_some_and(|one| app.state.settings().in_maintenance(one, app.now()));
    if closed {
        let page = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
        return Ok((StatusCode::SERVICE_UNAVAILABLE, page, MAINTENANCE_PAGE).into_response());
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MOST_BODY_BYTES).await else {
        return Ok(StatusCode::PAYLOAD_TOO_LARGE.into_response());
    };
    let (rnc, encf) = subject(post, &Params::of(&parts.uri), &body)?;
    let target = Target {
        service: post.service,
        environment: post.environment,
        rnc: rnc.as_deref(),
        encf: encf.as_deref(),
    };
    let order = app.state.take_fault(&target)?;
    let mut request = Request::from_parts(parts, Body::from(body));
    let Some(order) = order else {
        return Ok(next.run(request).await);
    };
    let delay = order.delay_ms.map(Duration::from_millis);
    match order.fault {
        FaultKind::Delay => {
            tokio::time::sleep(delay.unwrap_or_default()).await;
            Ok(next.run(request).await)
        }
        FaultKind::Timeout => {
            tokio::time::sleep(delay.unwrap_or(NO_ANSWER)).await;
            Ok(order.refusal())
        }
        FaultKind::LoseAnswer => {
            next.run(request).await;
            Ok(lost())
        }
        FaultKind::Reject => {
            let burned = order.secuencia_utilizada.unwrap_or(true);
            let verdict = if burned {
                Verdict::rejected_burned
            } else {
                Verdict::rejected_free
            };
            request.extensions_mut().insert(Forced(verdict(order.forced("0"))));
            Ok(next.run(request).await)
        }
        FaultKind::Forget => {
            request.extensions_mut().insert(Forgotten);
            Ok(next.run(request).await)
        }
        FaultKind::Conditional => {
            request
                .extensions_mut()
                .insert(Forced(Verdict::accepted(order.forced("0"))));
            Ok(next.run(request).await)
        }
        _ => Ok(order.refusal()),
    }
}

/// A response that fails before its first byte: the server closes the connection when a body fails.
fn lost() -> Response {
    let broken = std::io::Error::other("the answer is lost on order");
    let body = futures::stream::once(async { Err::<bytes::Bytes, _>(broken) });
    Response::new(Body::from_stream(body))
}

/// The issuer and number of a request, read from its address, its track id or its document.
fn subject(post: &Post, params: &Params, body: &[u8]) -> Result<(Option<String>, Option<String>), Failure> {
    if let (Some(environment), Some(track_id)) = (post.environment, params.get(&["trackid"])) {
        let record = post.app.state.document_by_track_id(environment, track_id)?;
        return Ok(record.map(|one| (one.facts.rnc_emisor, one.facts.encf)).unzip());
    }
    let owned = |names: &[&str]| params.get(names).map(str::to_owned);
    let rnc = owned(&["rncemisor", "rnc_emisor", "rnc"]);
    let rnc = rnc
        .or_else(|| between(body, "<RNCEmisor>"))
        .or_else(|| between(body, "<RncEmisor>"));
    let encf = owned(&["encf", "ncfelectronico"]).or_else(|| between(body, "<eNCF>"));
    Ok((rnc, encf))
}

/// The text that follows the first occurrence of a tag.
fn between(body: &[u8], tag: &str) -> Option<String> {
    let start = body.windows(tag.len()).position(|window| window == tag.as_bytes())? + tag.len();
    let length = body[start..].iter().take(40).position(|byte| *byte == b'<')?;
    String::from_utf8(body[start..start + length].to_vec()).ok()
}
