//! The four services of the authority's standard for taxpayers.

use std::fmt;
use std::time::{Duration, Instant};

use ecf::messages::Semilla;
use ecf_runtime::{Error, telemetry};
use ecf_taxauth::read_grant;
use reqwest::RequestBuilder;
use reqwest::multipart::{Form, Part};

const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Characters of an answer that are quoted.
const EXCERPT: usize = 200;
/// Upper bound of an answer.
const MOST_BYTES: usize = 1_000_000;

pub(super) struct Calls {
    http: reqwest::Client,
    address: String,
}

/// What came back. Without an answer the status is 0 and the bytes say why.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) bytes: Vec<u8>,
    pub(super) millis: u128,
}

impl Answer {
    pub(super) fn seed(&self) -> Option<Semilla> {
        (self.status == 200)
            .then(|| Semilla::from_xml(self.xml()).ok())
            .flatten()
    }

    pub(super) fn is_client_error(&self) -> bool {
        (400..500).contains(&self.status)
    }

    /// The token, if the answer has one and its expiry.
    pub(super) fn token(&self) -> Option<String> {
        let (token, expira) = (self.status == 200).then(|| read_grant(&self.bytes)).flatten()?;
        expira.map(|_| token)
    }

    /// The bytes without a byte order mark.
    pub(super) fn xml(&self) -> &[u8] {
        self.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.bytes)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.bytes);
        let words: Vec<&str> = text.split_whitespace().collect();
        let shown = words.join(" ");
        let excerpt: String = shown.chars().filter(|one| !one.is_control()).take(EXCERPT).collect();
        let more = if excerpt.len() < shown.len() { "…" } else { "" };
        match self.status {
            0 => write!(f, "no answer after {} ms: {excerpt}{more}", self.millis),
            status => write!(f, "status {status}, {} ms: {excerpt}{more}", self.millis),
        }
    }
}

impl Calls {
    pub(super) fn new(address: &str) -> Result<Self, Error> {
        // The authority does not follow redirects.
        let http = reqwest::Client::builder()
            .timeout(TIME_LIMIT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self {
            http,
            address: address.trim_end_matches('/').to_owned(),
        })
    }

    pub(super) async fn seed(&self) -> Answer {
        answer(self.http.get(self.url("autenticacion/api/semilla"))).await
    }

    pub(super) async fn validate(&self, signed_seed: Vec<u8>) -> Answer {
        let url = self.url("autenticacion/api/validacioncertificado");
        answer(self.http.post(url).multipart(form(signed_seed, "semilla.xml"))).await
    }

    pub(super) async fn receipt(&self, token: &str, xml: Vec<u8>) -> Answer {
        self.document("recepcion/api/ecf", token, xml).await
    }

    pub(super) async fn approval(&self, token: &str, xml: Vec<u8>) -> Answer {
        self.document("aprobacioncomercial/api/ecf", token, xml).await
    }

    async fn document(&self, service: &str, token: &str, xml: Vec<u8>) -> Answer {
        let request = self.http.post(self.url(service)).bearer_auth(token);
        answer(request.multipart(form(xml, "prueba.xml"))).await
    }

    fn url(&self, service: &str) -> String {
        format!("{}/fe/{service}", self.address)
    }
}

fn form(xml: Vec<u8>, name: &'static str) -> Form {
    Form::new().part("xml", Part::bytes(xml).file_name(name))
}

async fn answer(request: RequestBuilder) -> Answer {
    let begun = Instant::now();
    let (status, bytes) = match read(request).await {
        Ok(answer) => answer,
        Err(error) => (0, telemetry::chain(&error).to_string().into_bytes()),
    };
    Answer {
        status,
        bytes,
        millis: begun.elapsed().as_millis(),
    }
}

async fn read(request: RequestBuilder) -> Result<(u16, Vec<u8>), reqwest::Error> {
    let mut response = request.send().await?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MOST_BYTES {
            break;
        }
    }
    Ok((response.status().as_u16(), bytes))
}
