//! Parses a path into a service and a company.
//!
//! Host and prefix differ between taxpayers; the rest of the path is fixed. It is accepted in any letter case, with or
//! without accents, and with or without a trailing slash. A path is percent-decoded once.

use ecf::{Environment, Rnc};
use percent_encoding::percent_decode_str;

/// Upper bound of a path, in bytes.
const LONGEST: usize = 512;

/// One service, of one company or of the company that the document names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// The company in the address.
    pub(crate) rnc: Option<Rnc>,
    /// The environment in the address, if there is one.
    pub(crate) environment: Option<Environment>,
    pub(crate) service: Service,
}

/// The services of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    Semilla,
    ValidacionCertificado,
    Recepcion,
    AprobacionComercial,
}

impl Address {
    /// Parses a path; `None` when it is not a service of the standard.
    pub(crate) fn of(path: &str) -> Option<Self> {
        if path.len() > LONGEST {
            return None;
        }
        let decoded = percent_decode_str(path).decode_utf8().ok()?;
        let plain = plain(&decoded);
        let rest = plain.strip_prefix('/')?;
        let segments: Vec<&str> = rest.strip_suffix('/').unwrap_or(rest).split('/').collect();
        let at = segments.iter().position(|segment| *segment == "fe")?;
        // Documents of 2026 gave addresses with the prefix `/api`, which is only the stage of the gateway's own host.
        let before = segments[..at].strip_prefix(&["api"]).unwrap_or(&segments[..at]);
        let (rnc, environment) = match *before {
            [] => (None, None),
            [rnc] => (Some(rnc.parse().ok()?), None),
            [rnc, environment] => (Some(rnc.parse().ok()?), Some(environment_of(environment)?)),
            _ => return None,
        };
        let service = match segments[at + 1..] {
            ["autenticacion", "api", "semilla"] => Service::Semilla,
            ["autenticacion", "api", "validacioncertificado"] => Service::ValidacionCertificado,
            ["recepcion", "api", "ecf"] => Service::Recepcion,
            ["aprobacioncomercial", "api", "ecf"] => Service::AprobacionComercial,
            _ => return None,
        };
        Some(Self {
            rnc,
            environment,
            service,
        })
    }
}

/// Lower case without accents, in composed or combining form.
fn plain(path: &str) -> String {
    path.chars()
        .flat_map(char::to_lowercase)
        .filter(|character| *character != '\u{301}')
        .map(|character| if character == 'ó' { 'o' } else { character })
        .collect()
}

fn environment_of(segment: &str) -> Option<Environment> {
    [Environment::TesteCF, Environment::CerteCF, Environment::Ecf]
        .into_iter()
        .find(|environment| environment.path_segment() == segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(rnc: Option<&str>, environment: Option<Environment>, service: Service) -> Option<Address> {
        Some(Address {
            rnc: rnc.map(|rnc| rnc.parse().expect("an RNC")),
            environment,
            service,
        })
    }

    #[test]
    fn every_spelling_of_a_service_is_understood() {
        let bare = address(None, None, Service::Recepcion);
        for path in [
            "/fe/recepcion/api/ecf",
            "/fe/Recepcion/api/ecf/",
            "/FE/RECEPCIÓN/API/ECF",
            "/fe/recepci%C3%B3n/api/eCF",
            "/fe/recepcio%CC%81n/api/ecf",
        ] {
            assert_eq!(Address::of(path), bare, "{path}");
        }
        let published = address(Some("131880681"), None, Service::Semilla);
        assert_eq!(Address::of("/131880681/fe/Autenticacion/api/Semilla"), published);
        let validation = address(
            Some("131880681"),
            Some(Environment::CerteCF),
            Service::ValidacionCertificado,
        );
        let path = "/131880681/CerteCF/fe/autenticación/api/ValidacionCertificado";
        assert_eq!(Address::of(path), validation);
    }

    #[test]
    fn b3_an_address_that_was_registered_with_api_in_front_answers() {
        let published = address(Some("131880681"), Some(Environment::CerteCF), Service::Recepcion);
        assert_eq!(Address::of("/131880681/certecf/fe/recepcion/api/ecf"), published);
        assert_eq!(Address::of("/api/131880681/certecf/fe/Recepcion/api/eCF"), published);
        let published = address(Some("131880681"), None, Service::Semilla);
        assert_eq!(Address::of("/API/131880681/fe/autenticacion/api/semilla"), published);
        assert_eq!(
            Address::of("/api/fe/recepcion/api/ecf"),
            address(None, None, Service::Recepcion)
        );
        for path in [
            "/api/api/131880681/fe/recepcion/api/ecf",
            "/131880681/api/fe/recepcion/api/ecf",
            "/api/131880681/prod/fe/recepcion/api/ecf",
        ] {
            assert_eq!(Address::of(path), None, "{path}");
        }
    }

    #[test]
    fn other_paths_are_nothing_of_ours() {
        for path in [
            "/",
            "/fe",
            "/fe/recepcion/api/ecf/x",
            "/fe//recepcion/api/ecf",
            "/fe/recepcion/api/ecf//",
            "/fe/x/../recepcion/api/ecf",
            "/fe%252Frecepcion/api/ecf",
            "/13188068/fe/recepcion/api/ecf",
            "/131880681/prod/fe/recepcion/api/ecf",
            "/a/131880681/testecf/fe/recepcion/api/ecf",
            "/api/v1/fe/recepcion/api/ecf",
            "/fe/recepcion/api/ecf%00",
            "/%ff/fe/recepcion/api/ecf",
        ] {
            assert_eq!(Address::of(path), None, "{path}");
        }
        assert_eq!(Address::of(&format!("/{}/fe/recepcion/api/ecf", "1".repeat(600))), None);
    }
}
