//! SQS errors. Each has two codes: the shape's name and the older code of the query protocol.

use crate::aws_json::AwsError;

pub(crate) fn queue_does_not_exist() -> AwsError {
    AwsError::new("QueueDoesNotExist", "The specified queue does not exist.")
        .with_query_code("AWS.SimpleQueueService.NonExistentQueue")
}

pub(crate) fn invalid_parameter(message: impl Into<String>) -> AwsError {
    AwsError::new("InvalidParameterValueException", message).with_query_code("InvalidParameterValue")
}

pub(crate) fn missing_parameter(name: &str) -> AwsError {
    AwsError::new(
        "MissingRequiredParameterException",
        format!("The request must contain the parameter {name}."),
    )
    .with_query_code("MissingParameter")
}

pub(crate) fn out_of_range(name: &str, given: i64, least: i64, most: i64) -> AwsError {
    invalid_parameter(format!(
        "Value {given} for parameter {name} is invalid. Reason: Must be between {least} and {most}, if provided."
    ))
}

pub(crate) fn invalid_attribute_name(name: &str) -> AwsError {
    AwsError::new("InvalidAttributeName", format!("Unknown Attribute {name}.")).with_query_code("InvalidAttributeName")
}

pub(crate) fn invalid_attribute_value(name: &str) -> AwsError {
    AwsError::new(
        "InvalidAttributeValue",
        format!("Invalid value for the parameter {name}."),
    )
    .with_query_code("InvalidAttributeValue")
}

pub(crate) fn invalid_message_contents() -> AwsError {
    AwsError::new(
        "InvalidMessageContents",
        "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF",
    )
    .with_query_code("InvalidMessageContents")
}

pub(crate) fn message_too_long(limit_bytes: i64) -> AwsError {
    invalid_parameter(format!(
        "One or more parameters are invalid. Reason: Message must be shorter than {limit_bytes} bytes."
    ))
}

pub(crate) fn receipt_handle_is_invalid(handle: &str) -> AwsError {
    AwsError::new(
        "ReceiptHandleIsInvalid",
        format!("The input receipt handle \"{handle}\" is not a valid receipt handle."),
    )
    .with_query_code("ReceiptHandleIsInvalid")
}

pub(crate) fn empty_batch() -> AwsError {
    AwsError::new(
        "EmptyBatchRequest",
        "There should be at least one entry in the request.",
    )
    .with_query_code("AWS.SimpleQueueService.EmptyBatchRequest")
}

pub(crate) fn too_many_entries(given: usize) -> AwsError {
    AwsError::new(
        "TooManyEntriesInBatchRequest",
        format!("Maximum number of entries per request are 10. You have sent {given}."),
    )
    .with_query_code("AWS.SimpleQueueService.TooManyEntriesInBatchRequest")
}

pub(crate) fn unsupported(message: impl Into<String>) -> AwsError {
    AwsError::new("UnsupportedOperation", message).with_query_code("AWS.SimpleQueueService.UnsupportedOperation")
}
