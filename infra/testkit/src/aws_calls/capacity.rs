//! The cost of calls in DynamoDB.

use aws_sdk_dynamodb::{
    operation::{
        delete_item::{DeleteItemInput, DeleteItemOutput},
        get_item::{GetItemInput, GetItemOutput},
        put_item::{PutItemInput, PutItemOutput},
        query::{QueryInput, QueryOutput},
        transact_write_items::{TransactWriteItemsInput, TransactWriteItemsOutput},
        update_item::{UpdateItemInput, UpdateItemOutput},
    },
    types::ReturnConsumedCapacity,
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

/// Asks DynamoDB to report the consumed capacity.
pub(super) fn ask_for(input: &mut Input) {
    ask!(input: GetItemInput, QueryInput, PutItemInput, UpdateItemInput, DeleteItemInput, TransactWriteItemsInput);
}

macro_rules! consumed {
    ($output:ident: $($kind:ty => $units:ident),+) => {
        $(if let Some(answer) = $output.downcast_ref::<$kind>() {
            let capacities = answer.consumed_capacity().into_iter();
            return Units {
                $units: capacities.filter_map(|capacity| capacity.capacity_units).sum(),
                ..Units::default()
            };
        })+
    };
}

/// The consumed capacity that a response reports.
pub(super) fn consumed(output: &Output) -> Units {
    consumed!(output: GetItemOutput => read, QueryOutput => read, PutItemOutput => write, UpdateItemOutput => write,
        DeleteItemOutput => write, TransactWriteItemsOutput => write);
    Units::default()
}

/// The cost of a rejected write, which the response does not report.
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
