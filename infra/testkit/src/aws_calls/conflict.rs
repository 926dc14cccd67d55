//! A DynamoDB error that the embedded service never returns: another transaction holds the item.
//!
//! The request is sent with an operation name that does not exist, so nothing is executed. Then the response is
//! replaced by the documented error.

use aws_sdk_dynamodb::operation::{
    put_item::PutItemInput, transact_write_items::TransactWriteItemsInput, update_item::UpdateItemInput,
};
use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::context::Input,
        orchestrator::{HttpRequest, HttpResponse},
    },
};
use aws_smithy_types::body::SdkBody;
use serde_json::json;

/// The error body for this call.
///
/// # Panics
///
/// When the call is not a write, because only writes can conflict.
pub(super) fn refusal(input: &Input) -> String {
    if let Some(transaction) = input.downcast_ref::<TransactWriteItemsInput>() {
        let mut reasons = vec![json!({ "Code": "None" }); transaction.transact_items().len()];
        if let Some(last) = reasons.last_mut() {
            *last = json!({ "Code": "TransactionConflict", "Message": "Transaction is ongoing for the item" });
        }
        let error = json!({
            "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
            "Message": "Transaction cancelled", "CancellationReasons": reasons,
        });
        return error.to_string();
    }
    let writes = input.downcast_ref::<PutItemInput>().is_some() || input.downcast_ref::<UpdateItemInput>().is_some();
    assert!(writes, "only writes of DynamoDB meet a conflict");
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException",
        "message": "Transaction is ongoing for the item",
    })
    .to_string()
}

/// Replaces the operation by one that does not exist.
pub(super) fn divert(request: &mut HttpRequest) {
    request
        .headers_mut()
        .insert("x-amz-target", "DynamoDB_20120810.Nothing");
}

/// The response with this body.
pub(super) fn answer(body: &str) -> Result<HttpResponse, BoxError> {
    Ok(HttpResponse::new(400.try_into()?, SdkBody::from(body)))
}
