//! One AWS per test binary, embedded or another emulator; one store per test.

use std::{collections::BTreeMap, path::Path};

use ecf::{Encf, Environment, ReceiptState, ReceiptType};
use ecf_embedded::{Embedded, Options};
use ecf_stack::{Provisioned, Stack};
use ecf_store::{
    Artifacts, Clients, CompanyId, ContentHash, QueueUrls, Queues, Receipt, ReceiptId, Scope, SubmissionUrls, Table,
    Vault, local_config,
    receipts::{Created, Mode, NewReceipt, Particulars, Signed},
};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

static AWS: OnceCell<Aws> = OnceCell::const_new();

/// The emulators, and the resources of the template in them.
struct Aws {
    endpoint: String,
    names: Provisioned,
    /// Stops with the process.
    _embedded: Option<Embedded>,
}

impl Aws {
    async fn start() -> Self {
        let (endpoint, embedded) = match other_endpoint() {
            Some(endpoint) => (endpoint, None),
            None => {
                let embedded = Embedded::start(Options::default()).await.unwrap();
                (embedded.endpoint_url().to_owned(), Some(embedded))
            }
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let stack = Stack::read(&root, BTreeMap::new()).unwrap();
        let names = stack.provision(&local_config(&endpoint), "store").await.unwrap();
        Self {
            endpoint,
            names,
            _embedded: embedded,
        }
    }
}

/// The endpoint of another emulator for these tests (`infra/checks/second-opinion`). It must be a new one, because the
/// ids of companies are derived from the tests.
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says against what")]
fn other_endpoint() -> Option<String> {
    std::env::var("ECF_TEST_ENDPOINT").ok()
}

/// The store, with its own company.
pub(crate) struct App {
    pub(crate) clients: Clients,
    pub(crate) table: Table,
    pub(crate) artifacts: Artifacts,
    pub(crate) vault: Vault,
    pub(crate) queues: Queues,
    pub(crate) urls: SubmissionUrls,
    pub(crate) scope: Scope,
}

pub(crate) async fn app(test: &str) -> App {
    let Aws { endpoint, names, .. } = AWS.get_or_init(Aws::start).await;
    // Clients belong to the runtime of one test; the services run on their own threads.
    let clients = Clients::new(&local_config(endpoint));
    let url = |queue: &str| names.queue_url(queue).unwrap().to_owned();
    let urls = SubmissionUrls {
        testecf: url("SubmissionTesteCF"),
        certecf: url("SubmissionCerteCF"),
        ecf: url("SubmissionEcf"),
    };
    let queue_urls = QueueUrls {
        issuing: None,
        submission: Some(urls.clone()),
        webhook: Some(url("Webhook")),
        webhook_slow: Some(url("WebhookSlow")),
        exchange: Some(url("Exchange")),
        certification: Some(url("CertificationQueue")),
    };
    let prefix = names.environment_of("signup").unwrap()["SECRET_PREFIX"].clone();
    App {
        table: Table::new(clients.dynamodb.clone(), names.table_name()),
        artifacts: Artifacts::new(clients.s3.clone(), names.bucket_name()),
        vault: Vault::new(clients.secretsmanager.clone(), prefix),
        queues: Queues::new(clients.sqs.clone(), queue_urls),
        urls,
        scope: Scope {
            company: company(test),
            environment: Environment::TesteCF,
        },
        clients,
    }
}

pub(crate) fn table_name() -> String {
    AWS.get().unwrap().names.table_name().to_owned()
}

pub(crate) fn endpoint() -> String {
    AWS.get().unwrap().endpoint.clone()
}

/// A company that no other test uses.
pub(crate) fn company(name: &str) -> CompanyId {
    CompanyId::from_random(bytes(name))
}

pub(crate) fn bytes<const N: usize>(name: &str) -> [u8; N] {
    let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    std::array::from_fn(|place| digest[place])
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn noon() -> Timestamp {
    at("2026-11-27T16:00:00Z")
}

pub(crate) fn encf(text: &str) -> Encf {
    text.parse().unwrap()
}

/// A signed receipt of the scope, identified by its idempotency key and number.
pub(crate) fn new_receipt(scope: &Scope, key: &str, number: &str) -> NewReceipt {
    NewReceipt {
        public_id: ReceiptId::of(ReceiptId::RECEIPT, &scope.company, scope.environment, key),
        company_rnc: "131880681".parse().unwrap(),
        idempotency_key: key.to_owned(),
        payload_hash: bytes(key),
        ecf_type: encf(number).receipt_type(),
        external_id: None,
        mode: Mode::Immediate,
        state: ReceiptState::Signed,
        created_at: noon(),
        scheduled_for: None,
        monto_total: "1180.00".to_owned(),
        rnc_comprador: Some("101010101".to_owned()),
        fecha_emision: "27-11-2026".parse().unwrap(),
        particulars: Particulars {
            razon_social_comprador: Some("CLIENTE SRL".to_owned()),
            total_itbis: Some("180.00".to_owned()),
        },
        signed: Some(signed(key, number)),
        payload: None,
        note: None,
    }
}

pub(crate) fn signed(key: &str, number: &str) -> Signed {
    Signed {
        encf: encf(number),
        sign_date: "27-11-2026 12:00:00".to_owned(),
        security_code: "aB3/x+".to_owned(),
        signed_xml: ContentHash::of(format!("{key} {number}").as_bytes()),
        rfce: None,
    }
}

impl App {
    /// The scopes of another company and of another environment.
    pub(crate) fn foreign_scopes(&self) -> [Scope; 2] {
        [
            Scope {
                company: company("nobody"),
                ..self.scope
            },
            Scope {
                environment: Environment::Ecf,
                ..self.scope
            },
        ]
    }

    pub(crate) async fn create(&self, new: NewReceipt) -> Receipt {
        match self.table.create_receipt(&self.scope, new).await.unwrap() {
            Created::New(receipt) => receipt,
            other => panic!("not created: {other:?}"),
        }
    }

    /// A signed type 31 with this number.
    pub(crate) async fn receipt(&self, key: &str, number: &str) -> Receipt {
        self.create(new_receipt(&self.scope, key, number)).await
    }
}

pub(crate) const T31: ReceiptType = ReceiptType::E31;
