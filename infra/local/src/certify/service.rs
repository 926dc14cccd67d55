//! The routes of a certification run, as a caller sees them.

use std::fmt;
use std::time::Duration;

use ecf::Environment;
use ecf_runtime::Error;
use http::{Method, StatusCode};
use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Rows;

const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How often a request is repeated while the service cannot be reached or is busy.
const TRIES: u32 = 12;
const BETWEEN_TRIES: Duration = Duration::from_secs(5);
const RUNS: &str = "/client/certification/runs";

/// A client that gives up after a minute.
pub(super) fn client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder().timeout(TIME_LIMIT).build()
}

/// A service and a key of it.
pub(super) struct Service {
    http: reqwest::Client,
    url: String,
    key: String,
}

/// A run in a list.
#[derive(Debug, Deserialize)]
pub(super) struct Listed {
    pub(super) run_id: String,
    pub(super) idempotency_key: String,
    status: String,
}

/// A run with its rows.
#[derive(Debug, Deserialize)]
pub(super) struct Run {
    pub(super) run_id: String,
    pub(super) status: String,
    pub(super) next: String,
    pub(super) counts: Counts,
    pub(super) stop: Option<Stop>,
    pub(super) rows: Vec<Row>,
    #[serde(default)]
    pub(super) notices: Vec<Finding>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Counts {
    pub(super) rows: u64,
    pub(super) accepted: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Stop {
    pub(super) place: usize,
    pub(super) cause: String,
    pub(super) message: Option<String>,
    pub(super) can_continue: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) document: String,
    pub(super) row: u32,
    pub(super) ecf_type: String,
    pub(super) encf: Option<String>,
    pub(super) row_state: String,
    pub(super) status: Option<String>,
    pub(super) track_id: Option<String>,
    pub(super) error_message: Option<String>,
    pub(super) explanations: Vec<Explanation>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Explanation {
    pub(super) cause: String,
    pub(super) fix: String,
}

/// What a request for a run led to.
pub(super) enum Begun {
    Run(Run),
    /// The part of the form that cannot be sent, and why.
    Refused {
        part: String,
        findings: Vec<Finding>,
    },
}

/// A finding in a workbook.
#[derive(Debug, Deserialize)]
pub(super) struct Finding {
    #[serde(default)]
    pub(super) loc: Vec<Value>,
    pub(super) msg: String,
    #[serde(default)]
    pub(super) ctx: Cell,
}

/// Where a finding is.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Cell {
    pub(super) code: Option<String>,
    pub(super) sheet: Option<String>,
    pub(super) row: Option<u32>,
    pub(super) column: Option<String>,
    pub(super) header: Option<String>,
    pub(super) cell: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell {
            code,
            sheet,
            row,
            column,
            header,
            cell,
        } = &self.ctx;
        let row = row.map(|row| row.to_string());
        let parts = [
            ("sheet", sheet),
            ("row", &row),
            ("column", column),
            ("header", header),
            ("cell", cell),
        ];
        let mut is_first = true;
        for (name, value) in parts {
            if let Some(value) = value {
                let between = if is_first { "" } else { ", " };
                is_first = false;
                if name == "cell" {
                    write!(f, "{between}cell {value:?}")?
                } else {
                    write!(f, "{between}{name} {value}")?
                }
            }
        }
        let between = if is_first { "" } else { ": " };
        write!(f, "{between}{}", self.msg)?;
        code.as_ref().map_or(Ok(()), |code| write!(f, " [{code}]"))
    }
}

impl Listed {
    /// Whether another run cannot begin.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.status.as_str(), "running" | "awaits_uploads")
    }
}

impl Row {
    /// The number, or the type while it has none.
    pub(super) fn number(&self) -> String {
        self.encf.clone().unwrap_or_else(|| format!("type {}", self.ecf_type))
    }
}

impl Run {
    /// Whether `continue` sends the row again that stopped the run.
    pub(super) fn can_continue(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.can_continue)
    }

    /// Whether the same rows may be sent in a new run at once.
    pub(super) fn begins_anew(&self) -> bool {
        self.status == "abandoned" || self.stop.as_ref().is_some_and(|stop| stop.cause == "rejected")
    }
}

impl Service {
    pub(super) fn new(url: &str, key: &str) -> Result<Self, Error> {
        let url = url.trim_end_matches('/').trim_end_matches("/api/v1").to_owned();
        Ok(Self {
            http: client()?,
            url,
            key: key.to_owned(),
        })
    }

    pub(super) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    pub(super) async fn runs(&self) -> Result<Vec<Listed>, Error> {
        #[derive(Deserialize)]
        struct Runs {
            items: Vec<Listed>,
        }
        let runs: Runs = self.look(RUNS).await?;
        Ok(runs.items)
    }

    pub(super) async fn run(&self, id: &str) -> Result<Run, Error> {
        self.look(&format!("{RUNS}/{id}")).await
    }

