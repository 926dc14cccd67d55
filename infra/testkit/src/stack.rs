//! One deployment for one test.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_sqs::config::Credentials;
use aws_smithy_runtime_api::client::interceptors::SharedInterceptor;
use ecf_embedded::{Embedded, Options};
use ecf_runtime::{Clock, env::Env};
use ecf_stack::{Provisioned, Stack};
use ecf_store::{Artifacts, Clients, OperatorSecret, QueueUrls, Queues, SubmissionUrls, Table, Vault};
use tokio::sync::OnceCell;

use crate::{AwsCalls, CompanyBuilder, Queue, TestCompany};

/// The services of this process. Each test has its own resources in them.
static EMBEDDED: OnceCell<Embedded> = OnceCell::const_new();
static STACKS: AtomicU32 = AtomicU32::new(0);

/// The start time of every test: 27 November 2026, 12:00 in Santo Domingo.
const START: &str = "2026-11-27T16:00:00Z";
/// Timeout of one call. No call on loopback takes that long, so a hanging test reports the call.
const CALL_TIME_OUT: Duration = Duration::from_secs(20);

/// Table, bucket, queues and data key of the real template, for one test.
///
/// Dropping the value panics if a queue contains messages: a test runs the jobs that it enqueues, or calls
/// [`TestStack::leave_messages`].
#[derive(Debug)]
pub struct TestStack {
    config: SdkConfig,
    provisioned: Provisioned,
    clients: Clients,
    clock: Clock,
    calls: AwsCalls,
    may_leave_messages: AtomicBool,
}

impl TestStack {
    /// Creates the template's resources with its default parameters.
    pub async fn start() -> Self {
        Self::with_parameters(&[]).await
    }

    /// Creates the template's resources with these parameters.
    pub async fn with_parameters(parameters: &[(&str, &str)]) -> Self {
        let parameters = parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let stack = Stack::embedded(parameters).expect("the template is read by its own tests");
        let config = sdk_config(&endpoint_url().await).await;
        let prefix = format!("t{}-{}", std::process::id(), STACKS.fetch_add(1, Ordering::Relaxed));
        let provisioned = stack
            .provision(&config, &prefix)
            .await
            .expect("the services take the template");
        // Calls are counted from here on, without those that create the resources.
        let calls = AwsCalls::default();
        let clients = Clients::watched(&config, &[SharedInterceptor::new(calls.clone())]);
        let clock = Clock::manual(START.parse().expect("a constant instant"));
        Self {
            config,
            provisioned,
            clients,
            clock,
            calls,
            may_leave_messages: AtomicBool::new(false),
        }
    }

    /// The SDK's configuration: endpoint and credentials. [`TestStack::calls`] does not record clients made from it.
    pub fn config(&self) -> &SdkConfig {
        &self.config
    }

    /// The SDK's clients; [`TestStack::calls`] records their calls.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// Clients for one function, by the name of its crate. If recording is on, its calls are compared with its role.
    pub fn clients_of(&self, function: &str) -> Clients {
        match ecf_roles::recorder_of(function) {
            Some(recorder) => Clients::watched(&self.config, &[SharedInterceptor::new(self.calls.clone()), recorder]),
            None => self.clients.clone(),
        }
    }

    /// The time of this test; clones share it.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The recorded calls of the SDK.
    pub fn calls(&self) -> &AwsCalls {
        &self.calls
    }

    /// The names of the resources.
    pub fn provisioned(&self) -> &Provisioned {
        &self.provisioned
    }

    /// The table.
    pub fn table(&self) -> Table {
        Table::new(self.clients.dynamodb.clone(), self.provisioned.table_name())
    }

    /// The bucket.
    pub fn artifacts(&self) -> Artifacts {
        Artifacts::new(self.clients.s3.clone(), self.provisioned.bucket_name())
    }

    /// The secrets. Each vault reads the data key itself, like each function.
    pub fn vault(&self) -> Vault {
        let variables = self.environment_of("signup");
        Vault::new(self.clients.secretsmanager.clone(), &variables["SECRET_PREFIX"])
            .with_kms_key(variables.get("SECRETS_KMS_KEY").cloned())
    }

    /// Stores the certificates of trusted authorities, in PEM, as an operator does. Replaces earlier ones.
    pub async fn trust(&self, pem: &str) {
        self.store_secret(OperatorSecret::CertificateAuthorities, pem).await;
    }

    /// Stores a secret as an operator does. Replaces an earlier one.
    pub async fn store_secret(&self, secret: OperatorSecret, text: &str) {
        let client = aws_sdk_secretsmanager::Client::new(&self.config);
        let prefix = &self.environment_of("signup")["SECRET_PREFIX"];
        let name = format!("{prefix}/{}", secret.name());
        let created = client.create_secret().name(&name).secret_string(text).send().await;
        if created.is_err() {
            let renewed = client
                .put_secret_value()
                .secret_id(&name)
                .secret_string(text)
                .send()
                .await;
            renewed.expect("a secret of that name is there");
        }
    }

