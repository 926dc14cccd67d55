//! Secrets: certificates with their PINs in Secrets Manager, and short secrets encrypted for the table.
//!
//! One secret per company holds its P12 and PIN; Secrets Manager retains the previous version. Short secrets (of
//! webhooks, the authority's tokens) are encrypted with AES-256-GCM under the deployment's data key, which is itself a
//! secret and is read once per process.

use std::{fmt, sync::Arc};

use aes_gcm::{
    Aes256Gcm, Key, Nonce,
    aead::{Aead, KeyInit, Payload},
};
use aws_sdk_secretsmanager::{
    Client,
    error::{ProvideErrorMetadata as _, SdkError},
    operation::{
        create_secret::CreateSecretError, delete_secret::DeleteSecretError, get_secret_value::GetSecretValueError,
    },
};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;
use zeroize::{Zeroize, Zeroizing};

use crate::{StoreError, certificate_file::CertificateFile, ids::CompanyId, operator_secret::OperatorSecret};

mod encryption;

pub use encryption::{EncryptedSecret, SecretsPage};

/// First byte of every ciphertext, so that another scheme can follow.
const SEALED_V1: u8 = 1;
const NONCE_BYTES: usize = 12;

/// Secrets under one prefix.
#[derive(Clone)]
pub struct Vault {
    client: Client,
    prefix: String,
    /// The KMS key for new secrets; `None` means the account's default key for Secrets Manager.
    kms_key: Option<String>,
    data_key: Arc<OnceCell<DataKey>>,
}

/// The keys derived from the deployment's data key.
struct DataKey {
    cipher: Aes256Gcm,
    root: Zeroizing<[u8; 32]>,
}

/// A company's certificate in the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCertificate {
    pub file: CertificateFile,
    /// The version of the secret; each upload creates one.
    pub version: String,
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// The text of a company's secret. Older versions hold the file as uploaded, without a hash.
#[derive(Serialize, Deserialize)]
struct CertificateSecret {
    p12_base64: String,
    pin: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uploaded_sha256: Option<String>,
}

impl Drop for CertificateSecret {
    fn drop(&mut self) {
        self.p12_base64.zeroize();
        self.pin.zeroize();
    }
}

impl Vault {
    pub fn new(client: Client, prefix: impl Into<String>) -> Self {
        Self {
            client,
            prefix: prefix.into(),
            kms_key: None,
            data_key: Arc::default(),
        }
    }

    /// The vault, with this KMS key for the secrets that it creates.
    #[must_use]
    pub fn with_kms_key(self, kms_key: Option<String>) -> Self {
        Self { kms_key, ..self }
    }

    /// Stores a certificate as the company's current one; the previous version remains readable.
    ///
    /// # Errors
    /// Fails when Secrets Manager fails.
    pub async fn store_certificate(&self, company: &CompanyId, file: &CertificateFile) -> Result<(), StoreError> {
        let operation = "store certificate";
        let secret = CertificateSecret {
            p12_base64: BASE64_STANDARD.encode(&*file.p12),
            pin: file.pin.to_string(),
            uploaded_sha256: Some(hex::encode(file.uploaded_sha256)),
        };
        let text =
            Zeroizing::new(serde_json::to_string(&secret).map_err(|error| StoreError::unexpected(operation, error))?);
        let name = self.certificate_name(company);
        // Create first, so that a function that only creates companies needs no permission to replace a secret.
        let created = self
            .client
            .create_secret()
            .name(&name)
            .secret_string(text.as_str())
            .set_kms_key_id(self.kms_key.clone())
            .send()
            .await;
        match created {
            Ok(_) => Ok(()),
            Err(error)
                if matches!(
                    error.as_service_error(),
                    Some(CreateSecretError::ResourceExistsException(_))
                ) =>
            {
                self.put_version(operation, &name, &text).await
            }
            Err(error) => Err(StoreError::from_sdk(operation, error)),
        }
    }

    /// Stores a certificate, unless it is the current one already: a repeated upload must not displace the previous
    /// certificate.
    ///
    /// # Errors
    /// Fails when Secrets Manager fails.
    pub async fn renew_certificate(&self, company: &CompanyId, file: &CertificateFile) -> Result<(), StoreError> {
        match self.certificate(company).await {
            Ok(Some(held)) if held.file.uploaded_sha256 == file.uploaded_sha256 => Ok(()),
            // A secret that cannot be parsed is replaced.
            Ok(_) | Err(StoreError::Corrupt { .. }) => self.store_certificate(company, file).await,
            Err(error) => Err(error),
        }
    }

