//! Provisions the real template on the embedded services.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::types::{AttributeValue, TimeToLiveStatus};
use aws_sdk_sqs::{config::Credentials, types::QueueAttributeName};
use ecf_embedded::{Embedded, Options};
use ecf_stack::{Provisioned, Stack};

async fn services() -> (Embedded, SdkConfig) {
    let embedded = Embedded::start(Options::default()).await.unwrap();
    let config = aws_config::defaults(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .endpoint_url(embedded.endpoint_url())
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .load()
        .await;
    (embedded, config)
}

fn stack(parameters: &[(&str, &str)]) -> Stack {
    let parameters = parameters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Stack::embedded(parameters).unwrap()
}

async fn data_key(config: &SdkConfig, provisioned: &Provisioned) -> String {
    let prefix = &provisioned.environment_of("issuing").unwrap()["SECRET_PREFIX"];
    let secrets = aws_sdk_secretsmanager::Client::new(config);
    let value = secrets
        .get_secret_value()
        .secret_id(format!("{prefix}/data-key"))
        .send()
        .await
        .unwrap();
    value.secret_string.unwrap()
}

#[tokio::test]
async fn resources_are_made_as_the_template_says() {
    let (_embedded, config) = services().await;
    let provisioned = stack(&[]).provision(&config, "made").await.unwrap();

    let dynamodb = aws_sdk_dynamodb::Client::new(&config);
    let table = provisioned.table_name();
    let ttl = dynamodb.describe_time_to_live().table_name(table).send().await.unwrap();
    let ttl = ttl.time_to_live_description.unwrap();
    assert_eq!(ttl.attribute_name.as_deref(), Some("ttl"));
    assert!(matches!(
        ttl.time_to_live_status,
        Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)
    ));
    let description = dynamodb
        .describe_table()
        .table_name(table)
        .send()
        .await
        .unwrap()
        .table
        .unwrap();
    assert_eq!(description.global_secondary_indexes().len(), 4);

    let s3 = aws_sdk_s3::Client::from_conf(
        aws_sdk_s3::config::Builder::from(&config)
            .force_path_style(true)
            .build(),
    );
    let objects = s3.list_objects_v2().bucket(provisioned.bucket_name()).send().await;
    assert_eq!(objects.unwrap().contents(), []);

    let sqs = aws_sdk_sqs::Client::new(&config);
    let url = provisioned.queue_url("SubmissionTesteCF").unwrap();
    let request = sqs
        .get_queue_attributes()
        .queue_url(url)
        .attribute_names(QueueAttributeName::All);
    let attributes = request.send().await.unwrap().attributes.unwrap();
    assert_eq!(attributes[&QueueAttributeName::VisibilityTimeout], "360");
    let redrive: serde_json::Value = serde_json::from_str(&attributes[&QueueAttributeName::RedrivePolicy]).unwrap();
    let target = redrive["deadLetterTargetArn"].as_str().unwrap();
    assert!(target.ends_with(":made-SubmissionTesteCFDead"), "{target}");
    assert_eq!(redrive["maxReceiveCount"].to_string().trim_matches('"'), "5");

    let key = data_key(&config, &provisioned).await;
    assert_eq!(key.len(), 64);
    assert!(key.chars().all(|c| c.is_ascii_alphanumeric()), "{key}");
}

#[tokio::test]
async fn each_function_gets_the_environment_that_the_template_gives_it() {
    let (_embedded, config) = services().await;
    let stack = stack(&[
        ("TaxauthEcfUrl", "http://127.0.0.1:1"),
        ("AllowLoopbackTargets", "true"),
    ]);
    let provisioned = stack.provision(&config, "env").await.unwrap();
    let worker = provisioned.environment_of("submission-worker").unwrap();
    assert_eq!(worker["TAXAUTH_ECF_URL"], "http://127.0.0.1:1");
    assert_eq!(worker["SECRET_PREFIX"], "ecf/env");
    assert_eq!(worker["TABLE_NAME"], provisioned.table_name());
    assert_eq!(
        worker["SUBMISSION_QUEUE_ECF_URL"],
        provisioned.queue_url("SubmissionEcf").unwrap()
    );
    assert_eq!(worker["RUST_LOG"], "info");
    assert_eq!(
        provisioned.environment_of("webhooks").unwrap()["ALLOW_LOOPBACK_TARGETS"],
        "true"
    );
    let status: Vec<_> = provisioned
        .environment_of("status")
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        status,
        [
            "AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH",
            "BUCKET_NAME",
            "CORS_ORIGINS",
            "KEY_REQUESTS_PER_SECOND",
            "NOTICES_ENABLED",
            "REGISTER_LOOKUPS_PER_MINUTE",
            "RUST_LOG",
            "SECRET_PREFIX",
            "TABLE_NAME",
            "TAXAUTH_STATUS_URL"
        ]
    );
}

#[tokio::test]
async fn a_second_run_keeps_what_is_there() {
    let (_embedded, config) = services().await;
    let first = stack(&[]).provision(&config, "again").await.unwrap();
    let dynamodb = aws_sdk_dynamodb::Client::new(&config);
    let item = |value: &str| AttributeValue::S(value.to_owned());
    let put = dynamodb
        .put_item()
        .table_name(first.table_name())
        .item("pk", item("a"))
        .item("sk", item("b"));
    put.send().await.unwrap();
    let sqs = aws_sdk_sqs::Client::new(&config);
    let url = first.queue_url("Webhook").unwrap();
    sqs.send_message()
        .queue_url(url)
        .message_body("kept")
        .send()
        .await
        .unwrap();
    let key = data_key(&config, &first).await;

    let second = stack(&[]).provision(&config, "again").await.unwrap();

    assert_eq!(second.table_name(), first.table_name());
    assert_eq!(second.queue_url("Webhook"), Some(url));
    assert_eq!(data_key(&config, &second).await, key);
    let get = dynamodb
        .get_item()
        .table_name(second.table_name())
        .key("pk", item("a"))
        .key("sk", item("b"));
    assert!(get.send().await.unwrap().item.is_some());
    let received = sqs
        .receive_message()
        .queue_url(url)
        .wait_time_seconds(0)
        .send()
        .await
        .unwrap();
    assert_eq!(received.messages()[0].body(), Some("kept"));
}

#[tokio::test]
async fn prefixes_keep_deployments_apart() {
    let (_embedded, config) = services().await;
    let stack = stack(&[]);
    let one = stack.provision(&config, "one").await.unwrap();
    let two = stack.provision(&config, "two").await.unwrap();
    assert_ne!(one.table_name(), two.table_name());
    assert_ne!(one.bucket_name(), two.bucket_name());
    let urls: BTreeMap<_, _> = one.queue_urls().collect();
    assert!(two.queue_urls().all(|(logical_id, url)| urls[logical_id] != url));
    assert_ne!(data_key(&config, &one).await, data_key(&config, &two).await);
}

#[tokio::test]
async fn a_table_of_another_template_is_not_touched() {
    let (_embedded, config) = services().await;
    let mut other = stack(&[]);
    other.tables[0].global_secondary_indexes.truncate(3);
    other.tables[0]
        .attribute_definitions
        .retain(|attribute| !["tp", "ts"].contains(&attribute.attribute_name.as_str()));
    other.provision(&config, "other").await.unwrap();
    let error = stack(&[]).provision(&config, "other").await.unwrap_err().to_string();
    assert!(
        error.starts_with("table other-Table is there with (pk,sk) due(dp,ds)"),
        "{error}"
    );
}
