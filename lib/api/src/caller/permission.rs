//! What a key may do: the one place where scopes, and the rule for what touches production, are enforced.

use ecf_store::ApiKey;

use super::Keys;
use crate::{ApiError, layers::Needs};

/// Refuses a key that may not do what an operation needs. Nothing is read for it unless the operation concerns the whole company.
///
/// # Errors
/// 403 with what the key has and what is needed.
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
