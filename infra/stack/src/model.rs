//! The resources that are carried out, in the form that the template has, and the kinds that are known and are not.

pub(crate) mod api;
pub(crate) mod function;
pub(crate) mod queue;
pub(crate) mod secret;
pub(crate) mod table;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::error::{Place, StackError};

/// Kinds of resources that the local system has no use for: who may do what, what is logged, what wakes somebody up.
/// Their properties are evaluated all the same, so that a reference to nothing is found.
pub(crate) const NOT_CARRIED_OUT: [&str; 15] = [
    "AWS::ApiGateway::Account",
    "AWS::ApiGateway::BasePathMapping",
    "AWS::ApiGateway::DomainName",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::IAM::Role",
    "AWS::KMS::Alias",
    "AWS::Logs::LogGroup",
    "AWS::Route53::RecordSet",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::Topic",
    "AWS::SQS::QueuePolicy",
    "AWS::WAFv2::WebACL",
    "AWS::WAFv2::WebACLAssociation",
];

/// Properties of one kind. One that the type does not name is refused.
pub(crate) trait Properties: DeserializeOwned {
    /// Names that are known and have no effect here.
    const WITHOUT_EFFECT: &'static [&'static str] = &[];
}

pub(crate) fn read<T: Properties>(mut properties: Value, place: &Place) -> Result<T, StackError> {
    if let Value::Object(properties) = &mut properties {
        properties.retain(|name, _| !T::WITHOUT_EFFECT.contains(&name.as_str()));
    }
    place.read(properties)
}

/// A bucket. An emulator keeps nothing secret from the machine it runs on, has one owner, and locks, retains, expires and publishes
/// nothing.
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
