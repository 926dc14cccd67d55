//! The SDK clients, made from one shared configuration.

use aws_config::SdkConfig;

/// One client per service that the store speaks to.
#[derive(Debug, Clone)]
pub struct Clients {
    pub dynamodb: aws_sdk_dynamodb::Client,
    pub s3: aws_sdk_s3::Client,
    pub sqs: aws_sdk_sqs::Client,
    pub secretsmanager: aws_sdk_secretsmanager::Client,
}

impl Clients {
    pub fn new(config: &SdkConfig) -> Self {
        // Path style everywhere: behind a custom endpoint a bucket has no host name of its own.
        let s3 = aws_sdk_s3::config::Builder::from(config).force_path_style(true).build();
        Self {
            dynamodb: aws_sdk_dynamodb::Client::new(config),
            s3: aws_sdk_s3::Client::from_conf(s3),
            sqs: aws_sdk_sqs::Client::new(config),
            secretsmanager: aws_sdk_secretsmanager::Client::new(config),
        }
    }
}
