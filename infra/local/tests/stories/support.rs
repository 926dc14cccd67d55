//! A running system and a caller of it.

use std::path::Path;
use std::time::Duration;

use ecf::Fecha;
use ecf_local::{Local, RunOptions};
use ecf_runtime::Clock;
use ecf_testkit::{Received, Receiver, check_answer};
use hmac::{Hmac, KeyInit, Mac};
use http::{Method, StatusCode};
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use sha2::Sha256;
use tempfile::TempDir;
use tokio::time::{Instant, interval};

/// Upper bound of an undisturbed receipt's processing, on a busy machine.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A system for one test.
pub(crate) struct System {
    pub(crate) local: Local,
    pub(crate) caller: ApiClient,
    folder: TempDir,
}

impl System {
    pub(crate) async fn start() -> Self {
        Self::with(RunOptions::default()).await
    }

    /// The state folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A P12 that names this taxpayer and that the system trusts.
    pub(crate) fn certificate(&self, rnc: &str) -> Vec<u8> {
        ecf_local::certificate(rnc, self.folder.path()).unwrap()
    }

    /// A system with other options; folder and port are the test's own.
    pub(crate) async fn with(options: RunOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let local = start_with(folder.path(), options).await;
        Self {
            caller: ApiClient::of(&local),
            local,
            folder,
        }
    }
}

/// Starts a system on a folder that the test owns.
pub(crate) async fn start_in(folder: &Path) -> Local {
    start_with(folder, RunOptions::default()).await
}

async fn start_with(folder: &Path, options: RunOptions) -> Local {
    let options = RunOptions {
        port: 0,
        data: folder.to_owned(),
        // Tests poll each of many receipts twenty times a second.
        key_rate: options.key_rate.or(Some(0)),
        ..options
    };
    Local::start(&options).await.unwrap()
}

/// A caller with an API key.
#[derive(Clone)]
pub(crate) struct ApiClient {
    http: reqwest::Client,
    pub(crate) base_url: String,
    pub(crate) simulator_url: String,
    pub(crate) key: String,
    pub(crate) rnc: String,
    /// The line that the system printed when it was ready.
    pub(crate) ready: Value,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }
}

/// Sends a request; a response of the API is validated against the contract.
async fn answer(request: reqwest::RequestBuilder) -> Result<Answer, reqwest::Error> {
    let (client, request) = request.build_split();
    let request = request?;
    let (method, path) = (request.method().clone(), request.url().path().to_owned());
    let response = client.execute(request).await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.bytes().await?;
    let code = StatusCode::from_u16(status).unwrap();
    check_answer(&method, &path, code, &headers, &bytes).unwrap_or_else(|problem| panic!("{problem}"));
    Ok(Answer {
        status,
        headers,
        body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
    })
}

impl ApiClient {
    pub(crate) fn of(local: &Local) -> Self {
        Self::of_ready_line(&local.ready_json())
    }

    pub(crate) fn of_ready_line(line: &str) -> Self {
        let ready: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| ready[name].as_str().unwrap().to_owned();
        Self {
            http: reqwest::Client::builder().timeout(TIME_LIMIT).build().unwrap(),
            base_url: text("base_url"),
            simulator_url: text("simulator_url"),
            key: text("api_key"),
            rnc: text("company_rnc"),
            ready,
        }
    }

    /// Another company on the same system.
    pub(crate) fn of_company(&self, key: &str, rnc: &str) -> Self {
        Self {
            key: key.to_owned(),
            rnc: rnc.to_owned(),
            ..self.clone()
        }
    }

    /// Sends any request, with an optional API key.
    pub(crate) async fn send(&self, method: Method, url: &str, key: Option<&str>, body: Option<&Value>) -> Answer {
        self.try_send(method, url, key, body).await.unwrap()
    }

