//! Templates with constructs that the local system cannot create.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use ecf_stack::Stack;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const FILES: [&str; 7] = [
    "template.yaml",
    "infra/storage.yaml",
    "infra/queues.yaml",
    "infra/alarms.yaml",
    "infra/dashboard.yaml",
    "infra/domain.yaml",
    "infra/firewall.yaml",
];

/// A copy of the real template in which one text is replaced.
struct Changed(PathBuf);

impl Changed {
    fn new(name: &str, file: &str, from: &str, to: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("refused-{name}"));
        fs::create_dir_all(folder.join("infra")).unwrap();
        for each in FILES {
            let mut text = fs::read_to_string(Path::new(ROOT).join(each)).unwrap();
            if each == file {
                assert!(text.contains(from), "{file} no longer says {from:?}");
                text = text.replacen(from, to, 1);
            }
            fs::write(folder.join(each), text).unwrap();
        }
        Self(folder)
    }

    /// The error and its cause.
    fn refusal(&self) -> String {
        let error = Stack::read(&self.0, BTreeMap::new()).unwrap_err();
        match error.source() {
            None => error.to_string(),
            Some(source) => format!("{error}: {source}"),
        }
    }
}

#[track_caller]
fn assert_refused(name: &str, file: &str, from: &str, to: &str, expected: &str) {
    let refusal = Changed::new(name, file, from, to).refusal();
    assert_eq!(refusal, expected);
}

#[test]
fn an_unknown_function() {
    assert_refused(
        "function",
        "infra/storage.yaml",
        "!Ref Table",
        "!Select [0, [!Ref Table]]",
        "infra/storage.yaml: Outputs.TableName: the function Select is not supported here",
    );
}

#[test]
fn an_unknown_property() {
    assert_refused(
        "property",
        "infra/queues.yaml",
        "DelaySeconds: 0",
        "FifoQueue: true",
        "infra/queues.yaml: IssuingQueue.Properties.FifoQueue: unknown field `FifoQueue`, expected one of `DelaySeconds`, `VisibilityTimeout`, \
         `MessageRetentionPeriod`, `ReceiveMessageWaitTimeSeconds`, `RedrivePolicy`",
    );
}

#[test]
fn an_unknown_kind_of_resource() {
    assert_refused(
        "kind",
        "infra/queues.yaml",
        "AWS::SQS::QueuePolicy",
        "AWS::Kinesis::Stream",
        "infra/queues.yaml: TlsOnly: the resource type AWS::Kinesis::Stream is not supported here",
    );
}

#[test]
fn an_unknown_trigger() {
    assert_refused(
        "trigger",
        "template.yaml",
        "Type: Schedule",
        "Type: CloudWatchEvent",
        "template.yaml: Housekeeping.Properties.Events.EveryMinute.Type: unknown variant `CloudWatchEvent`, expected one of `Api`, `SQS`, `Schedule`",
    );
}

#[test]
fn an_unknown_section() {
    assert_refused(
        "section",
        "template.yaml",
        "Outputs:",
        "Mappings:",
        "template.yaml: Mappings: unknown field `Mappings`, expected one of `AWSTemplateFormatVersion`, `Transform`, `Description`, \
         `Parameters`, `Conditions`, `Globals`, `Resources`, `Outputs`",
    );
}

#[test]
fn a_reference_to_nothing() {
    assert_refused(
        "reference",
        "template.yaml",
        "TAXAUTH_ECF_URL: !Ref TaxauthEcfUrl",
        "TAXAUTH_ECF_URL: !Ref TaxauthUrl",
        "template.yaml: Approvals.Properties.Environment.Variables.TAXAUTH_ECF_URL: there is no TaxauthUrl",
    );
}

#[test]
fn an_output_that_the_nested_stack_does_not_have() {
    assert_refused(
        "output",
        "infra/storage.yaml",
        "  BucketName:",
        "  Bucket_:",
        "template.yaml: Issuing.Properties.Environment.Variables.BUCKET_NAME: there is no Storage.Outputs.BucketName",
    );
}

#[test]
fn a_parameter_that_the_nested_stack_does_not_have() {
    assert_refused(
        "parameter",
        "template.yaml",
        "        SecretPrefix: ",
        "        SecretsPrefix: ",
        "infra/storage.yaml: Parameters.SecretPrefix: expected a value, found none",
    );
}

#[test]
fn a_queue_that_hides_its_messages_too_shortly() {
    assert_refused(
        "visibility",
        "template.yaml",
        "SubmissionVisibilitySeconds: \"360\"",
        "SubmissionVisibilitySeconds: \"359\"",
        "template.yaml: SubmissionWorker.Events: expected SubmissionCerteCF to hide its messages for 360 s at least, found 359 s",
    );
}

#[test]
fn a_nested_stack_that_waits_for_outputs() {
    assert_refused(
        "cycle",
        "template.yaml",
        "SubmissionVisibilitySeconds: \"360\"",
        "SubmissionVisibilitySeconds: !GetAtt Queues.Outputs.WebhookUrl",
        "template.yaml: Queues.Properties.Parameters.SubmissionVisibilitySeconds: an output of a nested stack that does not stand above is not supported here",
    );
}

#[test]
fn a_nested_template_that_is_not_there() {
    let changed = Changed::new("file", "template.yaml", "infra/storage.yaml", "infra/store.yaml");
    assert!(
        changed.refusal().starts_with("cannot read infra/store.yaml: "),
        "{}",
        changed.refusal()
    );
}

#[test]
fn a_key_that_stands_twice() {
    let changed = Changed::new(
        "twice",
        "infra/queues.yaml",
        "DelaySeconds: 0",
        "DelaySeconds: 0\n      DelaySeconds: 1",
    );
    let refusal = changed.refusal();
    assert!(
        refusal.starts_with("infra/queues.yaml is not YAML: ") && refusal.contains("duplicate"),
        "{refusal}"
    );
}
