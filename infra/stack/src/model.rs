//! The resources that are carried out, one kind per file, and the kinds that are known and are not.

pub(crate) mod api;
pub(crate) mod bucket;
pub(crate) mod function;
pub(crate) mod queue;
pub(crate) mod secret;
pub(crate) mod table;

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