    /// Like [`ApiClient::send`], for a system that may be down.
    pub(crate) async fn try_send(
        &self,
        method: Method,
        url: &str,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> Result<Answer, reqwest::Error> {
        let mut request = self.http.request(method, url);
        if let Some(key) = key {
            request = request.header("X-API-Key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        answer(request).await
    }

    /// Sends a JSON body; the response is not validated, which takes longer than the request.
    pub(crate) async fn send_unchecked(&self, url: &str, key: &str, body: &Value) -> (u16, Value) {
        let request = self.http.post(url).header("X-API-Key", key).json(body);
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.json().await.unwrap_or(Value::Null))
    }

    /// Sends a body of any content type.
    pub(crate) async fn send_bytes(
        &self,
        method: Method,
        url: &str,
        key: Option<&str>,
        content_type: &str,
        body: Vec<u8>,
    ) -> Answer {
        let mut request = self
            .http
            .request(method, url)
            .header("Content-Type", content_type)
            .body(body);
        if let Some(key) = key {
            request = request.header("X-API-Key", key);
        }
        answer(request).await.unwrap()
    }

    /// Sends a receipt with this number to the company, as another issuer; returns the acknowledgement's bytes.
    pub(crate) async fn be_sent(&self, encf: &str) -> Vec<u8> {
        let xml = ecf_testkit::foreign_receipt(&self.rnc, encf, Clock::system().now());
        self.be_sent_xml(xml).await.into_bytes()
    }

    /// Sends a document to the company's published URL, and returns the acknowledgement.
    pub(crate) async fn be_sent_xml(&self, xml: Vec<u8>) -> String {
        let url = format!("{}/{}/testecf/fe/Recepcion/api/ecf", self.base_url, self.rnc);
        let request = self.http.post(url).header("Content-Type", "text/xml").body(xml);
        let response = request.send().await.unwrap();
        let (status, bytes) = (response.status(), response.bytes().await.unwrap().to_vec());
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(status, 200, "{text}");
        text
    }

    /// Downloads a file, byte for byte.
    pub(crate) async fn download(&self, path: &str) -> Vec<u8> {
        let found = self.find(path).await;
        found.unwrap_or_else(|| panic!("{path} does not exist"))
    }

    /// Downloads a file; `None` if it does not exist.
    pub(crate) async fn find(&self, path: &str) -> Option<Vec<u8>> {
        let request = self.http.get(format!("{}/api/v1{path}", self.base_url));
        let response = request.header("X-API-Key", &self.key).send().await.unwrap();
        if response.status() == 404 {
            return None;
        }
        assert_eq!(response.status(), 200, "{path}");
        Some(response.bytes().await.unwrap().to_vec())
    }

    /// The response to a client that accepts gzip: its `Content-Encoding`, and its bytes as they came.
    pub(crate) async fn packed(&self, path: &str) -> (Option<String>, Vec<u8>) {
        let request = self.http.get(format!("{}{path}", self.base_url));
        let request = request.header("X-API-Key", &self.key).header("Accept-Encoding", "gzip");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        let encoding = response.headers().get("content-encoding");
        let encoding = encoding.map(|encoding| encoding.to_str().unwrap().to_owned());
        (encoding, response.bytes().await.unwrap().to_vec())
    }

    /// A browser's CORS preflight for a request with this method from a page of this origin.
    pub(crate) async fn preflight(&self, url: &str, method: &str, origin: &str) -> Answer {
        let request = self
            .http
            .request(Method::OPTIONS, url)
            .header("Origin", origin)
            .header("Access-Control-Request-Method", method)
            .header("Access-Control-Request-Headers", "x-api-key,content-type");
        answer(request).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let url = format!("{}/api/v1{path}", self.base_url);
        self.send(Method::GET, &url, Some(&self.key), None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        let url = format!("{}/api/v1{path}", self.base_url);
        self.send(Method::POST, &url, Some(&self.key), Some(body)).await
    }

    pub(crate) async fn issue(&self, key: &str, ecf_type: &str, payload: &Value) -> Answer {
        let body = json!({ "idempotency_key": key, "ecf_type": ecf_type, "payload": payload });
        self.post("/ecf", &body).await
    }

    /// Waits until a receipt is in this state; fails at once in another final state.
    pub(crate) async fn wait_for_state(&self, receipt: &Value, state: &str) -> Value {
        let path = format!("/ecf/{}", receipt["public_id"].as_str().unwrap());
        eventually(&format!("{path} {state}"), TIME_LIMIT, async || {
            let now = self.get(&path).await.expect(200);
            let status = now["status"].as_str().unwrap();
            let open = ["signed", "submitted", "contingency"].contains(&status);
            assert!(open || status == state, "{now}");
            (status == state).then_some(now)
        })
        .await
    }

    /// The documents that the tax authority received under a number.
    pub(crate) async fn documents(&self, receipt: &Value) -> Vec<Value> {
        let encf = receipt["encf"].as_str().unwrap();
        let url = format!("{}/_control/documents?rnc={}&encf={encf}", self.simulator_url, self.rnc);
        let answer = self.send(Method::GET, &url, None, None).await;
        answer.expect(200).as_array().unwrap().clone()
    }

    /// Configures the simulated tax authority.
    /// Posts a form to a path of the service; each part has its name, with what follows it in its head, and its value.
    pub(crate) async fn send_form(&self, path: &str, parts: &[(&str, &[u8])]) -> Answer {
        let (boundary, mut form) = ("x8x8x8", Vec::new());
        for (name, value) in parts {
            form.extend(format!("--{boundary}\r\nContent-Disposition: form-data; name={name}\r\n\r\n").bytes());
            form.extend(*value);
            form.extend(b"\r\n");
        }
        form.extend(format!("--{boundary}--\r\n").bytes());
        let url = format!("{}{path}", self.base_url);
        let content_type = format!("multipart/form-data; boundary={boundary}");
        self.send_bytes(Method::POST, &url, Some(&self.key), &content_type, form)
            .await
    }

    pub(crate) async fn control(&self, method: Method, what: &str, body: &Value) {
        let url = format!("{}/_control/{what}", self.simulator_url);
        let answer = self.send(method, &url, None, Some(body)).await;
        assert!(answer.status < 300, "{what}: {} {}", answer.status, answer.body);
    }

    /// Subscribes a receiver to the verdicts and returns the secret.
    pub(crate) async fn subscribe(&self, receiver: &Receiver) -> String {
        let body = json!({ "url": receiver.url(), "events": ["ecf.*"] });
        let created = self.post("/client/webhooks", &body).await.expect(201);
        created["secret"].as_str().unwrap().to_owned()
    }

    pub(crate) fn today(&self) -> String {
        Fecha::at(Clock::system().now()).to_string()
    }
}

/// Polls until there is a result.
pub(crate) async fn eventually<T>(what: &str, time_limit: Duration, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let mut ticks = interval(Duration::from_millis(50));
    let end = Instant::now() + time_limit;
    while Instant::now() < end {
        ticks.tick().await;
        if let Some(answer) = ask().await {
            return answer;
        }
    }
    panic!("did not happen within {time_limit:?}: {what}");
}

/// Waits for the webhook of a receipt.
pub(crate) async fn webhook_of(receiver: &Receiver, receipt: &Value) -> Received {
    eventually("a webhook", TIME_LIMIT, async || webhooks_of(receiver, receipt).pop()).await
}

/// All webhooks of a receipt so far.
pub(crate) fn webhooks_of(receiver: &Receiver, receipt: &Value) -> Vec<Received> {
    let mut received = receiver.received();
    received.retain(|one| one.json()["public_id"] == receipt["public_id"]);
    received
}

/// Computes `X-ECF-Signature` like an integrator, over the raw bytes.
pub(crate) fn signature(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}
