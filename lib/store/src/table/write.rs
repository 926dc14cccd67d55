//! Conditional writes: one item ([`Change`]) or several together ([`Table::transact`]).
//!
//! DynamoDB refuses a write for three kinds of reasons, and they must not be mixed up: the condition does not hold
//! (an outcome), another transaction holds the item right now (try again, with jitter), anything else (an error,
//! after which nobody knows whether the write took effect).

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

use aws_sdk_dynamodb::{
    error::ProvideErrorMetadata,
    operation::{
        put_item::PutItemError, transact_write_items::TransactWriteItemsError, update_item::UpdateItemError,
    },
    types::{
        AttributeValue, CancellationReason, Delete, Put, ReturnValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
        Update,
    },
};

use super::{
    Table,
    item::{Item, Stored},
    keys::{Key, PK},
};
use crate::StoreError;

/// How often a write is tried while other transactions hold its items.
const ATTEMPTS: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// An update of one item: what changes, on which condition.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    key: Key,
    clauses: BTreeMap<&'static str, Vec<String>>,
    condition: Option<String>,
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
}

impl Change {
    pub(crate) fn of(key: Key) -> Self {
        Self { key, clauses: BTreeMap::new(), condition: None, names: HashMap::new(), values: HashMap::new() }
    }

    /// `SET name = value`
    pub(crate) fn set(mut self, name: &str, value: AttributeValue) -> Self {
        let (name, value) = self.placeholders(name, value);
        self.clause("SET", format!("{name} = {value}"))
    }

    /// `SET name = value` unless the attribute is there already.
    pub(crate) fn set_once(mut self, name: &str, value: AttributeValue) -> Self {
        let (name, value) = self.placeholders(name, value);
        self.clause("SET", format!("{name} = if_not_exists({name}, {value})"))
    }

    pub(crate) fn set_some(self, name: &str, value: Option<AttributeValue>) -> Self {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// Sets the attribute, or removes it when there is no value.
    pub(crate) fn set_or_remove(self, name: &str, value: Option<AttributeValue>) -> Self {
        match value {
            Some(value) => self.set(name, value),
            None => self.remove(&[name]),
        }
    }

    pub(crate) fn remove(self, names: &[&str]) -> Self {
        names.iter().fold(self, |mut change, name| {
            let name = change.name(name);
            change.clause("REMOVE", name)
        })
    }

    /// `ADD name value`: counts up, from zero when absent.
    pub(crate) fn add(mut self, name: &str, value: AttributeValue) -> Self {
        let (name, value) = self.placeholders(name, value);
        self.clause("ADD", format!("{name} {value}"))
    }

    /// `DELETE name elements`: takes elements out of a set; the empty set is no attribute.
    pub(crate) fn delete(mut self, name: &str, elements: AttributeValue) -> Self {
        let (name, elements) = self.placeholders(name, elements);
        self.clause("DELETE", format!("{name} {elements}"))
    }

    /// The condition, in DynamoDB's own words. Names are written `#name`, values `:name` and given by [`Self::bind`].
    pub(crate) fn when(mut self, condition: impl Into<String>) -> Self {
        let condition = condition.into();
        let mut rest = condition.as_str();
        while let Some(start) = rest.find('#') {
            let name = &rest[start + 1..];
            let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
            self.name(&name[..end]);
            rest = &name[end..];
        }
        self.condition = Some(condition);
        self
    }

    pub(crate) fn bind(mut self, placeholder: &str, value: AttributeValue) -> Self {
        self.values.insert(placeholder.to_owned(), value);
        self
    }

    fn clause(mut self, verb: &'static str, text: String) -> Self {
        self.clauses.entry(verb).or_default().push(text);
        self
    }

    /// Every name goes through a placeholder: several short ones are reserved words of DynamoDB.
    fn name(&mut self, name: &str) -> String {
        let mut placeholder = String::from("#");
        for character in name.chars() {
            match character {
                c if c.is_ascii_alphanumeric() => placeholder.push(c),
                c => {
                    let _ = write!(placeholder, "_{:x}", u32::from(c));
                }
            }
        }
        self.names.insert(placeholder.clone(), name.to_owned());
        placeholder
    }

    fn placeholders(&mut self, name: &str, value: AttributeValue) -> (String, String) {
        let name = self.name(name);
        let placeholder = format!(":new_{}", &name[1..]);
        self.values.insert(placeholder.clone(), value);
        (name, placeholder)
    }

    fn expression(&self) -> Option<String> {
        let clauses: Vec<String> =
            self.clauses.iter().map(|(verb, parts)| format!("{verb} {}", parts.join(", "))).collect();
        (!clauses.is_empty()).then(|| clauses.join(" "))
    }

    fn values(&self) -> Option<HashMap<String, AttributeValue>> {
        (!self.values.is_empty()).then(|| self.values.clone())
    }
}

/// What became of a conditional write of one item.
#[derive(Debug)]
pub(crate) enum Applied {
    /// Written; the item as it is now.
    Done(Stored),
    /// The condition does not hold; the item as it is, if there is one.
    Refused(Option<Stored>),
}

/// One write of a transaction.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Puts an item that must not exist.
    PutNew(Item),
    Update(Change),
    /// Deletes an item that must exist.
    Delete(Key),
}