    /// The company's current certificate.
    ///
    /// # Errors
    /// Fails when Secrets Manager fails; [`StoreError::Corrupt`] when the secret cannot be parsed.
    pub async fn certificate(&self, company: &CompanyId) -> Result<Option<StoredCertificate>, StoreError> {
        let name = self.certificate_name(company);
        let Some((text, version)) = self.secret("read certificate", &name).await? else {
            return Ok(None);
        };
        // The error of the JSON parser may quote the secret, so it is omitted.
        let secret: CertificateSecret =
            serde_json::from_str(&text).map_err(|_| StoreError::corrupt(&name, "secret", "is not what was stored"))?;
        let p12 = BASE64_STANDARD
            .decode(&secret.p12_base64)
            .map_err(|_| StoreError::corrupt(&name, "p12_base64", "is not Base64"))?;
        let mut file = CertificateFile::verbatim(p12, &secret.pin);
        if let Some(text) = &secret.uploaded_sha256 {
            let hash = hex::decode(text).ok().and_then(|hash| hash.try_into().ok());
            file.uploaded_sha256 =
                hash.ok_or_else(|| StoreError::corrupt(&name, "uploaded_sha256", "is not a SHA-256"))?;
        }
        Ok(Some(StoredCertificate { file, version }))
    }

    /// Deletes the company's certificate with all its versions, permanently after a week; until then an operator can
    /// restore it. A repeated call has no effect.
    ///
    /// # Errors
    /// Fails when Secrets Manager fails.
    pub async fn discard_certificate(&self, company: &CompanyId) -> Result<(), StoreError> {
        let discarded = self
            .client
            .delete_secret()
            .secret_id(self.certificate_name(company))
            .recovery_window_in_days(7)
            .send()
            .await;
        match discarded {
            Ok(_) => Ok(()),
            Err(error)
                if matches!(
                    error.as_service_error(),
                    // The second means that its deletion is scheduled already.
                    Some(
                        DeleteSecretError::ResourceNotFoundException(_) | DeleteSecretError::InvalidRequestException(_)
                    )
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(StoreError::from_sdk("discard certificate", error)),
        }
    }

    /// The certificates of the authorities that the deployment trusts, as PEM; `None` when there are none. They are not
    /// secret, but too long for an environment variable.
    ///
    /// # Errors
    /// Fails when Secrets Manager fails.
    pub async fn certificate_authorities(&self) -> Result<Option<String>, StoreError> {
        let found = self.operators(OperatorSecret::CertificateAuthorities).await?;
        Ok(found.map(|text| text.to_string()))
    }

    /// An optional secret of the operator.
    ///
    /// For a role that may read only this secret, Secrets Manager denies access to a missing one, as if it were
    /// another's. So that counts as missing too, but not a denial by its encryption key.
    pub(crate) async fn operators(&self, secret: OperatorSecret) -> Result<Option<Zeroizing<String>>, StoreError> {
        let name = format!("{}/{}", self.prefix, secret.name());
        match self.client.get_secret_value().secret_id(&name).send().await {
            Ok(answer) => text_of(&name, answer.secret_string).map(Some),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error)
                if error.code() == Some("AccessDeniedException")
                    && !error.message().is_some_and(|message| message.contains("KMS")) =>
            {
                tracing::info!(name, "an optional secret does not exist, or this role may not read it");
                Ok(None)
            }
            Err(error) => Err(StoreError::from_sdk("read an operator's secret", error)),
        }
    }

