//! `consultarfce`: the state of a summary by its number, in every environment since 02-01-2026 (technical description
//! v1.7).

use ecf::{Encf, Environment, Rnc};

use super::judged;
use crate::about::Asked;
use crate::client::TaxAuth;
use crate::endpoints::Service;
use crate::error::TaxAuthError;
use crate::token::Token;
use crate::verdict::Judged;

/// A summary to look up; all three values are mandatory.
#[derive(Debug, Clone, Copy)]
pub struct SummaryQuery<'a> {
    /// The issuer.
    pub rnc_emisor: &'a Rnc,
    /// The number.
    pub encf: &'a Encf,
    /// The security code that the summary carries, which is the full receipt's.
    pub codigo_seguridad: &'a str,
}

impl TaxAuth {
    pub(crate) async fn summary_state(
        &self,
        environment: Environment,
        token: &Token,
        summary: SummaryQuery<'_>,
    ) -> Result<Judged, TaxAuthError> {
        let rnc_emisor = summary.rnc_emisor.to_string();
        let encf = summary.encf.to_string();
        // The parameter names of the example URL work; those of the document's parameter table do not.
        let query = [
            ("RNC_Emisor", rnc_emisor.as_str()),
            ("ENCF", &encf),
            ("Cod_Seguridad_eCF", summary.codigo_seguridad),
        ];
        let service = Service::ConsultaRfce;
        let asked = Asked {
            rnc_emisor: Some(summary.rnc_emisor),
            encf: Some(summary.encf),
            track_id: None,
        };
        judged(
            service,
            asked,
            self.ask(service, environment, Some(token), &query).await,
        )
    }
}
