//! Makes a secret with a value from the vault's own generator. One that is there keeps its value: what it sealed must open.

use aws_sdk_secretsmanager::Client;

use crate::{Secret, provision::ProvisionError};

/// Gives the secret's ARN.
pub(super) async fn make(
    secrets: &Client,
    secret: &Secret,
    name: &str,
    kms_key: Option<String>,
) -> Result<String, ProvisionError> {
    if let Some(arn) = existing(secrets, name).await? {
        return Ok(arn);
    }
    let generated = secrets
        .get_random_password()
        .password_length(i64::from(secret.generate.length))
        .exclude_punctuation(secret.generate.exclude_punctuation)
        .include_space(secret.generate.include_space)
        .send()
        .await
        .map_err(ProvisionError::call("GetRandomPassword", name))?;
    let Some(value) = generated.random_password else {
        return Err(answer("GetRandomPassword", name, "RandomPassword"));
    };
    let created = secrets
        .create_secret()
        .name(name)
        .secret_string(value)
        .set_kms_key_id(kms_key);
    match created.send().await {
        Ok(created) => created.arn.ok_or_else(|| answer("CreateSecret", name, "ARN")),
        // Another process was faster; its value counts.
        Err(error)
            if error
                .as_service_error()
                .is_some_and(|error| error.is_resource_exists_exception()) =>
        {
            existing(secrets, name)
                .await?
                .ok_or_else(|| answer("DescribeSecret", name, "ARN"))
        }
        Err(error) => Err(ProvisionError::call("CreateSecret", name)(error)),
    }
}

async fn existing(secrets: &Client, name: &str) -> Result<Option<String>, ProvisionError> {
    match secrets.describe_secret().secret_id(name).send().await {
        Ok(found) => Ok(found.arn),
        Err(error)
            if error
                .as_service_error()
                .is_some_and(|error| error.is_resource_not_found_exception()) =>
        {
            Ok(None)
        }
        Err(error) => Err(ProvisionError::call("DescribeSecret", name)(error)),
    }
}

fn answer(action: &'static str, name: &str, field: &'static str) -> ProvisionError {
    ProvisionError::Answer {
        action,
        resource: name.to_owned(),
        field,
    }
}
