//! The address, the certificate that signs, and whether the address can be reached from outside.

use std::net::IpAddr;
use std::path::Path;

use ecf::Rnc;
use ecf_runtime::Error;
use jiff::Timestamp;
use url::{Host, Url};
use xmldsig::Identity;

use super::Report;
use crate::authority::{Authority, CERTIFICATE_PIN, certificate};
use crate::demo::RNC as DEMO_RNC;
use crate::options::CheckReception;
use crate::ready::variable;

/// The company's address.
pub(super) struct Target {
    pub(super) address: String,
    pub(super) url: Url,
    pub(super) rnc: String,
    /// Whether test documents may be sent to it.
    pub(super) takes_tests: bool,
    /// Whether it is on this machine.
    is_local: bool,
}

impl Target {
    pub(super) fn of(options: &CheckReception, data: &Path) -> Result<Self, Error> {
        let address = match &options.address {
            Some(address) => address.clone(),
            None => format!("{}/{DEMO_RNC}/certecf", variable("company", "PUBLIC_URL", data)?),
        };
        let url: Url = address.parse().map_err(|error| format!("{address}: {error}"))?;
        let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
        let named = segments.iter().find_map(|segment| segment.parse::<Rnc>().ok());
        let rnc = match (&options.rnc, named) {
            (Some(rnc), _) => rnc.to_string(),
            (None, Some(rnc)) => rnc.to_string(),
            (None, None) => return Err(format!("{address} names no RNC: give --rnc").into()),
        };
        let takes_tests = segments
            .iter()
            .any(|segment| ["testecf", "certecf"].contains(&segment.to_ascii_lowercase().as_str()));
        let is_local = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        Ok(Self {
            address,
            url,
            rnc,
            takes_tests,
            is_local,
        })
    }
}

/// The certificate of the sender: a P12, one that the local system trusts, or one that nobody knows.
pub(super) fn identity(options: &CheckReception, data: &Path, sender: &str, now: Timestamp) -> Result<Identity, Error> {
    let (file, pin) = match (&options.p12, &options.address) {
        (Some(path), _) => {
            let file = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
            (file, options.pin.as_deref().unwrap_or_default())
        }
        (None, None) => (certificate(sender, data)?, CERTIFICATE_PIN),
        (None, Some(_)) => {
            let folder = tempfile::tempdir()?;
            let unknown = Authority::open(&folder.path().join("authority.pem"), now)?;
            (
                unknown.certify(&sender.parse()?, "PRUEBA DE RECEPCION", now)?,
                CERTIFICATE_PIN,
            )
        }
    };
    Ok(Identity::from_pkcs12(&file, pin, now)?)
}

/// Checks the form of the address and its name. `false`: nothing can be called there.
pub(super) async fn is_reachable(target: &Target, report: &mut Report) -> Result<bool, Error> {
    let url = &target.url;
    if target.is_local {
        report.note("address", "on this machine: nobody outside reaches it")?;
    } else if url.scheme() != "https" {
        report.bad("address", "the tax authority calls https only")?;
    } else if !matches!(url.host(), Some(Host::Domain(_))) {
        report.bad("address", "a host name is needed, because a TLS certificate names one")?;
    } else if url.query().is_some() || url.fragment().is_some() {
        report.bad("address", "it has ? or #, and paths are added at its end")?;
    } else {
        report.good("address", "https with a host name")?;
    }
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or(443);
    match tokio::net::lookup_host((host, port)).await {
        Ok(found) => {
            let found: Vec<IpAddr> = found.map(|address| address.ip()).collect();
            let private = found.iter().find(|ip| !target.is_local && !is_public(**ip));
            match (found.is_empty(), private) {
                (true, _) => {
                    report.bad("name", &format!("DNS has no address for {host}"))?;
                    return Ok(false);
                }
                (_, Some(ip)) => report.bad("name", &format!("{host} is {ip}, which nobody outside reaches"))?,
                _ => {
                    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
                    report.good("name", &format!("{host} is {}", found.join(", ")))?;
                }
            }
            Ok(true)
        }
        Err(error) => {
            report.bad("name", &format!("DNS does not know {host}: {error}"))?;
            Ok(false)
        }
    }
}

fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !(ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_unspecified()),
        IpAddr::V6(ip) => !(ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local()),
    }
}
