//! The KMS keys that encrypt the secrets. Secrets of earlier versions use the account's default key; an operator moves
//! them.

use aws_sdk_secretsmanager::{
    operation::{list_secrets::ListSecretsError, update_secret::UpdateSecretError},
    types::{Filter, FilterNameStringType},
};

use super::Vault;
use crate::{StoreError, ids::CompanyId};

/// A page of the secrets below the vault's prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretsPage {
    pub secrets: Vec<EncryptedSecret>,
    /// The position of the next page.
    pub next: Option<String>,
}

/// A secret and the key that encrypts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptedSecret {
    /// Its name below the prefix, such as `company/0m5c…`.
    pub name: String,
    /// The company, if it is a certificate.
    pub company: Option<CompanyId>,
    /// The KMS key as it was given; `None` means the account's default key for Secrets Manager.
    pub kms_key: Option<String>,
}

impl Vault {
    /// The KMS key for new secrets.
    pub fn kms_key(&self) -> Option<&str> {
        self.kms_key.as_deref()
    }

    /// The secrets below the prefix, one page, without their values; `None` when no page begins at `from`.
    ///
    /// # Errors
    /// Fails when Secrets Manager fails.
    pub async fn secrets(&self, from: Option<String>, limit: u8) -> Result<Option<SecretsPage>, StoreError> {
        let below = format!("{}/", self.prefix);
        let by_name = Filter::builder().key(FilterNameStringType::Name).values(&below).build();
        let listing = self
            .client
            .list_secrets()
            .filters(by_name)
            .max_results(i32::from(limit))
            .set_next_token(from);
        let page = match listing.send().await {
            Ok(page) => page,
            Err(error)
                if matches!(
                    error.as_service_error(),
                    Some(ListSecretsError::InvalidNextTokenException(_))
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(StoreError::from_sdk("list secrets", error)),
        };
        let secrets = page.secret_list.unwrap_or_default().into_iter().filter_map(|entry| {
            let name = entry.name?.strip_prefix(&below)?.to_owned();
            let company = name.strip_prefix("company/").and_then(|id| id.parse().ok());
            Some(EncryptedSecret {
                name,
                company,
                kms_key: entry.kms_key_id,
            })
        });
        Ok(Some(SecretsPage {
            secrets: secrets.collect(),
            next: page.next_token,
        }))
    }

    /// Encrypts a company's certificate, its previous version included, with the key for new secrets. A repeated call
    /// has no effect. Returns `false` when the company has no certificate any more.
    ///
    /// # Errors
    /// Fails when Secrets Manager fails, or the vault has no key of its own.
    pub async fn move_certificate_to_key(&self, company: &CompanyId) -> Result<bool, StoreError> {
        let operation = "encrypt certificate anew";
        let Some(kms_key) = &self.kms_key else {
            return Err(StoreError::unexpected(operation, "the vault has no KMS key"));
        };
        let update = self
            .client
            .update_secret()
            .secret_id(self.certificate_name(company))
            .kms_key_id(kms_key);
        match update.send().await {
            Ok(_) => Ok(true),
            Err(error)
                if matches!(
                    error.as_service_error(),
                    // The second means that its deletion is scheduled.
                    Some(
                        UpdateSecretError::ResourceNotFoundException(_) | UpdateSecretError::InvalidRequestException(_)
                    )
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(StoreError::from_sdk(operation, error)),
        }
    }
}
