//! Baseline of the cold start: the smallest function, which answers every event alike. `infra/checks/budgets` prints
//! its time.

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let answer = service_fn(|_event: LambdaEvent<Value>| async { Ok::<_, Error>(json!({ "statusCode": 200 })) });
    lambda_runtime::run(answer).await
}