    /// All queues, for sending.
    pub fn queues(&self) -> Queues {
        let submission = SubmissionUrls {
            testecf: self.queue_url(Queue::SubmissionTesteCF).to_owned(),
            certecf: self.queue_url(Queue::SubmissionCerteCF).to_owned(),
            ecf: self.queue_url(Queue::SubmissionEcf).to_owned(),
        };
        let issuing = Some(self.queue_url(Queue::Issuing).to_owned());
        let webhook = Some(self.queue_url(Queue::Webhook).to_owned());
        let webhook_slow = Some(self.queue_url(Queue::WebhookSlow).to_owned());
        let exchange = Some(self.queue_url(Queue::Exchange).to_owned());
        let certification = Some(self.queue_url(Queue::Certification).to_owned());
        Queues::new(
            self.clients.sqs.clone(),
            QueueUrls {
                issuing,
                submission: Some(submission),
                webhook,
                webhook_slow,
                exchange,
                certification,
            },
        )
    }

    /// The URL of a queue.
    pub fn queue_url(&self, queue: Queue) -> &str {
        self.provisioned
            .queue_url(queue.logical_id())
            .expect("the queue is in the template")
    }

    /// The template's environment variables of a function, by the name of its crate.
    pub fn environment_of(&self, function: &str) -> &BTreeMap<String, String> {
        self.provisioned
            .environment_of(function)
            .unwrap_or_else(|| panic!("no function {function} in the template"))
    }

    /// The environment of a function, by the name of its crate.
    pub fn env(&self, function: &str) -> Env {
        Env::of(self.environment_of(function).clone())
    }

    /// Deletes every object whose key contains `part`.
    pub async fn lose_objects(&self, part: &str) {
        let (s3, bucket) = (&self.clients.s3, self.provisioned.bucket_name());
        for key in self.objects(part).await {
            let deleted = s3.delete_object().bucket(bucket).key(key).send().await;
            deleted.expect("the bucket lets its objects go");
        }
    }

    /// Replaces the content of every object whose key contains `part`.
    pub async fn alter_objects(&self, part: &str, bytes: &[u8]) {
        let (s3, bucket) = (&self.clients.s3, self.provisioned.bucket_name());
        for key in self.objects(part).await {
            let put = s3.put_object().bucket(bucket).key(key).body(bytes.to_vec().into());
            put.send().await.expect("the bucket takes another version");
        }
    }

    /// The keys of the objects that contain `part`.
    pub async fn objects(&self, part: &str) -> Vec<String> {
        let listed = self.clients.s3.list_objects_v2().bucket(self.provisioned.bucket_name());
        let listed = listed.send().await.expect("the bucket lists its objects");
        let keys = listed.contents().iter().filter_map(|object| object.key());
        keys.filter(|key| key.contains(part)).map(str::to_owned).collect()
    }

    /// A company in TesteCF with certificate, API key and ranges.
    pub async fn company(&self) -> TestCompany {
        self.company_builder().build().await
    }

    /// A builder for a company with other properties.
    pub fn company_builder(&self) -> CompanyBuilder<'_> {
        CompanyBuilder::new(self)
    }

    /// Allows this test to end with messages in its queues.
    pub fn leave_messages(&self) {
        self.may_leave_messages.store(true, Ordering::Relaxed);
    }
}

impl Drop for TestStack {
    fn drop(&mut self) {
        if std::thread::panicking() || self.may_leave_messages.load(Ordering::Relaxed) {
            return;
        }
        let left = self.calls.undeleted_messages();
        assert!(left.is_empty(), "the test left messages in its queues: {left:#?}");
    }
}

/// `length` bytes that do not compress; the same in every run.
pub fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

/// The endpoint of the embedded services, or of the emulator that `ECF_TEST_ENDPOINT` names.
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says against what")]
async fn endpoint_url() -> String {
    if let Ok(other) = std::env::var("ECF_TEST_ENDPOINT") {
        return other;
    }
    let embedded = EMBEDDED.get_or_init(|| async {
        Embedded::start(Options::default())
            .await
            .expect("the embedded services start")
    });
    embedded.await.endpoint_url().to_owned()
}

async fn sdk_config(endpoint_url: &str) -> SdkConfig {
    let time_outs = aws_config::timeout::TimeoutConfig::builder()
        .operation_timeout(CALL_TIME_OUT)
        .build();
    aws_config::defaults(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .endpoint_url(endpoint_url)
        .credentials_provider(Credentials::new("test", "test", None, None, "testkit"))
        .timeout_config(time_outs)
        .load()
        .await
}