/// What became of a transaction.
#[derive(Debug)]
pub(crate) enum Transacted {
    Done,
    /// Nothing was written: per part, whether its own condition failed, and then the item that is there.
    Refused(Vec<Option<Refusal>>),
}

/// A part's condition did not hold.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) existing: Option<Stored>,
}

impl Table {
    pub(crate) async fn apply(&self, operation: &'static str, change: Change) -> Result<Applied, StoreError> {
        for attempt in 1..=ATTEMPTS {
            let result = self
                .client
                .update_item()
                .table_name(&self.name)
                .set_key(Some(change.key.attributes()))
                .set_update_expression(change.expression())
                .set_condition_expression(change.condition.clone())
                .set_expression_attribute_names(Some(change.names.clone()))
                .set_expression_attribute_values(change.values())
                .return_values(ReturnValue::AllNew)
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
                .send()
                .await;
            let error = match result {
                Ok(answer) => return Ok(Applied::Done(Stored::new(answer.attributes.unwrap_or_default()))),
                Err(error) => error,
            };
            match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(refusal)) => {
                    return Ok(Applied::Refused(existing(refusal.item.clone())));
                }
                Some(UpdateItemError::TransactionConflictException(_)) => pause(attempt).await,
                _ => return Err(StoreError::from_sdk(operation, error)),
            }
        }
        Err(StoreError::Contended { operation, attempts: ATTEMPTS })
    }

    /// Puts an item that must not exist. `false`: it does.
    pub(crate) async fn put_new(&self, operation: &'static str, item: Item) -> Result<bool, StoreError> {
        for attempt in 1..=ATTEMPTS {
            let result = self
                .client
                .put_item()
                .table_name(&self.name)
                .set_item(Some(item.clone()))
                .condition_expression("attribute_not_exists(#pk)")
                .expression_attribute_names("#pk", PK)
                .send()
                .await;
            let Err(error) = result else {
                return Ok(true);
            };
            match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(_)) => return Ok(false),
                Some(PutItemError::TransactionConflictException(_)) => pause(attempt).await,
                _ => return Err(StoreError::from_sdk(operation, error)),
            }
        }
        Err(StoreError::Contended { operation, attempts: ATTEMPTS })
    }

    pub(crate) async fn transact(&self, operation: &'static str, parts: Vec<Part>) -> Result<Transacted, StoreError> {
        for attempt in 1..=ATTEMPTS {
            let mut items = Vec::with_capacity(parts.len());
            for part in &parts {
                items.push(self.transact_item(operation, part)?);
            }
            let Err(error) = self.client.transact_write_items().set_transact_items(Some(items)).send().await else {
                return Ok(Transacted::Done);
            };
            let judgement = match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
                    judge(canceled.cancellation_reasons(), parts.len())
                }
                // The SDK repeats with the token of the first try, which may still be under way.
                Some(refusal) if refusal.code() == Some("TransactionInProgressException") => Judgement::Again,
                _ => Judgement::Unknown,
            };
            match judgement {
                Judgement::Refused(refusals) => return Ok(Transacted::Refused(refusals)),
                Judgement::Again => pause(attempt).await,
                Judgement::Unknown => return Err(StoreError::from_sdk(operation, error)),
            }
        }
        Err(StoreError::Contended { operation, attempts: ATTEMPTS })
    }

    fn transact_item(&self, operation: &'static str, part: &Part) -> Result<TransactWriteItem, StoreError> {
        let invalid = |error| StoreError::unexpected(operation, error);
        let item = TransactWriteItem::builder();
        Ok(match part {
            Part::PutNew(new) => item.put(
                Put::builder()
                    .table_name(&self.name)
                    .set_item(Some(new.clone()))
                    .condition_expression("attribute_not_exists(#pk)")
                    .expression_attribute_names("#pk", PK)
                    .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
                    .build()
                    .map_err(invalid)?,
            ),
            Part::Update(change) => item.update(
                Update::builder()
                    .table_name(&self.name)
                    .set_key(Some(change.key.attributes()))
                    .set_update_expression(change.expression())
                    .set_condition_expression(change.condition.clone())
                    .set_expression_attribute_names(Some(change.names.clone()))
                    .set_expression_attribute_values(change.values())
                    .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
                    .build()
                    .map_err(invalid)?,
            ),
            Part::Delete(key) => item.delete(
                Delete::builder()
                    .table_name(&self.name)
                    .set_key(Some(key.attributes()))
                    .condition_expression("attribute_exists(#pk)")
                    .expression_attribute_names("#pk", PK)
                    .build()
                    .map_err(invalid)?,
            ),
        }
        .build())
    }
}

