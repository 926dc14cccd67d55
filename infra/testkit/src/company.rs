//! Companies with everything that issuing requires.

use std::sync::OnceLock;

use ecf::{Environment, Fecha, ReceiptType, Rnc};
use ecf_api::ApiKeySecret;
use ecf_runtime::random;
use ecf_store::{
    ApiKeyId, CertificateFile, CompanyId, Scope,
    api_keys::{KeyScope, NewApiKey},
    certificate_summary,
    certificates::CertificateActivated,
    companies::{CompanyCreated, NewCompany},
    numbers::{NewRange, Numbering, RangeOpened},
};
use futures::future::join_all;
use jiff::Timestamp;
use xmldsig::Identity;

use crate::TestStack;

/// The RNC of a company whose test sets none.
pub const RNC: &str = "130000001";
/// The PIN of [`test_p12`].
pub const P12_PIN: &str = "a test's PIN";

/// The ranges of each type: the caller numbers receipts in the first, the service in the second.
const CALLER_RANGE: (u64, u64) = (1, 4_999_999);
const SERVICE_RANGE: (u64, u64) = (5_000_000, 10_000_000);
pub(crate) const RANGES_END: &str = "31-12-2028";

/// A company that is ready to issue.
#[derive(Debug, Clone)]
pub struct TestCompany {
    /// Company and environment: the first argument of every method of the store.
    pub scope: Scope,
    /// Its RNC.
    pub rnc: Rnc,
    /// The text of its API key.
    pub api_key: String,
    /// The id of its API key.
    pub api_key_id: ApiKeyId,
}

/// Builds a [`TestCompany`]; start with [`TestStack::company_builder`].
#[derive(Debug)]
pub struct CompanyBuilder<'s> {
    stack: &'s TestStack,
    rnc: String,
    environment: Environment,
    verified: bool,
    certificate: bool,
    ranges: bool,
}

impl<'s> CompanyBuilder<'s> {
    pub(crate) fn new(stack: &'s TestStack) -> Self {
        let environment = Environment::TesteCF;
        Self {
            stack,
            rnc: RNC.to_owned(),
            environment,
            verified: false,
            certificate: true,
            ranges: true,
        }
    }

    /// Sets an RNC other than [`RNC`].
    pub fn rnc(mut self, rnc: &str) -> Self {
        rnc.clone_into(&mut self.rnc);
        self
    }

    /// Sets an environment other than TesteCF, for the key and the ranges.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Verifies the company, which reserves its RNC.
    pub fn verified(mut self) -> Self {
        self.verified = true;
        self
    }

    /// Leaves out the certificate.
    pub fn without_certificate(mut self) -> Self {
        self.certificate = false;
        self
    }

    /// Leaves out the ranges; the test opens its own.
    pub fn without_ranges(mut self) -> Self {
        self.ranges = false;
        self
    }

    /// Signs the company up.
    pub async fn build(self) -> TestCompany {
        // Boxed: in a debug build, a test with several of these futures overflows its stack.
        Box::pin(self.sign_up()).await
    }

    async fn sign_up(self) -> TestCompany {
        let now = self.stack.clock().now();
        let id = CompanyId::from_random(random());
        let rnc: Rnc = self.rnc.parse().expect("the test gave an RNC");
        let secret = ApiKeySecret::generate(self.environment, random());
        let key = NewApiKey {
            company: id,
            environment: self.environment,
            rnc: rnc.clone(),
            id: ApiKeyId::from_random(random()),
            hash: secret.hash(),
            prefix: secret.prefix().to_owned(),
            name: None,
            created_at: now,
            expires_at: None,
            scope: KeyScope::Full,
            created_by: None,
        };
        let api_key_id = key.id;
        let created = self
            .stack
            .table()
            .create_company(self.profile(id, rnc.clone(), now), Some(key))
            .await;
        assert_eq!(created.expect("the table answers"), CompanyCreated::New);
        if self.certificate {
            self.store_certificate(&id, now).await;
        }
        let scope = Scope {
            company: id,
            environment: self.environment,
        };
        if self.ranges {
            join_all(
                ReceiptType::ALL
                    .into_iter()
                    .map(|ecf_type| self.open_ranges(&scope, ecf_type, now)),
            )
            .await;
        }
        TestCompany {
            scope,
            rnc,
            api_key: secret.text().to_owned(),
            api_key_id,
        }
    }

    fn profile(&self, id: CompanyId, rnc: Rnc, now: Timestamp) -> NewCompany {
        NewCompany {
            id,
            rnc,
            name: "Ferretería de Prueba SRL".to_owned(),
            email: "facturas@ferreteria.example".to_owned(),
            trade_name: None,
            address: None,
            phone: None,
            default_environment: self.environment,
            verified: self.verified,
            certificate: None,
            signup: None,
            invitation: None,
            created_at: now,
        }
    }

    async fn store_certificate(&self, id: &CompanyId, now: Timestamp) {
        let p12 = test_p12();
        self.stack
            .vault()
            .store_certificate(id, &CertificateFile::verbatim(p12, P12_PIN))
            .await
            .expect("the vault answers");
        let identity = Identity::from_pkcs12(p12, P12_PIN, now).expect("the P12 was made here");
        let summary = certificate_summary(identity.certificate(), now);
        let activated = self.stack.table().activate_certificate(id, &summary, None, now).await;
        assert_eq!(activated.expect("the table answers"), CertificateActivated::Done);
    }

    async fn open_ranges(&self, scope: &Scope, ecf_type: ReceiptType, now: Timestamp) {
        let last_day: Fecha = RANGES_END.parse().expect("a constant date");
        for ((start, end), numbering) in [(CALLER_RANGE, Numbering::Caller), (SERVICE_RANGE, Numbering::Service)] {
            let range = NewRange {
                ecf_type,
                start,
                end,
                valid_until: ecf_type.carries_expiry().then_some(last_day),
                numbering: Some(numbering),
                created_at: now,
            };
            let opened = self
                .stack
                .table()
                .open_range(scope, range)
                .await
                .expect("the table answers");
            assert_eq!(opened, RangeOpened::New);
        }
    }
}

/// A P12 with a self-signed certificate that is valid from 2026 to 2029; its PIN is [`P12_PIN`]. Made once per process,
/// because generating an RSA key takes longer than most tests.
pub fn test_p12() -> &'static [u8] {
    static P12: OnceLock<Vec<u8>> = OnceLock::new();
    P12.get_or_init(|| {
        let from = "2026-01-01T04:00:00Z".parse().expect("a constant instant");
        let until = "2029-01-01T04:00:00Z".parse().expect("a constant instant");
        test_certificates::pkcs12("PRUEBA DEL SISTEMA", "IDCDO-00100000001", P12_PIN, from, until)
            .expect("OpenSSL makes a certificate")
    })
}
