//! The request body of `POST /api/v1/public/register`.

use ecf::{Environment, Rnc};
use ecf_api::{Fields, FromFields};
use ecf_language::say;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;
use zeroize::Zeroizing;

/// A company that wants in.
#[derive(ToSchema)]
pub(crate) struct RegisterRequest {
    /// A retry within the hour with the same key and body gets a new API key in place of the one that nobody saw. It needs a
    /// secret of the caller in the body: the P12 with its PIN, or `retry_secret`.
    #[schema(min_length = 16, max_length = 100)]
    pub(crate) idempotency_key: Option<String>,
    /// A random text of the caller, such as a UUID, that proves that a retry comes from the same caller. Required with
    /// `idempotency_key` where no P12 is sent.
    #[schema(min_length = 16, max_length = 200)]
    pub(crate) retry_secret: Option<String>,
    /// 9 digits (RNC) or 11 (cedula).
    #[schema(value_type = String, pattern = "^([0-9]{9}|[0-9]{11})$")]
    pub(crate) rnc: Rnc,
    #[schema(min_length = 1, max_length = 150)]
    pub(crate) name: String,
    #[schema(min_length = 3, max_length = 80, pattern = r"^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$")]
    pub(crate) email: String,
    #[schema(min_length = 1, max_length = 150)]
    pub(crate) trade_name: Option<String>,
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) address: Option<String>,
    #[schema(min_length = 1, max_length = 20)]
    pub(crate) phone: Option<String>,
    #[schema(value_type = Option<String>, example = "TesteCF")]
    pub(crate) default_environment: Option<Environment>,
    /// The certificate as Base64 PKCS#12.
    #[schema(rename = "p12_base64", value_type = Option<String>)]
    pub(crate) p12: Option<Zeroizing<Vec<u8>>>,
    /// The P12's password; required with it.
    #[schema(value_type = Option<String>, max_length = 200)]
    pub(crate) pin: Option<Zeroizing<String>>,
    pub(crate) invitation_code: Option<String>,
}

impl RegisterRequest {
    /// Hash of everything that a retry must repeat. Each part is prefixed with its length, so that parts cannot run
    /// into each other.
    pub(crate) fn body_hash(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        let environment = self.default_environment.map(Environment::as_str);
        let texts = [
            Some(self.rnc.as_str()),
            Some(&self.name),
            Some(&self.email),
            self.trade_name.as_deref(),
            self.address.as_deref(),
            self.phone.as_deref(),
            environment,
            self.pin.as_ref().map(|pin| pin.as_str()),
            self.retry_secret.as_deref(),
        ];
        for part in texts
            .map(|text| text.map(str::as_bytes))
            .into_iter()
            .chain([self.p12.as_ref().map(|p12| p12.as_slice())])
        {
            let length = part.map_or(u64::MAX, |part| part.len() as u64);
            hash.update(length.to_be_bytes());
            hash.update(part.unwrap_or_default());
        }
        hash.finalize().into()
    }
}

impl FromFields for RegisterRequest {
    fn read(fields: &mut Fields) -> Option<Self> {
        let idempotency_key = fields.text("idempotency_key").length(16..=100).optional();
        let retry_secret = fields.text("retry_secret").secret().length(16..=200).optional();
        let rnc = fields.parsed("rnc").required();
        let name = fields.text("name").length(1..=150).required();
        let email = fields.text("email").email().required();
        let trade_name = fields.text("trade_name").length(1..=150).optional();
        let address = fields.text("address").length(1..=100).optional();
        let phone = fields.text("phone").length(1..=20).optional();
        let default_environment = fields.environment("default_environment").optional();
        let has_p12 = fields.is_given("p12_base64");
        let p12 = fields.base64("p12_base64").secret().optional();
        let pin = fields.text("pin").secret().length(0..=200).optional();
        if has_p12 && !fields.is_given("pin") && pin.is_none() {
            fields.reject(
                "pin",
                "missing",
                say!(
                    "Field required with p12_base64; an empty PIN is given as \"\"",
                    "campo obligatorio con p12_base64; un PIN vacío se da como \"\""
                ),
            );
        }
        // Company data and a guessed key are public, so a retry without a secret could come from another caller.
        if idempotency_key.is_some() && !has_p12 && !fields.is_given("retry_secret") {
            fields.reject(
                "retry_secret",
                "missing",
                say!(
                    "Field required with idempotency_key where no p12_base64 is sent: a random text of at least 16 \
                     characters, such as a UUID, which proves that a retry is yours",
                    "campo obligatorio con idempotency_key si no se envía p12_base64: un texto aleatorio de al menos \
                     16 caracteres, por ejemplo un UUID, que prueba que un reintento es suyo"
                ),
            );
        }
        let invitation_code = fields.text("invitation_code").secret().optional();
        Some(Self {
            idempotency_key,
            retry_secret,
            rnc: rnc?,
            name: name?,
            email: email?,
            trade_name,
            address,
            phone,
            default_environment,
            p12: p12.map(Zeroizing::new),
            pin: pin.map(Zeroizing::new),
            invitation_code,
        })
    }
}