    pub(super) async fn begin(&self, key: &str, environment: Option<Environment>, rows: &Rows) -> Result<Begun, Error> {
        let file = |part: &super::Part| Part::bytes(part.bytes.clone()).file_name(part.name.clone());
        let environment = environment.map(|environment| environment.to_string());
        let request = match rows {
            Rows::Workbooks { receipts, approvals } => Box::new(move || {
                let mut form = Form::new().text("idempotency_key", key.to_owned());
                form = form.part("workbook", file(receipts));
                if let Some(approvals) = approvals {
                    form = form.part("approvals", file(approvals));
                }
                if let Some(environment) = &environment {
                    form = form.text("environment", environment.clone());
                }
                self.request(Method::POST, RUNS).multipart(form)
            }) as Box<dyn Fn() -> reqwest::RequestBuilder>,
            Rows::Simulation(data) => {
                let mut body: serde_json::Map<String, Value> =
                    serde_json::from_slice(&data.bytes).map_err(|error| format!("{}: {error}", data.name))?;
                body.insert("kind".to_owned(), "simulation".into());
                body.insert("idempotency_key".to_owned(), key.into());
                if let Some(environment) = environment {
                    body.insert("environment".to_owned(), environment.into());
                }
                Box::new(move || self.request(Method::POST, RUNS).json(&body))
            }
        };
        let (status, body) = self.patiently(&*request).await?;
        if status == StatusCode::UNPROCESSABLE_ENTITY {
            let findings: Vec<Finding> = serde_json::from_value(body["detail"].clone())?;
            let part = findings.first().and_then(|finding| finding.loc.last()?.as_str());
            return Ok(Begun::Refused {
                part: part.unwrap_or_default().to_owned(),
                findings,
            });
        }
        Ok(Begun::Run(read(status, body)?))
    }

    /// Carries out a person's command; the inner error is the service's refusal.
    pub(super) async fn command(&self, run: &Run, what: &str) -> Result<Result<Run, String>, Error> {
        let path = format!("{RUNS}/{}/{what}", run.run_id);
        let (status, body) = self.send(self.request(Method::POST, &path)).await?;
        if status == StatusCode::CONFLICT {
            return Ok(Err(message(status, &body)));
        }
        Ok(Ok(read(status, body)?))
    }

    /// The ZIP of the files that a person uploads; `None` if there are none.
    pub(super) async fn files(&self, run: &Run) -> Result<Option<Vec<u8>>, Error> {
        let path = format!("{RUNS}/{}/files", run.run_id);
        let answer = self.request(Method::GET, &path).send().await?;
        match answer.status() {
            StatusCode::OK => Ok(Some(answer.bytes().await?.to_vec())),
            status => {
                let body: Value = answer.json().await.unwrap_or_default();
                if body["detail"]["code"] == "no_files_yet" {
                    return Ok(None);
                }
                Err(message(status, &body).into())
            }
        }
    }

    /// Signs a form of the portal; the inner error is why it is not signed.
    pub(super) async fn sign(&self, xml: Vec<u8>) -> Result<Result<Vec<u8>, String>, Error> {
        let request = self.request(Method::POST, "/client/tools/sign-xml");
        let answer = request
            .header("Content-Type", "application/xml")
            .body(xml)
            .send()
            .await?;
        let (status, bytes) = (answer.status(), answer.bytes().await?.to_vec());
        if status.is_success() {
            return Ok(Ok(bytes));
        }
        Ok(Err(message(
            status,
            &serde_json::from_slice(&bytes).unwrap_or_default(),
        )))
    }

    async fn look<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        let (status, body) = self.patiently(|| self.request(Method::GET, path)).await?;
        read(status, body)
    }

    /// Sends a request that may be repeated; a service that is busy or cannot be reached is asked again for a minute.
    async fn patiently(&self, request: impl Fn() -> reqwest::RequestBuilder) -> Result<(StatusCode, Value), Error> {
        for _ in 1..TRIES {
            match self.send(request()).await {
                Ok((status, _)) if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {}
                Err(error) if error.is_connect() || error.is_timeout() => {}
                answer => return Ok(answer?),
            }
            tokio::time::sleep(BETWEEN_TRIES).await;
        }
        Ok(self.send(request()).await?)
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let url = format!("{}/api/v1{path}", self.url);
        self.http.request(method, url).header("X-API-Key", &self.key)
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<(StatusCode, Value), reqwest::Error> {
        let answer = request.send().await?;
        let status = answer.status();
        let bytes = answer.bytes().await?;
        Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
    }
}

fn read<T: DeserializeOwned>(status: StatusCode, body: Value) -> Result<T, Error> {
    if !status.is_success() {
        return Err(message(status, &body).into());
    }
    Ok(serde_json::from_value(body).map_err(|error| format!("the answer is not of this service: {error}"))?)
}

/// What an answer other than success says.
pub(super) fn message(status: StatusCode, body: &Value) -> String {
    let detail = &body["detail"];
    let words = detail["message"].as_str().or_else(|| detail[0]["msg"].as_str());
    match (words, detail["code"].as_str()) {
        (Some(words), Some(code)) => format!("{words} [{code}]"),
        (Some(words), None) => words.to_owned(),
        (None, _) => format!("the service answered {status}"),
    }
}
