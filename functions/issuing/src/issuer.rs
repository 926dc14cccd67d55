//! The issuer of a document.

use ecf::Rnc;
use ecf_api::Caller;
use ecf_store::{Receipt, Scope};

/// Company and environment of a document, for a request as well as for a receipt that the worker issues later.
pub(crate) struct Issuer {
    pub(crate) scope: Scope,
    pub(crate) rnc: Rnc,
}

impl From<&Caller> for Issuer {
    fn from(caller: &Caller) -> Self {
        Self {
            scope: caller.scope,
            rnc: caller.rnc.clone(),
        }
    }
}

impl From<&Receipt> for Issuer {
    fn from(receipt: &Receipt) -> Self {
        Self {
            scope: receipt.scope,
            rnc: receipt.fiscal.company_rnc.clone(),
        }
    }
}