/// What a cancelled transaction means.
#[derive(Debug)]
enum Judgement {
    Refused(Vec<Option<Refusal>>),
    Again,
    Unknown,
}

/// Reads the reasons, one per part.
///
/// A conflict or throttling of any part means that the parts could not all be judged: a failed condition beside it
/// may be the trace of a transaction that is about to decide otherwise, except where the failed part is the first:
/// callers put the record that decides there, and its existence is final.
fn judge(reasons: &[CancellationReason], parts: usize) -> Judgement {
    if reasons.len() != parts {
        return Judgement::Unknown;
    }
    let code = |reason: &CancellationReason| reason.code.clone().unwrap_or_else(|| "None".to_owned());
    let failed = |reason: &CancellationReason| code(reason) == "ConditionalCheckFailed";
    let passing = |reason: &CancellationReason| {
        matches!(
            code(reason).as_str(),
            "TransactionConflict" | "ProvisionedThroughputExceeded" | "ThrottlingError" | "RequestLimitExceeded"
        )
    };
    let known = |reason: &CancellationReason| failed(reason) || passing(reason) || code(reason) == "None";
    if !reasons.iter().all(known) {
        return Judgement::Unknown;
    }
    if !reasons.first().is_some_and(failed) && reasons.iter().any(passing) {
        return Judgement::Again;
    }
    if !reasons.iter().any(failed) {
        return Judgement::Unknown;
    }
    Judgement::Refused(
        reasons
            .iter()
            .map(|reason| failed(reason).then(|| Refusal { existing: existing(reason.item.clone()) }))
            .collect(),
    )
}

fn existing(item: Option<Item>) -> Option<Stored> {
    item.filter(|item| !item.is_empty()).map(Stored::new)
}

