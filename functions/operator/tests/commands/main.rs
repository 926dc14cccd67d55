//! The operator's commands on the embedded services.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod check;
mod companies;
mod evidence;
mod finding;
mod health;
mod invitations;
mod letters;
mod lists;
mod log;
mod notices;
mod receipts;
mod register;
mod secrets;

use ecf_store::{Receipt, Table};
use ecf_testkit::{TestCompany, TestStack};
use operator::App;
use serde_json::{Value, json};

pub(crate) struct World {
    pub(crate) stack: TestStack,
    pub(crate) company: TestCompany,
    app: App,
}

impl World {
    pub(crate) async fn start() -> Self {
        let stack = TestStack::start().await;
        let company = stack.company().await;
        Self::of(stack, company)
    }

    pub(crate) fn of(stack: TestStack, company: TestCompany) -> Self {
        let app = App::from_env(
            &stack.env("operator"),
            &stack.clients_of("operator"),
            stack.clock().clone(),
        )
        .unwrap();
        Self { stack, company, app }
    }

    pub(crate) fn table(&self) -> Table {
        self.stack.table()
    }

    /// Executes a command.
    pub(crate) async fn run(&self, command: &str, arguments: Value) -> Value {
        let mut body = arguments;
        body["command"] = json!(command);
        operator::handle(&self.app, body).await
    }

    /// Executes a command for the company and its environment.
    pub(crate) async fn run_here(&self, command: &str, mut arguments: Value) -> Value {
        arguments["company"] = json!(self.company.scope.company);
        arguments["environment"] = json!(self.company.scope.environment);
        self.run(command, arguments).await
    }

    pub(crate) async fn signed(&self, encf: &str) -> Receipt {
        self.stack.signed_receipt(&self.company, encf).await
    }

    pub(crate) async fn record(&self, of: &Receipt) -> Receipt {
        let found = self.table().receipt(&of.scope, &of.public_id).await;
        found.unwrap().unwrap()
    }
}

/// The code of a rejection.
pub(crate) fn refusal(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test]
async fn what_is_no_command_is_answered_with_what_is_wrong() {
    let world = World::start().await;
    for (body, word) in [
        (json!({}), "command"),
        (json!({ "command": "shred_company" }), "shred_company"),
        (json!({ "command": "show_company" }), "company"),
        (json!({ "command": "show_company", "company": "0" }), "32"),
        (
            json!({ "command": "show_company", "company": "0123456789abcdefghjkmnpqrstvwxyz", "colour": 1 }),
            "colour",
        ),
    ] {
        let answer = operator::handle(&world.app, body).await;
        assert_eq!(refusal(&answer), "bad_command");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(word), "{message}");
    }
}
