//! The authority's environments and services, and which service exists where.

/// One of the three environments, a path segment of every address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Environment {
    Testecf,
    Certecf,
    Ecf,
}

impl Environment {
    pub(crate) const ALL: [Self; 3] = [Self::Testecf, Self::Certecf, Self::Ecf];

    /// The path segment, in lower case.
    pub(crate) fn segment(self) -> &'static str {
        match self {
            Self::Testecf => "testecf",
            Self::Certecf => "certecf",
            Self::Ecf => "ecf",
        }
    }

    /// The name that the status service uses.
    pub(crate) fn status_name(self) -> &'static str {
        match self {
            Self::Testecf => "PreCertificacion",
            Self::Certecf => "Certificacion",
            Self::Ecf => "Produccion",
        }
    }

    /// Reads the number that the status service uses for an environment.
    pub(crate) fn from_status_number(number: &str) -> Option<Self> {
        match number {
            "1" => Some(Self::Testecf),
            "2" => Some(Self::Ecf),
            "3" => Some(Self::Certecf),
            _ => None,
        }
    }

    /// Reads a path segment or a status name; letter case does not matter.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| text.eq_ignore_ascii_case(one.segment()) || text.eq_ignore_ascii_case(one.status_name()))
    }
}

/// One service, named by its path segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    Autenticacion,
    Recepcion,
    RecepcionFc,
    ConsultaRfce,
    ConsultaResultado,
    ConsultaEstado,
    ConsultaTrackIds,
    AprobacionComercial,
    AnulacionRangos,
    ConsultaDirectorio,
    ConsultaTimbre,
    ConsultaTimbreFc,
    EstatusServicios,
    EmisorReceptor,
}

impl Service {
    pub(crate) const ALL: [Self; 14] = [
        Self::Autenticacion,
        Self::Recepcion,
        Self::RecepcionFc,
        Self::ConsultaRfce,
        Self::ConsultaResultado,
        Self::ConsultaEstado,
        Self::ConsultaTrackIds,
        Self::AprobacionComercial,
        Self::AnulacionRangos,
        Self::ConsultaDirectorio,
        Self::ConsultaTimbre,
        Self::ConsultaTimbreFc,
        Self::EstatusServicios,
        Self::EmisorReceptor,
    ];

    /// The authority's host for this service: `ecf`, `fc` or `statusecf`.
    pub(crate) fn host(self) -> &'static str {
        match self {
            Self::RecepcionFc | Self::ConsultaRfce | Self::ConsultaTimbreFc => "fc",
            Self::EstatusServicios => "statusecf",
            _ => "ecf",
        }
    }

    /// The path segment.
    pub(crate) fn segment(self) -> &'static str {
        match self {
            Self::Autenticacion => "autenticacion",
            Self::Recepcion => "recepcion",
            Self::RecepcionFc => "recepcionfc",
            Self::ConsultaRfce => "consultarfce",
            Self::ConsultaResultado => "consultaresultado",
            Self::ConsultaEstado => "consultaestado",
            Self::ConsultaTrackIds => "consultatrackids",
            Self::AprobacionComercial => "aprobacioncomercial",
            Self::AnulacionRangos => "anulacionrangos",
            Self::ConsultaDirectorio => "consultadirectorio",
            Self::ConsultaTimbre => "consultatimbre",
            Self::ConsultaTimbreFc => "consultatimbrefc",
            Self::EstatusServicios => "estatusservicios",
            Self::EmisorReceptor => "emisorreceptor",
        }
    }

    /// Reads a path segment; letter case does not matter.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| text.eq_ignore_ascii_case(one.segment()))
    }

    /// The name in the status service's list; `None` for a service that the list omits.
    pub(crate) fn status_title(self) -> Option<&'static str> {
        match self {
            Self::Autenticacion => Some("Autenticación"),
            Self::Recepcion => Some("Recepción"),
            Self::RecepcionFc => Some("Recepción FC"),
            Self::ConsultaResultado => Some("Consulta Resultado"),
            Self::ConsultaEstado => Some("Consulta Estado"),
            Self::ConsultaTrackIds => Some("Consulta TrackIds"),
            Self::AprobacionComercial => Some("Aprobación Comercial"),
            Self::AnulacionRangos => Some("Anulación Rangos"),
            Self::ConsultaDirectorio => Some("Consulta Directorio"),
            Self::ConsultaRfce
            | Self::ConsultaTimbre
            | Self::ConsultaTimbreFc
            | Self::EstatusServicios
            | Self::EmisorReceptor => None,
        }
    }

    /// Whether the environment offers this service. The status service belongs to no environment.
    pub(crate) fn is_offered_in(self, environment: Environment) -> bool {
        match self {
            Self::EstatusServicios => false,
            Self::EmisorReceptor => environment == Environment::Testecf,
            Self::ConsultaEstado | Self::ConsultaTrackIds | Self::AnulacionRangos | Self::ConsultaDirectorio => {
                environment != Environment::Certecf
            }
            _ => true,
        }
    }
}
