//! `consultaresultado`: the verdict of a submission by its identifier.

use ecf::Environment;

use super::judged;
use crate::client::TaxAuth;
use crate::endpoints::Service;
use crate::error::TaxAuthError;
use crate::token::Token;
use crate::verdict::Judged;

impl TaxAuth {
    pub(crate) async fn result(
        &self,
        environment: Environment,
        token: &Token,
        track_id: &str,
    ) -> Result<Judged, TaxAuthError> {
        judged(
            self.ask(
                Service::ConsultaResultado,
                environment,
                Some(token),
                &[("trackid", track_id)],
            )
            .await,
        )
    }
}
