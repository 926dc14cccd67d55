//! The embedded services as the AWS SDK sees them.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod dynamodb;
mod faults;
mod restart;
mod s3;
mod secrets;
mod sqs;
mod stack;
