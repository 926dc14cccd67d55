//! Authentication by API key.
//!
//! A [`Caller`] is made from the header `X-API-Key` alone. A missing header is 422, as the contract requires. A wrong,
//! expired or revoked key is 401 with one and the same message, so that an answer does not reveal which keys ever
//! existed. A key without the permission that the operation declares is 403 ([`permission`]).

use axum::extract::{FromRef, FromRequestParts, MatchedPath};
use ecf::{Environment, Rnc};
use ecf_language::say;
use ecf_store::{
    ApiKeyId, CompanyId, Scope,
    api_keys::{ApiKey, KeyScope},
};
use http::request::Parts;

use crate::{ApiError, FieldError, layers::needs};

mod keys;
mod permission;
mod rate;
mod secret;

pub use keys::Keys;
pub use secret::ApiKeySecret;

const HEADER: &str = "X-API-Key";

/// An authenticated company, in the environment of its API key.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The data that this request may access. Every store method takes it.
    pub scope: Scope,
    pub rnc: Rnc,
    pub key_id: ApiKeyId,
    /// What the key may do.
    pub key_scope: KeyScope,
}

impl Caller {
    pub fn company(&self) -> &CompanyId {
        &self.scope.company
    }

    pub fn environment(&self) -> Environment {
        self.scope.environment
    }

    /// Validates the environment in a body, which may repeat the key's environment and must not name another one.
    ///
    /// # Errors
    /// 422 for another environment.
    pub fn check_environment(&self, given: Option<Environment>) -> Result<Environment, ApiError> {
        let own = self.environment();
        match given {
            Some(other) if other != own => {
                let msg = say!(
                    "Input should be '{own}', the environment of the API key",
                    "debe ser '{own}', el ambiente de la clave de API"
                );
                let error = FieldError::new(["body", "environment"], "enum", msg)
                    .with_code("environment_mismatch")
                    .with_input(&ecf::Node::Text(other.as_str().into()))
                    .with_ctx("expected", own.as_str());
                Err(ApiError::validation(vec![error]))
            }
            _ => Ok(own),
        }
    }
}

/// A [`Caller`] without a separate write of the key's last use: the handler records it together with its own writes.
#[derive(Debug, Clone)]
pub struct RecordingCaller(pub Caller);

impl<S> FromRequestParts<S> for Caller
where
    Keys: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let keys = Keys::from_ref(state);
        let key = presented(parts, &keys).await?;
        keys.record_use(&key).await;
        Ok(key.into())
    }
}

impl<S> FromRequestParts<S> for RecordingCaller
where
    Keys: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let key = presented(parts, &Keys::from_ref(state)).await?;
        Ok(Self(key.into()))
    }
}

impl From<ApiKey> for Caller {
    fn from(key: ApiKey) -> Self {
        Self {
            scope: Scope {
                company: key.company,
                environment: key.environment,
            },
            rnc: key.rnc,
            key_id: key.id,
            key_scope: key.scope,
        }
    }
}

/// The API key of a request, if it is valid now.
async fn presented(parts: &Parts, keys: &Keys) -> Result<ApiKey, ApiError> {
    let Some(header) = parts.headers.get(HEADER) else {
        return Err(ApiError::validation(vec![FieldError::missing(["header", HEADER])]));
    };
    let key = match header.to_str().ok().and_then(ApiKeySecret::hash_of) {
        Some(hash) => keys.valid(hash).await?,
        None => None,
    };
    let Some(key) = key else {
        return Err(ApiError::invalid_api_key());
    };
    let span = tracing::Span::current();
    span.record("company.id", tracing::field::display(&key.company));
    span.record("company.rnc", tracing::field::display(&key.rnc));
    span.record("environment", key.environment.as_str());
    keys.admit(&key).await?;
    let path = parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str);
    permission::check(keys, &key, needs(&parts.method, path)).await?;
    Ok(key)
}

#[cfg(test)]
mod tests;
