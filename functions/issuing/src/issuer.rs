//! Whose document is issued.

use ecf::Rnc;
use ecf_api::Caller;
use ecf_store::{Receipt, Scope};

/// Company and environment of a document, whoever asks for it now: the caller, or a worker for a receipt that was kept.
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
