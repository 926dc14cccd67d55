//! The log lines of a command.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::World;

/// The log lines of commands on this thread.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    fn catch() -> (Self, tracing::subscriber::DefaultGuard) {
        let lines = Self::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .flatten_event(true)
            .with_writer(move || writer.clone())
            .finish();
        (lines, tracing::subscriber::set_default(subscriber))
    }

    /// Takes all log lines of commands so far.
    fn take(&self) -> Vec<Value> {
        let text = String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .filter(|line| line["message"].as_str().unwrap().starts_with("operator's command"))
            .collect()
    }
}

#[tokio::test]
async fn k6_a_command_is_logged_with_whom_it_concerns_and_without_secrets() {
    let world = World::start().await;
    let receipt = world.signed("E310000000001").await;
    let (lines, _guard) = Lines::catch();
    let issued = world.run_here("issue_api_key", json!({})).await;
    let [line] = lines.take().try_into().unwrap();
    let company = world.company.scope.company.to_string();
    assert_eq!(
        (
            &line["command"],
            &line["outcome"],
            &line["company.id"],
            &line["environment"]
        ),
        (
            &json!("issue_api_key"),
            &json!("done"),
            &json!(company),
            &json!("TesteCF")
        )
    );
    assert_eq!(line["api_key.id"], issued["api_key"]["id"]);
    let secret = issued["api_key"]["key"].as_str().unwrap();
    assert!(!line.to_string().contains(secret), "{line}");

    let revoke = json!({ "company": company, "key": issued["api_key"]["id"] });
    world.run("revoke_api_key", revoke).await;
    let [line] = lines.take().try_into().unwrap();
    assert_eq!(
        (&line["company.id"], &line["api_key.id"]),
        (&json!(company), &issued["api_key"]["id"])
    );

    world
        .run_here("show_receipt", json!({ "receipt": receipt.public_id }))
        .await;
    let [line] = lines.take().try_into().unwrap();
    assert_eq!(line["receipt.id"], json!(receipt.public_id));

    // A rejection is logged too. A malformed command leaves nothing of its content.
    world
        .run("show_company", json!({ "company": "0123456789abcdefghjkmnpqrstvwxyz" }))
        .await;
    let [line] = lines.take().try_into().unwrap();
    assert_eq!(
        (&line["outcome"], &line["company.id"]),
        (&json!("not_found"), &json!("0123456789abcdefghjkmnpqrstvwxyz"))
    );
    world
        .run("show_company", json!({ "company": "a secret in the wrong place" }))
        .await;
    let invitation = world.run("create_invitation", json!({})).await;
    world
        .run("revoke_invitation", json!({ "code": invitation["invitation"]["code"] }))
        .await;
    let text = json!(lines.take()).to_string();
    assert!(!text.contains("wrong place"), "{text}");
    assert!(
        !text.contains(invitation["invitation"]["code"].as_str().unwrap()),
        "{text}"
    );
}
