//! Extractors for handlers: the caller, the environment and the response format.

use axum::{Extension, extract::FromRequestParts};
use http::request::Parts;

use crate::{
    App,
    answer::Form,
    environment::Environment,
    failure::Failure,
    params::Params,
    token::{self, Holder},
};

/// A request that needs no token.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub(crate) environment: Environment,
    pub(crate) form: Form,
    pub(crate) params: Params,
}

/// A request with a valid token.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) environment: Environment,
    pub(crate) form: Form,
    pub(crate) params: Params,
    pub(crate) holder: Holder,
}

impl Caller {
    /// Rejects the request unless the caller's certificate may act for at least one of these taxpayers.
    pub(crate) fn must_act_for(&self, app: &App, rncs: &[&str]) -> Result<(), Failure> {
        let settings = app.state.settings();
        let Holder { fingerprint, owner, .. } = &self.holder;
        if rncs.iter().any(|rnc| settings.is_delegated(fingerprint, owner, rnc)) {
            return Ok(());
        }
        Err(Failure::refused(format!(
            "El RNC {owner} del certificado no está delegado para realizar transaciones."
        )))
    }
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Extension(environment) = Extension::from_request_parts(parts, app)
            .await
            .expect("each environment's router carries its environment");
        Ok(Self {
            environment,
            form: Form::of(&parts.headers),
            params: Params::of(&parts.uri),
        })
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Visitor {
            environment,
            form,
            params,
        } = Visitor::from_request_parts(parts, app).await?;
        let key = app.state.settings().token_key;
        let holder = token::holder(&key, &parts.headers, environment, app.now()).ok_or(Failure::Unauthorized)?;
        Ok(Self {
            environment,
            form,
            params,
            holder,
        })
    }
}
