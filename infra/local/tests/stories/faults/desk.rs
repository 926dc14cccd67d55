//! Sends requests for all actors, and retries each request until it is answered.

use std::time::Duration;

use ecf::Fecha;
use http::Method;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::board::{Board, Phase};
use super::time::Time;
use crate::support::{Answer, ApiClient};

/// How long one request is retried before the test fails.
const TIME_LIMIT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(150);

/// A caller in the system's time; the killer sees its open operations.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) caller: ApiClient,
    pub(crate) clock: Time,
    pub(crate) board: Board,
}

impl Desk {
    /// The same desk for another company or environment.
    pub(crate) fn of(&self, caller: ApiClient) -> Self {
        Self { caller, ..self.clone() }
    }

    pub(crate) fn today(&self) -> String {
        Fecha::at(self.clock.now()).to_string()
    }

    /// Retries until the response is not an outage.
    pub(crate) async fn ask(&self, phase: Phase, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let _under_way = self.board.begin(phase);
        self.ask_quietly(method, path, body).await
    }

    pub(crate) async fn post(&self, phase: Phase, path: &str, body: &Value) -> Answer {
        self.ask(phase, Method::POST, path, Some(body)).await
    }

    /// Reads. The operation is not visible to the killer.
    pub(crate) async fn get(&self, path: &str) -> Value {
        self.ask_quietly(Method::GET, path, None).await.expect(200)
    }

    async fn ask_quietly(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let (end, url) = (
            Instant::now() + TIME_LIMIT,
            format!("{}/api/v1{path}", self.caller.base_url),
        );
        let mut last = String::new();
        while Instant::now() < end {
            let asked = self.caller.try_send(method.clone(), &url, Some(&self.caller.key), body);
            match asked.await {
                Ok(answer) if answer.status < 500 && answer.status != 429 => return answer,
                Ok(answer) => last = format!("{} {}", answer.status, answer.body),
                Err(error) => last = error.to_string(),
            }
            sleep(PAUSE).await;
        }
        panic!("no answer to {method} {path} within {TIME_LIMIT:?}, last: {last}; {body:?}");
    }

    /// Polls until there is a result, for at most `time_limit`.
    pub(crate) async fn watch<T>(&self, time_limit: Duration, mut look: impl AsyncFnMut() -> Option<T>) -> Option<T> {
        let end = Instant::now() + time_limit;
        loop {
            if let Some(seen) = look().await {
                return Some(seen);
            }
            if Instant::now() >= end {
                return None;
            }
            sleep(PAUSE).await;
        }
    }
}
