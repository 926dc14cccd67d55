//! The address in the QR code, where anybody can ask the tax authority about a receipt.

use std::fmt::{Display, Write as _};

use crate::{Environment, FechaHora, Numbered};

/// Where the authority answers about receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StampHosts {
    /// For receipts that were sent in full.
    pub ecf: String,
    /// For consumer invoices of which a summary was sent.
    pub fc: String,
}

impl Default for StampHosts {
    fn default() -> Self {
        Self {
            ecf: "https://ecf.dgii.gov.do".to_owned(),
            fc: "https://fc.dgii.gov.do".to_owned(),
        }
    }
}

/// The stamp of a receipt: technical description 1.6, "Consulta Timbre". Values are those of the signed document; a
/// receipt that names no Dominican buyer leaves that parameter out.
pub fn stamp_url(
    hosts: &StampHosts,
    environment: Environment,
    receipt: &Numbered,
    signed_at: FechaHora,
    security_code: &str,
) -> String {
    let summary = receipt.goes_as_summary();
    let (host, page) = if summary {
        (&hosts.fc, "consultatimbrefc")
    } else {
        (&hosts.ecf, "consultatimbre")
    };
    let mut url = format!("{}/{}/{page}", host.trim_end_matches('/'), environment.path_segment());
    let mut query = Query {
        url: &mut url,
        separator: '?',
    };
    query.add("rncemisor", receipt.rnc_emisor());
    if let (false, Some(buyer)) = (summary, receipt.rnc_comprador()) {
        query.add("rnccomprador", buyer);
    }
    query.add("encf", &receipt.encf());
    if !summary {
        query.add("fechaemision", &receipt.fecha_emision());
    }
    query.add("montototal", receipt.monto_total());
    if !summary {
        query.add("fechafirma", &signed_at);
    }
    query.add("codigoseguridad", &security_code);
    url
}

struct Query<'u> {
    url: &'u mut String,
    separator: char,
}

impl Query<'_> {
    /// Adds a parameter. Each value is encoded by itself, and all of it but ASCII letters and digits: an encoder for
    /// whole addresses leaves the `+` of a security code, which the authority then reads as a blank.
    fn add(&mut self, name: &str, value: &impl Display) {
        self.url.push(self.separator);
        self.separator = '&';
        self.url.push_str(name);
        self.url.push('=');
        for byte in value.to_string().bytes() {
            if byte.is_ascii_alphanumeric() {
                self.url.push(char::from(byte));
            } else {
                write!(self.url, "%{byte:02X}").expect("writing into memory does not fail");
            }
        }
    }
}
