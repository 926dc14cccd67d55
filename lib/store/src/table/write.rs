//! Conditional writes: one item ([`Change`]) or several together ([`Table::transact`]).
//!
//! DynamoDB rejects a write for three kinds of reasons, and they must not be mixed up: the condition does not hold (an
//! outcome), another transaction has the item (retry with jitter), anything else (an error, after which it is unknown
//! whether the write took effect).

mod cancellation;

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

use aws_sdk_dynamodb::{
    error::{ProvideErrorMetadata, SdkError},
    operation::{transact_write_items::TransactWriteItemsError, update_item::UpdateItemError},
    types::{Delete, Put, ReturnValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem},
};

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use cancellation::{Judgement, judge};

use super::{
    Table,
    change::Change,
    condition::{Names, Predicate, Values, exists},
    item::{Item, Stored},
    keys::{Key, PK},
};
use crate::StoreError;

/// Upper bound of the tries while other transactions have the items.
pub(crate) const ATTEMPTS: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// The result of a conditional write of one item.
#[derive(Debug)]
pub(crate) enum Applied {
    /// Written; contains the new item.
    Done(Stored),
    /// The condition does not hold; contains the existing item, if there is one.
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
    /// Deletes an item if it exists.
    Drop(Key),
}

/// The result of a transaction.
#[derive(Debug)]
pub(crate) enum Transacted {
    Done,
    /// Nothing was written. For each part: whether its own condition failed, and the existing item then.
    Refused(Vec<Option<Refusal>>),
}

/// The condition of a part did not hold.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) existing: Option<Stored>,
}

impl Table {
    pub(crate) async fn apply(&self, operation: &'static str, change: Change) -> Result<Applied, StoreError> {
        let written = write(operation, || {
            let request = self.client.update_item().table_name(&self.name);
            change.fill(request.return_values(ReturnValue::AllNew)).send()
        });
        match written.await? {
            Ok(answer) => Ok(Applied::Done(Stored::new(answer.attributes.unwrap_or_default()))),
            Err(UpdateItemError::ConditionalCheckFailedException(refusal)) => {
                Ok(Applied::Refused(existing(refusal.item)))
            }
            Err(error) => Err(StoreError::unexpected(operation, error)),
        }
    }

    /// Applies a change. `false`: its condition does not hold.
    pub(crate) async fn applied(&self, operation: &'static str, change: Change) -> Result<bool, StoreError> {
        Ok(matches!(self.apply(operation, change).await?, Applied::Done(_)))
    }

    /// Puts an item that must not exist. Returns `false` when it does.
    pub(crate) async fn put_new(&self, operation: &'static str, item: Item) -> Result<bool, StoreError> {
        let written = write(operation, || {
            self.client
                .put_item()
                .table_name(&self.name)
                .set_item(Some(item.clone()))
                .condition_expression("attribute_not_exists(#pk)")
                .expression_attribute_names("#pk", PK)
                .send()
        });
        Ok(written.await?.is_ok())
    }

    /// Deletes an item. Returns `false` when it does not exist.
    pub(crate) async fn delete(&self, operation: &'static str, key: &Key) -> Result<bool, StoreError> {
        self.delete_when(operation, key, exists(PK)).await
    }

    /// Deletes an item on a condition. `false`: it does not hold, or the item is gone.
    pub(crate) async fn delete_when(
        &self,
        operation: &'static str,
        key: &Key,
        condition: Predicate,
    ) -> Result<bool, StoreError> {
        let (mut names, mut values) = (Names::new(), Values::new());
        let condition = condition.bind(&mut names, &mut values);
        let written = write(operation, || {
            self.client
                .delete_item()
                .table_name(&self.name)
                .set_key(Some(key.attributes()))
                .condition_expression(&condition)
                .set_expression_attribute_names(Some(names.clone()))
                .set_expression_attribute_values((!values.is_empty()).then(|| values.clone()))
                .send()
        });
        Ok(written.await?.is_ok())
    }

    pub(crate) async fn transact(&self, operation: &'static str, parts: Vec<Part>) -> Result<Transacted, StoreError> {
        for attempt in 1..=ATTEMPTS {
            let mut items = Vec::with_capacity(parts.len());
            for part in &parts {
                items.push(self.transact_item(operation, part)?);
            }
            let Err(error) = self
                .client
                .transact_write_items()
                .set_transact_items(Some(items))
                .send()
                .await
            else {
                return Ok(Transacted::Done);
            };
            let judgement = match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
                    judge(canceled.cancellation_reasons(), parts.len())
                }
                // The SDK repeats a request with the same token, while the first one may still be running.
                Some(refusal) if refusal.code() == Some("TransactionInProgressException") => Judgement::Again,
                _ => Judgement::Unknown,
            };
            match judgement {
                Judgement::Refused(refusals) => return Ok(Transacted::Refused(refusals)),
                Judgement::Again => pause(attempt).await,
                Judgement::Unknown => return Err(StoreError::from_sdk(operation, error)),
            }
        }
        Err(contended(operation))
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
            Part::Drop(key) => item.delete(
                Delete::builder()
                    .table_name(&self.name)
                    .set_key(Some(key.attributes()))
                    .build()
                    .map_err(invalid)?,
            ),
            Part::Update(change) => item.update(change.in_transaction(&self.name).map_err(invalid)?),
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

/// Sends a write of one item, again while a transaction holds the item. The inner error: its condition does not hold.
async fn write<T, E, F>(operation: &'static str, send: impl Fn() -> F) -> Result<Result<T, E>, StoreError>
where
    F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    for attempt in 1..=ATTEMPTS {
        let error = match send().await {
            Ok(answer) => return Ok(Ok(answer)),
            Err(error) => error,
        };
        match error {
            SdkError::ServiceError(refusal) if refusal.err().code() == Some("ConditionalCheckFailedException") => {
                return Ok(Err(refusal.into_err()));
            }
            SdkError::ServiceError(refusal) if refusal.err().code() == Some("TransactionConflictException") => {
                pause(attempt).await;
            }
            other => return Err(StoreError::from_sdk(operation, other)),
        }
    }
    Err(contended(operation))
}

fn contended(operation: &'static str) -> StoreError {
    StoreError::Contended {
        operation,
        attempts: ATTEMPTS,
    }
}

fn existing(item: Option<Item>) -> Option<Stored> {
    item.filter(|item| !item.is_empty()).map(Stored::new)
}

/// Waits a random part of a time that doubles with each attempt.
pub(crate) async fn pause(attempt: u32) {
    tokio::time::sleep(backoff(attempt, random())).await;
}

fn backoff(attempt: u32, random: u64) -> Duration {
    let longest = FIRST_PAUSE * 2_u32.saturating_pow(attempt.saturating_sub(1).min(6));
    let micros = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX).max(1);
    Duration::from_micros(random % micros)
}

/// A random number, only for pauses, preferences and lease keys.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_random_below_a_bound_that_doubles_and_ends() {
        assert_eq!(backoff(1, 9_999), Duration::from_micros(9_999));
        assert_eq!(backoff(1, 10_000), Duration::ZERO);
        assert!(backoff(2, u64::MAX) < Duration::from_millis(20));
        assert!(backoff(60, u64::MAX) < Duration::from_millis(640));
    }
}
