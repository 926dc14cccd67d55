//! Damages counters, as a kill between a receipt and its count would, and worse.

use aws_sdk_dynamodb::types::AttributeValue;
use ecf_store::fiscal_day;

use super::rng::Rng;
use super::time::Time;
use crate::program::Program;

/// The damage to one count of today.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Damage {
    /// The count is one too low.
    Lost,
    /// The count is one too high.
    Doubled,
    /// The whole count is removed.
    Removed,
}

/// The attributes of the counts to damage.
const COUNTS: [&str; 6] = ["31", "32", "44", "31:accepted", "32:accepted", "44:accepted"];

impl Damage {
    pub(crate) const ALL: [Damage; 3] = [Damage::Lost, Damage::Doubled, Damage::Removed];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Damage::Lost => "count lost",
            Damage::Doubled => "count doubled",
            Damage::Removed => "count removed",
        }
    }
}

/// Damages a count of today in TesteCF. `false` if there is none yet, or if AWS did not execute the update.
pub(crate) async fn damage(program: &Program, company: &str, damage: Damage, time: &Time, rng: &mut Rng) -> bool {
    let day = fiscal_day(time.now()).strftime("%Y%m%d").to_string();
    let (update, value) = match damage {
        Damage::Lost => ("ADD #c :n", "-1"),
        Damage::Doubled => ("ADD #c :n", "1"),
        Damage::Removed => ("REMOVE #c", ""),
    };
    let variables = program.variables("issuing");
    let client = aws_sdk_dynamodb::Client::new(&ecf_store::local_config(&variables["AWS_ENDPOINT_URL"]));
    let change = client
        .update_item()
        .table_name(&variables["TABLE_NAME"])
        .key("pk", AttributeValue::S(format!("cnt#{company}#testecf")))
        .key("sk", AttributeValue::S(day))
        .update_expression(update)
        .condition_expression("#c >= :one")
        .expression_attribute_names("#c", *rng.pick(&COUNTS))
        .expression_attribute_values(":one", AttributeValue::N("1".to_owned()));
    let change = match value {
        "" => change,
        value => change.expression_attribute_values(":n", AttributeValue::N(value.to_owned())),
    };
    change.send().await.is_ok()
}
