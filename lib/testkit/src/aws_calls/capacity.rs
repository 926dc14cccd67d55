//! What calls cost in DynamoDB.

use aws_sdk_dynamodb::{
    operation::{
        delete_item::{DeleteItemInput, DeleteItemOutput},
        get_item::{GetItemInput, GetItemOutput},
        put_item::{PutItemInput, PutItemOutput},
        query::{QueryInput, QueryOutput},
        transact_write_items::{TransactWriteItemsInput, TransactWriteItemsOutput},
        update_item::{UpdateItemInput, UpdateItemOutput},
    },
    types::{ConsumedCapacity, ReturnConsumedCapacity},
};
use aws_smithy_runtime_api::client::interceptors::context::{Input, Output};

use super::Units;

macro_rules! ask {
    ($input:ident: $($kind:ty),+) => {
        $(if let Some(input) = $input.downcast_mut::<$kind>() {
            input.return_consumed_capacity = Some(ReturnConsumedCapacity::Total);
        })+
    };
}

/// Has the answer say what it cost.
pub(super) fn ask_for(input: &mut Input) {
    ask!(input: GetItemInput, QueryInput, PutItemInput, UpdateItemInput, DeleteItemInput, TransactWriteItemsInput);
}

/// What an answer says that it cost.
pub(super) fn consumed(output: &Output) -> Units {
    let read = |capacity: &Option<ConsumedCapacity>| Units {
        read: units(capacity.as_ref()),
        write: 0.0,
    };
    let write = |capacity: &Option<ConsumedCapacity>| Units {
        write: units(capacity.as_ref()),
        read: 0.0,
    };
    if let Some(answer) = output.downcast_ref::<GetItemOutput>() {
        return read(&answer.consumed_capacity);
    }
    if let Some(answer) = output.downcast_ref::<QueryOutput>() {
        return read(&answer.consumed_capacity);
    }
    if let Some(answer) = output.downcast_ref::<PutItemOutput>() {
        return write(&answer.consumed_capacity);
    }
    if let Some(answer) = output.downcast_ref::<UpdateItemOutput>() {
        return write(&answer.consumed_capacity);
    }
    if let Some(answer) = output.downcast_ref::<DeleteItemOutput>() {
        return write(&answer.consumed_capacity);
    }
    if let Some(answer) = output.downcast_ref::<TransactWriteItemsOutput>() {
        let write = answer
            .consumed_capacity()
            .iter()
            .map(|capacity| units(Some(capacity)))
            .sum();
        return Units { write, read: 0.0 };
    }
    Units::default()
}

/// What a refused write costs: the answer does not say it.
pub(super) fn of_refused(input: &Input) -> Units {
    let parts = input
        .downcast_ref::<TransactWriteItemsInput>()
        .map(|input| input.transact_items().len());
    let single = input.downcast_ref::<PutItemInput>().is_some()
        || input.downcast_ref::<UpdateItemInput>().is_some()
        || input.downcast_ref::<DeleteItemInput>().is_some();
    let write = match parts {
        Some(parts) => (0..parts).map(|_| 2.0).sum(),
        None if single => 1.0,
        None => 0.0,
    };
    Units { write, read: 0.0 }
}

fn units(capacity: Option<&ConsumedCapacity>) -> f64 {
    capacity
        .and_then(|capacity| capacity.capacity_units)
        .unwrap_or_default()
}
