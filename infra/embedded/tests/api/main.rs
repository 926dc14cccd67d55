//! The embedded services from the AWS SDK's point of view.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod dynamodb;
mod faults;
mod restart;
mod s3;
mod secrets;
mod sqs;
mod stack;
