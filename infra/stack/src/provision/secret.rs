//! Creates a secret with a value from Secrets Manager's own generator. An existing secret keeps its value, because data
//! was encrypted with it.

use aws_sdk_secretsmanager::Client;

use crate::{Secret, provision::ProvisionError};

/// Returns the secret's ARN.
pub(super) async fn make(
    secrets: &Client,
    secret: &Secret,
    name: &str,
    kms_key: String,
) -> Result<String, ProvisionError> {
    match secrets.describe_secret().secret_id(name).send().await {
        Ok(found) => return found.arn.ok_or_else(|| answer("DescribeSecret", name, "ARN")),
        Err(error)
            if error
                .as_service_error()
                .is_some_and(|error| error.is_resource_not_found_exception()) => {}
        Err(error) => return Err(ProvisionError::call("DescribeSecret", name)(error)),
    }
    let generate = &secret.generate_secret_string;
    let generated = secrets
        .get_random_password()
        .password_length(generate.password_length.into())
        .exclude_punctuation(generate.exclude_punctuation)
        .include_space(generate.include_space)
        .send()
        .await
        .map_err(ProvisionError::call("GetRandomPassword", name))?;
    let value = generated.random_password;
    let value = value.ok_or_else(|| answer("GetRandomPassword", name, "RandomPassword"))?;
    let created = secrets
        .create_secret()
        .name(name)
        .secret_string(value)
        .kms_key_id(kms_key);
    let created = created
        .send()
        .await
        .map_err(ProvisionError::call("CreateSecret", name))?;
    created.arn.ok_or_else(|| answer("CreateSecret", name, "ARN"))
}

fn answer(action: &'static str, name: &str, field: &'static str) -> ProvisionError {
    ProvisionError::Answer {
        action,
        resource: name.to_owned(),
        field,
    }
}
