//! `consultaestado`: the state of a receipt or a summary by its number (not in certification).

use ecf::{Encf, Environment, Rnc};

use super::judged;
use crate::about::Asked;
use crate::body::Body;
use crate::client::TaxAuth;
use crate::endpoints::Service;
use crate::error::TaxAuthError;
use crate::token::Token;
use crate::verdict::Judged;

/// A receipt to look up.
#[derive(Debug, Clone, Copy)]
pub struct ReceiptQuery<'a> {
    /// The issuer.
    pub rnc_emisor: &'a Rnc,
    /// The number.
    pub encf: &'a Encf,
    /// The buyer, when the receipt has one.
    pub rnc_comprador: Option<&'a Rnc>,
    /// The security code; of a summary, the code that it carries.
    pub codigo_seguridad: &'a str,
}

/// The state of a receipt, and the security code that identifies the copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateAnswer {
    /// The authority's verdict on the number.
    pub judged: Judged,
    /// The security code of the authority's copy. RSA signatures are deterministic, so a different code means a
    /// different document.
    pub codigo_seguridad: Option<String>,
}

impl TaxAuth {
    pub(crate) async fn receipt_state(
        &self,
        environment: Environment,
        token: &Token,
        receipt: ReceiptQuery<'_>,
    ) -> Result<StateAnswer, TaxAuthError> {
        let rnc_emisor = receipt.rnc_emisor.to_string();
        let encf = receipt.encf.to_string();
        let rnc_comprador = receipt.rnc_comprador.map(ToString::to_string);
        let mut query = vec![("rncemisor", rnc_emisor.as_str()), ("ncfelectronico", encf.as_str())];
        if let Some(rnc_comprador) = &rnc_comprador {
            query.push(("rnccomprador", rnc_comprador));
        }
        query.push(("codigoseguridad", receipt.codigo_seguridad));
        let reply = self
            .ask(Service::ConsultaEstado, environment, Some(token), &query)
            .await;
        let asked = Asked {
            rnc_emisor: Some(receipt.rnc_emisor),
            encf: Some(receipt.encf),
            track_id: None,
        };
        let codigo_seguridad = reply.as_ref().ok().and_then(|reply| codigo_seguridad(&reply.body()));
        Ok(StateAnswer {
            judged: judged(Service::ConsultaEstado, asked, reply)?,
            codigo_seguridad,
        })
    }
}

fn codigo_seguridad(body: &Body) -> Option<String> {
    body.as_record()?.text("codigoseguridad").map(str::to_owned)
}
