//! `consultaresultado`: the verdict of a submission by its identifier.

use ecf::{Encf, Environment, Rnc};

use super::judged;
use crate::about::Asked;
use crate::client::TaxAuth;
use crate::endpoints::Service;
use crate::error::TaxAuthError;
use crate::token::Token;
use crate::verdict::Judged;

/// A submission to look up, and its document: the answer must not name a different one.
#[derive(Debug, Clone, Copy)]
pub struct ResultQuery<'a> {
    /// The identifier of the submission.
    pub track_id: &'a str,
    /// The issuer.
    pub rnc_emisor: &'a Rnc,
    /// The number.
    pub encf: Option<&'a Encf>,
}

impl TaxAuth {
    pub(crate) async fn result(
        &self,
        environment: Environment,
        token: &Token,
        submission: ResultQuery<'_>,
    ) -> Result<Judged, TaxAuthError> {
        let service = Service::ConsultaResultado;
        let asked = Asked {
            rnc_emisor: Some(submission.rnc_emisor),
            encf: submission.encf,
            track_id: Some(submission.track_id),
        };
        let query = [("trackid", submission.track_id)];
        judged(
            service,
            asked,
            self.ask(service, environment, Some(token), &query).await,
        )
    }
}
