//! The demo company, created once per state folder, so that the first curl line works.

use std::path::Path;

use ecf::{Environment, Rnc};
use ecf_api::ApiKeySecret;
use ecf_runtime::{Clock, Error};
use ecf_stack::Provisioned;
use ecf_store::{
    ApiKeyId, CertificateFile, Clients, CompanyId, Scope, Table, Vault,
    api_keys::{KeyScope, NewApiKey},
    certificate_summary,
    companies::{CompanyCreated, NewCompany},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::authority::{Authority, CERTIFICATE_PIN};

/// The issuer in the payloads of `events/`.
pub(crate) const RNC: &str = "130000001";
const NAME: &str = "DEMOSTRACIONES DEL CARIBE SRL";
/// Random bytes of the API key in the payloads of `events/`. The key is public, so only this system accepts it.
const EVENTS_KEY: [u8; 24] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
];
/// Expiry of the numbers that every taxpayer owns in pre-certification.
const VALID_UNTIL: &str = "31-12-2028";

/// The data that a script or a person needs to use the system.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Demo {
    pub api_key: String,
    pub company: CompanyId,
    pub company_rnc: String,
    pub company_name: String,
    #[serde(default)]
    pub simulator_url: String,
    /// The test certificate as Base64 PKCS#12, for trying uploads.
    pub test_p12: String,
    pub test_p12_pin: String,
}

impl Demo {
    /// Creates the demo company, or loads the one in this file.
    pub(crate) async fn seed(
        file: &Path,
        clients: &Clients,
        provisioned: &Provisioned,
        authority: &Authority,
        clock: &Clock,
    ) -> Result<Self, Error> {
        if let Ok(kept) = std::fs::read(file) {
            return Ok(serde_json::from_slice(&kept)?);
        }
        let now = clock.now();
        let rnc: Rnc = RNC.parse()?;
        let p12 = authority.certify(&rnc, NAME, now)?;
        let (company, key) = create(clients, provisioned, &rnc, &p12, now).await?;
        let scope = Scope {
            company,
            environment: Environment::TesteCF,
        };
        let table = Table::new(clients.dynamodb.clone(), provisioned.table_name());
        table
            .open_precertification_ranges(&scope, VALID_UNTIL.parse()?, now)
            .await?;
        let demo = Self {
            api_key: key.text().to_owned(),
            company,
            company_rnc: rnc.to_string(),
            company_name: NAME.to_owned(),
            simulator_url: String::new(),
            test_p12: base64(&p12),
            test_p12_pin: CERTIFICATE_PIN.to_owned(),
        };
        std::fs::write(file, serde_json::to_vec_pretty(&demo)?)?;
        Ok(demo)
    }

    /// The demo company in pre-certification.
    pub fn scope(&self) -> Scope {
        Scope {
            company: self.company,
            environment: Environment::TesteCF,
        }
    }

    pub(crate) fn with_simulator(self, simulator_url: String) -> Self {
        Self { simulator_url, ..self }
    }

    /// A curl line that issues a type 31. Running it twice shows an idempotent replay.
    pub fn issue_line(&self, base_url: &str, today: &ecf::Fecha, key: &str) -> String {
        let payload = serde_json::json!({
            "idempotency_key": key,
            "ecf_type": "31",
            "payload": {
                "Encabezado": {
                    "IdDoc": { "TipoIngresos": "01", "TipoPago": 1, "IndicadorMontoGravado": 0 },
                    "Emisor": {
                        "RNCEmisor": self.company_rnc, "RazonSocialEmisor": self.company_name,
                        "DireccionEmisor": "Calle Uno 1, Santo Domingo", "FechaEmision": today.to_string(),
                    },
                    "Comprador": { "RNCComprador": "101672919", "RazonSocialComprador": "CLIENTE DE PRUEBA SRL" },
                    "Totales": {
                        "MontoGravadoTotal": 1000, "MontoGravadoI1": 1000, "ITBIS1": 18,
                        "TotalITBIS": 180, "TotalITBIS1": 180, "MontoTotal": 1180,
                    },
                },
                "DetallesItems": { "Item": [{
                    "IndicadorFacturacion": 1, "NombreItem": "Servicio", "IndicadorBienoServicio": 2,
                    "CantidadItem": 1, "PrecioUnitarioItem": 1000, "MontoItem": 1000,
                }]},
            },
        });
        format!(
            "curl -s {base_url}/api/v1/ecf -H 'X-API-Key: {}' -H 'Content-Type: application/json' -d '{payload}'",
            self.api_key
        )
    }

    /// A curl line that reads this receipt.
    pub fn read_line(&self, base_url: &str, public_id: &str) -> String {
        format!(
            "curl -s {base_url}/api/v1/ecf/{public_id} -H 'X-API-Key: {}'",
            self.api_key
        )
    }
}

async fn create(
    clients: &Clients,
    provisioned: &Provisioned,
    rnc: &Rnc,
    p12: &[u8],
    now: Timestamp,
) -> Result<(CompanyId, ApiKeySecret), Error> {
    let environment = Environment::TesteCF;
    let id = CompanyId::from_random(ecf_runtime::random());
    let key = ApiKeySecret::generate(environment, ecf_runtime::random());
    let (identity, file) = CertificateFile::open(p12, CERTIFICATE_PIN, now, &ecf_runtime::random())?;
    let company = NewCompany {
        id,
        rnc: rnc.clone(),
        name: NAME.to_owned(),
        email: "demo@example.com".to_owned(),
        trade_name: None,
        address: Some("Calle Uno 1, Santo Domingo".to_owned()),
        phone: Some("809-555-0100".to_owned()),
        default_environment: environment,
        // Its certificate proves that it is the taxpayer.
        verified: true,
        certificate: Some(certificate_summary(identity.certificate(), now)),
        signup: None,
        invitation: None,
        created_at: now,
    };
    let new_key = |key: &ApiKeySecret| NewApiKey {
        company: id,
        environment,
        rnc: rnc.clone(),
        id: ApiKeyId::from_random(ecf_runtime::random()),
        hash: key.hash(),
        prefix: key.prefix().to_owned(),
        name: None,
        created_at: now,
        expires_at: None,
        scope: KeyScope::Full,
        created_by: None,
    };
    let variables = provisioned
        .environment_of("signup")
        .ok_or("the template has no function `signup`")?;
    let prefix = variables.get("SECRET_PREFIX");
    let vault = Vault::new(
        clients.secretsmanager.clone(),
        prefix.ok_or("the function `signup` has no SECRET_PREFIX")?,
    )
    .with_kms_key(variables.get("SECRETS_KMS_KEY").cloned());
    vault.store_certificate(&id, &file).await?;
    let table = Table::new(clients.dynamodb.clone(), provisioned.table_name());
    match table.create_company(company, Some(new_key(&key))).await? {
        CompanyCreated::New => {}
        other => return Err(format!("the demo company could not be made: {other:?}").into()),
    }
    let events_key = ApiKeySecret::generate(environment, EVENTS_KEY);
    table.create_api_key(new_key(&events_key)).await?;
    Ok((id, key))
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
