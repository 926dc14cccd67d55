//! Makes the queues, dead-letter queues first. Attributes are written each time, as a deployment would.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use aws_sdk_sqs::{Client, types::QueueAttributeName};
use serde_json::json;

use crate::{Queue, provision::ProvisionError};

/// Gives the address of each queue by its logical id.
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

async fn create(sqs: &Client, name: &str) -> Result<String, ProvisionError> {
    match sqs.get_queue_url().queue_name(name).send().await {
        Ok(answer) => return url(answer.queue_url, "GetQueueUrl", name),
        Err(error)
            if error
                .as_service_error()
                .is_some_and(|error| error.is_queue_does_not_exist()) => {}
        Err(error) => return Err(ProvisionError::call("GetQueueUrl", name)(error)),
    }
    let answer = sqs.create_queue().queue_name(name).send().await;
    url(
        answer.map_err(ProvisionError::call("CreateQueue", name))?.queue_url,
        "CreateQueue",
        name,
    )
}

fn url(url: Option<String>, action: &'static str, name: &str) -> Result<String, ProvisionError> {
    url.ok_or_else(|| ProvisionError::Answer {
        action,
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
    let seconds = |duration: Duration| duration.as_secs().to_string();
    let mut attributes = HashMap::from([
        (QueueAttributeName::DelaySeconds, seconds(queue.delay)),
        (QueueAttributeName::VisibilityTimeout, seconds(queue.visibility_timeout)),
        (QueueAttributeName::MessageRetentionPeriod, seconds(queue.retention)),
        (
            QueueAttributeName::ReceiveMessageWaitTimeSeconds,
            seconds(queue.receive_wait),
        ),
    ]);
    if let Some(redrive) = &queue.redrive
        && let Some(arn) = arns.get(redrive.dead_letter_queue.as_str())
    {
        let policy = json!({ "deadLetterTargetArn": arn, "maxReceiveCount": redrive.max_receive_count });
        attributes.insert(QueueAttributeName::RedrivePolicy, policy.to_string());
    }
    attributes
}
