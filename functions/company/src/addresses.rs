//! The addresses at which other issuers reach the company. The company registers them with the tax authority.

use ecf::{Environment, Rnc};
use serde::Serialize;
use utoipa::ToSchema;

/// The addresses of one environment, under the names that the tax authority's directory has for them. They are prefixes: the paths of
/// the standard follow, such as `/fe/recepcion/api/ecf`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AddressesView {
    #[schema(value_type = String, example = "CerteCF")]
    environment: Environment,
    /// Where the company receives receipts.
    #[schema(example = "https://ecf.example.com/131880681/certecf")]
    url_recepcion: String,
    /// Where it receives commercial approvals.
    #[schema(example = "https://ecf.example.com/131880681/certecf")]
    url_aceptacion: String,
    /// Where other issuers authenticate.
    #[schema(example = "https://ecf.example.com/131880681/certecf")]
    url_opcional: String,
}

impl AddressesView {
    /// The addresses of every environment, below the base address of the service.
    pub(crate) fn of(service: &str, rnc: &Rnc) -> Vec<Self> {
        [Environment::TesteCF, Environment::CerteCF, Environment::Ecf]
            .map(|environment| {
                let address = format!("{service}/{rnc}/{}", environment.path_segment());
                Self {
                    environment,
                    url_recepcion: address.clone(),
                    url_aceptacion: address.clone(),
                    url_opcional: address,
                }
            })
            .into()
    }
}
