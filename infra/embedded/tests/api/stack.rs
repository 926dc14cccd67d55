//! Embedded services for one test, and SDK clients for them.

use std::path::Path;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_s3::config::Credentials;
use ecf_embedded::{Embedded, Options, PRESIGN_SECRET_ACCESS_KEY};

pub(crate) struct Stack {
    pub(crate) embedded: Embedded,
    config: SdkConfig,
}

impl Stack {
    /// Services with their state in memory.
    pub(crate) async fn start() -> Stack {
        Stack::open(Options::default()).await
    }

    /// Services with their state in a folder.
    pub(crate) async fn start_in(folder: &Path) -> Stack {
        Stack::open(Options {
            data_dir: Some(folder.to_owned()),
            ..Options::default()
        })
        .await
    }

    /// Services with these options.
    pub(crate) async fn open(options: Options) -> Stack {
        let embedded = Embedded::start(options).await.unwrap();
        let credentials = Credentials::new("anyone", PRESIGN_SECRET_ACCESS_KEY, None, None, "test");
        let config = aws_config::defaults(BehaviorVersion::latest())
            .credentials_provider(credentials)
            .region(Region::new("us-east-1"))
            .endpoint_url(other_endpoint().unwrap_or_else(|| embedded.endpoint_url().to_owned()))
            .load()
            .await;
        Stack { embedded, config }
    }

    pub(crate) fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        aws_sdk_dynamodb::Client::new(&self.config)
    }

    pub(crate) fn s3(&self) -> aws_sdk_s3::Client {
        aws_sdk_s3::Client::new(&self.config)
    }

    pub(crate) fn secrets(&self) -> aws_sdk_secretsmanager::Client {
        aws_sdk_secretsmanager::Client::new(&self.config)
    }

    pub(crate) fn sqs(&self) -> aws_sdk_sqs::Client {
        aws_sdk_sqs::Client::new(&self.config)
    }
}

/// The endpoint of another emulator that these tests run against, one test at a time (`infra/checks/second-opinion`).
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says against what")]
fn other_endpoint() -> Option<String> {
    std::env::var("ECF_TEST_ENDPOINT").ok()
}