    /// Encrypts a short secret. Decryption requires the same context, which names the owner of the secret.
    ///
    /// # Errors
    /// Fails when the data key cannot be read.
    pub async fn seal(&self, context: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|error| StoreError::unexpected("seal", error.to_string()))?;
        seal(&self.data_key().await?.cipher, nonce, context, plaintext)
    }

    /// Decrypts the result of [`Vault::seal`].
    ///
    /// # Errors
    /// Fails when the data key cannot be read; [`StoreError::Corrupt`] when the bytes were changed, or were encrypted
    /// for another context or with another key.
    pub async fn open(&self, context: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, StoreError> {
        open(&self.data_key().await?.cipher, context, sealed)
    }

    /// A key of this deployment for one purpose, the same in every process.
    ///
    /// # Errors
    /// Fails when the data key cannot be read.
    pub async fn key_for(&self, purpose: &str) -> Result<Zeroizing<[u8; 32]>, StoreError> {
        let root = &self.data_key().await?.root;
        let mut hash = Sha256::new();
        for part in [b"derived/v1".as_slice(), purpose.as_bytes(), root.as_slice()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Ok(Zeroizing::new(hash.finalize().into()))
    }

    fn certificate_name(&self, company: &CompanyId) -> String {
        format!("{}/company/{company}", self.prefix)
    }

    async fn put_version(&self, operation: &'static str, name: &str, text: &str) -> Result<(), StoreError> {
        let put = self
            .client
            .put_secret_value()
            .secret_id(name)
            .secret_string(text)
            .send();
        put.await.map_err(|error| StoreError::from_sdk(operation, error))?;
        Ok(())
    }

    async fn secret(
        &self,
        operation: &'static str,
        name: &str,
    ) -> Result<Option<(Zeroizing<String>, String)>, StoreError> {
        match self.client.get_secret_value().secret_id(name).send().await {
            Ok(answer) => Ok(Some((
                text_of(name, answer.secret_string)?,
                answer.version_id.unwrap_or_default(),
            ))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(StoreError::from_sdk(operation, error)),
        }
    }

    async fn data_key(&self) -> Result<&DataKey, StoreError> {
        self.data_key
            .get_or_try_init(|| async {
                let name = format!("{}/data-key", self.prefix);
                let Some((text, _)) = self.secret("read data key", &name).await? else {
                    // The error concerns the deployment, not the secret that is decrypted.
                    return Err(StoreError::unexpected(
                        "read data key",
                        format!("{name} does not exist"),
                    ));
                };
                let root = Zeroizing::new(Sha256::digest(text.as_bytes()).into());
                Ok(DataKey {
                    cipher: cipher(&text),
                    root,
                })
            })
            .await
    }
}

fn text_of(name: &str, text: Option<String>) -> Result<Zeroizing<String>, StoreError> {
    text.map(Zeroizing::new)
        .ok_or_else(|| StoreError::corrupt(name, "secret", "has no text"))
}

fn is_absent(error: &SdkError<GetSecretValueError>) -> bool {
    matches!(
        error.as_service_error(),
        // The second means that its deletion is scheduled.
        Some(GetSecretValueError::ResourceNotFoundException(_) | GetSecretValueError::InvalidRequestException(_))
    )
}

/// The deployment's data key is a long random text; its SHA-256 is the AES key.
fn cipher(data_key: &str) -> Aes256Gcm {
    let mut key: [u8; 32] = Sha256::digest(data_key.as_bytes()).into();
    let cipher = Aes256Gcm::new(&Key::<Aes256Gcm>::from(key));
    key.zeroize();
    cipher
}

fn seal(cipher: &Aes256Gcm, nonce: [u8; NONCE_BYTES], context: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, StoreError> {
    let encrypted = cipher
        .encrypt(
            &Nonce::from(nonce),
            Payload {
                msg: plaintext,
                aad: context,
            },
        )
        .map_err(|error| StoreError::unexpected("seal", error))?;
    let mut sealed = Vec::with_capacity(1 + NONCE_BYTES + encrypted.len());
    sealed.push(SEALED_V1);
    sealed.extend_from_slice(&nonce);
    sealed.extend_from_slice(&encrypted);
    Ok(sealed)
}

fn open(cipher: &Aes256Gcm, context: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, StoreError> {
    let corrupt = |why| StoreError::corrupt("sealed secret", "bytes", why);
    let Some((&SEALED_V1, rest)) = sealed.split_first() else {
        return Err(corrupt("were not sealed by this vault"));
    };
    let Some((nonce, encrypted)) = rest.split_first_chunk::<NONCE_BYTES>() else {
        return Err(corrupt("are cut off"));
    };
    cipher
        .decrypt(
            &Nonce::from(*nonce),
            Payload {
                msg: encrypted,
                aad: context,
            },
        )
        .map(Zeroizing::new)
        .map_err(|_| corrupt("were changed, or sealed for another context or with another key"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_opens_only_with_its_context_key_and_bytes() {
        let ours = cipher("a long random text");
        let sealed = seal(&ours, [9; NONCE_BYTES], b"webhook/1", b"whsec_1").unwrap();
        assert_eq!(open(&ours, b"webhook/1", &sealed).unwrap().as_slice(), b"whsec_1");
        assert!(open(&ours, b"webhook/2", &sealed).is_err());
        assert!(open(&cipher("another"), b"webhook/1", &sealed).is_err());
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(open(&ours, b"webhook/1", &changed).is_err(), "byte {place}");
            assert!(open(&ours, b"webhook/1", &sealed[..place]).is_err(), "cut at {place}");
        }
    }
}
