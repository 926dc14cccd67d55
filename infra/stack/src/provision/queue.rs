//! Creates the queues, dead-letter queues first. Attributes are written every time, as a deployment does.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_sqs::{Client, types::QueueAttributeName};
use serde_json::json;

use crate::{Queue, provision::ProvisionError};

/// Returns the URL of each queue by its logical id.
pub(super) async fn make_all(
    sqs: &Client,
    queues: &[Queue],
    prefix: &str,
) -> Result<BTreeMap<String, String>, ProvisionError> {
    let mut urls = BTreeMap::new();
    for queue in queues {
        urls.insert(
            queue.logical_id.clone(),
            create(sqs, &format!("{prefix}-{}", queue.logical_id)).await?,
        );
    }
    let mut arns = BTreeMap::new();
    for (logical_id, url) in &urls {
        arns.insert(logical_id.as_str(), arn(sqs, url).await?);
    }
    for queue in queues {
        let url = &urls[&queue.logical_id];
        let request = sqs
            .set_queue_attributes()
            .queue_url(url)
            .set_attributes(Some(attributes(queue, &arns)));
        request
            .send()
            .await
            .map_err(ProvisionError::call("SetQueueAttributes", url))?;
    }
    Ok(urls)
}

/// Creates the queue; the response is the same if it exists.
async fn create(sqs: &Client, name: &str) -> Result<String, ProvisionError> {
    let answer = sqs.create_queue().queue_name(name).send().await;
    let url = answer.map_err(ProvisionError::call("CreateQueue", name))?.queue_url;
    url.ok_or_else(|| ProvisionError::Answer {
        action: "CreateQueue",
        resource: name.to_owned(),
        field: "QueueUrl",
    })
}

async fn arn(sqs: &Client, url: &str) -> Result<String, ProvisionError> {
    let request = sqs
        .get_queue_attributes()
        .queue_url(url)
        .attribute_names(QueueAttributeName::QueueArn);
    let answer = request
        .send()
        .await
        .map_err(ProvisionError::call("GetQueueAttributes", url))?;
    let arn = answer
        .attributes
        .and_then(|mut attributes| attributes.remove(&QueueAttributeName::QueueArn));
    arn.ok_or_else(|| ProvisionError::Answer {
        action: "GetQueueAttributes",
        resource: url.to_owned(),
        field: "QueueArn",
    })
}

fn attributes(queue: &Queue, arns: &BTreeMap<&str, String>) -> HashMap<QueueAttributeName, String> {
    let times = [
        (QueueAttributeName::DelaySeconds, queue.delay_seconds),
        (QueueAttributeName::VisibilityTimeout, queue.visibility_timeout),
        (
            QueueAttributeName::MessageRetentionPeriod,
            queue.message_retention_period,
        ),
        (
            QueueAttributeName::ReceiveMessageWaitTimeSeconds,
            queue.receive_message_wait_time_seconds,
        ),
    ];
    let mut attributes = HashMap::from(times.map(|(name, seconds)| (name, seconds.to_string())));
    if let Some(redrive) = &queue.redrive_policy
        && let Some(arn) = arns.get(redrive.dead_letter_queue.as_str())
    {
        let policy = json!({ "deadLetterTargetArn": arn, "maxReceiveCount": redrive.max_receive_count });
        attributes.insert(QueueAttributeName::RedrivePolicy, policy.to_string());
    }
    attributes
}
