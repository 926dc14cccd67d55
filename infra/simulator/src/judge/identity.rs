//! The issuer must be known, active, an electronic issuer, and represented by the signer.

use super::{Case, Stop};
use crate::signature::Signer;

pub(super) fn check(case: &Case<'_>, signer: &Signer) -> Result<(), Stop> {
    let settings = case.state.settings();
    let rnc = &case.facts.rnc_emisor;
    if !settings.registry.is_empty() {
        let Some(taxpayer) = settings.registry.get(rnc) else {
            return Err(Stop::free(format!("El RNC emisor {rnc} no existe.")));
        };
        if !taxpayer.activo {
            return Err(Stop::free(format!("El RNC emisor {rnc} no está activo.")));
        }
        if !taxpayer.emisor_electronico {
            return Err(Stop::free(format!("El RNC {rnc} no es emisor electrónico.")));
        }
    }
    if !settings.is_delegated(&signer.fingerprint, &signer.owner, rnc) {
        return Err(Stop::free(format!(
            "El RNC {} del certificado no está delegado para el RNC {rnc}.",
            signer.owner
        )));
    }
    Ok(())
}
