//! Which addresses given by callers may be called: protection against server-side request forgery (SSRF).
//!
//! An address is checked twice: as text when it is registered ([`Guard::check_url`]), and as an IP address when a
//! connection is made (`resolver`), so that a DNS name that changes later bypasses nothing. Redirects are not followed.

mod ranges;
mod resolver;

use std::net::IpAddr;

use ecf_language::{Bilingual, Say};
use url::{Host, Url};

pub(crate) use resolver::GuardedResolver;

/// The longest URL that is accepted.
const MAX_URL_CHARS: usize = 2_048;

/// Which networks may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses over https: for deployments.
    Public,
    /// Also loopback and plain http: for the local system.
    PublicAndLoopback,
}

/// Checks the addresses that callers give us.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    reach: Reach,
}

/// An IP address that may not be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the address {address} is {kind}, which is not called")]
pub struct RefusedAddress {
    /// The address.
    pub address: IpAddr,
    /// What kind of address it is.
    pub kind: &'static str,
}

impl Say for RefusedAddress {
    fn say(&self) -> Bilingual {
        Bilingual::of(
            self,
            format!("la dirección {} no se llama, porque no es pública", self.address),
        )
    }
}

/// Why a URL is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Not an absolute URL with a host.
    #[error("it is not an absolute address with a host")]
    NotAnAddress,
    /// Too long.
    #[error("it has {given} characters, at most {MAX_URL_CHARS} are allowed")]
    TooLong {
        /// Its length in characters.
        given: usize,
    },
    /// A scheme that is not allowed.
    #[error("its scheme is `{given}`, only {allowed} is called")]
    Scheme {
        /// Its scheme.
        given: String,
        /// The schemes that are allowed.
        allowed: &'static str,
    },
    /// User name or password, which would end up in logs and lists.
    #[error("it carries a user name or a password")]
    Credentials,
    /// Port 0.
    #[error("its port cannot be called")]
    Port,
    /// A name that means this machine or this network.
    #[error("`{given}` is a local name")]
    LocalName {
        /// The name.
        given: String,
    },
    /// An IP address that may not be called.
    #[error(transparent)]
    Refused(#[from] RefusedAddress),
}

impl Say for UrlError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::NotAnAddress => "no es una dirección absoluta con un host".to_owned(),
            Self::TooLong { given } => format!("tiene {given} caracteres, se permiten {MAX_URL_CHARS} como máximo"),
            Self::Scheme { given, allowed } => format!("su esquema es `{given}`, solo se llama {allowed}"),
            Self::Credentials => "lleva un nombre de usuario o una contraseña".to_owned(),
            Self::Port => "su puerto no se puede llamar".to_owned(),
            Self::LocalName { given } => format!("`{given}` es un nombre local"),
            Self::Refused(error) => return error.say(),
        };
        Bilingual::of(self, spanish)
    }
}

impl Guard {
    /// A guard for these networks.
    #[must_use]
    pub fn new(reach: Reach) -> Self {
        Self { reach }
    }

    pub(crate) fn allows_plain_http(self) -> bool {
        self.reach == Reach::PublicAndLoopback
    }

