//! Creates the resources with the AWS SDK, as CloudFormation would. Idempotent: existing resources are not replaced.

mod bucket;
mod queue;
mod secret;
mod table;

use std::collections::BTreeMap;

use aws_config::SdkConfig;

use crate::{Stack, Text};

const DEFAULT_REGION: &str = "us-east-1";

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why the resources could not be created.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ProvisionError {
    #[error("{action} of {resource} failed")]
    Call {
        action: &'static str,
        resource: String,
        source: Source,
    },
    #[error("{action} of {resource} answered without {field}")]
    Answer {
        action: &'static str,
        resource: String,
        field: &'static str,
    },
    #[error("{resource} is there with {found}, the template wants {wanted}: it was made from another template")]
    Differs {
        resource: String,
        found: String,
        wanted: String,
    },
    #[error("{place} needs {part}, which is known only where the whole template is deployed")]
    NotProvisioned { place: String, part: String },
}

impl ProvisionError {
    fn call<E>(action: &'static str, resource: &str) -> impl FnOnce(E) -> Self
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        move |source| Self::Call {
            action,
            resource: resource.to_owned(),
            source: Box::new(source),
        }
    }
}

/// The names of the created resources, and each function's environment.
#[derive(Debug, Clone)]
pub struct Provisioned {
    tables: BTreeMap<String, String>,
    buckets: BTreeMap<String, String>,
    queue_urls: BTreeMap<String, String>,
    environments: BTreeMap<String, BTreeMap<String, String>>,
}

impl Provisioned {
    /// The name of the table; the template has one.
    pub fn table_name(&self) -> &str {
        self.tables.values().next().map_or("", String::as_str)
    }

    /// The name of the bucket; the template has one.
    pub fn bucket_name(&self) -> &str {
        self.buckets.values().next().map_or("", String::as_str)
    }

    /// The URL of the queue with this logical id.
    pub fn queue_url(&self, logical_id: &str) -> Option<&str> {
        self.queue_urls.get(logical_id).map(String::as_str)
    }

    /// Logical id and URL of every queue.
    pub fn queue_urls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.queue_urls
            .iter()
            .map(|(logical_id, url)| (logical_id.as_str(), url.as_str()))
    }

    /// The environment variables of the function with this name.
    pub fn environment_of(&self, function: &str) -> Option<&BTreeMap<String, String>> {
        self.environments.get(function)
    }
}

pub(crate) async fn provision(stack: &Stack, config: &SdkConfig, prefix: &str) -> Result<Provisioned, ProvisionError> {
    let mut known = Known::new(config, prefix);
    let mut tables = BTreeMap::new();
    let dynamodb = aws_sdk_dynamodb::Client::new(config);
    for table in &stack.tables {
        let name = format!("{prefix}-{}", table.logical_id);
        table::make(&dynamodb, table, &name).await?;
        known.set(&table.logical_id, "Ref", &name);
        tables.insert(table.logical_id.clone(), name);
    }
    let mut buckets = BTreeMap::new();
    let s3 = s3_client(config);
    for bucket in &stack.buckets {
        let name = format!("{prefix}-{}", bucket.to_lowercase());
        bucket::make(&s3, &name).await?;
        known.set(bucket, "Ref", &name);
        buckets.insert(bucket.clone(), name);
    }
    let queue_urls = queue::make_all(&aws_sdk_sqs::Client::new(config), &stack.queues, prefix).await?;
    for (logical_id, url) in &queue_urls {
        known.set(logical_id, "Ref", url);
    }
    let secrets = aws_sdk_secretsmanager::Client::new(config);
    for key in &stack.keys {
        known.set(key, "Arn", &key_arn(config, prefix, key));
    }
    for secret in &stack.secrets {
        let name = known.render(&secret.name, &secret.logical_id)?;
        let kms_key = known.render(&secret.kms_key_id, &secret.logical_id)?;
        let arn = secret::make(&secrets, secret, &name, kms_key).await?;
        known.set(&secret.logical_id, "Ref", &arn);
    }
    let environments = environments(stack, &known)?;
    Ok(Provisioned {
        tables,
        buckets,
        queue_urls,
        environments,
    })
}

/// Emulators do not encrypt, so a key is only an ARN.
fn key_arn(config: &SdkConfig, prefix: &str, logical_id: &str) -> String {
    let region = config.region().map_or(DEFAULT_REGION, |region| region.as_ref());
    format!("arn:aws:kms:{region}:000000000000:key/{prefix}-{logical_id}")
}

/// Emulators on loopback have no host name per bucket, so the bucket is part of the path.
fn s3_client(config: &SdkConfig) -> aws_sdk_s3::Client {
    let config = aws_sdk_s3::config::Builder::from(config).force_path_style(true).build();
    aws_sdk_s3::Client::from_conf(config)
}

fn environments(stack: &Stack, known: &Known) -> Result<BTreeMap<String, BTreeMap<String, String>>, ProvisionError> {
    let mut environments = BTreeMap::new();
    for function in &stack.functions {
        let mut environment = BTreeMap::new();
        for (name, text) in &function.environment {
            let place = format!("variable {name} of {}", function.logical_id);
            environment.insert(name.clone(), known.render(text, &place)?);
        }
        environments.insert(function.name.clone(), environment);
    }
    Ok(environments)
}

/// Values of the known resources, by the name that a text has between its braces.
struct Known(BTreeMap<String, String>);

impl Known {
    fn new(config: &SdkConfig, prefix: &str) -> Self {
        let region = config.region().map_or(DEFAULT_REGION, |region| region.as_ref());
        let pseudo = [
            ("AWS::StackName", prefix),
            ("AWS::Region", region),
            ("AWS::Partition", "aws"),
            ("AWS::URLSuffix", "amazonaws.com"),
        ];
        Self(pseudo.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }

    fn set(&mut self, resource: &str, attribute: &str, value: &str) {
        self.0.insert(format!("{resource}.{attribute}"), value.to_owned());
    }

    fn render(&self, text: &Text, place: &str) -> Result<String, ProvisionError> {
        text.filled(|name| {
            let known = self.0.get(name).cloned();
            known.ok_or_else(|| ProvisionError::NotProvisioned {
                place: place.to_owned(),
                part: format!("${{{name}}}"),
            })
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_needs_an_unmade_resource_says_so() {
        let config = SdkConfig::builder().build();
        let text = Text::from("${Topic.Arn}".to_owned());
        let error = Known::new(&config, "a")
            .render(&text, "variable TOPIC of Issuing")
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "variable TOPIC of Issuing needs ${Topic.Arn}, which is known only where the whole template is deployed"
        );
    }
}
