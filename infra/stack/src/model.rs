//! The resources that are created, in the template's form, and the known kinds that are ignored.

pub(crate) mod api;
pub(crate) mod function;
pub(crate) mod queue;
pub(crate) mod secret;
pub(crate) mod table;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::error::{Place, StackError};

/// Resource kinds without effect in the local system: permissions, logs, alarms. Their properties are still evaluated,
/// so that an invalid reference is reported.
pub(crate) const NOT_CARRIED_OUT: [&str; 17] = [
    "AWS::ApiGateway::Account",
    "AWS::ApiGateway::BasePathMapping",
    "AWS::ApiGateway::DomainName",
    "AWS::Budgets::Budget",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::IAM::Role",
    "AWS::KMS::Alias",
    "AWS::Logs::LogGroup",
    "AWS::Route53::RecordSet",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::Topic",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
    "AWS::WAFv2::WebACL",
    "AWS::WAFv2::WebACLAssociation",
];

/// Properties of one resource kind. An unknown property is rejected.
pub(crate) trait Properties: DeserializeOwned {
    /// Known properties without effect here.
    const WITHOUT_EFFECT: &'static [&'static str] = &[];
}

pub(crate) fn read<T: Properties>(mut properties: Value, place: &Place) -> Result<T, StackError> {
    if let Value::Object(properties) = &mut properties {
        properties.retain(|name, _| !T::WITHOUT_EFFECT.contains(&name.as_str()));
    }
    place.read(properties)
}

/// A bucket. Its properties have no effect: the emulator does not encrypt, lock, retain, expire or publish, and has one
/// owner.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bucket {}

impl Properties for Bucket {
    const WITHOUT_EFFECT: &'static [&'static str] = &[
        "BucketEncryption",
        "LifecycleConfiguration",
        "ObjectLockConfiguration",
        "ObjectLockEnabled",
        "OwnershipControls",
        "PublicAccessBlockConfiguration",
        "VersioningConfiguration",
    ];
}
