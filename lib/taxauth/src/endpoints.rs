//! The addresses of the authority's services: three hosts, one path segment per environment, one address per service.

use std::collections::HashMap;
use std::fmt;

use ecf::Environment;
use ecf_store::breaker::Host;
use url::Url;

/// One of the authority's services, named as its own documents name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    /// The seed that the caller signs.
    Semilla,
    /// The signed seed, exchanged for a token.
    ValidarSemilla,
    /// Reception of receipts sent in full.
    Recepcion,
    /// Reception of summaries of consumer invoices.
    RecepcionFc,
    /// The verdict of a submission.
    ConsultaResultado,
    /// The state of a receipt by its number.
    ConsultaEstado,
    /// The submissions of a number.
    ConsultaTrackIds,
    /// The state of a summary by its number.
    ConsultaRfce,
    /// The addresses at which an electronic taxpayer receives documents.
    ConsultaDirectorio,
    /// Approvals and rejections by buyers.
    AprobacionComercial,
    /// Numbers that will never be used.
    AnulacionRangos,
}

impl Service {
    /// Every service this crate calls.
    pub const ALL: [Self; 11] = [
        Self::Semilla,
        Self::ValidarSemilla,
        Self::Recepcion,
        Self::RecepcionFc,
        Self::ConsultaResultado,
        Self::ConsultaEstado,
        Self::ConsultaTrackIds,
        Self::ConsultaRfce,
        Self::ConsultaDirectorio,
        Self::AprobacionComercial,
        Self::AnulacionRangos,
    ];

    /// Whether the authority runs the service in that environment (availability matrix of the technical description).
    #[must_use]
    pub fn is_offered_in(self, environment: Environment) -> bool {
        match self {
            Self::Semilla
            | Self::ValidarSemilla
            | Self::Recepcion
            | Self::RecepcionFc
            | Self::ConsultaResultado
            | Self::ConsultaRfce
            | Self::AprobacionComercial => true,
            Self::ConsultaEstado | Self::ConsultaTrackIds | Self::ConsultaDirectorio | Self::AnulacionRangos => {
                environment != Environment::CerteCF
            }
        }
    }

    /// The host that runs it.
    #[must_use]
    pub fn host(self) -> Host {
        match self {
            Self::RecepcionFc | Self::ConsultaRfce => Host::Fc,
            _ => Host::Ecf,
        }
    }

