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

/// What a stamp says: technical description 1.6, "Consulta Timbre". Values are those of the signed document.
#[derive(Clone, Copy)]
pub struct Stamp<'a> {
    pub environment: Environment,
    /// Whether a summary was sent in place of the receipt.
    pub summary: bool,
    pub rnc_emisor: &'a dyn Display,
    /// A receipt that names no Dominican buyer leaves that parameter out.
    pub rnc_comprador: Option<&'a dyn Display>,
    pub encf: &'a dyn Display,
    pub fecha_emision: &'a dyn Display,
    pub monto_total: &'a dyn Display,
    pub fecha_firma: &'a dyn Display,
    pub codigo_seguridad: &'a dyn Display,
}

impl Stamp<'_> {
    /// The address at these hosts.
    pub fn url(&self, hosts: &StampHosts) -> String {
        let (host, page) = if self.summary {
            (&hosts.fc, "consultatimbrefc")
        } else {
            (&hosts.ecf, "consultatimbre")
        };
        let mut url = format!(
            "{}/{}/{page}",
            host.trim_end_matches('/'),
            self.environment.path_segment()
        );
        let mut query = Query {
            url: &mut url,
            separator: '?',
        };
        query.add("rncemisor", self.rnc_emisor);
        if let (false, Some(buyer)) = (self.summary, self.rnc_comprador) {
            query.add("rnccomprador", buyer);
        }
        query.add("encf", self.encf);
        if !self.summary {
            query.add("fechaemision", self.fecha_emision);
        }
        query.add("montototal", self.monto_total);
        if !self.summary {
            query.add("fechafirma", self.fecha_firma);
        }
        query.add("codigoseguridad", self.codigo_seguridad);
        url
    }
}

/// The stamp of a receipt that was just signed.
pub fn stamp_url(
    hosts: &StampHosts,
    environment: Environment,
    receipt: &Numbered,
    signed_at: FechaHora,
    security_code: &str,
) -> String {
    let buyer = receipt.rnc_comprador();
    let stamp = Stamp {
        environment,
        summary: receipt.goes_as_summary(),
        rnc_emisor: receipt.rnc_emisor(),
        rnc_comprador: buyer.as_ref().map(|buyer| buyer as &dyn Display),
        encf: &receipt.encf(),
        fecha_emision: &receipt.fecha_emision(),
        monto_total: receipt.monto_total(),
        fecha_firma: &signed_at,
        codigo_seguridad: &security_code,
    };
    stamp.url(hosts)
}

struct Query<'u> {
    url: &'u mut String,
    separator: char,
}

impl Query<'_> {
    /// Adds a parameter. Each value is encoded by itself, and all of it but ASCII letters and digits: an encoder for
    /// whole addresses leaves the `+` of a security code, which the authority then reads as a blank.
    fn add(&mut self, name: &str, value: &dyn Display) {
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
