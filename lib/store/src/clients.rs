//! The SDK clients, built from one shared configuration.

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use aws_smithy_runtime_api::client::interceptors::SharedInterceptor;

/// One client for each AWS service that the store uses.
#[derive(Debug, Clone)]
pub struct Clients {
    pub dynamodb: aws_sdk_dynamodb::Client,
    pub s3: aws_sdk_s3::Client,
    pub sqs: aws_sdk_sqs::Client,
    pub secretsmanager: aws_sdk_secretsmanager::Client,
}

impl Clients {
    /// Clients of a deployed function. The credentials come from its environment variables; profiles and roles do not
    /// exist in Lambda, and without them the program is smaller and starts faster. `endpoint_url` replaces AWS with an
    /// emulator.
    pub(crate) fn deployed(region: String, endpoint_url: Option<String>) -> Self {
        let mut config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new(region))
            .credentials_provider(SharedCredentialsProvider::new(
                EnvironmentVariableCredentialsProvider::new(),
            ));
        config.set_endpoint_url(endpoint_url);
        Self::new(&config.build())
    }

    pub fn new(config: &SdkConfig) -> Self {
        Self::watched(config, &[])
    }

    /// Clients with these interceptors.
    pub fn watched(config: &SdkConfig, interceptors: &[SharedInterceptor]) -> Self {
        let mut dynamodb = aws_sdk_dynamodb::config::Builder::from(config);
        // Path style everywhere, because a custom endpoint has no host name per bucket.
        let mut s3 = aws_sdk_s3::config::Builder::from(config).force_path_style(true);
        let mut sqs = aws_sdk_sqs::config::Builder::from(config);
        let mut secretsmanager = aws_sdk_secretsmanager::config::Builder::from(config);
        for interceptor in interceptors {
            dynamodb.push_interceptor(interceptor.clone());
            s3.push_interceptor(interceptor.clone());
            sqs.push_interceptor(interceptor.clone());
            secretsmanager.push_interceptor(interceptor.clone());
        }
        Self {
            dynamodb: aws_sdk_dynamodb::Client::from_conf(dynamodb.build()),
            s3: aws_sdk_s3::Client::from_conf(s3.build()),
            sqs: aws_sdk_sqs::Client::from_conf(sqs.build()),
            secretsmanager: aws_sdk_secretsmanager::Client::from_conf(secretsmanager.build()),
        }
    }
}

/// The configuration for emulators on this machine, which accept any credentials.
pub fn local_config(endpoint_url: &str) -> SdkConfig {
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .endpoint_url(endpoint_url)
        .credentials_provider(SharedCredentialsProvider::new(Credentials::new(
            // The secret with which the emulator verifies presigned addresses.
            "local", "test", None, None, "local",
        )))
        .build()
}