    /// Checks a URL as text: when it is registered and before each call.
    ///
    /// # Errors
    /// Why the URL is rejected, in words for the person who gave it.
    pub fn check_url(&self, given: &str) -> Result<Url, UrlError> {
        let length = given.chars().count();
        if length > MAX_URL_CHARS {
            return Err(UrlError::TooLong { given: length });
        }
        let url = Url::parse(given).map_err(|_| UrlError::NotAnAddress)?;
        match url.scheme() {
            "https" => {}
            "http" if self.allows_plain_http() => {}
            other => {
                let allowed = if self.allows_plain_http() {
                    "http or https"
                } else {
                    "https"
                };
                return Err(UrlError::Scheme {
                    given: other.to_owned(),
                    allowed,
                });
            }
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials);
        }
        if url.port() == Some(0) {
            return Err(UrlError::Port);
        }
        match url.host() {
            None => return Err(UrlError::NotAnAddress),
            // A literal IP address never passes the resolver. The parser has already normalized unusual spellings.
            Some(Host::Ipv4(address)) => self.check_ip(address.into())?,
            Some(Host::Ipv6(address)) => self.check_ip(address.into())?,
            Some(Host::Domain(name)) => self.check_name(name)?,
        }
        Ok(url)
    }

    /// Checks an IP address before a connection is made.
    ///
    /// # Errors
    /// When it is not a public address and this guard does not allow its kind.
    pub fn check_ip(&self, address: IpAddr) -> Result<(), RefusedAddress> {
        match ranges::refusal(address) {
            None => Ok(()),
            Some(ranges::LOOPBACK) if self.reach == Reach::PublicAndLoopback => Ok(()),
            Some(kind) => Err(RefusedAddress { address, kind }),
        }
    }

    /// Rejects local names at once, with a clear error. All other names are judged by their addresses.
    fn check_name(&self, name: &str) -> Result<(), UrlError> {
        let plain = name.trim_end_matches('.');
        let last = plain.rsplit('.').next().unwrap_or(plain);
        let is_localhost = last == "localhost";
        let is_local =
            is_localhost || !plain.contains('.') || matches!(last, "local" | "internal" | "lan" | "intranet");
        if is_local && !(is_localhost && self.reach == Reach::PublicAndLoopback) {
            return Err(UrlError::LocalName { given: name.to_owned() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: Guard = Guard { reach: Reach::Public };
    const LOCAL: Guard = Guard {
        reach: Reach::PublicAndLoopback,
    };

    #[test]
    fn only_https_to_public_hosts_is_taken() {
        for url in [
            "https://erp.example.com/webhooks/ecf",
            "https://erp.example.com:8443/x?y=z",
            "https://93.184.216.34/",
            "https://[2606:2800:220:1:248:1893:25c8:1946]/",
            "https://ñandú.example.com/",
        ] {
            assert!(PUBLIC.check_url(url).is_ok(), "{url}: {:?}", PUBLIC.check_url(url));
        }
    }

    #[test]
    fn every_way_to_an_inner_address_is_refused() {
        for url in [
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f.0.0.1/",
            "https://0177.0.0.1/",
            "https://0/",
            "https://10.0.0.1/",
            "https://192.168.1.1/",
            "https://169.254.169.254/latest/meta-data/",
            "https://[::1]/",
            "https://[::]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:a9fe:a9fe]/",
            "https://[::127.0.0.1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[fd00:ec2::254]/",
            "https://[fe80::1]/",
        ] {
            assert!(
                matches!(PUBLIC.check_url(url), Err(UrlError::Refused(_))),
                "{url}: {:?}",
                PUBLIC.check_url(url)
            );
        }
        for url in [
            "https://localhost/",
            "https://LOCALHOST./",
            "https://a.localhost/",
            "https://intranet/",
            "https://printer.local/",
            "https://metadata.google.internal/",
        ] {
            assert!(
                matches!(PUBLIC.check_url(url), Err(UrlError::LocalName { .. })),
                "{url}"
            );
        }
    }

    #[test]
    fn what_is_no_plain_web_address_is_refused() {
        let https = |given: &str| UrlError::Scheme {
            given: given.into(),
            allowed: "https",
        };
        let cases = [
            ("http://erp.example.com/", https("http")),
            ("ftp://erp.example.com/", https("ftp")),
            ("file:///etc/passwd", https("file")),
            ("erp.example.com", UrlError::NotAnAddress),
            ("/webhooks", UrlError::NotAnAddress),
            ("https://", UrlError::NotAnAddress),
            ("", UrlError::NotAnAddress),
            ("https://user@erp.example.com/", UrlError::Credentials),
            ("https://:secret@erp.example.com/", UrlError::Credentials),
            ("https://erp.example.com:0/", UrlError::Port),
        ];
        for (url, error) in cases {
            assert_eq!(PUBLIC.check_url(url), Err(error), "{url}");
        }
        let long = format!("https://erp.example.com/{}", "x".repeat(2_048));
        assert_eq!(PUBLIC.check_url(&long), Err(UrlError::TooLong { given: 2_072 }));
    }

    #[test]
    fn the_local_system_reaches_loopback_and_no_other_inner_address() {
        for url in [
            "http://127.0.0.1:8069/webhooks/ecf",
            "http://localhost:8069/",
            "http://[::1]:8069/",
            "http://[::ffff:127.0.0.1]/",
            "https://erp.example.com/",
        ] {
            assert!(LOCAL.check_url(url).is_ok(), "{url}");
        }
        for url in [
            "http://10.0.0.1/",
            "http://192.168.1.1/",
            "http://169.254.169.254/",
            "http://[fd00::1]/",
            "http://0.0.0.0/",
            "http://intranet/",
        ] {
            assert!(LOCAL.check_url(url).is_err(), "{url}");
        }
    }
}
