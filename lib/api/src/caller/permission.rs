//! Enforces what a key may do: its scope, and the rule for operations that affect production.

use ecf_store::api_keys::ApiKey;

use super::Keys;
use crate::{ApiError, layers::Needs};

/// Rejects a key without the permission that an operation needs. Only operations that concern the whole company read
/// the table.
///
/// # Errors
/// 403 with the key's scope or environment and the required one.
pub(super) async fn check(keys: &Keys, key: &ApiKey, needs: Needs) -> Result<(), ApiError> {
    if key.scope < needs.scope {
        let message = format!(
            "this API key has the scope {}, and this operation needs {}: use a key with that scope",
            key.scope, needs.scope
        );
        return Err(ApiError::forbidden("scope_insufficient", message));
    }
    if !needs.highest_environment {
        return Ok(());
    }
    match keys.highest_environment(key).await? {
        highest if highest > key.environment => {
            let message = format!(
                "this API key is of {}, and the company has a working key of {highest}: this operation changes what holds in \
                 every environment, so it needs a key of {highest}",
                key.environment
            );
            Err(ApiError::forbidden("highest_environment_required", message))
        }
        _ => Ok(()),
    }
}