    /// The path after the environment's segment.
    fn path(self) -> &'static [&'static str] {
        match self {
            Self::Semilla => &["autenticacion", "api", "autenticacion", "semilla"],
            Self::ValidarSemilla => &["autenticacion", "api", "autenticacion", "validarsemilla"],
            Self::Recepcion => &["recepcion", "api", "facturaselectronicas"],
            Self::RecepcionFc => &["recepcionfc", "api", "recepcion", "ecf"],
            Self::ConsultaResultado => &["consultaresultado", "api", "consultas", "estado"],
            Self::ConsultaEstado => &["consultaestado", "api", "consultas", "estado"],
            Self::ConsultaTrackIds => &["consultatrackids", "api", "trackids", "consulta"],
            Self::ConsultaRfce => &["consultarfce", "api", "Consultas", "Consulta"],
            Self::AprobacionComercial => &["aprobacioncomercial", "api", "aprobacioncomercial"],
            Self::AnulacionRangos => &["anulacionrangos", "api", "operaciones", "anularrango"],
            Self::ConsultaDirectorio => &["consultadirectorio", "api", "consultas", "obtenerdirectorioporrnc"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Semilla => "autenticacion/semilla",
            Self::ValidarSemilla => "autenticacion/validarsemilla",
            Self::Recepcion => "recepcion",
            Self::RecepcionFc => "recepcionfc",
            Self::ConsultaResultado => "consultaresultado",
            Self::ConsultaEstado => "consultaestado",
            Self::ConsultaTrackIds => "consultatrackids",
            Self::ConsultaRfce => "consultarfce",
            Self::ConsultaDirectorio => "consultadirectorio",
            Self::AprobacionComercial => "aprobacioncomercial",
            Self::AnulacionRangos => "anulacionrangos",
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The service that can answer whether a receipt was taken after its answer was lost; `None` if the environment offers
/// none.
///
/// Certification offers no look-up of receipts sent in full: a receipt with an unknown outcome waits for an operator
/// there.
#[must_use]
pub fn where_to_look(environment: Environment, sent_as_summary: bool) -> Option<Service> {
    let service = if sent_as_summary {
        Service::ConsultaRfce
    } else {
        Service::ConsultaTrackIds
    };
    service.is_offered_in(environment).then_some(service)
}

/// Why a base address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EndpointsError {
    /// The text is not a URL.
    #[error("`{given}` is not an address")]
    NotAnAddress {
        /// The given text.
        given: String,
        /// The parser's error.
        source: url::ParseError,
    },
    /// The scheme is neither http nor https.
    #[error("`{given}` is neither an http nor an https address")]
    Scheme {
        /// The given text.
        given: String,
    },
}

/// The addresses of the authority's services.
#[derive(Debug, Clone)]
pub struct Endpoints {
    ecf: Url,
    fc: Url,
    status: Url,
    replaced: HashMap<(Service, Environment), Url>,
}

impl Endpoints {
    /// Endpoints below the bases of the three hosts: receipts, summaries of consumer invoices, status.
    ///
    /// # Errors
    /// When one of them is not an http(s) URL.
    pub fn from_bases(ecf: &str, fc: &str, status: &str) -> Result<Self, EndpointsError> {
        Ok(Self {
            ecf: base(ecf)?,
            fc: base(fc)?,
            status: base(status)?,
            replaced: HashMap::new(),
        })
    }

    /// Replaces the address of one service in one environment.
    ///
    /// In certification the case of a path was reported to matter on the `fc` host, so every address can be configured.
    #[must_use]
    pub fn with_address(mut self, service: Service, environment: Environment, address: Url) -> Self {
        self.replaced.insert((service, environment), address);
        self
    }

    /// The address of a service in an environment.
    #[must_use]
    pub fn address(&self, service: Service, environment: Environment) -> Url {
        if let Some(address) = self.replaced.get(&(service, environment)) {
            return address.clone();
        }
        let mut address = match service.host() {
            Host::Ecf => self.ecf.clone(),
            Host::Fc => self.fc.clone(),
        };
        address
            .path_segments_mut()
            .expect("`base` admits only http and https addresses, which have path segments")
            .pop_if_empty()
            .push(environment.path_segment())
            .extend(service.path());
        address
    }

    /// The same endpoints with another status host.
    ///
    /// # Errors
    /// When it is not an http(s) URL.
    pub fn with_status_base(self, status: &str) -> Result<Self, EndpointsError> {
        Ok(Self {
            status: base(status)?,
            ..self
        })
    }

    /// The base of the status host, which has no environment segment.
    #[must_use]
    pub fn status_base(&self) -> &Url {
        &self.status
    }
}

impl Default for Endpoints {
    /// The authority's own hosts.
    fn default() -> Self {
        Self::from_bases(
            "https://ecf.dgii.gov.do",
            "https://fc.dgii.gov.do",
            "https://statusecf.dgii.gov.do",
        )
        .expect("the three addresses are well formed")
    }
}

fn base(given: &str) -> Result<Url, EndpointsError> {
    let url = Url::parse(given).map_err(|source| EndpointsError::NotAnAddress {
        given: given.to_owned(),
        source,
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(EndpointsError::Scheme {
            given: given.to_owned(),
        });
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_addresses_are_those_of_the_technical_description() {
        let endpoints = Endpoints::default();
        let expected = [
            (
                Service::Semilla,
                Environment::TesteCF,
                "https://ecf.dgii.gov.do/testecf/autenticacion/api/autenticacion/semilla",
            ),
            (
                Service::ValidarSemilla,
                Environment::CerteCF,
                "https://ecf.dgii.gov.do/certecf/autenticacion/api/autenticacion/validarsemilla",
            ),
            (
                Service::Recepcion,
                Environment::Ecf,
                "https://ecf.dgii.gov.do/ecf/recepcion/api/facturaselectronicas",
            ),
            (
                Service::RecepcionFc,
                Environment::TesteCF,
                "https://fc.dgii.gov.do/testecf/recepcionfc/api/recepcion/ecf",
            ),
            (
                Service::ConsultaResultado,
                Environment::TesteCF,
                "https://ecf.dgii.gov.do/testecf/consultaresultado/api/consultas/estado",
            ),
            (
                Service::ConsultaEstado,
                Environment::Ecf,
                "https://ecf.dgii.gov.do/ecf/consultaestado/api/consultas/estado",
            ),
            (
                Service::ConsultaTrackIds,
                Environment::Ecf,
                "https://ecf.dgii.gov.do/ecf/consultatrackids/api/trackids/consulta",
            ),
            (
                Service::ConsultaRfce,
                Environment::Ecf,
                "https://fc.dgii.gov.do/ecf/consultarfce/api/Consultas/Consulta",
            ),
            (
                Service::ConsultaDirectorio,
                Environment::Ecf,
                "https://ecf.dgii.gov.do/ecf/consultadirectorio/api/consultas/obtenerdirectorioporrnc",
            ),
            (
                Service::AprobacionComercial,
                Environment::CerteCF,
                "https://ecf.dgii.gov.do/certecf/aprobacioncomercial/api/aprobacioncomercial",
            ),
            (
                Service::AnulacionRangos,
                Environment::Ecf,
                "https://ecf.dgii.gov.do/ecf/anulacionrangos/api/operaciones/anularrango",
            ),
        ];
        for (service, environment, address) in expected {
            assert_eq!(endpoints.address(service, environment).as_str(), address);
        }
        assert_eq!(endpoints.status_base().as_str(), "https://statusecf.dgii.gov.do/");
    }

    #[test]
    fn a_base_may_have_a_path_and_a_trailing_slash() {
        for base in ["http://127.0.0.1:9/taxauth", "http://127.0.0.1:9/taxauth/"] {
            let endpoints = Endpoints::from_bases(base, base, base).expect("well formed");
            assert_eq!(
                endpoints.address(Service::Recepcion, Environment::TesteCF).as_str(),
                "http://127.0.0.1:9/taxauth/testecf/recepcion/api/facturaselectronicas"
            );
        }
    }

    #[test]
    fn one_address_can_be_replaced_without_touching_the_others() {
        let other = Url::parse("https://fc.dgii.gov.do/Certecf/recepcionfc/api/recepcion/ecf").expect("well formed");
        let endpoints = Endpoints::default().with_address(Service::RecepcionFc, Environment::CerteCF, other.clone());
        assert_eq!(endpoints.address(Service::RecepcionFc, Environment::CerteCF), other);
        assert!(
            endpoints
                .address(Service::RecepcionFc, Environment::TesteCF)
                .path()
                .starts_with("/testecf/")
        );
    }

    #[test]
    fn a_base_that_is_no_web_address_is_refused() {
        assert!(matches!(
            Endpoints::from_bases("ftp://x", "http://x", "http://x"),
            Err(EndpointsError::Scheme { .. })
        ));
        assert!(matches!(
            Endpoints::from_bases("x", "http://x", "http://x"),
            Err(EndpointsError::NotAnAddress { .. })
        ));
    }

    #[test]
    fn c14_summaries_are_looked_up_everywhere_and_full_receipts_not_in_certification() {
        let expected = [
            (Environment::TesteCF, false, Some(Service::ConsultaTrackIds)),
            (Environment::TesteCF, true, Some(Service::ConsultaRfce)),
            (Environment::CerteCF, false, None),
            (Environment::CerteCF, true, Some(Service::ConsultaRfce)),
            (Environment::Ecf, false, Some(Service::ConsultaTrackIds)),
            (Environment::Ecf, true, Some(Service::ConsultaRfce)),
        ];
        for (environment, summary, service) in expected {
            assert_eq!(
                where_to_look(environment, summary),
                service,
                "{environment:?} {summary}"
            );
        }
    }
}
