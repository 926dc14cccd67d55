//! Enforces what a key may do: its scope, and the rule for operations that affect production.

use ecf_language::say;
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
        let message = say!(
            "this API key has the scope {}, and this operation needs {}: use a key with that scope",
            "esta clave de API tiene el alcance {}, y esta operación necesita {}: use una clave con ese alcance",
            key.scope,
            needs.scope
        );
        return Err(ApiError::forbidden("scope_insufficient", message));
    }
    if !needs.highest_environment {
        return Ok(());
    }
    match keys.highest_environment(key).await? {
        highest if highest > key.environment => {
            let message = say!(
                "this API key is of {}, and the company has a working key of {highest}: this operation changes what \
                 holds in every environment, so it needs a key of {highest}",
                "esta clave de API es de {}, y la empresa tiene una clave vigente de {highest}: esta operación \
                 cambia lo que vale en todos los ambientes, así que necesita una clave de {highest}",
                key.environment
            );
            Err(ApiError::forbidden("highest_environment_required", message))
        }
        _ => Ok(()),
    }
}
