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

/// The services of this process. Each test has resources of its own in them.
static EMBEDDED: OnceCell<Embedded> = OnceCell::const_new();
static STACKS: AtomicU32 = AtomicU32::new(0);

/// Where the time of every test begins: 27 November 2026, 12:00 in Santo Domingo.
const START: &str = "2026-11-27T16:00:00Z";
/// Nothing on loopback takes that long; a test that hangs says where.
const CALL_TIME_OUT: Duration = Duration::from_secs(20);

/// Table, bucket, queues and data key of the real template, for one test.
///
/// Dropping it with messages left in a queue panics: whoever queues a job in a test has it run, or says with
/// [`TestStack::leave_messages`] that it does not matter.
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
    /// Makes the resources of the template with its default parameters.
    pub async fn start() -> Self {
        Self::with_parameters(&[]).await
    }

    /// Makes the resources of the template with these parameters.
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
        // From here on calls are counted: making the resources is nobody's budget.
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

    /// The SDK's configuration: endpoint and credentials. Clients made from it are not seen by [`TestStack::calls`].
    pub fn config(&self) -> &SdkConfig {
        &self.config
    }

    /// The SDK's clients, seen by [`TestStack::calls`].
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The same for one function, by the name of its crate: what it calls is held against its role where that is wanted.
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

    /// What the SDK was asked for.
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

    /// The secrets. Each vault reads the data key for itself, as each function does.
    pub fn vault(&self) -> Vault {
        let variables = self.environment_of("signup");
        Vault::new(self.clients.secretsmanager.clone(), &variables["SECRET_PREFIX"])
            .with_kms_key(variables.get("SECRETS_KMS_KEY").cloned())
    }

    /// Keeps the certificates of these authorities, in PEM, as an operator does; again, in place of those before.
    pub async fn trust(&self, pem: &str) {
        self.keep_secret(OperatorSecret::CertificateAuthorities, pem).await;
    }

    /// Keeps a secret as an operator does; again, in place of the one before.
    pub async fn keep_secret(&self, secret: OperatorSecret, text: &str) {
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
        Queues::new(
            self.clients.sqs.clone(),
            QueueUrls {
                issuing,
                submission: Some(submission),
                webhook,
                webhook_slow,
                exchange,
            },
        )
    }

    /// The address of a queue.
    pub fn queue_url(&self, queue: Queue) -> &str {
        self.provisioned
            .queue_url(queue.logical_id())
            .expect("the queue is in the template")
    }

    /// The variables that the template gives a function, by the name of its crate.
    pub fn environment_of(&self, function: &str) -> &BTreeMap<String, String> {
        self.provisioned
            .environment_of(function)
            .unwrap_or_else(|| panic!("no function {function} in the template"))
    }

    /// The same, as a function reads them.
    pub fn env(&self, function: &str) -> Env {
        Env::of(self.environment_of(function).clone())
    }

    /// Takes every object out of the bucket whose name has this part, as if it had never been written.
    pub async fn lose_objects(&self, part: &str) {
        let (s3, bucket) = (&self.clients.s3, self.provisioned.bucket_name());
        for key in self.objects(part).await {
            let deleted = s3.delete_object().bucket(bucket).key(key).send().await;
            deleted.expect("the bucket lets its objects go");
        }
    }

    /// Puts these bytes in the place of every object whose key has this part.
    pub async fn alter_objects(&self, part: &str, bytes: &[u8]) {
        let (s3, bucket) = (&self.clients.s3, self.provisioned.bucket_name());
        for key in self.objects(part).await {
            let put = s3.put_object().bucket(bucket).key(key).body(bytes.to_vec().into());
            put.send().await.expect("the bucket takes another version");
        }
    }

    /// The keys of the bucket's objects that have this part.
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

    /// A company that is not like the others.
    pub fn company_builder(&self) -> CompanyBuilder<'_> {
        CompanyBuilder::new(self)
    }

    /// Lets this test end with messages in its queues.
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

/// So many bytes that no archive makes smaller; always the same.
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

/// The embedded services, or those of another emulator, at the address that `ECF_TEST_ENDPOINT` names.
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