/// Waits a random part of a time that doubles with each attempt.
pub(crate) async fn pause(attempt: u32) {
    tokio::time::sleep(backoff(attempt, dice())).await;
}

fn backoff(attempt: u32, dice: u64) -> Duration {
    let longest = FIRST_PAUSE * 2_u32.saturating_pow(attempt.saturating_sub(1).min(6));
    let micros = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX).max(1);
    Duration::from_micros(dice % micros)
}

/// A number that differs from call to call: it decides nothing but pauses, preferences and who holds a lease.
pub(crate) fn dice() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::item::text;

    fn reasons(codes: &[&str]) -> Vec<CancellationReason> {
        codes.iter().map(|code| CancellationReason::builder().code(*code).build()).collect()
    }

    fn judged(codes: &[&str]) -> String {
        match judge(&reasons(codes), codes.len()) {
            Judgement::Refused(parts) => {
                parts.iter().map(|part| if part.is_some() { 'x' } else { '.' }).collect::<String>()
            }
            Judgement::Again => "again".to_owned(),
            Judgement::Unknown => "unknown".to_owned(),
        }
    }

    #[test]
    fn each_list_of_cancellation_reasons_has_one_meaning() {
        for (codes, meaning) in [
            (["ConditionalCheckFailed", "None"], "x."),
            (["None", "ConditionalCheckFailed"], ".x"),
            (["ConditionalCheckFailed", "ConditionalCheckFailed"], "xx"),
            (["ConditionalCheckFailed", "TransactionConflict"], "x."),
            (["TransactionConflict", "None"], "again"),
            (["None", "TransactionConflict"], "again"),
            (["TransactionConflict", "ConditionalCheckFailed"], "again"),
            (["ThrottlingError", "None"], "again"),
            (["None", "ProvisionedThroughputExceeded"], "again"),
            (["ValidationError", "None"], "unknown"),
            (["ConditionalCheckFailed", "ItemCollectionSizeLimitExceeded"], "unknown"),
            (["None", "None"], "unknown"),
        ] {
            assert_eq!(judged(&codes), meaning, "{codes:?}");
        }
        assert!(matches!(judge(&[], 2), Judgement::Unknown));
    }

    #[test]
    fn a_refusal_brings_the_item_that_is_there() {
        let there = Item::from([("pk".to_owned(), text("r#1")), ("sk".to_owned(), text("r"))]);
        let reasons = [CancellationReason::builder().code("ConditionalCheckFailed").set_item(Some(there)).build()];
        let Judgement::Refused(parts) = judge(&reasons, 1) else { panic!("not refused") };
        let existing = parts[0].as_ref().unwrap().existing.as_ref().unwrap();
        assert_eq!(existing.pk().unwrap(), "r#1");
    }

    #[test]
    fn a_pause_is_random_below_a_bound_that_doubles_and_ends() {
        assert_eq!(backoff(1, 9_999), Duration::from_micros(9_999));
        assert_eq!(backoff(1, 10_000), Duration::ZERO);
        assert!(backoff(2, u64::MAX) < Duration::from_millis(20));
        assert!(backoff(60, u64::MAX) < Duration::from_millis(640));
    }

    #[test]
    fn a_change_writes_every_name_as_a_placeholder() {
        let change = Change::of(Key { pk: "a".into(), sk: "b".into() })
            .set("st", text("x"))
            .add("31:accepted", AttributeValue::N("1".into()))
            .remove(&["lu"])
            .when("#st IN (:a) AND attribute_not_exists(#lu)")
            .bind(":a", text("y"));
        assert_eq!(
            change.expression().unwrap(),
            "ADD #31_3aaccepted :new_31_3aaccepted REMOVE #lu SET #st = :new_st"
        );
        let mut names: Vec<_> = change.names.into_iter().collect();
        names.sort();
        assert_eq!(
            names,
            [("#31_3aaccepted", "31:accepted"), ("#lu", "lu"), ("#st", "st")]
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
    }
}
